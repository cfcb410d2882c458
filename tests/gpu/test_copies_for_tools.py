"""Tools get copies of a kernel, a name for each launch, only where they have something to tell."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from grader import pipeline
from grader.assignment import reference_folder
from grader.backends.gpu import GpuBackend
from grader.gpu import devices
from grader.gpu.pool import GpuPool
from grader.model import Submission, Verdict
from grader.nvcc import Tools, find_toolchain
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.gpu.captured import access, document, log
from tests.gpu.pretend import GPU, PretendGpu

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

ASSIGNMENT = bundled("tiled-matmul")
SOLUTION = (reference_folder(ASSIGNMENT) / "solution.cu").read_bytes()
POOL = GpuPool((GPU,), "python3", (("sm_90", b"helpers"),), "compute-sanitizer")


@pytest.fixture(autouse=True)
def _locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))


def graded(device: PretendGpu, source: bytes) -> Grade:
    """The grade of a file on a device that is pretended."""
    tools = Tools(find_toolchain(), device, shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, 1, tools, visible_only=True, backend=GpuBackend(POOL))
    return pipeline.grade(plan, Submission("s", "matmul.cu", source, "d"), tools)


def runs(device: PretendGpu) -> list[tuple[str, bool]]:
    """The tools that ran, and whether each launch had a kernel with a name of its own."""
    found = []
    for job in device.jobs:
        if "--tool" in job.argv:
            cases = json.loads(dict(job.files)["request.json"])["cases"]
            named = {case["entry"] for case in cases}
            assert named == {None} or len(named) == len(cases)
            found.append((job.argv[job.argv.index("--tool") + 1], named != {None}))
    return sorted(found)


def test_a_kernel_in_which_nobody_sees_anything_is_not_copied() -> None:
    """All tools clear it as it is."""
    device = PretendGpu()
    grade = graded(device, SOLUTION)
    assert runs(device) == [(tool, False) for tool in ("initcheck", "memcheck", "racecheck", "synccheck")]
    assert set(dict(grade.witnesses).values()) == {"ok"}


def test_a_kernel_that_the_emulator_accuses_is_copied_at_once() -> None:
    """No time is lost: its barriers are missing."""
    device = PretendGpu()
    graded(device, SOLUTION.replace(b"__syncthreads();", b""))
    assert runs(device) == [(tool, True) for tool in ("initcheck", "memcheck", "racecheck", "synccheck")]


def test_what_a_tool_alone_finds_is_told_by_a_run_with_copies() -> None:
    """Only that tool runs again, and its finding has a line and a case."""

    def forge(tool: str, left: dict[str, bytes]) -> dict[str, bytes]:
        if tool == "memcheck":
            return left | {"memcheck.xml": document(access()).encode(), "memcheck.log": log(1).encode()}
        return left

    device = PretendGpu(forge=forge)
    grade = graded(device, SOLUTION)
    assert [named for tool, named in runs(device) if tool == "memcheck"] == [False, True]
    assert len(runs(device)) == 5
    (memory,) = [item.result for item in grade.items if item.result.item.id == "memory"]
    assert memory.verdict is Verdict.FAIL
    assert {finding.line for finding in memory.findings} == {3}
