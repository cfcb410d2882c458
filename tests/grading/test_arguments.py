"""The arguments of a launch: poison, arrays, scalars."""

from __future__ import annotations

import numpy as np
import pytest

from grader.base.arithmetic import parse
from grader.base.errors import OurError, UsageError
from grader.grading.arguments import make_arguments, poison
from grader.model import KernelInterface, Parameter
from grader.model.compare import untouched

F32 = np.float32


# --- poison ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    [
        "float16",
        "float32",
        "float64",
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    ],
)
def test_poison_has_the_type_of_the_array(dtype: str) -> None:
    """And is no number where the type has such a value."""
    assert np.dtype(type(poison(dtype))) == np.dtype(dtype)
    assert np.isnan(poison(dtype)) == (np.dtype(dtype).kind == "f")


def test_a_type_without_poison_is_our_error() -> None:
    """An unforeseen type is never a student's zero."""
    with pytest.raises(OurError, match="complex64"):
        poison("complex64")


# --- arguments ------------------------------------------------------------------------------------------


def _array(name: str, direction: str, dtype: str, *extents: str) -> Parameter:
    return Parameter(name, direction, dtype, extents=tuple(parse(extent) for extent in extents))


def _interface(*parameters: Parameter) -> KernelInterface:
    return KernelInterface("kernel", parameters, (), (parse("1"),), (parse("1"),))


def test_arguments_follow_the_interface() -> None:
    """In arrays come from the oracle, out arrays are poisoned, scalars are computed in their own type."""
    interface = _interface(
        _array("A", "in", "float32", "M", "K"),
        _array("C", "out", "float32", "M", "ceil(N / T) * T"),
        Parameter("M", "value", "int32"),
        Parameter("pitch", "value", "uint64", value=parse("K * T")),
    )
    given_a = np.arange(6, dtype=F32).reshape(2, 3)
    a, c, m, pitch = make_arguments(interface, {"M": 2, "K": 3, "N": 5}, {"A": given_a}, {"T": 4})
    assert np.array_equal(a.value, given_a)
    assert c.value.shape == (2, 8)
    assert untouched(np.asarray(c.value), np.full((2, 8), poison("float32"))).all()
    assert [each.direction for each in (a, c, m, pitch)] == ["in", "out", "value", "value"]
    assert m.value == 2
    assert m.value.dtype == np.dtype("int32")
    assert pitch.value == 12
    assert pitch.value.dtype == np.dtype("uint64")


@pytest.mark.parametrize(
    ("dtype", "text", "value"),
    [
        ("float32", "0.5", 0.5),
        ("float64", "1 / 4 + N", 5.25),
        ("float16", "-1.5", -1.5),
        ("int32", "0.5 * 4", 2),
    ],
)
def test_a_scalar_of_floating_point_may_be_a_fraction(dtype: str, text: str, value: float) -> None:
    """Other scalars may be one only on the way to a whole number."""
    (alpha,) = make_arguments(
        _interface(Parameter("alpha", "value", dtype, value=parse(text))), {"N": 5}, {}, {}
    )
    assert alpha.value == value
    assert alpha.value.dtype == np.dtype(dtype)


def test_a_whole_scalar_is_never_rounded() -> None:
    """A fraction for an `int` is the assignment's mistake."""
    interface = _interface(Parameter("n", "value", "int32", value=parse("N / 2")))
    with pytest.raises(UsageError, match="`N / 2` is 5/2, not a whole number"):
        make_arguments(interface, {"N": 5}, {}, {})


def test_the_shape_wins_over_a_constant_of_the_same_name() -> None:
    """A student's `#define N 512` does not change the matrix that is passed."""
    (n,) = make_arguments(_interface(Parameter("N", "value", "int32")), {"N": 5}, {}, {"N": 512})
    assert n.value == 5


def test_an_array_is_given_the_type_of_the_interface() -> None:
    """An oracle may make integers where the kernel takes doubles."""
    arrays = {"A": np.arange(3)}
    (a,) = make_arguments(_interface(_array("A", "in", "float64", "N")), {"N": 3}, arrays, {})
    assert a.value.dtype == np.float64


def test_an_array_of_another_shape_is_our_error() -> None:
    """Oracle and assignment must agree before any submission is graded."""
    with pytest.raises(OurError, match=r"shape \(2,\), the assignment says \(3,\)"):
        make_arguments(_interface(_array("A", "in", "float32", "N")), {"N": 3}, {"A": np.ones(2)}, {})


def test_an_array_that_the_oracle_does_not_give_is_our_error() -> None:
    """A kernel is never launched with half of its inputs."""
    with pytest.raises(OurError, match="gives no `A`"):
        make_arguments(_interface(_array("A", "in", "float32", "N")), {"N": 3}, {}, {})


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (Parameter("N", "value", "int8"), "which int8 cannot hold"),
        (Parameter("alpha", "value", "int32"), "neither a dimension nor a constant"),
    ],
)
def test_a_scalar_without_a_fitting_value_is_a_usage_error(parameter: Parameter, message: str) -> None:
    """The message names the parameter."""
    with pytest.raises(UsageError, match=message):
        make_arguments(_interface(parameter), {"N": 300}, {}, {})
