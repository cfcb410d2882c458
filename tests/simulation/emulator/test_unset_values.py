"""A value that no thread has set never passes as right; a kernel that does not use it stays right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.model import Argument, Build, FindingCode, FindingKind, Launch, Severity
from grader.running.backends.emulated_kernel import EmulatedKernel
from grader.simulation.emulator import unset_values
from grader.simulation.emulator.machine.values import DTYPES, mark_of, marks_in, unset
from grader.simulation.ptx import nodes, parse
from tests.simulation.emulator import nvcc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.model import Run
    from grader.simulation.ptx import Operand

SUM = (
    "__shared__ T cache[64];\nT v;\nif (i < N) v = x[i];  // here\ncache[t] = v;\n__syncthreads();\n"
    "if (t == 0) { T sum = 0; for (int k = 0; k < 64; ++k) sum += cache[k]; out[blockIdx.x] = sum; }"
)
WRONG = {
    "sum": ("float", SUM),
    "sum_of_doubles": ("double", SUM),
    "sum_of_numbers": ("int", SUM),
    "flag": (
        "int",
        (
            "bool is_large;\nif (i < N) is_large = x[i] > 20;\n__syncthreads();\n"
            "if (is_large) atomicAdd(&out[blockIdx.x], 1);"
        ),
    ),
    "flag_of_another": (
        "int",
        (
            "__shared__ bool flags[64];\nbool is_large;\nif (i < N) is_large = x[i] > 20;\n"
            "flags[t] = is_large;\n__syncthreads();\nif (flags[t ^ 1]) atomicAdd(&out[blockIdx.x], 1);"
        ),
    ),
    "count": (
        "int",
        (
            "int count;\nif (i < N) count = x[i] % 4;\nint sum = 0;\n"
            "for (int k = 0; k < count && k < 9; ++k) ++sum;\natomicAdd(&out[blockIdx.x], sum);"
        ),
    ),
    "of_a_function": (
        "float",
        (
            "float v;\nif (i < N) v = doubled(x[i]);\n"
            "v += __shfl_xor_sync(~0u, v, 1);\nif (t % 64 == 40) out[blockIdx.x] = v;"
        ),
    ),
}
"""Wrong where some thread has no element; with a zero in place of what is missing they would be right."""

RIGHT = {
    "broadcast": (
        "int",
        (
            "int first;\nif (t % 32 == 0) first = atomicAdd(&out[0], 1);\n"
            "first = __shfl_sync(~0u, first, 0);\nif (t % 32 && first > 9) out[1] = first;"
        ),
    ),
    "idle": (
        "float",
        (
            "float v;\nint k;\nif (i < N) { v = x[i]; k = i / 64; }\n"
            "for (int step = 0; step < 3; ++step) { v = v * 2 + step; k += step; }\n"
            "if (i < N && v > 0) atomicAdd(&out[k - 3], v);"
        ),
    ),
    "index": ("float", "int k;\nif (i < N) k = N - 1 - i;\nif (i < N) atomicAdd(&out[k / 64], x[k]);"),
    "last_block": (
        "int",
        (
            "__shared__ bool is_last;\nbool is_mine;\nif (t == 0) is_mine = atomicAdd(&out[0], 1) == 1;\n"
            "if (t == 0) is_last = is_mine;\n__syncthreads();\nif (is_last && t == 5) out[1] = 7;"
        ),
    ),
    "returned": ("float", "float v;\nif (i < N) v = doubled(x[i]);\nif (i < N) atomicAdd(&out[i / 64], v);"),
}
"""Registers that not all threads set, of which only the others' values are used."""

STRAY = "int k;\nif (i < N) k = x[i] / 2;\n__syncthreads();\natomicAdd(&out[blockIdx.x], x[k]);"

SOURCE = (
    "__device__ __noinline__ float doubled(float x) { if (x < 3) return x * 2; return x + x; }\n"
    + "".join(
        f'extern "C" __global__ void {name}(const {kind}* x, {kind}* out, int N) {{\n'
        f"typedef {kind} T;\nint t = threadIdx.x, i = blockIdx.x * 64 + t;\n{body}\n}}\n"
        for name, (kind, body) in {**WRONG, **RIGHT, "stray": ("int", STRAY)}.items()
    )
)
"""A kernel with each body, in one file: they are compiled together."""

FULL, LESS = 128, 100
"""Elements for all threads, and for some of them."""


@pytest.fixture(scope="module")
def built() -> Build:
    """All kernels, in both builds."""
    default, hazards = nvcc.ptx(SOURCE, ("-lineinfo",)), nvcc.ptx(SOURCE)
    return Build(ok=True, ptx=default, hazard_ptx=hazards, source_name="kernel.cu")


def line_of(name: str, text: str) -> int:
    """The line of a kernel that holds a text."""
    before, _, after = SOURCE.partition(f" void {name}(")
    return before.count("\n") + next(n for n, line in enumerate(after.split("\n"), 1) if text in line)


