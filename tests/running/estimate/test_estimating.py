"""The estimate of a submission: when it has one, of what, and what becomes of the grade where it has none."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError
from grader.grading.assignment import reference_folder
from grader.kinds import estimating, pipeline
from grader.kinds.estimate_request import EstimateRequest
from grader.kinds.estimating import build_of_staff, estimate_submission, solution_is_compared
from grader.kinds.kernel import estimating as kernel_estimating
from grader.model import DEVICES, Submission, Verdict
from grader.running.estimate import ERROR_BOUND
from grader.running.estimate.cache import entry_for
from grader.running.estimate.native_simulation import simulation_library
from grader.simulation.native.library import native_library
from tests.bundled import bundled
from tests.mistakes import mistake
from tests.running.estimate.launches import tools

if TYPE_CHECKING:
    from pathlib import Path

    from grader.kinds.plan import Plan
    from grader.model import Assignment, Build, Estimate, Grade, KernelEstimate, Named
    from grader.toolchain.nvcc import Tools

ASSIGNMENT = bundled("tiled-matmul")
REFERENCE = reference_folder(ASSIGNMENT)
SHAPE = (("M", 256), ("K", 256), ("N", 256))


def file(name: str = "solution") -> Submission:
    """A file of the staff's as a submission."""
    return Submission("ada", "ada.cu", mistake(REFERENCE / f"{name}.cu"), "")


def small(assignment: Assignment, shape: Named[int] = SHAPE) -> Assignment:
    """The assignment with a shape that takes no second, and one case."""
    assert assignment.timing is not None
    cases = tuple(case for case in assignment.cases if case.id in ("square-32", "mp3"))
    return replace(assignment, timing=replace(assignment.timing, shape=shape), cases=cases[:2])


def by_estimate(assignment: Assignment) -> Assignment:
    """The assignment, with an item for speed that an estimate decides."""
    rubric = tuple(
        replace(item, options=(*((k, v) for k, v in item.options if k != "estimate"), ("estimate", True)))
        if item.check == "speedup"
        else item
        for item in assignment.rubric
    )
    return replace(assignment, rubric=rubric)


def plan_of(assignment: Assignment, *, estimates: bool = False) -> Plan:
    """A plan of the emulator's; ``estimates`` as `check` has it."""
    plan = pipeline.make_plan(assignment, 1, tools(), visible_only=True)
    return replace(plan, estimates=estimates)


@cache
def graded(name: str = "solution", *, estimates: bool = False, counts: bool = False) -> Grade:
    """The grade of a file; ``counts`` where the rubric gives points for an estimate."""
    assignment = by_estimate(small(ASSIGNMENT)) if counts else small(ASSIGNMENT)
    return pipeline.grade(plan_of(assignment, estimates=estimates), file(name), tools())


def verdicts(grade: Grade) -> dict[str, Verdict]:
    """By item."""
    return {item.result.item.id: item.result.verdict for item in grade.items}


def test_a_check_has_an_estimate_where_an_item_asks_for_speed() -> None:
    """It gives no points: the item stays skipped."""
    grade = graded(estimates=True)
    estimate = grade.estimate
    assert estimate is not None
    assert estimate.ratio is not None
    assert estimate.ratio.low < estimate.ratio.median < estimate.ratio.high
    assert (estimate.device, estimate.baseline, estimate.shape) == ("h200", "naive", SHAPE)
    assert estimate.error_bound == ERROR_BOUND
    assert [name for name, _ in estimate.kernels] == ["student", "naive"]
    assert verdicts(grade)["speedup"] is Verdict.SKIP


def test_the_baseline_is_as_fast_as_itself() -> None:
    """The naive kernel, handed in."""
    estimate = graded("naive", estimates=True).estimate
    assert estimate is not None
    assert estimate.ratio is not None
    assert estimate.ratio.median == pytest.approx(1)


def test_a_grade_has_none_unless_its_rubric_gives_points_for_it() -> None:
    """Then the item is judged by it, without a GPU."""
    assert graded().estimate is None
    grade = graded(counts=True)
    assert grade.estimate is not None
    assert grade.estimate.ratio is not None
    assert verdicts(grade)["speedup"] in {Verdict.PASS, Verdict.FAIL}


def test_nothing_is_estimated_where_no_item_asks_for_speed() -> None:
    """No item of the rubric is about it."""
    assignment = small(ASSIGNMENT)
    without = replace(assignment, rubric=tuple(i for i in assignment.rubric if i.check != "speedup"))
    assert pipeline.grade(plan_of(without, estimates=True), file(), tools()).estimate is None


