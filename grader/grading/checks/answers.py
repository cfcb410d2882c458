"""The check `answers`: each question's answer is what the model computes, within its tolerance.

A wrong answer is reported as it was understood, with the mistake that would have given just that number. The
worked explanation goes into the finding; whether a student may see it `explain` says, and reports obey.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from grader.base.records import frozen
from grader.base.text import capital
from grader.grading.checks import wording
from grader.grading.checks.cases import FULL, NOTHING, cases_of_item, error_result
from grader.grading.checks.check import Check, key
from grader.model import CheckResult, Finding, FindingKind, Verdict
from grader.model.messages import text_of

if TYPE_CHECKING:
    from grader.model import AnswerEvidence, CaseEvidence, Evidence, RubricItem

NEAR = Fraction(1, 100)
"""Largest relative distance of a near answer, which was rounded, perhaps."""

ROUNDED = Fraction(1, 1000)
"""Largest relative distance from the value of a mistake that is still that mistake, rounded."""


@frozen(kw_only=True)
class AnswersCheck(Check):
    """Some of the questions are answered rightly.

    The worked explanation of a wrong answer is shown ``always``, or only to the staff until they have
    ``released`` it: by a rubric that says ``always``.
    """

    name: ClassVar[str] = "answers"
    title: ClassVar[str] = "answers"
    kinds: ClassVar[tuple[str, ...]] = ("answers",)
    cases_key: ClassVar[str] = "questions"
    partial: ClassVar[tuple[str, ...]] = ("per-question",)
    explain: str = key(("always", "released"), "released")

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge the item's questions: all must be right, or with ``partial`` each earns its share."""
        build = evidence.build
        if build.error:
            return error_result(self.item, build.error)
        if not build.ok:
            return CheckResult(self.item, Verdict.FAIL, NOTHING, _unreadable(build.findings))
        cases = cases_of_item(self.item, evidence)
        if not cases:
            return CheckResult(self.item, Verdict.SKIP, NOTHING, text_of("no-question-asked"))
        broken = next((case for case in cases if case.error or case.answer is None), None)
        if broken is not None:
            return error_result(self.item, broken.error or text_of("answer-not-looked-at"))
        right = [is_right(case.answer) for case in cases if case.answer]
        passed = sum(right)
        return CheckResult(
            item=self.item,
            verdict=Verdict.PASS if passed == len(cases) else Verdict.FAIL,
            fraction=_fraction(self.item, passed, len(cases)),
            message=_message(passed, len(cases), cases),
            hint=self.item.hint if passed < len(cases) else "",
            findings=(
                *_wrong(cases, withheld=self.explain != "always"),
                *(build.warnings if passed < len(cases) else ()),
            ),
            case_verdicts=tuple(
                (case.case.id, Verdict.PASS if fine else Verdict.FAIL)
                for case, fine in zip(cases, right, strict=True)
            ),
        )


def _unreadable(findings: tuple[Finding, ...]) -> str:
    """Reason why no answer could be read; in the message alone, for all items have it in common."""
    if not findings:
        return text_of("answers-unreadable")
    return wording.with_line(findings[0])


def is_right(answer: AnswerEvidence) -> bool:
    """True if one of the readings of the answer is within the tolerance."""
    return any(_within(number, answer) for _, number in answer.readings)


def _within(number: Fraction, answer: AnswerEvidence) -> bool:
    return abs(number - answer.expected) <= allowed_error(answer)


def allowed_error(answer: AnswerEvidence) -> Fraction:
    """Largest allowed error of the answer, in its unit."""
    return answer.tolerance * abs(answer.expected) if answer.relative else answer.tolerance


def _fraction(item: RubricItem, passed: int, total: int) -> Fraction:
    if item.partial == "per-question":
        return Fraction(passed, total)
    return FULL if passed == total else NOTHING


def _message(passed: int, total: int, cases: tuple[CaseEvidence, ...]) -> str:
    if passed == total:
        return text_of("answers-right", count=total)
    missing = sum(not case.answer.given for case in cases if case.answer)
    if missing == total:
        return text_of("unanswered", count=total)
    if total == 1:
        return text_of("the-answer-wrong")
    name = "some-answers-right" if passed else "no-answers-right"
    sentence = text_of(name, count=passed, total=total)
    if not missing:
        return sentence
    names = ", ".join(f"`{case.case.id}`" for case in cases if case.answer and not case.answer.given)
    return text_of("answers-missing", sentence=sentence, names=names)


def _wrong(cases: tuple[CaseEvidence, ...], *, withheld: bool) -> tuple[Finding, ...]:
    """A finding for each wrong answer; of unanswered questions only the number is reported."""
    return tuple(
        Finding(
            FindingKind.ANSWER,
            wrong_answer_sentence(case.answer),
            case=case.case.id,
            steps=case.answer.steps,
            withheld=withheld,
        )
        for case in cases
        if case.answer and case.answer.given and not is_right(case.answer)
    )


def wrong_answer_sentence(answer: AnswerEvidence) -> str:
    """Sentence about a wrong answer: how it was understood, and what it may come from."""
    words = {"question": answer.question, "given": wording.printable(answer.given)}
    if not answer.readings:
        return text_of("not-understood", reason=answer.problem, **words)
    reading = answer.readings[0][0]
    plain = _without_separators(reading).startswith(_without_separators(words["given"]))
    text = text_of("answer-wrong" if plain else "answer-read-wrong", reading=reading, **words)
    why = _likely_reason(answer)
    if why:
        text = text_of("answer-because", sentence=text, reason=why)
    return text_of("answer-noted", sentence=text, note=capital(answer.note)) if answer.note else text


def _without_separators(text: str) -> str:
    return re.sub(r"[, _]", "", text).casefold()


def _likely_reason(answer: AnswerEvidence) -> str:
    """The mistake that gives just this number; or that it is near, and was rounded perhaps."""
    numbers = [number for _, number in answer.readings]
    for words, value in answer.misconceptions:
        if any(abs(number - value) <= allowed_error(answer) for number in numbers):
            return words
    if any(_is_near(number, answer.expected, NEAR) for number in numbers):
        return text_of("near")
    for words, value in answer.misconceptions:
        if any(_is_near(number, value, ROUNDED) for number in numbers):
            return text_of("and-rounded", reason=words)
    return ""


def _is_near(number: Fraction, value: Fraction, share: Fraction) -> bool:
    return value != 0 and abs(number - value) <= share * abs(value)
