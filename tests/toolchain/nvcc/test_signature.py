"""Kernel names, parameter types and what the assignment passes: pure functions on texts."""

from __future__ import annotations

import pytest

from grader.model import KernelInterface, Parameter
from grader.simulation.ptx import parse
from grader.toolchain.nvcc.declarations import DeclaredKernel
from grader.toolchain.nvcc.kernel import missing_kernel
from grader.toolchain.nvcc.signature import (
    EntryParameter,
    KernelEntry,
    Signature,
    mismatch,
    read_entries,
    read_name,
)


@pytest.mark.parametrize(
    ("symbol", "name", "types"),
    [
        ("scale", "scale", None),
        ("_Z1kPKfPfi", "k", ["const float*", "float*", "int"]),
        ("_ZN2ns1kILi16EfEEvPKT0_PS1_m", "ns::k<16, float>", ["const float*", "float*", "unsigned long"]),
        ("_ZN43_GLOBAL__N__1ec9261c_10_wrapper_cu_021531bf1kEPf", "k", ["float*"]),
        ("_Z1kILb1ELin5EEvhstaxyb", "k<1, -5>", None),
        ("_Z1k6MatrixS_", "k", ["Matrix", "Matrix"]),
        ("_Z1kPA16_KfPPf", "k", ["const float*", "float**"]),
        ("_Z1kP6__halfRKd", "k", ["__half*", "const double&"]),
        ("_Z1kv", "k", []),
        ("_Znonsense", "_Znonsense", None),
        ("_Z" + "P" * 1000, "_Z" + "P" * 1000, None),
        ("_Z1k" + "P" * 5000 + "f", "_Z1k" + "P" * 5000 + "f", None),
    ],
)
def test_mangled_names_are_read(symbol: str, name: str, types: list[str] | None) -> None:
    """Scopes, template arguments and parameter types come out as a student writes them."""
    signature = read_name(symbol)
    assert str(signature) == name
    if types is not None:
        assert signature.types is not None
        assert [str(each) for each in signature.types] == types


