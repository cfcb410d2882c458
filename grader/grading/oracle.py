"""The staff's oracle: what a kernel is given, what it should answer, and how far it may be off.

An operation has a folder ``reference/<operation>/`` whose ``oracle.py`` is trusted code of the course:

- ``inputs(kind, shape, rng)`` gives the ``in`` and ``inout`` arrays by name;
- ``expected(inputs, shape)`` gives for each ``out`` and ``inout`` array the values and elementwise the
  largest error that a right answer may have, both in float64;
- ``KINDS`` names the kinds of inputs;
- ``work(shape)``, if it is there, says what the operation needs at least: ``flops``, and under ``library`` a
  library call that does the same, for comparison on a GPU (only ``sgemm`` is known);
- ``orders(inputs, shape)`` and ``coarser(inputs, shape)``, if they are there, give results by name, each a
  mapping of output arrays: right ones in every order that a kernel might choose, and ones of lower precision.
  They prove that the error bound forgives the former and not the latter.

`inputs`, `expected`, `orders` and `coarser` that take an argument ``types`` are given the assignment's
types of its arrays by name (``{"A": "float16", "C": "float32"}``). A bfloat16 array is float32 to them. Where
what `expected` gives is masked (``numpy.ma``), anything is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, wraps
from inspect import signature, unwrap
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.base import staff_code
from grader.base.errors import OurError, UsageError
from grader.base.precision import numbers
from grader.base.records import frozen
from grader.base.text import suggestion
from grader.model.compare import bound_flaw, compare, data_of, mask_of

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from grader.model import Argument, Case, FunctionInterface, KernelInterface, Named

Array: TypeAlias = NDArray[Any]
Shape: TypeAlias = Mapping[str, int]
Expected: TypeAlias = dict[str, tuple[Array, Array]]
Results: TypeAlias = Iterable[tuple[str, Mapping[str, Array]]]

_PAIR = 2
"""Values, and how far off each may be."""


@frozen
class Oracle:
    """The functions of one ``oracle.py``; ``kinds`` are the kinds of inputs that it can make."""

    folder: Path
    kinds: tuple[str, ...]
    inputs: Callable[[str, Shape, np.random.Generator], dict[str, Array]]
    expected: Callable[[Mapping[str, Array], Shape], Expected]
    work: Callable[[Shape], dict[str, Any]] | None = None
    orders: Callable[[Mapping[str, Array], Shape], Results] | None = None
    coarser: Callable[[Mapping[str, Array], Shape], Results] | None = None
    types: Named[str] = ()


def load_oracle(folder: Path, types: Named[str] = ()) -> Oracle:
    """Load ``folder/oracle.py`` for arrays of these types.

    Raises:
        UsageError: there is no such file, it cannot be loaded, or it lacks one of its three parts.

    """
    module = _load(folder)
    missing = [part for part in ("inputs", "expected", "KINDS") if not hasattr(module, part)]
    if missing:
        raise UsageError(
            f"{folder / 'oracle.py'}: expected `inputs`, `expected` and `KINDS`, {missing[0]} is missing"
        )
    path = folder / "oracle.py"
    _require_kinds(path, module.KINDS)
    for part in ("inputs", "expected", "work", "orders", "coarser"):
        if not callable(getattr(module, part, _no_function)):
            raise UsageError(f"{path}: `{part}` is no function")
    inputs, expected, orders, coarser = (
        _typed(getattr(module, name, None), types) for name in ("inputs", "expected", "orders", "coarser")
    )
    work = getattr(module, "work", None)
    work = work and _guarded(path, work, "numbers")
    families = (_guarded_results(path, orders), _guarded_results(path, coarser))
    return Oracle(
        folder,
        tuple(module.KINDS),
        _guarded_inputs(path, inputs),
        _guarded(path, expected),
        work,
        *families,
        types,
    )


def with_expected(oracle: Oracle, function: Callable[..., Any]) -> Oracle:
    """The oracle with another function in the place of `expected`."""
    guarded = _guarded(oracle.folder / "oracle.py", _typed(function, oracle.types))
    return replace(oracle, expected=guarded)


def text_of(oracle: Oracle) -> str | None:
    """The text of its file; None where `expected` is no function that has a name there."""
    if not isinstance(unwrap(oracle.expected), FunctionType):
        return None
    return (oracle.folder / "oracle.py").read_text(encoding="utf-8")


def _no_function() -> None:
    """Stand-in for an optional part that an oracle lacks."""


def _require_kinds(path: Path, kinds: object) -> None:
    if isinstance(kinds, str):
        raise UsageError(f'{path}: `KINDS` is a text; expected names in a tuple, like ("{kinds}",)')
    if not isinstance(kinds, Iterable) or not all(isinstance(kind, str) for kind in kinds):
        raise UsageError(f'{path}: `KINDS` is no tuple of names; expected one like ("random",)')


def array_types(interface: KernelInterface | FunctionInterface) -> Named[str]:
    """The types of the arrays that a kernel or a function is given, by name."""
    return tuple((array.name, array.dtype) for array in interface.arrays)


def _typed(function: Any, types: Named[str]) -> Any:  # noqa: ANN401 - a function of the oracle's, or None
    """The function with the types of the arrays, if it asks for them."""
    if callable(function) and "types" in signature(function).parameters:
        return wraps(function)(partial(function, types=dict(types)))
    return function


def _guarded(path: Path, function: Callable[..., Any], wanted: str = "arrays") -> Callable[..., Any]:
    """The function with its failures reported as the course's own: the file, the line, and the error.

    Arrays can only be read in it: an oracle that computes in place would change what the kernel is given.
    """

    @wraps(function)
    def guarded(*arguments: Any) -> Any:  # noqa: ANN401 - whatever the oracle takes and gives
        with _failures_located(path, function):
            answer = function(*map(_only_to_read, arguments))
        if not isinstance(answer, Mapping):
            given = type(answer).__name__
            raise OurError(f"{path}: `{function.__name__}` gives no {wanted} by name; it gives {given}")
        return answer

    return guarded


def _guarded_inputs(path: Path, function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for `inputs`, whose arrays a kernel is given."""
    guarded = _guarded(path, function)

    @wraps(function)
    def checked(*arguments: Any) -> Any:  # noqa: ANN401 - as above
        arrays = guarded(*arguments)
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray):
                raise OurError(f"{path}: `inputs` gives no array for `{name}`, but {type(array).__name__}")
            if not _are_real(array):
                raise OurError(f"{path}: `inputs` gives no numbers for `{name}`, but {array.dtype}")
        return arrays

    return checked


