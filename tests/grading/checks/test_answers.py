"""The check `answers`: what counts as right, the partial credit, and the message about a wrong answer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from grader.grading.checks import run_checks
from grader.grading.checks.answers import is_right, wrong_answer_sentence
from grader.model import (
    AnswerEvidence,
    Build,
    Case,
    CaseEvidence,
    CheckResult,
    Evidence,
    Finding,
    FindingKind,
    RubricItem,
    Verdict,
    Visibility,
)

STEPS = ("two rows", "2 · 50 = 100 bytes")


def answer(given: str = "100", number: int | Fraction | None = 100, **changes: Any) -> AnswerEvidence:  # noqa: ANN401
    """The answer to `size`, of which 100 bytes are right."""
    readings = () if number is None else ((f"{number} bytes", Fraction(number)),)
    known: dict[str, Any] = {
        "question": "size",
        "text": "How many bytes?",
        "given": given,
        "readings": readings,
        "problem": "",
        "expected": Fraction(100),
        "unit": "bytes",
        "tolerance": Fraction(0),
        "relative": False,
        "steps": STEPS,
        "misconceptions": (("this counts elements", Fraction(25)),),
    }
    return AnswerEvidence(**known | changes)


def judged(*answers: AnswerEvidence, partial: str = "", explain: str = "always", **build: Any) -> CheckResult:  # noqa: ANN401
    """The result of an item that asks for all of these answers."""
    cases = tuple(
        CaseEvidence(Case(f"q{number}", (), (), Visibility.VISIBLE, "", 0), answer=each)
        for number, each in enumerate(answers, start=1)
    )
    item = RubricItem(
        "item",
        "",
        Fraction(10),
        "answers",
        tuple(case.case.id for case in cases),
        partial=partial,
        hint="count",
        options=(("explain", explain),),
    )
    (result,) = run_checks((item,), Evidence("model", Build(**{"ok": True} | build), cases))
    return result


def test_right_answers_earn_everything() -> None:
    """And there is nothing to tell."""
    result = judged(answer(), answer())
    assert (result.verdict, result.fraction, result.message) == (
        Verdict.PASS,
        Fraction(1),
        "all 2 answers are right",
    )
    assert (result.findings, result.hint) == ((), "")


def test_all_or_nothing_and_per_question() -> None:
    """One of three: nothing, or a third; the verdict is a failure in either case."""
    answers = (answer(), answer("7", 7), answer("", None))
    assert (judged(*answers).verdict, judged(*answers).fraction) == (Verdict.FAIL, Fraction(0))
    result = judged(*answers, partial="per-question")
    assert (result.verdict, result.fraction) == (Verdict.FAIL, Fraction(1, 3))
    assert result.message == "1 of 3 answers is right; there is none for `q3`"
    assert result.case_verdicts == (("q1", Verdict.PASS), ("q2", Verdict.FAIL), ("q3", Verdict.FAIL))
    assert [finding.case for finding in result.findings] == ["q2"]


def test_tolerances_are_exact_absolute_or_relative() -> None:
    """Both ends belong to what is right."""
    assert not is_right(answer("100.5", Fraction(201, 2)))
    assert is_right(answer("101", 101, tolerance=Fraction(1)))
    assert not is_right(answer("101", 101, tolerance=Fraction(99, 100)))
    assert is_right(answer("99", 99, tolerance=Fraction(1, 100), relative=True))
    assert not is_right(answer("98", 98, tolerance=Fraction(1, 100), relative=True))


def test_one_of_several_readings_is_enough() -> None:
    """A KB of 1,000 bytes or of 1,024."""
    assert is_right(answer(readings=(("102.4 bytes", Fraction(1024, 10)), ("100 bytes", Fraction(100)))))


def test_a_wrong_answer_is_reported_as_it_was_understood_with_the_likely_mistake() -> None:
    """The number, and what would have given just it."""
    assert wrong_answer_sentence(answer("25", 25)) == "`size`: 25 bytes is not right: this counts elements"
    assert wrong_answer_sentence(answer("1/4 hundred", 25)) == (
        "`size`: `1/4 hundred`, understood as 25 bytes, is not right: this counts elements"
    )
    assert wrong_answer_sentence(answer("99.9", Fraction(999, 10))).endswith(
        "it is near, but not near enough: was it rounded?"
    )
    assert wrong_answer_sentence(answer("7", 7)) == "`size`: 7 bytes is not right"


def test_what_is_not_understood_is_reported_with_the_reason() -> None:
    """And what was written is quoted."""
    text = wrong_answer_sentence(answer("lots", None, problem="expected a number"))
    assert text == "`size`: `lots` is not understood: expected a number"


def test_a_sheet_of_another_student_is_pointed_out() -> None:
    """The note about the sheet's owner stands at the end of the message."""
    assert wrong_answer_sentence(answer("7", 7, note="the sheet is that of `bob`")).endswith(
        ". The sheet is that of `bob`"
    )


def test_explanations_are_in_the_finding_and_may_be_withheld() -> None:
    """The steps go along; reports leave them out where they wait for their day."""
    (shown,) = judged(answer("7", 7)).findings
    assert (shown.kind, shown.steps, shown.withheld) == (FindingKind.ANSWER, STEPS, False)
    (withheld,) = judged(answer("7", 7), explain="released").findings
    assert withheld.withheld


def test_a_file_that_cannot_be_read_fails_with_the_reason() -> None:
    """All items have the same message, so that it is reported once."""
    problem = Finding(FindingKind.ANSWER, "the answers cannot be read: an alias", line=2)
    result = judged(answer(), ok=False, findings=(problem,))
    assert (result.verdict, result.fraction) == (Verdict.FAIL, Fraction(0))
    assert result.message == "line 2: the answers cannot be read: an alias"


def test_our_own_failure_is_never_the_students() -> None:
    """An error, for the whole item."""
    assert judged(answer(), ok=False, error="no disk").verdict is Verdict.ERROR


def test_no_answers_at_all_are_one_sentence() -> None:
    """Nothing else is worth telling."""
    result = judged(answer("", None), answer("", None))
    assert (result.message, result.findings) == ("none of the 2 questions is answered", ())
