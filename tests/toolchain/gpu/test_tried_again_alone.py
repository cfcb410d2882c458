"""Failures on our side of a GPU: the work is tried once more, alone, before it becomes an error."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from grader.grading.assignment import reference_folder
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu import devices
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.nvcc import Tools, find_toolchain
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.toolchain.gpu.pretend import GPU, PretendGpu, product

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.kinds.plan import Plan
    from grader.model import CheckResult, Grade
    from grader.toolchain.sandbox import Job, Result

ASSIGNMENT = bundled("tiled-matmul")
SOLUTION = reference_folder(ASSIGNMENT) / "solution.cu"
POOL = GpuPool((GPU,), "python3", (("sm_90", b"helpers"),))

STAFF = "solution: cudaErrorLaunchFailure: unspecified launch failure"
STUDENT = "student: cudaErrorIllegalAddress: an illegal memory access was encountered"
NO_MEMORY = {"error": "cudaErrorMemoryAllocation", "message": "out of memory"}


@pytest.fixture(autouse=True)
def _locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))


@pytest.fixture(scope="module")
def plan() -> Plan:
    """One case on the pretended GPU, without tools."""
    tools = Tools(find_toolchain(), PretendGpu(), shared_builds())
    whole = pipeline.make_plan(ASSIGNMENT, 1, tools, visible_only=True, backend=GpuBackend(POOL))
    cases = tuple(case for case in whole.cases if case.id == "square-32")
    return replace(whole, cases=cases, feedback=False)


@dataclass
class Answering(PretendGpu):
    """A GPU that gives the first jobs the answers that a test sets, in order, then answers as it should."""

    answers: list[dict[str, Any]] = field(default_factory=list)

    def run(self, job: Job) -> Result:
        """Change what it would answer."""
        answer = self.answers.pop(0) if job.gpu and self.answers else {}
        fault = answer.pop("timing", None)
        self.timing = {"stopped": "fault", "fault": fault} if fault else None
        self.behave = lambda case, arrays: product(case, arrays) | answer.get("case", {})
        self.forge = lambda _kind, files: files | answer.get("files", {})
        return super().run(job)

    def requests(self) -> Iterator[dict[str, Any]]:
        """Return the requests that it was given."""
        return (json.loads(dict(job.files)["request.json"]) for job in self.jobs)


def graded(plan: Plan, *answers: dict[str, Any]) -> tuple[Grade, Answering]:
    """The grade of the model solution, and the GPU that gave these answers."""
    device = Answering(answers=list(answers))
    tools = Tools(find_toolchain(), device, shared_builds())
    return pipeline.grade(plan, Submission("s", "k.cu", SOLUTION.read_bytes(), "d"), tools), device


def result_of(grade: Grade, name: str) -> CheckResult:
    """The result of an item."""
    return next(item.result for item in grade.items if item.result.item.id == name)


LOST = {"case": {"state": "lost", "message": "twice: its process ended without a word"}}
NOT_STARTED = {
    "files": {"result.json": b'{"format": 1, "error": "no process could use the device: out of memory"}'}
}
NO_ROOM = {"case": {"state": "refused", **NO_MEMORY}}


@pytest.mark.parametrize("answer", [LOST, NOT_STARTED, NO_ROOM, {"files": {"result.json": b"not json"}}])
def test_what_fails_beside_others_counts_only_if_it_fails_alone(plan: Plan, answer: dict[str, Any]) -> None:
    """The second run has the GPU to itself, and its answer counts."""
    grade, device = graded(plan, dict(answer))
    assert result_of(grade, "aligned").verdict is Verdict.PASS
    assert [(request["stop_at_hang"], bool(request["slots"])) for request in device.requests()] == [
        (True, True),
        (False, False),
    ]


@pytest.mark.parametrize(
    "fault",
    [
        STAFF,
        "naive: cudaErrorLaunchFailure: unspecified launch failure",
        "again: cudaErrorIllegalAddress: an illegal memory access was encountered",
        "helpers: cudaErrorMemoryAllocation: out of memory",
        "cudaErrorMemoryAllocation: out of memory",
        "lost: its process ended without a word (signal 9)",
    ],
)
def test_what_stops_a_kernel_of_the_staff_is_timed_again(plan: Plan, fault: str) -> None:
    """It is no property of the submission; here the second run shows one that is."""
    grade, device = graded(plan, {"timing": fault}, {"timing": STUDENT})
    assert len(device.jobs) == 2
    result = result_of(grade, "speedup")
    assert result.verdict is Verdict.FAIL
    assert "an illegal memory access" in result.message


def test_a_kernel_of_the_staff_that_stops_twice_is_our_error(plan: Plan) -> None:
    """The error names what stopped, and there is no third try."""
    grade, device = graded(plan, {"timing": STAFF}, {"timing": STAFF}, {"timing": STUDENT})
    assert len(device.jobs) == 2
    result = result_of(grade, "speedup")
    assert result.verdict is Verdict.ERROR
    assert STAFF in result.message


FAULT = {"state": "fault", "error": "cudaErrorIllegalAddress", "message": "an illegal memory access"}
REFUSED = {"state": "refused", "error": "cudaErrorInvalidValue", "message": "invalid argument"}


@pytest.mark.parametrize("case", [FAULT, REFUSED])
def test_a_failure_of_the_student_s_kernel_is_not_tried_again(plan: Plan, case: dict[str, Any]) -> None:
    """A second run might hide it."""
    grade, device = graded(plan, {"case": case})
    assert len(device.jobs) == 1
    assert result_of(grade, "aligned").verdict is Verdict.FAIL


def test_a_student_s_kernel_that_stops_while_it_is_timed_is_not_timed_again(plan: Plan) -> None:
    """As in a case."""
    grade, device = graded(plan, {"timing": STUDENT})
    assert len(device.jobs) == 1
    assert result_of(grade, "speedup").verdict is Verdict.FAIL


def test_a_launch_that_finds_no_memory_alone_either_is_the_student_s(plan: Plan) -> None:
    """It asks for more than the GPU has."""
    grade, device = graded(plan, NO_ROOM, NO_ROOM)
    assert len(device.jobs) == 2
    assert result_of(grade, "aligned").verdict is Verdict.FAIL
