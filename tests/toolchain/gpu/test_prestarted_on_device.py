"""On a GPU (`pytest -m gpu`): tools that were started before there was anything to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.grading.assignment import reference_folder, staff_folder
from grader.kinds import pipeline
from grader.model import FindingKind, Grade, Submission, Verdict
from grader.running.backends import prepare
from grader.toolchain.gpu import devices
from grader.toolchain.gpu.sanitizer import TOOLS
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

ASSIGNMENT = bundled("tiled-matmul")
SOLUTION = (reference_folder(ASSIGNMENT) / "solution.cu").read_bytes()
RACING = mistake(staff_folder(ASSIGNMENT) / "mistakes" / "no_first_barrier.cu")


def checked(source: bytes) -> Grade:
    """Return the grade that a check gives a file, with tools started before the file is built."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    backend = prepare("gpu", tools, devices.visible(devices.find_gpus()))
    with backend.prestarted(tools) as started:
        plan = pipeline.make_plan(ASSIGNMENT, 3, tools, visible_only=True, backend=started)
        return pipeline.grade(plan, Submission("s", "matmul.cu", source, ""), tools)


def watched() -> list[str]:
    """Processes of compute-sanitizer that are running."""
    lines = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists())
    return [line.decode() for line in lines if b"compute-sanitizer" in line]


def test_a_right_file_has_full_marks_and_every_tool_reports() -> None:
    """Nothing runs any more afterwards."""
    grade = checked(SOLUTION)
    assert (grade.score, grade.verdict, grade.error) == (grade.max_score, Verdict.PASS, "")
    assert dict(grade.witnesses) == dict.fromkeys(TOOLS, "ok")
    assert watched() == []


def test_a_race_is_still_borne_out_by_racecheck() -> None:
    """Its run begins anew, with names of launches."""
    grade = checked(RACING)
    assert grade.evidence is not None
    races = [f for case in grade.evidence.cases for f in case.findings if f.kind is FindingKind.RACE]
    assert any("racecheck" in finding.witnesses for finding in races)
    assert dict(grade.witnesses) == dict.fromkeys(TOOLS, "ok")
    assert watched() == []


def test_a_file_that_does_not_compile_leaves_nothing_running() -> None:
    """Tools that wait are ended with the check."""
    assert checked(b"this is no C++").verdict is Verdict.FAIL
    assert watched() == []