def test_entries_and_their_parameters_are_read() -> None:
    """Sizes and kinds of parameters, structs among them."""
    ptx = """
.visible .entry _Z1kv() { ret; }
.weak .entry k(
\t.param .u64 k_param_0,
\t.param .align 4 .b8 k_param_1[12],
\t.param .u64 .ptr .global .align 4 k_param_2,
\t.param .f32 k_param_3
) { /*
.visible .entry in_a_comment(.param .u64 a) { ret; } */ ret; }
.visible .entry without_a_body(.param .u64 a);
.func (.param .b32 x) helper(.param .b64 y) { ret; }
"""
    assert read_entries(parse(ptx)) == (
        KernelEntry("_Z1kv", ()),
        KernelEntry(
            "k",
            (
                EntryParameter("u64", 8),
                EntryParameter("b8", 12, is_struct=True, align=4),
                EntryParameter("u64", 8),
                EntryParameter("f32", 4),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("wanted", "symbol", "parameter", "fits"),
    [
        (Parameter("n", "value", "int32"), "_Z1kj", EntryParameter("u32", 4), True),
        (Parameter("n", "value", "int32"), "_Z1kx", EntryParameter("u64", 8), True),
        (Parameter("n", "value", "int64"), "_Z1ki", EntryParameter("u32", 4), False),
        (Parameter("n", "value", "int32"), "_Z1ks", EntryParameter("u16", 2), False),
        (Parameter("n", "value", "int32"), "_Z1kPf", EntryParameter("u64", 8), False),
        (Parameter("n", "value", "int32"), "_Z1k4Pair", EntryParameter("b8", 8, is_struct=True), False),
        (Parameter("a", "value", "float32"), "_Z1kd", EntryParameter("f64", 8), False),
        (Parameter("a", "value", "float32"), "_Z1kf", EntryParameter("f32", 4), True),
        (Parameter("a", "value", "float16"), "_Z1k6__half", EntryParameter("b8", 2, is_struct=True), True),
        (Parameter("a", "value", "complex64"), "_Z1kd", EntryParameter("f64", 8), False),
        (Parameter("A", "in", "float32"), "_Z1kPKv", EntryParameter("u64", 8), True),
        (Parameter("A", "in", "float32"), "_Z1kPK6float4", EntryParameter("u64", 8), True),
        (Parameter("A", "in", "float32"), "_Z1kPPf", EntryParameter("u64", 8), False),
        (Parameter("A", "in", "float32"), "_Z1kRf", EntryParameter("u64", 8), False),
        (Parameter("A", "in", "float32"), "_Z1km", EntryParameter("u64", 8), False),
        (Parameter("A", "in", "float32"), "_Z1ki", EntryParameter("u32", 4), False),
        (Parameter("A", "in", "int32"), "_Z1kPj", EntryParameter("u64", 8), True),
        (Parameter("A", "in", "uint8"), "_Z1kPc", EntryParameter("u64", 8), True),
        (Parameter("A", "in", "float16"), "_Z1kPK6__half", EntryParameter("u64", 8), True),
        (Parameter("A", "in", "bfloat16"), "_Z1kPK6__half", EntryParameter("u64", 8), False),
        (Parameter("A", "in", "bfloat16"), "_Z1kPK14__nv_bfloat162", EntryParameter("u64", 8), True),
        (Parameter("A", "out", "float32"), "_Z1kPKf", EntryParameter("u64", 8), False),
        (Parameter("A", "out", "float32"), "k", EntryParameter("u64", 8), True),
        (Parameter("A", "out", "float32"), "k", EntryParameter("f64", 8), False),
        (Parameter("A", "out", "float32"), "k", EntryParameter("b8", 8, is_struct=True), False),
    ],
)
def test_parameters_are_compared(
    wanted: Parameter,
    symbol: str,
    parameter: EntryParameter,
    fits: bool,  # noqa: FBT001
) -> None:
    """Widths, kinds, pointees and what may be written decide; signs and vector types do not."""
    problem = mismatch("k", KernelEntry(symbol, (parameter,)), read_name(symbol), (wanted,))
    assert (problem is None) is fits


@pytest.mark.parametrize(
    ("wanted", "symbol", "size", "align", "fits"),
    [
        (Parameter("n", "value", "int32"), "_Z1ki", 4, 4, True),
        (Parameter("n", "value", "int32"), "_Z1km", 8, 8, True),
        (Parameter("n", "value", "int32"), "_Z1ks", 2, 2, False),
        (Parameter("n", "value", "int32"), "_Z1kf", 4, 4, False),
        (Parameter("n", "value", "int32"), "_Z1k4Pair", 8, 4, False),
        (Parameter("n", "value", "int32"), "k", 4, 4, True),
        (Parameter("n", "value", "int32"), "k", 12, 4, False),
        (Parameter("a", "value", "float32"), "_Z1kf", 4, 4, True),
        (Parameter("a", "value", "float32"), "k", 4, 4, True),
        (Parameter("a", "value", "float16"), "_Z1k6__half", 2, 2, True),
        (Parameter("a", "value", "float16"), "_Z1ks", 2, 2, False),
        (Parameter("A", "out", "float32"), "_Z1kPf", 8, 8, True),
        (Parameter("A", "out", "float32"), "_Z1kPi", 8, 8, False),
        (Parameter("A", "out", "float32"), "k", 8, 8, True),
    ],
)
def test_a_grid_constant_is_compared_by_its_own_type(
    wanted: Parameter,
    symbol: str,
    size: int,
    align: int,
    fits: bool,  # noqa: FBT001
) -> None:
    """PTX has aligned bytes for a ``__grid_constant__``; the mangled name shows what they are."""
    parameter = EntryParameter("b8", size, is_struct=True, align=align)
    problem = mismatch("k", KernelEntry(symbol, (parameter,)), read_name(symbol), (wanted,))
    assert (problem is None) is fits


def test_unknown_types_leave_the_ptx_to_decide() -> None:
    """A plain C name contains no types, so sizes and kinds must do."""
    entry = KernelEntry("k", (EntryParameter("u16", 2),))
    problem = mismatch("k", entry, Signature((), "k"), (Parameter("n", "value", "int32"),))
    assert problem is not None
    assert problem.message == (
        "parameter 1 of the kernel `k` should be `int n`, but it is a 16-bit integer; "
        "the assignment passes (int n)"
    )


def test_a_kernel_of_nearly_the_name_is_pointed_out() -> None:
    """A wrong capital letter is found; an unlike name is only listed, and a crowd is cut."""
    kernels = tuple(DeclaredKernel(name, (), (), 1, "") for name in ("Tiledmatmul", "other"))
    interface = KernelInterface("tiledMatMul", (), (), (), ())
    assert missing_kernel(interface, kernels, ()).message == (
        "no kernel named `tiledMatMul`; this file has: `Tiledmatmul`, `other`; "
        "if `Tiledmatmul` is the one, rename it"
    )
    crowd = tuple(KernelEntry(f"k{number}", ()) for number in range(12))
    assert missing_kernel(interface, (), crowd).message.endswith("`k8`, `k9` and 2 more")