def test_a_wrong_kernel_has_no_estimate() -> None:
    """However fast it would be; and one that does not compile has nothing."""
    wrong = graded("mistakes/c_indexed_with_m", estimates=True).estimate
    assert wrong is not None
    assert (wrong.problem, wrong.ratio) == ("wrong", None)
    broken = Submission("ada", "ada.cu", b"__global__ void tiledMatMul(", "")
    plan = plan_of(small(ASSIGNMENT), estimates=True)
    assert pipeline.grade(plan, broken, tools()).estimate is None


@pytest.mark.parametrize("failure", [OurError("no machine code could be made"), ZeroDivisionError("a bug")])
def test_a_fault_of_ours_changes_nothing_but_the_estimate(
    failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every item has the verdict that it has without one."""

    def fails(*_: object) -> None:
        raise failure

    monkeypatch.setattr(kernel_estimating, "estimate_kernel", fails)
    plan = plan_of(small(ASSIGNMENT, (("M", 64), ("K", 64), ("N", 64))), estimates=True)
    grade = pipeline.grade(plan, file(), tools())
    assert grade.estimate is not None
    assert (grade.estimate.problem, grade.estimate.ratio) == ("failed", None)
    assert verdicts(grade) == verdicts(graded())


def test_without_a_disassembler_there_is_no_estimate() -> None:
    """The item is skipped, whatever the same process has estimated with one."""
    plan = plan_of(by_estimate(small(ASSIGNMENT)))
    timing = plan.assignment.timing
    assert timing
    request = EstimateRequest(plan.assignment, plan.seed, timing, tools(), timing.estimate_for)
    assert solution_is_compared(request)
    bare = replace(tools(), toolchain=replace(tools().toolchain, nvdisasm=""))
    grade = pipeline.grade(plan, file(), bare)
    assert grade.estimate is not None
    assert grade.estimate.problem == "no-disassembler"
    assert verdicts(grade)["speedup"] is Verdict.SKIP


def test_without_the_native_core_there_is_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else executes machine code; the reason says how to get it."""
    monkeypatch.setenv("GRADER_CORE", "/nowhere")
    for loader in (native_library, simulation_library):
        loader.cache_clear()
    try:
        grade = pipeline.grade(plan_of(small(ASSIGNMENT), estimates=True), file(), tools())
    finally:
        monkeypatch.undo()
        native_library.cache_clear()
    assert grade.estimate is not None
    assert grade.estimate.problem == "no-core"
    assert verdicts(grade)["speedup"] is Verdict.SKIP


def estimated(name: str, device: str = "h200", shape: Named[int] = SHAPE) -> Estimate:
    """The estimate that `grader estimate` asks for."""
    return estimate_submission(plan_of(small(ASSIGNMENT)), file(name), tools(), device, shape)


@pytest.mark.parametrize("device", DEVICES)
def test_every_device_has_an_estimate(device: str) -> None:
    """Tiles are faster on each of them."""
    estimate = estimated("solution", device)
    assert estimate.ratio is not None, estimate.problem
    assert 1 < estimate.ratio.median < 4
    assert estimate.device == device


def test_a_launch_that_is_refused_has_no_estimate() -> None:
    """More rows of blocks than a grid may have."""
    rows = (("M", 16 * 65536), ("K", 1), ("N", 1))
    assert estimated("solution", shape=rows).problem == "not-launched"


def test_the_baseline_is_estimated_once_for_all_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next process finds it in the folder of builds, to the last digit; what is broken there is none."""
    builds = []

    def noted(assignment: Assignment, kernel: str, own: Tools) -> Build:
        builds.append(kernel)
        return build_of_staff(assignment, kernel, own)

    monkeypatch.setattr(estimating, "build_of_staff", noted)
    monkeypatch.setattr(estimating, "entry_for", lambda _, parts: entry_for(tmp_path, parts))
    shape = (("M", 64), ("K", 64), ("N", 64))

    def baseline(device: str = "h200") -> KernelEstimate:
        monkeypatch.setattr(estimating, "_baselines", {})  # as in another process
        estimate = estimate_submission(plan_of(small(ASSIGNMENT)), file(), tools(), device, shape)
        return dict(estimate.kernels)["naive"]

    first = baseline()
    assert (baseline(), len(builds)) == (first, 1)
    assert baseline("t4") != first
    assert len(builds) == 2
    for entry in (tmp_path / "estimates").rglob("*.json"):
        entry.write_text("{}", "utf-8")
    assert (baseline(), len(builds)) == (first, 3)


def test_two_estimates_of_a_file_are_the_same() -> None:
    """To the last digit."""
    assert estimated("solution") == estimated("solution")
