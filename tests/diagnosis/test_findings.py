"""What races and bad accesses suggest."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from grader.diagnosis import advise, explain_findings
from grader.model import CheckResult, Finding, FindingKind, RubricItem, Severity, Verdict


def race(hazard: str, line: int | None, other: int | None, array: str = "A_tile", **fields: Any) -> Finding:  # noqa: ANN401
    """A race whose second access is on ``line``."""
    return Finding(
        FindingKind.RACE, "", hazard=hazard, line=line, other_line=other, address=f"{array}[3][5]", **fields
    )


def test_a_missing_first_barrier_is_to_go_between_the_loads_and_the_first_read() -> None:
    """Both tiles loaded before the same missing barrier make one suggestion."""
    (found,) = explain_findings([race("RAW", 18, 13), race("RAW", 18, 14, "B_tile")])
    assert found.mistake == "barrier-before-reading"
    assert found.explanation == (
        "a thread reads `A_tile` and `B_tile` on line 18 while another is still writing there "
        "on lines 13 and 14"
    )
    assert found.hint == "put `__syncthreads()` between lines 14 and 18."


def test_a_missing_second_barrier_is_to_go_before_the_next_iteration() -> None:
    """The overwriting line stands above the reading one: the loop comes back."""
    (found,) = explain_findings([race("WAR", 13, 18), race("WAR", 14, 18, "B_tile")])
    assert found.mistake == "barrier-before-overwriting"
    assert (
        "a second `__syncthreads()` at the end of the loop body, after the last read on line 18" in found.hint
    )
    assert "before the next iteration of the loop overwrites the tile on lines 13 and 14" in found.hint


def test_with_no_barrier_at_all_the_first_one_is_told_first() -> None:
    """Whatever the order of the findings."""
    found = explain_findings([race("WAR", 13, 18), race("RAW", 18, 13)])
    assert [one.mistake for one in found] == ["barrier-before-reading", "barrier-before-overwriting"]


def test_accesses_across_a_loop_s_end_are_not_joined_with_those_inside() -> None:
    """One barrier would not do for both."""
    found = explain_findings([race("RAW", 18, 13), race("RAW", 11, 20)])
    assert [one.hint for one in found] == [
        "put `__syncthreads()` between lines 13 and 18.",
        "put `__syncthreads()` after line 20, before the loop comes back to line 11.",
    ]


@pytest.mark.parametrize(
    ("finding", "mistake", "words"),
    [
        (race("WAR", 20, 18), "barrier-between", "between lines 18 and 20"),
        (race("WAW", 20, 18), "two-writers", "atomic"),
        (race("RAW", 20, 20), "unsynchronised-update", "atomicAdd"),
        (race("RAW", 20, 18, block=(0, 0, 0), other_block=(1, 0, 0)), "race-between-blocks", "other blocks"),
        (
            race("RAW", 20, 18, severity=Severity.WARNING),
            "race-inside-warp",
            "`__syncwarp()` between lines 18",
        ),
        (race("RAW", None, None), "barrier-before-reading", "between the two accesses"),
        (
            Finding(FindingKind.OUT_OF_BOUNDS, "reads A[9], 1 past its end"),
            "load-out-of-bounds",
            "inside the array",
        ),
        (Finding(FindingKind.OUT_OF_BOUNDS, "writes C[9]"), "store-out-of-bounds", "guard the store"),
        (Finding(FindingKind.OUT_OF_BOUNDS, "", hazard="load"), "load-out-of-bounds", "inside the array"),
        (Finding(FindingKind.OUT_OF_BOUNDS, "somewhere"), "access-out-of-bounds", "compare every index"),
        (Finding(FindingKind.BARRIER_DIVERGENCE, "", line=7), "barrier-divergence", "out of the `if`"),
        (Finding(FindingKind.MISALIGNED, "", line=7), "misaligned-access", "multiple of the size"),
        (Finding(FindingKind.UNINITIALISED, "", line=7), "uninitialised-read", "start sums at 0"),
        (Finding(FindingKind.TIMEOUT, "", line=7), "endless", "condition and step on line 7"),
        (Finding(FindingKind.FAULT, "", line=7), "fault", "trap"),
    ],
)
def test_each_kind_of_finding_suggests_its_repair(finding: Finding, mistake: str, words: str) -> None:
    """By kind, hazard, severity and lines."""
    (found,) = explain_findings([finding])
    assert found.mistake == mistake
    assert words in found.hint


def test_findings_about_outputs_and_compilers_suggest_nothing() -> None:
    """Those have messages of their own."""
    kinds = (FindingKind.COMPILE, FindingKind.WRONG_OUTPUT, FindingKind.TRAFFIC, FindingKind.MISTAKE)
    assert explain_findings(Finding(kind, "x") for kind in kinds) == ()


@pytest.mark.parametrize("address", ["0x7f00", "local", "shared[3]", "\x1b[2J", ""])
def test_only_names_are_named(address: str) -> None:
    """Anything else is memory."""
    (found,) = explain_findings([Finding(FindingKind.OUT_OF_BOUNDS, "reads", line=3, address=address)])
    assert found.explanation == "a thread reads outside memory on line 3"


def result(verdict: Verdict, hint: str, *findings: Finding) -> CheckResult:
    """A result with findings."""
    item = RubricItem("barriers", "barriers", Fraction(1), "races")
    return CheckResult(item, verdict, Fraction(0), "because", hint=hint, findings=findings)


def test_advice_comes_before_the_staff_s_hint() -> None:
    """At most two repairs at once; advising twice changes nothing."""
    findings = (race("RAW", 18, 13), race("WAR", 13, 18), race("WAW", 9, 9))
    once = advise([result(Verdict.FAIL, "See chapter 5.", *findings)])
    assert once[0].hint.startswith("put `__syncthreads()` between lines 13 and 18. put a second")
    assert once[0].hint.endswith(" See chapter 5.")
    assert "atomic" not in once[0].hint
    assert advise(once) == once


def test_only_failures_get_advice() -> None:
    """A pass with findings that cost nothing is left alone."""
    passed = result(Verdict.PASS, "", race("RAW", 18, 13))
    plain = result(Verdict.FAIL, "See chapter 5.")
    assert advise([passed, plain]) == (passed, plain)
