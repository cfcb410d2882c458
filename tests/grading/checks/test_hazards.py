"""The `races` and `memory` checks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from grader.model import Access, Build, Finding, FindingCode, FindingKind, Severity, Verdict
from tests.grading.checks.judging import judge

Make = Any
"""A fixture of conftest: it takes what the record takes."""

RACE = Finding(
    FindingKind.RACE,
    "thread (3, 0) reads A_tile[0][3] on line 18, which thread (5, 0) writes on line 13",
    hazard="RAW",
    file="tiled.cu",
    line=18,
    other_line=13,
    block=(2, 0, 0),
    thread=(3, 0, 0),
    other_thread=(5, 0, 0),
    address="A_tile[0][3]",
    count=40,
)
OUTSIDE = Finding(
    FindingKind.OUT_OF_BOUNDS,
    "reads A[2640], 1 past its end",
    line=13,
    address="A[2640]",
    thread=(1, 2, 0),
    code=FindingCode.BEYOND_ARRAY,
)
UNSET = Finding(
    FindingKind.COMPILE,
    'variable "sum" is used before its value is set [549-D]',
    line=9,
    severity=Severity.WARNING,
    code=FindingCode.UNSET_VARIABLE_REPORTED,
)


@pytest.mark.parametrize("check", ["races", "memory"])
def test_clean_runs_earn_all_points(check: str, item: Make, case: Make, evidence: Make) -> None:
    """However wrong the output is: that is another item's business."""
    result = judge(item(check), evidence(case("a"), case("b", hidden=True)))
    assert [result.verdict, result.fraction] == [Verdict.PASS, 1]
    assert result.message.endswith("in 2 cases")


@pytest.mark.parametrize(
    ("check", "kinds"),
    [
        ("races", {FindingKind.RACE, FindingKind.BARRIER_DIVERGENCE, FindingKind.UNDEFINED}),
        (
            "memory",
            {
                FindingKind.OUT_OF_BOUNDS,
                FindingKind.MISALIGNED,
                FindingKind.UNINITIALISED,
                FindingKind.FAULT,
            },
        ),
    ],
)
def test_each_check_fails_on_its_own_kinds_and_no_other(
    check: str, kinds: set[FindingKind], item: Make, case: Make, evidence: Make
) -> None:
    """A race does not cost the memory points, nor a bad access those for barriers."""
    for kind in FindingKind:
        result = judge(item(check), evidence(case("a", findings=(Finding(kind, "it happened"),))))
        assert (result.verdict is Verdict.FAIL) == (kind in kinds), kind


def test_a_race_is_reported_once_with_its_counts_summed(item: Make, case: Make, evidence: Make) -> None:
    """The same two lines in two cases are one finding: the first, with the worst severity."""
    second = replace(RACE, count=2, block=(0, 1, 0))
    cases = (case("a", findings=(replace(RACE, severity=Severity.WARNING),)), case("b", findings=(second,)))
    result = judge(item("races"), evidence(*cases))
    assert result.findings == (replace(RACE, count=42, case="a"),)
    assert result.message == RACE.message + ", 42 times"
    assert result.case_verdicts == (("a", Verdict.FAIL), ("b", Verdict.FAIL))


def test_the_severest_finding_leads(item: Make, case: Make, evidence: Make) -> None:
    """Another race on other lines is another finding."""
    mild = replace(RACE, line=20, severity=Severity.WARNING, message="threads of a warp")
    result = judge(item("races"), evidence(case("a", findings=(mild, RACE))))
    assert [finding.line for finding in result.findings] == [18, 20]
    assert result.message.endswith("40 times; and 1 more pair of lines")


def test_how_often_and_in_how_many_places_are_two_counts(item: Make, case: Make, evidence: Make) -> None:
    """A bad access has a place, a race two lines."""
    others = tuple(replace(OUTSIDE, line=line) for line in (14, 15))
    result = judge(item("memory"), evidence(case("a", findings=(OUTSIDE, *others))))
    assert result.message.endswith("1 past its end; and at 2 more places")


@pytest.mark.parametrize(
    ("severity", "option", "verdict"),
    [
        (Severity.ERROR, {}, Verdict.FAIL),
        (Severity.WARNING, {}, Verdict.FAIL),
        (Severity.INFO, {}, Verdict.PASS),
        (Severity.ERROR, {"severity": "error"}, Verdict.FAIL),
        (Severity.WARNING, {"severity": "error"}, Verdict.PASS),
    ],
)
def test_warnings_count_unless_the_item_ignores_them(
    severity: Severity, option: dict[str, str], verdict: Verdict, item: Make, case: Make, evidence: Make
) -> None:
    """A hazard that cannot be observed never costs anything."""
    found = case("a", findings=(replace(RACE, severity=severity),))
    assert judge(item("races", options=option), evidence(found)).verdict is verdict


