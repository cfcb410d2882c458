"""The class page and its summaries of a class as a whole."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from html import unescape
from typing import TYPE_CHECKING

import pytest

from grader.model import (
    Build,
    Cause,
    Evidence,
    Finding,
    FindingCode,
    FindingKind,
    HandIn,
    Student,
    Verdict,
)
from grader.reports import class_page
from grader.reports.class_statistics import (
    case_catches,
    cause_of,
    item_outcomes,
    scores_of,
    shared_causes,
)
from tests.reports.sample_grades import (
    SOURCE,
    compile_error,
    full_marks,
    missing_barrier,
    our_error,
    partial_credit,
)

if TYPE_CHECKING:
    from grader.model import Grade


def scored(score: int, name: str = "x") -> Grade:
    """A grade with this score of 75."""
    return replace(full_marks(), submission_id=name, score=Fraction(score), max_score=Fraction(75))


def with_code(name: str, digest: str) -> Grade:
    """A submission without its second barrier, whose build has this digest."""
    build = Build(ok=True, digest=digest)
    return replace(missing_barrier(), submission_id=name, evidence=Evidence("emulator", build))


def text_of(page: str) -> str:
    """The text of a page, without its style sheet and script."""
    bare = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", bare)).split())


def test_scores_have_mean_median_and_quartiles() -> None:
    """Of what could be had; errors of ours and the excused do not count."""
    scores = scores_of([scored(0), scored(15), scored(30), scored(75), scored(75), our_error()])
    assert scores is not None
    assert (scores.mean, scores.median) == (Fraction(13, 25), Fraction(2, 5))
    assert (scores.lower, scores.upper) == (Fraction(1, 5), Fraction(1))
    assert scores.counts == (1, 0, 1, 0, 1, 0, 0, 0, 0, 2)
    assert scores.full == 2
    assert scores_of([our_error()]) is None


@pytest.mark.parametrize(("score", "part"), [(80, 9), (75, 9), (-5, 0)])
def test_a_score_beyond_the_ends_is_in_the_last_part(score: int, part: int) -> None:
    """Extra credit and penalties."""
    scores = scores_of([scored(score)])
    assert scores is not None
    assert scores.counts[part] == 1
    assert scores.median == Fraction(score, 75)


def test_an_item_that_fails_with_another_is_apart() -> None:
    """It is unknown whether the threads of a file that does not compile wait."""
    outcomes = {one.item: one for one in item_outcomes([full_marks(), missing_barrier(), compile_error()])}
    barriers = outcomes["barriers"]
    assert (barriers.passed, barriers.failed, barriers.waiting, barriers.judged) == (1, 1, 1, 3)
    assert outcomes["compiles"].failed == 1
    assert outcomes["speedup"].waiting == 1


def test_who_shares_a_mistake_is_one_group() -> None:
    """The most frequent mistake comes first; identical code is marked as the same."""
    grades = [compile_error(), with_code("ada", "1"), with_code("bob", "2"), with_code("eve", "1")]
    first, second = shared_causes([*grades, full_marks(), our_error()])
    assert first.ids == ("ada", "bob", "eve")
    assert [group.lost for group in first.groups] == [("barriers",)]
    assert first.groups[0].same_code == (("ada", "eve"),)
    assert second.is_of_one


def test_a_cause_is_what_explains_the_rest_or_the_first_finding() -> None:
    """Names and lines do not part the same error of the compiler."""
    cause = Cause("no-store", "no element of `C` was ever written", "store it")
    assert cause_of(replace(missing_barrier(), cause=cause)) == ("no-store", "nothing stored")
    assert cause_of(full_marks()) is None
    assert cause_of(compile_error()) == ("expected a …", "expected a …")


def first_finding(grade: Grade, finding: Finding) -> Grade:
    """The grade with this finding in its first item, which fails."""
    item = grade.items[0]
    result = replace(item.result, verdict=Verdict.FAIL, judged=True, findings=(finding,))
    return replace(grade, items=(replace(item, result=result),), cause=None)


@pytest.mark.parametrize(
    ("finding", "cause"),
    [
        (
            Finding(FindingKind.COMPILE, "line 3: no", code=FindingCode.NO_MAIN),
            ("no-main", "does not compile (no-main)"),
        ),
        (
            Finding(
                FindingKind.COMPILE, "a; b", code=FindingCode.COMPILER_MESSAGE, details=(("text", 'x "y"'),)
            ),
            ("x …", "x …"),
        ),
        (Finding(FindingKind.ANSWER, "no", case="loads"), ("answer loads", "wrong answer: loads")),
        (
            Finding(FindingKind.MISTAKE, "no", details=(("mistake", "a-transposed"),)),
            ("a-transposed", "wrong output (a-transposed)"),
        ),
        (Finding(FindingKind.MISTAKE, "of an earlier version"), ("compiles fails", "compiles fails")),
    ],
)
def test_a_cause_is_made_of_data_and_of_no_sentence(finding: Finding, cause: tuple[str, str]) -> None:
    """Only the compiler's own words are quoted; a cause of an earlier version is the item that fails."""
    assert cause_of(first_finding(full_marks(), finding)) == cause


