"""The tables of the experiments on a GPU, of made-up grades."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench.gpu import demo_class, one_submission, repeated, speedups
from tests.bench.gpu.grading import table
from tests.toolchain.gpu.sample_grades import run, sample_grade


def test_a_table_is_markdown_and_keeps_its_cells_apart() -> None:
    """A dash for nothing, three decimals, no bar or line feed from within a cell."""
    assert table(("a", "b"), [(1.23456, None), ("x|y\nz", 0)]) == (
        "| a | b |\n| --- | --- |\n| 1.235 | – |\n| x\\|y z | 0 |\n"
    )


@pytest.mark.parametrize(
    ("graded", "loses", "expected"),
    [
        (sample_grade(), (), "yes"),
        (sample_grade("speedup"), (), "yes"),
        (sample_grade("memory"), ("barriers",), "loses memory; keeps barriers"),
        (sample_grade(), None, ""),
        (sample_grade(ours="barriers"), (), "OUR ERROR: barriers: barriers says why"),
    ],
)
def test_a_grade_is_compared_with_what_it_should_lose(
    graded: dict[str, Any], loses: tuple[str, ...] | None, expected: str
) -> None:
    """But for the speedup; an error of ours is never as expected."""
    assert demo_class.as_expected(graded, loses) == expected


def test_the_table_of_verdicts_counts_those_that_are_as_expected() -> None:
    """A row for each, in the order of the grades."""
    grades = {"ada": sample_grade(), "bo": sample_grade("memory", score=90)}
    text = demo_class.verdict_table(grades, {"ada": (), "bo": ()})
    assert "| ada | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | 100 of 100 | 1.500 | yes |" in text
    assert "| bo | ✓ | ✓ | ✓ | ✓ | ✗ | ✓ | ✓ | 90 of 100 | 1.500 | loses memory |" in text
    assert "as expected: 1 of 2" in text


def test_the_summary_of_a_class_lists_how_long_each_stage_and_the_gpu_were_busy() -> None:
    """Amortised wall time, stages, and how long the GPU was had alone by those that were timed."""
    grades = {"ada": sample_grade(gpu=1.0), "bo": sample_grade(speedup=None), "cy": sample_grade(gpu=3.0)}
    text = demo_class.summary(9.0, grades, 16)
    assert "| per submission, amortised, s | 3.000 |" in text
    assert "| timed submissions | 2 |" in text
    assert "| rounds, mean per timed submission | 40.000 |" in text
    assert "| GPU to itself, mean per timed submission, s | 0.400 |" in text
    assert "| gpu | 2 | 2.000 | 3.000 | 4.000 |" in text


def test_speedups_stand_beside_those_of_the_design() -> None:
    """With interval, arithmetic rate and the library's time; a size that was not timed has a reason."""
    text = speedups.speedup_table({1024: sample_grade(), 512: sample_grade(speedup=None, ours="speedup")})
    assert "on a GPU" in text
    assert (
        "| 1024 | 0.420 | 0.280 | 1.500 | 1.450 to 1.550 | 1.510 | -0.7 % | 1.001 | 40 | 7670.000 |" in text
    )
    assert "| 512 | speedup: speedup says why |" in text


def test_stages_of_one_submission_stand_side_by_side() -> None:
    """Medians; a stage that a column does not have is a dash."""
    cold = [{"wall": w, "stages": {"build": w / 2}, "verdict": "pass"} for w in (4.0, 6.0, 5.0)]
    warm = [{"wall": 2.0, "stages": {"run": 1.0}, "verdict": "pass"}]
    text = one_submission.stage_table({"cold": cold, "warm": warm})
    assert "| whole command | 5.000 | 2.000 |" in text
    assert "| build | 2.500 | – |" in text
    assert "| run | – | 1.000 |" in text


def test_a_run_flips_where_its_credit_is_not_what_its_true_ratio_deserves() -> None:
    """Full credit below the threshold, none above it; runs that we failed are left out."""
    runs = [run(full=True), run(full=False), run(full=True) | {"errors": ["noise"]}]
    assert repeated.flips(runs, 0.97) == (1, 2)
    assert repeated.flips(runs, 1.03) == (1, 2)


def test_the_table_of_ratios_lists_the_measured_ratios() -> None:
    """The mean over all runs, as a share of the threshold, beside the intended one."""
    runs = {"0.99": [run(full=True, speedup=1.2375, settled=False), run(full=False, speedup=1.2375)]}
    row = repeated.ratios_table(runs).splitlines()[-1]
    assert row == "| 0.99 | 0.990 | 2 | 1 | 1 | 50 % | 1 | 40 | 0 |"


def test_ratios_that_could_not_be_judged_are_counted_as_ours() -> None:
    """And make no flip rate."""
    runs = {"0.99": [run(full=False) | {"errors": ["noise"], "speedup": None}]}
    assert repeated.ratios_table(runs).splitlines()[-1] == "| 0.99 | – | 1 | – | – | – | – | – | 1 |"


def test_the_scores_of_one_file_are_listed_separately() -> None:
    """Every score that occurred, and how far the speedups spread."""
    runs = [run(full=True, speedup=1.5), run(full=False, speedup=1.5)]
    row = repeated.scores_table({"solution": runs}).splitlines()[-1]
    assert row == "| solution | 2 | 20, 100 | 1.500 | 1.500 | 1.500 | 0.00 % | 2 of 2 | 0 |"


def test_the_control_is_near_one_within_one_percent() -> None:
    """On both sides."""
    runs = [run(full=True, control=value) for value in (0.995, 1.005, 1.02, 0.98)]
    assert repeated.control_row("quiet", runs)[:3] == ["quiet", 4, "50.0 %"]


def test_what_a_run_keeps_of_its_grade() -> None:
    """Score, ratios and whether it was settled; nothing where nothing was timed."""
    kept = repeated.compact(sample_grade())
    assert (kept["full"], kept["speedup"], kept["control"], kept["settled"]) == (True, 1.5, 1.001, True)
    assert repeated.compact(sample_grade("speedup", speedup=None))["speedup"] is None
