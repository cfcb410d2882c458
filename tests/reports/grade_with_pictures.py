"""A grade with everything that a page can draw: a wrong output in numbers, a race, traffic, speeds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from grader.model import (
    Amounts,
    Build,
    CaseEvidence,
    CheckResult,
    Evidence,
    ExampleArray,
    Finding,
    FindingKind,
    Grade,
    Launch,
    Verdict,
)
from grader.model.compare import compare, heat_map
from tests.reports.sample_estimates import ESTIMATE
from tests.reports.sample_grades import CASES, ITEMS, missing_barrier, with_staff_texts
from tests.reports.test_speed import timed

MP3 = CASES[1]


def wrong_case() -> CaseEvidence:
    """The case `mp3` with its right edge wrong, in several ways."""
    expected = np.arange(55 * 43, dtype=np.float64).reshape(55, 43) + 1
    got = expected.copy()
    got[:, 32:] += 500.0
    got[:16, 40:] = np.nan
    got[48:, :] = 0.0
    poison = np.zeros(got.shape, bool)
    poison[48:, :] = True
    heat = heat_map(got, expected, 0.5, poison=poison, launch=Launch((3, 4, 1), (16, 16, 1)))
    comparison = replace(compare("C", got, expected, 0.5, poison=poison), heat=heat)
    example = (
        ExampleArray("A", (1, 2), (1.5, -2.0)),
        ExampleArray("B", (2, 1), (3.0, 4.0)),
        ExampleArray("C", (1, 1), (4.5,), (-3.5,), "x"),
    )
    return CaseEvidence(MP3, (comparison,), smallest=(("M", 1), ("K", 2), ("N", 1)), example=example)


def grade_with_pictures(name: str = "grace", words: str = "`C[0][32]` should be 33 but is 533") -> Grade:
    """A race, a wrong output, traffic and speeds; ``words`` are their messages."""
    grade = missing_barrier()
    wrong = Finding(FindingKind.WRONG_OUTPUT, words, case="mp3", address="C[0][32]", wrong_map=(".x", ".?"))
    beyond = Finding(
        FindingKind.OUT_OF_BOUNDS, words, file=f"{name}.cu", line=15, case="mp3", block=(0, 0, 0)
    )
    edges = CheckResult(
        ITEMS[2], Verdict.FAIL, Fraction(1, 3), f"1 of 3 cases is right. {words}", words, (beyond, wrong)
    )
    amounts = Amounts("global_load_bytes", 64704, "naive", 908160, Fraction(1, 20))
    items = list(grade.items)
    items[2] = replace(items[2], result=edges, points=items[2].max_points / 3)
    items[1] = replace(items[1], result=replace(items[1].result, amounts=amounts))
    evidence = Evidence("emulator", Build(ok=True), (wrong_case(),))
    return with_staff_texts(
        replace(
            grade,
            submission_id=name,
            submission_file=f"{name}.cu",
            items=tuple(items),
            timing=timed().timing,
            estimate=ESTIMATE,
            evidence=evidence,
        )
    )