def test_a_mistake_is_called_what_the_course_calls_it() -> None:
    """As the grade keeps it; of an earlier version it keeps none."""
    cause = Cause("no-store", "nichts", "speichern", title="nichts gespeichert")
    assert cause_of(replace(missing_barrier(), cause=cause)) == ("no-store", "nichts gespeichert")


def test_a_case_lists_whom_it_catches() -> None:
    """And how many nothing else catches."""
    catches = {one.case.case.id: one for one in case_catches([full_marks(), partial_credit()])}
    assert any(one.failing for one in catches.values())
    assert any(not one.failing for one in catches.values())


def test_the_page_shows_line_group_and_what_to_paste() -> None:
    """A TA reads one and comments on all of them."""
    grades = [with_code(name, "1") for name in ("ada", "bob")]
    page = class_page.render(grades, source_of=lambda _: SOURCE)
    shown = text_of(page)
    assert '- students: ["ada", "bob"]' in shown
    assert "The compiler makes the same code of all 2." in shown
    assert re.search(r'class="here">\s+\d+ ', page)
    assert "catches nobody" in shown


def test_a_group_can_be_written_to() -> None:
    """The addresses of its students, where the roster has them."""
    ada, bob = (with_code(name, "1") for name in ("ada", "bob"))
    students = (Student(email="ada@uni.example"), Student(email="bob@uni.example"))
    known = [
        replace(grade, hand_in=HandIn(grade.submission_id, students=(student,)))
        for grade, student in zip((ada, bob), students, strict=True)
    ]
    assert "ada@uni.example, bob@uni.example" in text_of(class_page.render(known))
    assert "Their addresses" not in text_of(class_page.render([ada, bob]))


def test_groups_are_explained_where_there_are_any() -> None:
    """Not above mistakes that each one alone has."""
    assert "read one, and comment on all" in text_of(
        class_page.render([with_code(name, "1") for name in "ab"])
    )
    assert "read one, and comment on all" not in text_of(class_page.render([missing_barrier(), full_marks()]))


def test_the_page_loads_itself_again_only_while_the_batch_runs() -> None:
    """It shows how many are still to come."""
    running = class_page.render([full_marks()], waiting=41)
    assert '<meta http-equiv="refresh" content="15">' in running
    assert "41 still to be graded" in text_of(running)
    assert 'http-equiv="refresh"' not in class_page.render([full_marks()])
    assert "Nothing is graded yet." in text_of(class_page.render([], waiting=3))


def test_sections_and_lateness_are_there_where_they_are_known() -> None:
    """A column each, and something to filter by."""
    student = Student(name="Ada Lovelace", section="S2")
    late = replace(full_marks(), hand_in=HandIn("ada", students=(student,), late=True))
    page = class_page.render([late, full_marks()])
    assert 'class="section">S2<' in page
    assert "Ada Lovelace" in page
    assert "late only" in page
    assert "late only" not in class_page.render([full_marks()])


def test_payloads_in_names_and_sources_are_text() -> None:
    """Whatever a student's file holds, or a roster."""
    payload = '"><script>alert(1)</script>'
    student = Student(name=payload, section=payload)
    grade = replace(missing_barrier(), submission_id=payload, hand_in=HandIn("x", students=(student,)))
    page = class_page.render([grade, replace(grade, submission_id="b")], source_of=lambda _: [payload] * 40)
    assert page.count("<script>") == 1
    assert "<script>alert" not in page
