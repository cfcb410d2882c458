"""The messages of findings, kernel by kernel: `findings/*.cu` here against `tests/golden/findings`.

Each kernel runs as one block of 32 threads unless `LAUNCHES` has another launch. Those whose name begins with
``clean_`` do nothing wrong, and must not be accused in either build.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.model import Argument, FindingKind, Launch, Severity
from grader.model.messages import clause
from grader.simulation.emulator.launch import run
from grader.simulation.ptx import parse
from tests.simulation.emulator.launching import Compiled, default_build, hazard_build, zeros

if TYPE_CHECKING:
    from grader.model import Dim3, Finding, Run
    from tests.conftest import Golden

FOLDER = Path(__file__).parent / "findings"
FILES = sorted(path.stem for path in FOLDER.glob("*.cu"))
KERNEL = re.compile(r"__global__ void (\w+)\(([^)]*)\)")
STEPS = 5_000
BAD = 0x1234_5678_9ABC
"""An address that is near nothing."""


@dataclass(frozen=True)
class Setting:
    """The launch of a kernel: its block and grid, the bytes of shared memory, and the limit of steps."""

    block: Dim3 = (32, 1, 1)
    grid: Dim3 = (1, 1, 1)
    shared: int = 1024
    steps: int = STEPS


LAUNCHES = {
    "no_dynamic_memory": Setting(shared=0),
    "shared_too_early": Setting(block=(64, 1, 1)),
    "waits_for_a_later_block": Setting(grid=(3, 1, 1)),
    "clean_wait_for_an_earlier_block": Setting(grid=(3, 1, 1)),
    "clean_lock_of_every_thread": Setting(steps=100_000),
    "lock_never_given_back": Setting(steps=20_000),
    "half_a_tile": Setting(block=(64, 1, 1)),
    "past_the_end_beside_a_tile": Setting(block=(64, 1, 1)),
    "clean_tiles": Setting(block=(64, 1, 1)),
}

TYPES = {
    "float**": "uint64",
    "float4*": "float32",
    "Row*": "uint64",
    "Sparse*": "float64",
    "char*": "uint8",
    "double*": "float64",
    "unsigned*": "uint32",
    "int*": "int32",
    "float*": "float32",
}
"""Of the arrays by how their parameter is declared; what ends in none of these is an int32 of 5."""


@cache
def built(name: str) -> tuple[str, Compiled, Compiled]:
    """The source of a file, and both of its builds."""
    source = (FOLDER / f"{name}.cu").read_text()
    return source, hazard_build(source), default_build(source)


def arguments(parameters: str) -> list[Any]:
    """Arrays of zeros (of bad pointers where there are structures with pointers), and 5 for numbers."""
    values: list[Any] = []
    for each in parameters.split(","):
        kind = each.replace("volatile ", "").split()[-2]
        dtype = next((dtype for sign, dtype in TYPES.items() if kind.endswith(sign)), None)
        size = {"Sparse*": 3 * 64, "float4*": 4 * 64}.get(kind, 64)
        values.append(np.full(size, BAD if kind == "Row*" else 0, dtype) if dtype else np.int32(5))
    return values


def launched(build: Compiled, kernel: str, parameters: str, name: str) -> Run:
    """One kernel of a file; arrays are outputs where the file is about what was not written."""
    setting = LAUNCHES.get(kernel, Setting(block=(8, 4, 1) if name == "divergence" else (32, 1, 1)))
    values = arguments(parameters)
    directions = "o" * len(values) if name == "uninitialised" else ""
    if directions and parameters.startswith("const float* A, float* B"):
        directions = "io"
    return build.run(
        kernel,
        setting.grid,
        setting.block,
        *values,
        directions=directions,
        shared=setting.shared,
        steps=setting.steps,
    )


def finding_text(finding: Finding) -> str:
    """A finding in one line, without numbers that vary from run to run."""
    times = f" ({finding.count:,} times)" if finding.count > 1 else ""
    where = f"  {finding.kind} at line {finding.line}, {finding.address or 'nowhere'}"
    text = f"{where}: {finding.message}{times}"
    return re.sub(r"0x7\w{11}", "0x7...", re.sub(r"[\d,]+ steps", "many steps", text))


def serious(result: Run) -> list[Finding]:
    """The findings that may cost points."""
    return [finding for finding in result.findings if finding.severity is not Severity.INFO]


@pytest.mark.parametrize("name", FILES)
def test_findings_read_as_they_should(name: str, golden: Golden) -> None:
    """Every kernel of a file with all that is found in it; races are the matter of other tests."""
    source, hazards, _ = built(name)
    lines = []
    for kernel, parameters in KERNEL.findall(source):
        if not kernel.startswith("clean_"):
            lines.append(f"{kernel}:")
            result = launched(hazards, kernel, parameters, name)
            lines += [
                finding_text(finding) for finding in result.findings if finding.kind is not FindingKind.RACE
            ]
            if result.too_much_work:
                lines.append(
                    f"  not judged: {re.sub(r'[0-9,]+ steps', 'many steps', clause(result.too_much_work))}"
                )
    golden(f"findings/{name}.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_found_where_nothing_is_wrong(name: str) -> None:
    """The clean kernels of a file, in both builds, but for races."""
    source, hazards, plain = built(name)
    for kernel, parameters in KERNEL.findall(source):
        if kernel.startswith("clean_"):
            for build in (hazards, plain):
                found = serious(launched(build, kernel, parameters, name))
                assert all(finding.kind is FindingKind.RACE for finding in found), (kernel, found)


def test_the_default_build_sees_overruns_of_one_array_into_the_next_too() -> None:
    """Its findings have no lines, but name the array and where the access lands."""
    source, _, plain = built("bounds")
    parameters = dict(KERNEL.findall(source))
    for kernel in (
        "into_the_next_array",
        "atomic_past_the_end",
        "far_into_another_argument",
        "of_two_buffers",
    ):
        found = launched(plain, kernel, parameters[kernel], "bounds").findings
        assert {finding.kind for finding in found} == {FindingKind.OUT_OF_BOUNDS}, kernel
    source, _, plain = built("pointers")
    parameters = dict(KERNEL.findall(source))["misaligned_shared"]
    (found_there,) = launched(plain, "misaligned_shared", parameters, "pointers").findings
    assert found_there.message == "reads 8 bytes at tile[1], whose address is not a multiple of 8"


def test_an_index_past_a_shared_array_is_written_with_its_extents() -> None:
    """Row 4 of four rows, and in whole structures where those are the elements."""
    source, hazards, _ = built("bounds")
    result = run(
        hazards.module,
        "past_the_last_row",
        Launch((1, 1, 1), (32, 1, 1)),
        (Argument("A", "inout", zeros(64)),),
        detect=True,
        source="kernel.cu",
        shapes=(("tile", (4, 8)), ("rest", (4, 8))),
    )
    (found,) = (each for each in result.findings if each.kind is FindingKind.OUT_OF_BOUNDS)
    assert found.address == "tile[4][0]"
    assert "tile[4][0], 1 past its end, which is rest[0][0]: tile has 4 x 8 elements" in found.message
    assert source.split("\n")[(found.line or 0) - 1].strip().startswith("tile[threadIdx.x / 8 + 1]")


def test_an_array_may_begin_where_only_its_elements_are_aligned() -> None:
    """An argument's offset: fine for single elements, misaligned for vectors of four."""
    source, hazards, _ = built("pointers")
    assert "whole_vectors" in source
    launch = Launch((1, 1, 1), (8, 1, 1))
    given = Argument("A", "in", np.arange(32, dtype=np.float32), offset=1)
    taken = Argument("B", "out", zeros(8))
    result = run(hazards.module, "whole_vectors", launch, (given, taken), detect=True, source="kernel.cu")
    assert {finding.kind for finding in result.findings} == {FindingKind.MISALIGNED}
    even = Argument("A", "in", given.value, offset=4)
    result = run(hazards.module, "whole_vectors", launch, (even, taken), detect=True, source="kernel.cu")
    assert not result.findings
    np.testing.assert_array_equal(dict(result.outputs)["B"], np.arange(32).reshape(8, 4).sum(axis=1))


