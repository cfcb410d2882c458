"""The keys of staff for speed, and the steps of credit that they become."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import SpecError
from grader.grading.assignment import load_assignment
from grader.model import Threshold, TimingPlan
from tests.grading.assignment.conftest import SOUND

if TYPE_CHECKING:
    from pathlib import Path

    from tests.grading.assignment.conftest import Write

SPEEDUP = "  - {id: fast, points: 1, check: speedup, baseline: naive, %s}\n"


def steps_of(write: Write, asked: str) -> tuple[tuple[Threshold, Fraction], ...]:
    """The steps of a speedup item, in the assignment as it was loaded."""
    options = dict(load_assignment(write(SOUND + SPEEDUP % asked)).rubric[-1].options)
    assert list(options) == ["baseline", "steps"]
    steps: tuple[tuple[Threshold, Fraction], ...] = options["steps"]
    return steps


def test_a_linear_band_is_ten_steps(write: Write) -> None:
    """Nothing at the lower end, a tenth of the credit for each tenth of the way, all of it at the upper."""
    steps = steps_of(write, "none_below: 1.0, full_at: 1.25")
    assert [credit for _, credit in steps] == [Fraction(number, 10) for number in range(1, 11)]
    assert [threshold.fixed for threshold, _ in steps] == [1 + Fraction(n, 40) for n in range(1, 11)]
    assert not any(threshold.of_solution for threshold, _ in steps)


def test_a_band_may_end_at_a_share_of_the_model_solution(write: Write) -> None:
    """Between a number and a share lies so much of both."""
    steps = steps_of(write, "none_below: 1, full_at: 0.9 of solution")
    assert steps[-1] == (Threshold(of_solution=Fraction(9, 10)), Fraction(1))
    assert steps[4] == (Threshold(Fraction(1, 2), Fraction(9, 20)), Fraction(1, 2))
    assert steps[4][0].speedup(2.0) == pytest.approx(1.4)


def test_steps_are_taken_as_they_are_written(write: Write) -> None:
    """Numbers and shares may be mixed: which of two asks for more is then up to the device."""
    listed = "{at: 1.0, credit: 0.25}, {at: 1.3, credit: 0.5}, {at: 0.9  of  solution, credit: 1}"
    assert steps_of(write, f"steps: [{listed}]") == (
        (Threshold(Fraction(1)), Fraction(1, 4)),
        (Threshold(Fraction(13, 10)), Fraction(1, 2)),
        (Threshold(of_solution=Fraction(9, 10)), Fraction(1)),
    )


def test_what_is_timed_may_be_given_in_full(write: Write) -> None:
    """The model solution, the kind of inputs and the budget."""
    text = SOUND.replace("timing: {", "timing: {solution: naive, inputs: spikes, budget: 1.5, ")
    assert load_assignment(write(text)).timing == TimingPlan((("N", 4096),), "naive", "naive", "spikes", 1.5)


def test_without_a_model_solution_there_is_none_to_time(write: Write, tmp_path: Path) -> None:
    """No complaint unless a threshold is a share of what it reaches, and then at that threshold."""
    folder = write(SOUND + SPEEDUP % "none_below: 1, full_at: 2")
    (tmp_path / "reference" / "scaling" / "solution.cu").unlink()
    timing = load_assignment(folder).timing
    assert timing is not None
    assert timing.solution == ""
    relative = "steps: [{at: 1, credit: 0.5}, {at: 0.9 of solution, credit: 1}]"
    (folder / "assignment.yaml").write_text(SOUND + SPEEDUP % relative)
    with pytest.raises(SpecError) as caught:
        load_assignment(folder)
    assert caught.value.problems[0].startswith(f"{folder}/assignment.yaml:23:95: rubric[2].steps[1].at: ")
    assert caught.value.problems[0].endswith(
        "a share of the model solution needs its kernel, and there is no `solution.cu` in the reference; "
        "name it in `timing.solution`"
    )
    assert len(caught.value.problems) == 1


def test_an_item_may_ask_to_be_judged_by_an_estimate(write: Write) -> None:
    """It is judged so only if it asks for it, and for the device that `timing` names."""
    text = SOUND.replace("timing: {", "timing: {estimate_for: rtx4090, ")
    assignment = load_assignment(write(text + SPEEDUP % "none_below: 1, full_at: 2, estimate: true"))
    assert dict(assignment.rubric[-1].options)["estimate"] is True
    assert assignment.timing is not None
    assert assignment.timing.estimate_for == "rtx4090"
    plain = load_assignment(write(SOUND + SPEEDUP % "none_below: 1, full_at: 2"))
    assert "estimate" not in dict(plain.rubric[-1].options)
    assert plain.timing is not None
    assert plain.timing.estimate_for == "h200"


def test_a_share_of_the_model_solution_is_not_estimated(write: Write) -> None:
    """A device without a model is refused as well; both problems are reported at their keys."""
    text = SOUND.replace("timing: {", "timing: {estimate_for: h300, ")
    with pytest.raises(SpecError) as caught:
        load_assignment(write(text + SPEEDUP % "none_below: 1, full_at: 0.9 of solution, estimate: true"))
    problems = [problem.partition("assignment.yaml:")[2] for problem in caught.value.problems]
    assert [problem.partition(": ")[2] for problem in problems] == [
        "timing.estimate_for: `h300` means nothing here; did you mean `h200`?",
        "rubric[2].full_at: expected a number beside `estimate: true`: the model solution is not estimated",
    ]


def test_a_misspelt_baseline_of_the_timing_is_reported_once(write: Write) -> None:
    """The item that names the right one is not asked to name the wrong one as well."""
    text = SOUND.replace("timing: {", "timing: {baseline: naiv, ")
    with pytest.raises(SpecError) as caught:
        load_assignment(write(text + SPEEDUP % "none_below: 1, full_at: 2"))
    (problem,) = caught.value.problems
    assert problem.endswith("timing.baseline: the reference has no kernel `naiv.cu`; did you mean `naive`?")
