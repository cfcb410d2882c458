"""A file with answers → evidence: each answer as it was understood, beside what the model computes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.errors import OurError, UsageError
from grader.kinds.answers import DEVICE, NAME, nothing
from grader.kinds.answers.numbers import understood
from grader.kinds.answers.reading import Sheet, read_sheet
from grader.kinds.answers.solving import is_drawn, solved
from grader.model import AnswerEvidence, Build, CaseEvidence, Evidence, Finding, FindingKind
from grader.submission.names import safe
from grader.text import escaped

if TYPE_CHECKING:
    from grader.kinds.answers.solving import Solved
    from grader.model import AnswersInterface, Case, Question, Submission
    from grader.plan import Plan


def gather(plan: Plan, submission: Submission) -> Evidence:
    """All that can be known of a file with answers; whatever fails on our side is in the records."""
    sheet = _sheet(submission)
    if isinstance(sheet, Finding):
        return nothing(Build(ok=False, findings=(sheet,)))
    interface = plan.assignment.answers
    questions = {question.id: question for question in interface.questions}
    student = submission.id
    cases = []
    for case in plan.cases:
        question = questions[case.id]
        try:
            answer = _answer(
                interface, question, solved(interface, question, plan.seed, student), sheet, student
            )
        except (UsageError, OurError) as problem:
            cases.append(
                CaseEvidence(case, completed=False, error=f"`{question.id}` has no answer: {problem}")
            )
            continue
        cases.append(_case(case, answer))
    strangers = sorted(set(dict(sheet.answers)) - set(questions))
    return Evidence(
        NAME, Build(ok=True, warnings=_unknown(strangers, submission)), tuple(cases), device=DEVICE
    )


def named_by_itself(submission: Submission) -> Submission:
    """The submission under the name that its file gives as ``student``, for whom the numbers were drawn.

    For one's own file only: in a class the id says whose it is, whatever the file says.
    """
    sheet = _sheet(submission)
    if isinstance(sheet, Finding) or not sheet.student:
        return submission
    return replace(submission, id=safe(sheet.student))


def _sheet(submission: Submission) -> Sheet | Finding:
    if submission.problem is not None:
        return submission.problem
    return read_sheet(submission.file, submission.source)


def _case(case: Case, answer: AnswerEvidence) -> CaseEvidence:
    return CaseEvidence(case, answer=answer)


def _answer(
    interface: AnswersInterface, question: Question, known: Solved, sheet: Sheet, student: str
) -> AnswerEvidence:
    """What was answered, beside what is expected."""
    given = dict(sheet.answers).get(question.id, "")
    readings, problem = understood(given, question.unit) if given else ((), "")
    drawn = is_drawn(interface, question)
    return AnswerEvidence(
        question=question.id,
        text=known.text,
        given=escaped(given, 60),
        readings=readings,
        problem=problem,
        expected=known.expected,
        unit=question.unit,
        tolerance=question.tolerance,
        relative=question.relative,
        numbers=known.numbers,
        steps=known.steps,
        misconceptions=known.misconceptions,
        drawn=drawn,
        note=_whose_numbers(sheet, student) if drawn else "",
    )


def _whose_numbers(sheet: Sheet, student: str) -> str:
    """For whom the numbers were drawn, where the sheet says nothing of it or somebody else."""
    theirs = escaped(student, 60)
    if not sheet.student:
        return (
            f"the numbers are those of `{theirs}`, after the name of what was handed in; for a self-check "
            "write whose they are into the file, as `student: NAME`"
        )
    if safe(sheet.student).casefold() == safe(student).casefold():
        return ""
    return f"the sheet is that of `{escaped(sheet.student, 60)}`, the numbers are those of `{theirs}`"


def _unknown(names: list[str], submission: Submission) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            FindingKind.ANSWER,
            f"`{escaped(name, 60)}` is no question of this assignment",
            file=submission.file,
        )
        for name in names[:10]
    )