@pytest.mark.parametrize(
    ("check", "kind"),
    [
        ("races", FindingKind.TIMEOUT),
        ("races", FindingKind.OUT_OF_BOUNDS),
        ("races", FindingKind.FAULT),
        ("memory", FindingKind.TIMEOUT),
        ("memory", FindingKind.BARRIER_DIVERGENCE),
    ],
)
def test_a_run_that_stopped_early_earns_nothing_and_the_message_gives_the_reason(
    check: str, kind: FindingKind, item: Make, case: Make, evidence: Make
) -> None:
    """Further hazards may lie behind the stop."""
    stop = Finding(kind, "stopped", line=7, code=FindingCode.TRAP)
    stopped = case("b", completed=False, findings=(stop,))
    result = judge(item(check), evidence(case("a"), stopped))
    assert result.verdict is Verdict.FAIL
    assert result.message.startswith("could not be judged, because case `b` did not run to its end: ")
    assert "line 7" in result.message
    assert result.case_verdicts == (("a", Verdict.PASS), ("b", Verdict.FAIL))


@pytest.mark.parametrize("check", ["races", "memory"])
def test_a_run_that_the_emulator_followed_to_its_end_is_judged_although_a_device_stopped(
    check: str, item: Make, case: Make, evidence: Make
) -> None:
    """All that lies behind the stop was seen; what was seen there counts as ever."""
    stop = Finding(FindingKind.TIMEOUT, "did not end", line=7)
    followed = case("a", completed=False, followed=True, findings=(stop,))
    assert judge(item(check), evidence(followed)).verdict is Verdict.PASS
    both = (RACE, replace(RACE, kind=FindingKind.OUT_OF_BOUNDS), stop)
    assert judge(item(check), evidence(replace(followed, findings=both))).verdict is Verdict.FAIL
    undecided = ((str(FindingKind.RACE), "x"), (str(FindingKind.OUT_OF_BOUNDS), "x"))
    assert judge(item(check), evidence(replace(followed, undecided=undecided))).verdict is Verdict.ERROR


def test_a_hazard_found_before_the_stop_is_what_is_reported(item: Make, case: Make, evidence: Make) -> None:
    """It is worth more than "could not be judged"."""
    stop = Finding(FindingKind.TIMEOUT, "stopped")
    result = judge(item("races"), evidence(case("a", completed=False, findings=(stop, RACE))))
    assert result.message.startswith(RACE.message)


@pytest.mark.parametrize("fields", [{"error": "out of memory"}, {"completed": False}])
def test_a_stop_of_ours_is_an_error(fields: Make, item: Make, case: Make, evidence: Make) -> None:
    """Never the student's zero; but a race in another case is one whatever else there is."""
    result = judge(item("races"), evidence(case("a"), case("b", **fields)))
    assert result.verdict is Verdict.ERROR
    assert result.findings == ()
    raced = judge(item("races"), evidence(case("a", findings=(RACE,)), case("b", **fields)))
    assert raced.verdict is Verdict.FAIL


def test_a_race_in_a_hidden_case_shows_lines_only(item: Make, case: Make, evidence: Make) -> None:
    """Element, block, threads and count would tell the shape."""
    result = judge(item("races"), evidence(case("secret", hidden=True, findings=(RACE,))))
    (finding,) = result.findings
    assert (finding.line, finding.other_line, finding.hazard) == (18, 13, "RAW")
    assert finding.address == "A_tile"
    assert (finding.block, finding.thread, finding.other_thread, finding.case) == (None, None, None, "")
    assert finding.count == 1
    assert result.message == (
        "one thread reads `A_tile` on line 18 while another is still writing it on line 13 (in a hidden case)"
    )


def test_a_visible_finding_stands_for_the_hidden_ones(item: Make, case: Make, evidence: Make) -> None:
    """The same race in both: the visible one is shown, and the hidden one adds nothing to its count."""
    cases = (case("secret", hidden=True, findings=(RACE,)), case("open", findings=(RACE,)))
    result = judge(item("races"), evidence(*cases))
    assert result.findings == (replace(RACE, case="open"),)


