"""The stages of an assignment that asks questions: nothing is compiled, and nothing runs.

A file with answers becomes evidence: each answer as it was understood, beside what the model computes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.errors import OurError, UsageError
from grader.kinds.answers.numbers import readings_of
from grader.kinds.answers.sheets import Sheet, read_sheet
from grader.kinds.answers.solving import is_drawn, solve_question
from grader.model import AnswerEvidence, Build, CaseEvidence, Evidence, Finding, FindingKind
from grader.plan import Plan, drawn_cases
from grader.submission.names import safe
from grader.text import escaped

if TYPE_CHECKING:
    from grader.backends.backend import Backend
    from grader.kinds.answers.solving import SolvedQuestion
    from grader.model import AnswersInterface, Assignment, Named, Question, Submission
    from grader.nvcc import Tools

BACKEND_NAME, DEVICE = "model", "no GPU"
"""What a grade calls what it was compared with."""


def plan(
    assignment: Assignment,
    seed: int,
    tools: Tools | None,  # noqa: ARG001 - all kinds have the same signatures
    *,
    visible_only: bool,  # noqa: ARG001 - a question of a hidden item is asked all the same
    backend: Backend,  # noqa: ARG001 - as above
) -> Plan:
    """A case for each question."""
    return Plan(assignment, seed, drawn_cases(assignment, seed), ())


def gather(
    plan: Plan,
    submission: Submission,
    built: Build,  # noqa: ARG001 - as above
    tools: Tools | None,  # noqa: ARG001 - as above
) -> tuple[Evidence, Named[float]]:
    """Read the answers, each beside what the model computes."""
    return _gathered(plan, submission), ()


def nothing(plan: Plan, built: Build) -> Evidence:  # noqa: ARG001 - as above
    """The evidence where no answer could be read."""
    return _no_answers(built)


def _no_answers(build: Build) -> Evidence:
    return Evidence(BACKEND_NAME, build, device=DEVICE)


def _gathered(plan: Plan, submission: Submission) -> Evidence:
    """All that can be known of a file with answers; whatever fails on our side is in the records."""
    sheet = _sheet_of(submission)
    if isinstance(sheet, Finding):
        return _no_answers(Build(ok=False, findings=(sheet,)))
    interface = plan.assignment.answers
    questions = {question.id: question for question in interface.questions}
    student = submission.id
    cases = []
    for case in plan.cases:
        question = questions[case.id]
        try:
            answer = _answer(
                interface, question, solve_question(interface, question, plan.seed, student), sheet, student
            )
        except (UsageError, OurError) as problem:
            cases.append(
                CaseEvidence(case, completed=False, error=f"`{question.id}` has no answer: {problem}")
            )
            continue
        cases.append(CaseEvidence(case, answer=answer))
    strangers = sorted(set(dict(sheet.answers)) - set(questions))
    return Evidence(
        BACKEND_NAME,
        Build(ok=True, warnings=_unknown_names(strangers, submission)),
        tuple(cases),
        device=DEVICE,
    )


def named_by_itself(submission: Submission) -> Submission:
    """The submission under the name that its file gives as ``student``, for whom the numbers were drawn.

    For one's own file only: in a class the id says whose it is, whatever the file says.
    """
    sheet = _sheet_of(submission)
    if isinstance(sheet, Finding) or not sheet.student:
        return submission
    return replace(submission, id=safe(sheet.student))


def _sheet_of(submission: Submission) -> Sheet | Finding:
    if submission.problem is not None:
        return submission.problem
    return read_sheet(submission.file, submission.source)


def _answer(
    interface: AnswersInterface, question: Question, solution: SolvedQuestion, sheet: Sheet, student: str
) -> AnswerEvidence:
    """What was answered, beside what is expected."""
    given = dict(sheet.answers).get(question.id, "")
    readings, problem = readings_of(given, question.unit) if given else ((), "")
    drawn = is_drawn(interface, question)
    return AnswerEvidence(
        question=question.id,
        text=solution.text,
        given=escaped(given, 60),
        readings=readings,
        problem=problem,
        expected=solution.expected,
        unit=question.unit,
        tolerance=question.tolerance,
        relative=question.relative,
        numbers=solution.numbers,
        steps=solution.steps,
        misconceptions=solution.misconceptions,
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


def _unknown_names(names: list[str], submission: Submission) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            FindingKind.ANSWER,
            f"`{escaped(name, 60)}` is no question of this assignment",
            file=submission.file,
        )
        for name in names[:10]
    )
