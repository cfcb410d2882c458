"""`exit`, `text` and `array` on runs that never were, on failures of ours, and how their points add up."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.grading.checks import check_of, run_checks
from grader.grading.checks.secrecy import visible_evidence
from grader.model import (
    Build,
    CaseEvidence,
    Comparison,
    Finding,
    FindingKind,
    ProgramRun,
    RubricItem,
    Verdict,
    WrongElement,
)
from tests.grading.checks.judging import judge
from tests.grading.checks.runs import case, evidence, item, number, ran

if TYPE_CHECKING:
    from grader.model import CheckResult, Evidence

ITEMS = {
    "exit": item("exit", status=0),
    "text": item("text", of="stdout", lines="a"),
    "array": item("array", output="C"),
}
RIGHT = Comparison("C", 4, 0, 0, 0.0, 0.0)
every_check = pytest.mark.parametrize("check", ITEMS)


def judged(check: str, given_: Evidence) -> CheckResult:
    """One check's result."""
    return judge(ITEMS[check], given_)


@every_check
def test_a_case_that_needs_a_gpu_sets_the_item_apart(check: str) -> None:
    """The reason is given; no one is to blame."""
    skipped = CaseEvidence(case("plain"), skipped="this program calls CUDA, and there is no GPU here")
    result = judged(check, evidence(skipped))
    assert [result.verdict, result.fraction] == [Verdict.SKIP, 0]
    assert result.message == "this program calls CUDA, and there is no GPU here"
    assert result.case_verdicts == (("plain", Verdict.SKIP),)
    assert result.findings == ()


@every_check
@pytest.mark.parametrize(
    "broken",
    [CaseEvidence(case("b"), error="the engine\x1b is gone"), CaseEvidence(case("b"))],
    ids=["error", "not run"],
)
def test_a_failure_of_ours_is_an_error_and_no_zero(check: str, broken: CaseEvidence) -> None:
    """The item is an error if no other case fails."""
    result = judged(check, evidence(broken))
    assert [result.verdict, result.fraction] == [Verdict.ERROR, 0]
    assert result.message.startswith("not judged, through no fault of the submission: ")
    assert result.message.isprintable()


@every_check
def test_what_does_not_build_earns_nothing(check: str) -> None:
    """Unless the failure is ours."""
    assert judged(check, evidence(build=Build(ok=False))).verdict is Verdict.FAIL
    assert judged(check, evidence(build=Build(ok=False, error="no disk"))).verdict is Verdict.ERROR


@every_check
@pytest.mark.parametrize("ending", ["signal", "time", "memory", "output-limit"])
def test_a_run_that_was_ended_passes_nothing(check: str, ending: str) -> None:
    """It fails however right its output was by then, and the finding shows how it ended."""
    run = ran("a", ending=ending, returncode=-9, comparisons=(RIGHT,))
    result = judged(check, evidence(run))
    assert result.verdict is Verdict.FAIL
    kind = FindingKind.TIMEOUT if ending == "time" else FindingKind.FAULT
    assert [finding.kind for finding in result.findings] == [kind]


@every_check
def test_a_right_run_passes_whatever_its_program_prints_about_itself(check: str) -> None:
    """The status counts for `exit` alone."""
    status = 0 if check == "exit" else 9
    run = ran("a", returncode=status, stderr=b"Result is wrong!", comparisons=(RIGHT,))
    assert judged(check, evidence(run)).verdict is Verdict.PASS


def test_a_program_that_claims_success_does_not_pass() -> None:
    """The comparison decides, and a file that is no array is no success either."""
    wrong = Comparison("C", 4, 1, 0, 1.0, 0.0)
    bad_file = Finding(FindingKind.WRONG_OUTPUT, "no array", address="C")
    for fields in ({"comparisons": (wrong,)}, {"findings": (bad_file,)}):
        assert judged("array", evidence(ran("PASS\nall correct", **fields))).verdict is Verdict.FAIL


def test_nan_is_never_an_array_that_passes() -> None:
    """The comparison calls it wrong, and the check believes the comparison."""
    nan = Comparison("C", 4, 4, 0, float("inf"), 0.0)
    assert judged("array", evidence(ran(comparisons=(nan,)))).verdict is Verdict.FAIL


