"""The selection under all reports: where to start, what is in detail, what stands above already."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from grader.model import Cause, CheckResult, Finding, FindingKind, RubricItem, Severity, Verdict, Visibility
from grader.reports.selection import MOST_FINDINGS, MOST_OUTPUTS, alone, select, selected
from tests.reports.sample_grades import GRADES, ITEMS, graded, hidden_item, missing_barrier

if TYPE_CHECKING:
    from grader.model import Grade

RACE = Finding(FindingKind.RACE, "one thread overwrites `A`", line=9, file="a.cu")
CASES = ("square-64", "mp3", "wide")


def failed(
    item: RubricItem,
    *findings: Finding,
    message: str = "it is wrong",
    **fields: Any,  # noqa: ANN401 - of the record
) -> CheckResult:
    """A result that fails with these findings."""
    return replace(CheckResult(item, Verdict.FAIL, Fraction(0), message), findings=findings, **fields)


def grade_of(*results: CheckResult) -> Grade:
    """A grade with these results, all of which a student may see."""
    return graded("ada", results, student_results=results)


def test_the_start_is_an_item_that_counts_and_has_details() -> None:
    """Extra credit explains nothing, and an item whose details are hidden is no place to start."""
    extra = replace(ITEMS[1], extra=True)
    hidden = replace(ITEMS[2], visibility=Visibility.HIDDEN)
    grade = grade_of(failed(extra, RACE), failed(hidden), failed(ITEMS[3], RACE, hint="wait"))
    start = select(grade).start
    assert start is not None
    assert (start.number, start.cause, start.hint, start.findings) == (3, None, "Wait", (RACE,))


def test_a_known_cause_is_the_start() -> None:
    """With the finding at its line, of another item where it has none."""
    cause = Cause("missing-barrier", "a thread reads too early", "wait", ITEMS[2].id, line=9)
    grade = replace(grade_of(failed(ITEMS[1], RACE), failed(ITEMS[2])), cause=cause)
    start = select(grade).start
    assert start is not None
    assert (start.number, start.cause, start.findings) == (2, cause, (RACE,))
    assert start.message == "A thread reads too early (line 9)"


def test_a_waiting_item_is_in_detail_only_with_a_finding_that_is_new() -> None:
    """A finding that stands further up is left out, and so are its cases and a hint without a finding."""
    other = replace(RACE, message="another race")
    verdicts = tuple((name, Verdict.FAIL) for name in CASES)
    waits: dict[str, Any] = {
        "judged": False,
        "hint": "look",
        "case_verdicts": verdicts,
        "message": "not judged yet",
    }
    first, known, new = select(
        grade_of(
            failed(ITEMS[1], RACE), failed(ITEMS[2], RACE, **waits), failed(ITEMS[3], RACE, other, **waits)
        )
    ).items
    assert (first.in_detail, known.in_detail, new.in_detail) == (True, False, True)
    assert (known.findings, known.hint, known.failed_cases) == ((), "", None)
    assert known.in_brief == "not judged yet"
    assert ([one.finding for one in new.findings], new.hint, new.failed_cases) == ([other], "look", None)


def test_items_that_only_repeat_a_message_say_so() -> None:
    """They do so until one has another message."""
    waits: dict[str, Any] = {"judged": False, "message": "not judged yet"}
    items = select(
        grade_of(
            failed(ITEMS[0], **waits),
            failed(ITEMS[1], **waits),
            failed(ITEMS[2], RACE),
            failed(ITEMS[3], **waits),
        )
    ).items
    assert [item.repeats for item in items] == [False, True, False, False]


def test_findings_and_hints_know_what_stands_above() -> None:
    """An item that fails shows its findings all the same; a report marks them as known."""
    first, second = select(
        grade_of(failed(ITEMS[1], RACE, hint="wait"), failed(ITEMS[2], RACE, hint="wait"))
    ).items
    assert [(one.before, one.in_start) for one in (*first.findings, *second.findings)] == [
        (False, True),
        (True, True),
    ]
    assert (first.hint_before, second.hint_before) == (False, True)
    assert (first.hint_in_start, second.hint_in_start) == (True, True)


def test_alone_nothing_stands_above() -> None:
    """A test case, or a test of a platform, is read by itself."""
    grade = grade_of(failed(ITEMS[1], RACE, hint="wait"), failed(ITEMS[2], RACE, hint="wait"))
    for item in alone(grade):
        assert [(one.before, one.in_start) for one in item.findings] == [(False, False)]
        assert (item.hint, item.hint_before, item.hint_in_start) == ("wait", False, False)


def test_few_findings_are_shown_and_wrong_outputs_come_last() -> None:
    """The output that the message has comes first of them; the others are left out, and cases by name."""
    wrong = [Finding(FindingKind.WRONG_OUTPUT, f"wrong in {name}", case=name) for name in CASES]
    races = [replace(RACE, line=line) for line in range(1, MOST_FINDINGS + 3)]
    verdicts = tuple((name, Verdict.FAIL) for name in CASES)
    result = failed(ITEMS[2], *wrong, *races, message="It is wrong in wide", case_verdicts=verdicts)
    (item,) = alone(grade_of(result))
    shown = [one.finding for one in item.findings]
    assert shown == [*races[:MOST_FINDINGS], wrong[2], wrong[0]]
    assert len([one for one in shown if one in wrong]) == MOST_OUTPUTS
    assert item.left_out == (*races[MOST_FINDINGS:], wrong[1])
    assert set(item.all_findings) == {*wrong, *races}
    assert item.more == 2
    assert item.failed_cases is not None
    assert item.failed_cases.sentence == "… and 1 more case: mp3 (M=55, K=48, N=43)"


def test_shapes_are_named_once() -> None:
    """In the first list of cases; further ones have the ids."""
    result = failed(ITEMS[2], case_verdicts=(("mp3", Verdict.FAIL),))
    first, second = select(grade_of(result, replace(result, item=ITEMS[3]))).items
    assert first.failed_cases is not None
    assert second.failed_cases is not None
    assert (first.failed_cases.sentence, second.failed_cases.sentence) == (
        "cases: mp3 (M=55, K=48, N=43)",
        "cases: mp3",
    )


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (RACE, RACE.message),
        (replace(RACE, severity=Severity.WARNING), f"warning: {RACE.message}"),
        (
            Finding(FindingKind.MISTAKE, "the sum lacks a tile", case="mp3"),
            "in case `mp3`: the sum lacks a tile",
        ),
    ],
)
def test_words_say_the_case_or_the_severity(finding: Finding, words: str) -> None:
    """Without them a reader would take the finding for something else."""
    (item,) = alone(grade_of(failed(ITEMS[2], finding)))
    assert item.findings[0].words == words


def test_a_repair_is_left_to_the_hint_that_names_it() -> None:
    """The hint writes it as a sentence."""
    repaired = replace(RACE, repair="add a barrier")
    named, other = (
        alone(grade_of(failed(ITEMS[2], repaired, hint=hint)))[0] for hint in ("Add a barrier", "wait")
    )
    assert (named.findings[0].repair, other.findings[0].repair) == ("", "add a barrier")


def test_a_selection_for_students_has_nothing_but_their_view() -> None:
    """No id of a hidden case, and no word of a hidden item, is anywhere in its records."""
    written = repr(selected(hidden_item()))
    for secret in ("the secret message", "the secret hint", "dot-product", "20250101"):
        assert secret not in written
        assert secret in repr(selected(hidden_item(), "staff"))


@pytest.mark.parametrize("name", GRADES)
def test_a_selection_is_that_of_its_view(name: str) -> None:
    """Every item in its place, and the same when selected again."""
    shown = selected(GRADES[name]())
    assert [item.item for item in shown.items] == list(shown.grade.items)
    assert [item.number for item in shown.items] == list(range(1, len(shown.items) + 1))
    assert select(shown.grade) == shown


def test_the_sample_with_a_race_starts_there() -> None:
    """As a page and a terminal show it."""
    start = selected(missing_barrier()).start
    assert start is not None
    assert start.number == 4