def _are_real(array: Array) -> bool:
    """True if elements are numbers that a kernel can be given, or that its output can be compared with."""
    return array.dtype.kind in "biuf"


def _guarded_results(path: Path, function: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """The same for `orders` and `coarser`, which give one result after the other, if they are there."""
    if function is None:
        return None

    @wraps(function)
    def guarded(*arguments: Any) -> list[tuple[str, Mapping[str, Array]]]:  # noqa: ANN401 - as above
        with _failures_located(path, function):
            results = list(function(*map(_only_to_read, arguments)))
        for result in results:
            is_pair = isinstance(result, tuple) and len(result) == _PAIR
            if not is_pair or not isinstance(result[1], Mapping):
                raise OurError(f"{path}: `{function.__name__}` gives no pairs of a name and arrays by name")
        return results

    return guarded


class OracleStoppedError(OurError):
    """A function of the oracle's took too long: another call will hardly be sooner."""


@contextmanager
def _failures_located(path: Path, function: Callable[..., Any]) -> Iterator[None]:
    """Turn a failure in a function of the oracle's into an OurError with its file and line."""
    name = f"the oracle's `{function.__name__}`"
    try:
        with staff_code.running(f"{name} ({path})"):
            yield
    except staff_code.TookTooLongError as problem:
        where = staff_code.line_of(problem, path)
        stopped = f"{where}: {name} was stopped after {staff_code.SECONDS:.0f} seconds"
        hint = "make the case smaller, or compute with whole arrays of NumPy's"
        raise OracleStoppedError(f"{stopped}; {hint}") from None
    except (Exception, SystemExit) as problem:  # one that leaves Python would end a class without a word
        where = staff_code.line_of(problem, path)  # a call with too few arguments is in no line of it
        failure = f"{type(problem).__name__}: {problem}"
        raise OurError(f"{where}: {name} failed: {failure}") from problem


@contextmanager
def in_case(case: str) -> Iterator[None]:
    """Add the case to errors of the oracle; by its quotes reports know a hidden one."""
    try:
        yield
    except OurError as problem:
        raise type(problem)(f"case `{case}`: {problem}" if case else str(problem)) from problem


def _only_to_read(argument: Any) -> Any:  # noqa: ANN401 - arrays by name, or whatever else an oracle takes
    """The argument with its arrays made read-only."""
    if not isinstance(argument, Mapping):
        return argument
    return {name: _view_to_read(value) for name, value in argument.items()}


def _view_to_read(value: Any) -> Any:  # noqa: ANN401 - an array, or an extent of the shape
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def expected_of(
    oracle: Oracle, inputs: Mapping[str, Array], shape: Shape, names: Iterable[str], case: str = ""
) -> Expected:
    """Values that the oracle expects of these outputs; ``case`` is the id of the case that asks, if any.

    Raises:
        OurError: it fails, gives no such output, or what nothing can be compared with.

    """
    with in_case(case):
        outputs = oracle.expected(inputs, shape)
        for name in names:
            problem = _unfit(name, outputs)
            if problem:
                raise OurError(f"{oracle.folder / 'oracle.py'}: `expected` gives {problem}")
    return outputs


def _unfit(name: str, outputs: Mapping[str, Any]) -> str:
    """Reason why no kernel's output can be compared with the oracle's value of this one; empty if it can."""
    if name not in outputs:
        return f"no `{name}`; it gives {', '.join(map(str, outputs)) or 'nothing'}"
    pair = outputs[name]
    if not isinstance(pair, tuple) or len(pair) != _PAIR:
        return f"no pair of values and bounds for `{name}`"
    values, bound = pair
    if not isinstance(values, np.ndarray):
        return f"no array of values for `{name}`, but {type(values).__name__}"
    return _unfit_numbers(name, values, bound)


def _unfit_numbers(name: str, values: Array, bound: Any) -> str:  # noqa: ANN401 - a number or an array
    """Reason why nothing can be compared with these values and bounds; empty if it can."""
    if not _are_real(values):
        return f"no numbers as values of `{name}`, but {values.dtype}"
    if not _are_real(np.asarray(data_of(bound))):
        return f"no number, and no array of them, as bounds for `{name}`"
    if np.shape(bound) not in ((), values.shape):
        return f"values of shape {values.shape} for `{name}`, and bounds of shape {np.shape(bound)}"
    if np.isnan(values).any():  # what is masked is not looked at
        return f"NaN as a value of `{name}`, which no kernel meets; mask what may be anything"
    bounds = np.where(mask_of(values), 0, data_of(bound))
    flaw = bound_flaw(np.asarray(data_of(values), np.float64), bounds)
    return f"a bound for `{name}` that is {flaw}" if flaw else ""


def are_right(
    oracle: Oracle, arguments: Iterable[Argument], case: Case, outputs: Named[NDArray[Any]]
) -> bool:
    """True if all outputs of a launch with these arguments are what the oracle expects."""
    arrays = {
        argument.name: argument.value for argument in arguments if argument.direction in ("in", "inout")
    }
    read = {name: numbers(value) for name, value in arrays.items() if isinstance(value, np.ndarray)}
    expected = expected_of(oracle, read, dict(case.shape), [name for name, _ in outputs], case.id)
    return not any(compare(name, output, *expected[name]).wrong for name, output in outputs)


def _load(folder: Path) -> ModuleType:
    path = folder / "oracle.py"
    if not path.is_file():
        raise UsageError(
            f"{folder}: no oracle.py; expected the folder of an operation, reference/<operation>"
        )
    return staff_code.load_module(path)


def draw_inputs(oracle: Oracle, case: Case) -> dict[str, Array]:
    """The input arrays of a case; its seed decides them.

    Raises:
        UsageError: the oracle does not know this kind of inputs.
        OurError: it fails.

    """
    if case.inputs not in oracle.kinds:
        hint = suggestion(case.inputs, oracle.kinds)
        raise UsageError(f"case `{case.id}`: no inputs of kind `{case.inputs}`; {hint}")
    with in_case(case.id):
        return oracle.inputs(case.inputs, dict(case.shape), np.random.default_rng(case.seed))