@pytest.mark.parametrize("pattern", [r"(a|aa)+$", r"(x+x+)+y"])
def test_a_pattern_takes_no_longer_for_hostile_text(pattern: str) -> None:
    """A megabyte on which a backtracking engine would never end."""
    asked = item("text", of="stdout", matches=pattern)
    text = b"a" * 2**19 + b"x" * 2**19 + b"!"
    assert judge(asked, evidence(ran(text))).verdict is Verdict.FAIL


def test_shares_of_numbers_are_averaged_over_cases() -> None:
    """Each case counts alike, and a run that crashed has no share."""
    numbers = tuple(number(name, f"{name}:", 1) for name in "abcd")
    asked = item("text", partial="per-number", of="stdout", numbers=numbers)
    runs = (ran("a:1 b:1 c:2 d:1"), ran("a:1", "b"), ran("a:1 b:1 c:1 d:1", "c", ending="memory"))
    result = judge(asked, evidence(*runs))
    assert (result.verdict, result.fraction) == (Verdict.FAIL, Fraction(1, 3))
    assert result.case_verdicts == (("plain", Verdict.FAIL), ("b", Verdict.FAIL), ("c", Verdict.FAIL))


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.sampled_from(["", "per-case"]))
def test_full_marks_mean_that_every_case_is_right(right: list[bool], partial: str) -> None:
    """The fraction is between 0 and 1, and 1 exactly on a pass."""
    asked = item("text", partial=partial, of="stdout", lines="a")
    runs = tuple(ran("a" if good else "b", str(i)) for i, good in enumerate(right))
    result = judge(asked, evidence(*runs))
    assert (result.verdict is Verdict.PASS) == all(right) == (result.fraction == 1)
    assert result.fraction == (Fraction(sum(right), len(right)) if partial else Fraction(all(right)))


@given(st.binary(max_size=200), st.binary(max_size=200), st.integers(-70, 255))
def test_no_output_makes_a_check_fail_on_us(stdout: bytes, stderr: bytes, status: int) -> None:
    """Any bytes, any status: a verdict, and words that are harmless."""
    run = ProgramRun("signal" if status < 0 else "exit", status, stdout, stderr)
    items: list[RubricItem] = [
        ITEMS["exit"],
        ITEMS["text"],
        item("text", of="stderr", exact="x\n"),
        item("text", of="stdout", matches="^x"),
        item("text", of="stdout", numbers=(number("n", "x", 1),)),
    ]
    for asked in items:
        result = judge(asked, evidence(CaseEvidence(case("c"), program=run)))
        assert result.verdict in (Verdict.PASS, Verdict.FAIL)
        assert result.message.replace("\n", "").isprintable()


def test_items_wait_for_what_they_need() -> None:
    """As those of kernels do."""
    first = RubricItem("a", "First", Fraction(1), "text", options=(("of", "stdout"), ("lines", "x")))
    second = RubricItem("b", "Second", Fraction(1), "exit", needs=("a",), options=(("status", 0),))
    results = run_checks((first, second), evidence(ran("y")))
    assert [result.verdict for result in results] == [Verdict.FAIL, Verdict.FAIL]
    assert results[1].message == "not judged until “First” passes"


def test_a_hidden_run_without_its_array_is_wrong_and_no_error_of_ours() -> None:
    """The findings of a hidden case that are left still name the array they are about."""
    lacking = Finding(FindingKind.WRONG_OUTPUT, "there is no file `C.npy`", address="C")
    hidden = ran(hidden=True, findings=(lacking,))
    wanted = item("array", output="C")
    result = judge(wanted, visible_evidence(check_of(wanted), evidence(hidden)))
    assert result.verdict is Verdict.FAIL
    assert "C.npy" not in result.message + "".join(finding.message for finding in result.findings)


def test_a_finding_about_an_array_shows_where_it_is_wrong() -> None:
    """With the first wrong element and a map, as of a kernel; nothing of it in a hidden case."""
    first = WrongElement((1, 2), 1.0, 2.0, 0.0)
    wrong = Comparison("C", 6, 2, 0, 1.0, 0.0, first, wrong_map=("...", "..x"))
    run = ran(comparisons=(wrong,))
    (finding,) = judge(item("array"), evidence(run)).findings
    assert (finding.address, finding.wrong_map) == ("C[1][2]", ("...", "..x"))
    assert judge(item("array"), evidence(ran(comparisons=(wrong,), hidden=True))).findings == ()