def launched(built: Build, name: str, elements: int) -> Run:
    """The run of a kernel, as a submission is run."""
    dtype = {"float": np.float32, "double": np.float64, "int": np.int32}
    kind = {**WRONG, **RIGHT, "stray": ("int", "")}[name][0]
    arguments = (
        Argument("x", "in", np.arange(1, elements + 1, dtype=dtype[kind])),
        Argument("out", "inout", np.zeros(2, dtype[kind])),
        Argument("N", "value", np.int32(elements)),
    )
    kernel = EmulatedKernel(replace(built, entry=name), "kernel.cu", "kernel.cu")
    run = kernel.launch(Launch((2, 1, 1), (64, 1, 1)), arguments)
    assert run.completed
    return run


def meant(name: str, elements: int) -> NDArray[Any]:
    """The result that a kernel should give, and gives where zeros stand for values that no thread set."""
    x = np.arange(1, elements + 1)
    per_block = [x[:64], x[64:]]
    if name.startswith("sum"):
        return np.array([part.sum() for part in per_block])
    if name.startswith("flag"):
        return np.array([(part > 20).sum() for part in per_block])
    if name == "count":
        return np.array([(part % 4).sum() for part in per_block])
    pairs = ([2 * int(v) for v in (*x, *[0] * 128)[start : start + 2]] for start in (40, 104))
    return np.array([sum(pair) for pair in pairs])


@pytest.mark.parametrize("name", WRONG)
def test_what_only_some_threads_set_makes_an_output_wrong(built: Build, name: str) -> None:
    """Sums, flags, counts; where each thread has an element the kernel is right."""
    for elements, is_right in ((FULL, True), (LESS, False)):
        run = launched(built, name, elements)
        outputs = [dict(run.outputs)["out"], dict(run.unoptimised)["out"]]
        assert all(np.array_equal(output, meant(name, elements)) for output in outputs) == is_right, outputs


@pytest.mark.parametrize("name", ["sum", "sum_of_doubles"])
def test_a_float_that_some_threads_set_is_reported_with_the_line_that_does(built: Build, name: str) -> None:
    """An output that stems from it has an error on that line."""
    assert launched(built, name, FULL).findings == ()
    (finding,) = launched(built, name, LESS).findings
    assert (finding.kind, finding.severity) == (FindingKind.UNINITIALISED, Severity.ERROR)
    assert (finding.code, finding.line) == (FindingCode.UNSET_IN_SOME_THREADS, line_of(name, "// here"))


@pytest.mark.parametrize("name", RIGHT)
def test_what_no_thread_uses_may_be_unset(built: Build, name: str) -> None:
    """It may be moved, computed with, and thrown away."""
    run = launched(built, name, LESS)
    assert run.findings == ()
    assert not run.too_much_work
    outputs = [dict(run.outputs)["out"], dict(run.unoptimised)["out"]]
    assert np.array_equal(outputs[0], outputs[1])
    assert np.isfinite(outputs[0]).all()


def test_an_index_that_a_thread_did_not_set_is_outside_of_everything(built: Build) -> None:
    """It is no element that happens to be there."""
    (finding,) = launched(built, "stray", LESS).findings
    assert (finding.kind, finding.line) == (FindingKind.OUT_OF_BOUNDS, line_of("stray", "x[k]"))


@pytest.mark.parametrize("kind", sorted(DTYPES))
def test_what_is_unset_is_never_zero_and_a_float_is_a_quiet_nan(kind: str) -> None:
    """In each register type, as whatever it is read."""
    value = unset(DTYPES[kind], 700)
    assert value.dtype == DTYPES[kind]
    assert value != 0
    if value.dtype.itemsize > 1:
        halves = np.atleast_1d(value).view(np.uint16)
        assert np.isnan(halves.view(np.float16)).all()
        assert np.isnan(np.atleast_1d(value).view(f"f{value.dtype.itemsize}")).all()
        assert (halves & 0x200).all()  # the quiet bit of float16


def test_marks_are_read_from_floats_alone() -> None:
    """Integers may have any bits, and other NaNs carry no mark."""
    of_seven = unset(np.dtype(np.float32), 7)
    assert marks_in(np.array([1, np.nan, of_seven], np.float32)) == [mark_of(7)]
    assert marks_in(np.array([unset(np.dtype(np.float64), 7)])) == [mark_of(7)]
    assert marks_in(np.array([of_seven.view(np.int32)])) == []
    assert marks_in(np.full(3, 0xFFFFFFFF, np.uint32).view(np.float32)) == []
    assert marks_in(np.full(3, unset(np.dtype(np.float16)))) == []


def test_a_kernel_is_read_once_however_many_marks_its_outputs_hold(
    built: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stores all marks there are must not keep the grader busy for minutes."""
    function = next(function for function in parse(built.ptx).functions if function.name == "sum")
    asked = []

    def registers_in(operand: Operand) -> tuple[str, ...]:
        asked.append(operand)
        return nodes.registers_in(operand)

    monkeypatch.setattr(unset_values, "registers_in", registers_in)
    unset_floats = [unset(np.dtype(np.float32), register) for register in range(511)]
    assert unset_values.setters_of_marked([function], [np.array(unset_floats)])
    assert 0 < len(asked) <= len(function.body)