def test_a_block_that_waits_for_one_not_started_is_reported_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of a single block, and no device for more: the first waits for the second for ever."""
    monkeypatch.setattr("grader.simulation.emulator.launch.CHUNK_LANES", 32)
    monkeypatch.setattr("grader.simulation.emulator.launch.SM_BLOCKS", 0)
    source, hazards, _ = built("hangs")
    parameters = dict(KERNEL.findall(source))["waits_for_a_later_block"]
    result = launched(hazards, "waits_for_a_later_block", parameters, "hangs")
    assert not result.completed
    (found,) = (each for each in result.findings if each.kind is FindingKind.TIMEOUT)
    assert "blocks that had not started" in found.message
    assert "waiting for A[1]" in found.message


def test_recursion_that_does_not_end_names_the_function_and_stops() -> None:
    """Also where the frames are empty: then it is the calls that are too many."""
    source = """
    __device__ __noinline__ int down(int n) { return n <= 0 ? 0 : 1 + down(n - 2); }
    extern "C" __global__ void kernel(int* A, int n) { A[threadIdx.x] = down(n); }
    """
    build = hazard_build(source)
    result = build.run("kernel", (1, 1, 1), (4, 1, 1), zeros(4, dtype="int32"), np.int32(1_000_000))
    assert not result.completed
    assert result.findings[0].kind is FindingKind.FAULT
    assert "`down`" in result.findings[0].message
    assert result.findings[0].line == build.line("int down")
    result = build.run("kernel", (1, 1, 1), (4, 1, 1), zeros(4, dtype="int32"), np.int32(200))
    assert not result.findings
    assert dict(result.outputs)["A"].tolist() == [100] * 4


def test_a_large_frame_without_recursion_is_no_stack_overflow() -> None:
    """A device sets aside what the longest chain of calls needs, however much that is."""
    source = """
    __device__ __noinline__ float mean(int n) {
        float all[3000];
        for (int k = 0; k < n; ++k) all[k] = k;
        return all[n - 1] + all[0];
    }
    extern "C" __global__ void kernel(float* A, int n) { A[threadIdx.x] = mean(n); }
    """
    result = hazard_build(source).run("kernel", (1, 1, 1), (4, 1, 1), zeros(4), np.int32(2000))
    assert not result.findings
    assert dict(result.outputs)["A"].tolist() == [1999.0] * 4


def test_findings_come_by_severity_then_what_ended_the_launch_then_by_count() -> None:
    """An error that happened often stands above one that happened once, and both above a remark."""
    source, hazards, _ = built("hangs")
    parameters = dict(KERNEL.findall(source))["set_too_late"]
    found = launched(hazards, "set_too_late", parameters, "hangs").findings
    assert found[0].kind is FindingKind.TIMEOUT
    order = [(list(Severity).index(each.severity), -each.count) for each in found[1:]]
    assert order == sorted(order)


def test_only_used_bytes_of_a_load_must_be_initialised() -> None:
    """The compiler marks which bytes of a word that it reads are padding."""
    module = parse(_WITH_A_MASK)
    launch = Launch((1, 1, 1), (1, 1, 1))
    for mask, kinds in ((1, []), (3, [FindingKind.UNINITIALISED]), (0, [])):
        text = _WITH_A_MASK.replace('mask 1"', f'mask {mask}"')
        result = run(parse(text), "kernel", launch, (Argument("A", "inout", zeros(4)),), detect=True)
        assert [finding.kind for finding in result.findings] == kinds
    assert [each.used_bytes for each in module.function("kernel").body if each.opcode == "ld"][-1] == 1


_WITH_A_MASK = """
.version 9.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 A)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    .shared .align 4 .b8 word[4];
    ld.param.u64 %rd0, [A];
    mov.u32 %r0, 7;
    st.shared.u8 [word], %r0;
    .pragma "used_bytes_mask 1";
    ld.shared.u32 %r1, [word];
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd0], %r2;
    ret;
}
"""
