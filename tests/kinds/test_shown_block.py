"""The block that a report lets one watch: where what explains most happens, and never in a hidden case."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.cli import main
from grader.kinds import pipeline
from grader.model import Case, Submission, Visibility
from grader.reports import record_json
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake

if TYPE_CHECKING:
    from grader.model import Grade

REFERENCE = Path(__file__).parents[2] / "reference/matmul"
SIZES = {"large": (20, 50, 10), "small": (5, 20, 3), "single": (1, 1, 1)}


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The tools of this machine, with the builds that others made."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def graded(tools: Tools, file: str, visibility: Visibility = Visibility.VISIBLE) -> Grade:
    """A file of the reference, graded on three cases."""
    assignment = bundled("tiled-matmul")
    cases = tuple(
        Case(name, tuple(zip("MKN", sizes, strict=True)), ("aligned", "non-aligned"), visibility, "random", 1)
        for name, sizes in SIZES.items()
    )
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=False)
    submission = Submission("ada", "ada.cu", mistake(REFERENCE / file), "")
    return pipeline.grade(replace(plan, cases=cases), submission, tools)


def test_a_race_is_traced_in_the_smallest_case_with_something_to_see(tools: Tools) -> None:
    """With the lines that the grade's finding names; the record of the grade stays as small as it was."""
    grade = graded(tools, "mistakes/no_second_barrier.cu")
    assert grade.trace is not None
    assert (grade.trace.case, grade.trace.trace.block) == ("small", (0, 0, 0))
    lines = {finding.line for item in grade.items for finding in item.result.findings}
    assert {finding.line for finding in grade.trace.trace.findings} <= lines
    assert '"trace"' not in record_json.dump(grade)


def test_of_a_wrong_output_the_first_wrong_element_is_marked(tools: Tools) -> None:
    """In the block that stores it, in the smallest case that fails."""
    grade = graded(tools, "mistakes/one_tile_only.cu")
    assert grade.trace is not None
    assert grade.trace.case == "small"
    assert grade.trace.mark is not None
    _, index = grade.trace.mark
    assert index == (0, 0)


def test_hidden_cases_and_right_kernels_are_not_traced(tools: Tools) -> None:
    """A trace has all inputs in it."""
    assert graded(tools, "solution.cu").trace is None
    assert graded(tools, "mistakes/no_second_barrier.cu", Visibility.HIDDEN).trace is None


def test_a_trace_is_kept_beside_the_grade_until_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reports that are written again have it, too; one of a file that is right now has not."""
    file, out = tmp_path / "ada.cu", tmp_path / "out"
    command = ["grade", "tiled-matmul", str(file), "-o", str(out), "--seed", "1", "--i-trust-these-files"]
    kept, report = out / "grades/ada/trace.json.gz", out / "grades/ada/report.html"
    file.write_bytes(mistake(REFERENCE / "mistakes/no_second_barrier.cu"))
    main(command)
    first = report.read_text(encoding="utf-8")
    assert 'id="trace-data"' in first
    main(["report", str(out)])
    assert report.read_text(encoding="utf-8") == first
    file.write_bytes((REFERENCE / "solution.cu").read_bytes())
    main(command)
    assert not kept.exists()
    assert 'id="trace-data"' not in report.read_text(encoding="utf-8")
    capsys.readouterr()