def test_credit_per_case_is_the_share_of_clean_cases(item: Make, case: Make, evidence: Make) -> None:
    """The staff asks for it with `partial: per-case`."""
    cases = (case("a"), case("b", findings=(OUTSIDE,)))
    assert judge(item("memory", partial="per-case"), evidence(*cases)).fraction == Fraction(1, 2)


def test_a_bad_access_is_reported_with_its_line(item: Make, case: Make, evidence: Make) -> None:
    """The backend's sentence, and the line in front where the sentence lacks it."""
    result = judge(item("memory"), evidence(case("a", findings=(OUTSIDE,))))
    assert result.message == "line 13: reads A[2640], 1 past its end"
    assert result.findings == (replace(OUTSIDE, case="a"),)


def test_a_variable_that_nvcc_sees_used_unset_is_named_where_the_kernel_used_one(
    item: Make, case: Make, evidence: Make
) -> None:
    """The compiler's warning knows the name of what the emulator saw used; other warnings cost nothing."""
    other = Finding(
        FindingKind.COMPILE, 'variable "x" was declared but never used', severity=Severity.WARNING
    )
    build = Build(ok=True, warnings=(other, UNSET))
    used = Finding(FindingKind.UNINITIALISED, "", line=9, access=Access("read", "register", size=4))
    result = judge(item("memory"), evidence(case("a", findings=(used,)), build=build))
    assert result.verdict is Verdict.FAIL
    assert {finding.kind for finding in result.findings} == {FindingKind.UNINITIALISED}
    assert UNSET.message in {finding.message for finding in result.findings}
    assert other.message not in {finding.message for finding in result.findings}


def test_a_warning_about_a_variable_that_the_kernel_never_used_unset_costs_nothing(
    item: Make, case: Make, evidence: Make
) -> None:
    """It may speak of host code or of another kernel of the file."""
    result = judge(item("memory"), evidence(case("a"), build=Build(ok=True, warnings=(UNSET,))))
    assert result.verdict is Verdict.PASS


@pytest.mark.parametrize("check", ["races", "memory"])
def test_what_does_not_build_earns_nothing(check: str, item: Make, evidence: Make) -> None:
    """No case, no evidence of cleanliness."""
    assert judge(item(check), evidence(build=Build(ok=False))).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("check", "kind"),
    [
        ("races", FindingKind.RACE),
        ("races", FindingKind.BARRIER_DIVERGENCE),
        ("memory", FindingKind.OUT_OF_BOUNDS),
        ("memory", FindingKind.UNINITIALISED),
    ],
)
def test_a_hazard_that_could_not_be_ruled_out_is_our_error_and_never_a_pass(
    check: str, kind: FindingKind, item: Make, case: Make, evidence: Make
) -> None:
    """The reason is reported, and the other item does not depend on it."""
    reason = "it could not be decided whether threads race (emulator: no `wgmma`; racecheck: cut off)"
    open_case = case("b", undecided=((str(kind), reason),))
    result = judge(item(check), evidence(case("a"), open_case))
    assert result.verdict is Verdict.ERROR
    assert result.message == f"not judged, through no fault of the submission: {reason}"
    assert result.case_verdicts == (("a", Verdict.PASS), ("b", Verdict.ERROR))
    other = "memory" if check == "races" else "races"
    assert judge(item(other), evidence(case("a"), open_case)).verdict is Verdict.PASS


def test_what_was_found_counts_whatever_else_is_undecided(item: Make, case: Make, evidence: Make) -> None:
    """One race is enough; what is merely information is none."""
    undecided = ((str(FindingKind.BARRIER_DIVERGENCE), "it could not be decided"),)
    raced = case("a", findings=(RACE,), undecided=undecided)
    assert judge(item("races"), evidence(raced)).verdict is Verdict.FAIL
    remarked = case("a", findings=(replace(RACE, severity=Severity.INFO),), undecided=undecided)
    assert judge(item("races"), evidence(remarked)).verdict is Verdict.ERROR


def test_a_kernel_that_stopped_by_its_own_doing_is_why_it_could_not_be_decided(
    item: Make, case: Make, evidence: Make
) -> None:
    """The item fails for the student, and the message names what stopped."""
    stop = Finding(FindingKind.TIMEOUT, "did not end", line=5)
    undecided = ((str(FindingKind.RACE), "racecheck: the kernel did not come to its end"),)
    stopped = case("a", completed=False, findings=(stop,), undecided=undecided)
    result = judge(item("races"), evidence(stopped))
    assert result.verdict is Verdict.FAIL
    assert "did not run to its end" in result.message
