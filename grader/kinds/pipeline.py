"""From an assignment and a submission to a grade: the stages, one after the other.

    plan ─▶ build ─▶ evidence (run, compare, per case) ─▶ checks ─▶ score ─▶ Grade

Every stage takes the records before it and gives the next. A student's mistake travels as findings; our
own failure as ``error`` in a record, which becomes the verdict `error` and never a zero.
"""

from __future__ import annotations

import gc
import platform
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from grader import __version__
from grader.base.steps import Step, begin
from grader.explaining import advise, context_of_submission, first_cause
from grader.grading import score
from grader.grading.assignment import execution_digests
from grader.grading.checks import check_of, results_for_student, run_checks, secrecy
from grader.grading.checks.cases import no_verdict_reason
from grader.kinds import kind_of
from grader.kinds.plan import Plan, draw_plan
from grader.model import (
    Build,
    Evidence,
    Grade,
    StudentResults,
    Submission,
    Verdict,
)
from grader.model.messages import Sentences, report_words, sentences_of, speaking, text_of
from grader.running.backends.emulator import EMULATOR
from grader.simulation.ptx.facts import digest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from grader.explaining import SubmissionContext
    from grader.model import Assignment, CaseEvidence, Cause, CheckResult, Named
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import Tools

_RECORDS = 10_000
"""Number of new records that starts Python's garbage collection; usually it is 700 or 2,000."""


def make_plan(
    assignment: Assignment,
    seed: int,
    tools: Tools | None,
    *,
    visible_only: bool,
    backend: Backend = EMULATOR,
) -> Plan:
    """Draw the cases and prepare what all submissions share.

    Answers need no ``tools``. Raises OurError if one of the staff's kernels cannot be run, and UsageError if
    the reference of a program cannot tell what is asked.
    """
    drawn = draw_plan(assignment, seed, backend, visible_only=visible_only)
    return kind_of(assignment).plan(drawn, tools)


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Within, Python looks for garbage in cycles less often.

    Grading makes many small records, and hardly any cycles; looking through all that is alive took a tenth
    of the time of a class. What was there before stays: it is not looked at.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_RECORDS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@_rarely_collected()
def grade(plan: Plan, submission: Submission, tools: Tools | None) -> Grade:
    """Grade one submission; what fails on our side ends as the verdict `error`. Answers need no ``tools``.

    The grade has the trace for its reports, too.
    """
    kind = kind_of(plan.assignment)
    began = time.perf_counter()
    built = kind.build(tools, submission, plan.assignment, plan.backend.architecture)
    seconds = (("build", time.perf_counter() - began),) if kind.compiles else ()
    return with_trace(plan, submission, built, grade_built(plan, submission, built, tools, seconds))


@_rarely_collected()
def grade_built(
    plan: Plan, submission: Submission, built: Build, tools: Tools | None, seconds: Named[float] = ()
) -> Grade:
    """Grade a submission that is built; ``seconds`` are those that earlier stages took."""
    began = time.perf_counter()
    with speaking(sentences_of(plan.assignment.feedback)):
        evidence, parts = kind_of(plan.assignment).gather(plan, submission, built, tools)
        if any(case.too_much_work for case in evidence.cases):
            from grader.kinds.own_work import with_own_work  # noqa: PLC0415 - most submissions do without

            evidence = with_own_work(plan, submission, evidence, tools)
    begin(Step("judge"))
    return judge(plan, submission, evidence, (*seconds, *parts, ("run", time.perf_counter() - began)))


def with_trace(plan: Plan, submission: Submission, built: Build, grade: Grade) -> Grade:
    """The grade with the trace of the block in which what explains most happens, if there is one to show."""
    if not (plan.feedback and built.ok and kind_of(plan.assignment).has_kernels):
        return grade
    from grader.kinds.kernel.tracing import trace_to_show  # noqa: PLC0415 - most kinds do without

    with speaking(sentences_of(plan.assignment.feedback)):
        return replace(grade, trace=trace_to_show(plan, submission, built, grade))


def judge(plan: Plan, submission: Submission, evidence: Evidence, stages: Named[float] = ()) -> Grade:
    """Evidence → grade: checks and points, in the course's sentences; pure but for the versions it notes.

    The grade keeps the evidence with the grader's own sentences of findings: a course may change its mind.
    What has no code (explanations, advice, how a program ended) was said in its words when it was run.
    """
    sentences = sentences_of(plan.assignment.feedback)
    with speaking(sentences):
        grade = _judged(plan, submission, _in_sentences(evidence, sentences), stages)
    return replace(grade, evidence=_evidence_to_store(plan, evidence))


def _in_sentences(evidence: Evidence, sentences: Sentences) -> Evidence:
    """The evidence with all findings as the course words them."""
    if not (sentences.templates or sentences.clauses):
        return evidence
    timing = evidence.timing
    if timing is not None:
        timing = replace(timing, findings=tuple(map(sentences.worded, timing.findings)))
    return replace(
        evidence,
        build=replace(evidence.build, findings=tuple(map(sentences.worded, evidence.build.findings))),
        cases=tuple(
            replace(case, findings=tuple(map(sentences.worded, case.findings))) for case in evidence.cases
        ),
        timing=timing,
    )


def _judged(plan: Plan, submission: Submission, evidence: Evidence, stages: Named[float]) -> Grade:
    began = time.perf_counter()
    context = context_of_submission(plan.assignment, evidence)
    evidence = replace(evidence, array_parameters=_array_parameters(plan.assignment, evidence.build))
    judged = partial(_explained, plan.assignment, context=context, file=submission.file)
    results, cause = judged(run_checks(plan.assignment.rubric, evidence), evidence)
    total = score.total(results)
    for_student: StudentResults | None = None
    shown_results: tuple[CheckResult, ...] = ()
    if plan.has_hidden_cases:
        nameless = replace(evidence, build=secrecy.without_hidden_names(evidence.build, plan.cases))
        shown = secrecy.evidence_for_students(nameless, map(check_of, plan.assignment.rubric))
        shown_results, shown_cause = judged(results_for_student(plan.assignment.rubric, nameless), shown)
        broken = [result for result in shown_results if result.verdict is Verdict.ERROR]
        why = "question-hidden" if all(result.is_question for result in broken) else "grader-error-hidden"
        error = _error(secrecy.visible_part(nameless)) or text_of(why)
        is_error = score.total(shown_results).verdict is Verdict.ERROR
        for_student = StudentResults(shown_results, shown_cause, error if is_error else "")
    return Grade(
        assignment_id=plan.assignment.id,
        assignment_title=plan.assignment.title,
        assignment_digest=plan.assignment.digest,
        submission_id=submission.id,
        submission_file=submission.file,
        submission_digest=submission.digest,
        backend=evidence.backend,
        device=evidence.device,
        toolkit=evidence.build.toolkit,
        seed=plan.seed,
        verdict=total.verdict,
        score=total.score,
        max_score=total.max_score,
        skipped_points=total.skipped_points,
        items=total.items,
        cases=score.case_grades(evidence, results, plan.cases),
        versions=versions(),
        seconds=(*evidence.build.seconds, *stages, ("judge", time.perf_counter() - began)),
        error=_error(evidence) if total.verdict is Verdict.ERROR else "",
        advice=evidence.advice if _may_be_advised((*results, *shown_results)) else (),
        timing=score.timing_of(evidence),
        estimate=evidence.estimate,
        witnesses=evidence.witnesses,
        cause=cause,
        for_student=for_student,
        hand_in=submission.hand_in,
        words=report_words(plan.assignment.feedback),
    )


def _explained(
    assignment: Assignment,
    results: tuple[CheckResult, ...],
    evidence: Evidence,
    *,
    context: SubmissionContext,
    file: str,
) -> tuple[tuple[CheckResult, ...], Cause | None]:
    """The results with their hints, and what explains most of them; all in error where the build is."""
    advised = advise(results, assignment.feedback, context)
    if evidence.build.error:
        message, is_question = _not_built(evidence.build), evidence.build.is_question
        return tuple(
            replace(
                result,
                verdict=Verdict.ERROR,
                fraction=0 * result.fraction,
                message=message,
                is_question=is_question,
            )
            for result in advised
        ), None
    return advised, first_cause(assignment, evidence, advised, context, file)


def _may_be_advised(results: tuple[CheckResult, ...]) -> bool:
    """True if no item says that a hidden case is wrong: advice is made of visible ones alone."""
    wrong = (Verdict.FAIL, Verdict.ERROR)
    return all(result.verdict not in wrong for result in results if result.item.check in _WRONG_KERNELS)


_WRONG_KERNELS = frozenset({"output", "races", "memory"})
"""The checks of which a right kernel passes all."""


def _error(evidence: Evidence) -> str:
    """Failures on our side, in words."""
    reasons = (
        case.error or case.question or (no_verdict_reason(case) if case.is_own_work else "")
        for case in evidence.cases
    )
    return evidence.build.error or "; ".join(dict.fromkeys(filter(None, reasons)))


def _array_parameters(assignment: Assignment, built: Build) -> tuple[str, ...]:
    """Names in findings of the arrays that the kernels are given: the file's, whatever a case holds."""
    if not kind_of(assignment).has_kernels:
        return ()
    names = [parameter.name for parameter in assignment.kernel.parameters if parameter.extents]
    builds = (built, *(other for _, other in built.others))
    return tuple(dict.fromkeys(build.label(name) for build in builds for name in names))


def _evidence_to_store(plan: Plan, evidence: Evidence) -> Evidence:
    """The evidence that `rescore` needs: no source, no code, of a program's files only the texts."""
    texts = {dict(item.options)["of"] for item in plan.assignment.rubric if item.check == "text"}
    ran = evidence.ran or execution_digests(
        plan.assignment,
        plan.cases,
        timed=evidence.measures_time,
        estimated=evidence.estimate is not None,
    )
    cases = tuple(_without_files(case, texts) for case in evidence.cases)
    return replace(evidence, build=_without_code(evidence.build), cases=cases, ran=ran)


def _without_code(build: Build) -> Build:
    others = tuple((name, _without_code(other)) for name, other in build.others)
    code = build.digest or digest(build.ptx)
    return replace(build, ptx="", hazard_ptx="", program=b"", log="", others=others, digest=code)


def _without_files(case: CaseEvidence, texts: Collection[str]) -> CaseEvidence:
    """A case without what its program wrote for others than a `text` item: arrays have been compared."""
    if case.program is None:
        return case
    files = tuple((name, content) for name, content in case.program.files if name in texts)
    return replace(case, program=replace(case.program, files=files))


def failed(plan: Plan, submission: Submission, reason: str, *, is_question: bool = False) -> Grade:
    """The grade of a submission whose grading could not be finished, item by item.

    An error of ours, or a question to staff where the submission itself is the reason.
    """
    built = Build(ok=False, error=reason, is_question=is_question)
    evidence = kind_of(plan.assignment).stages().nothing(plan, built)
    return judge(plan, submission, evidence)


def _not_built(build: Build) -> str:
    return text_of("question-to-staff" if build.is_question else "grader-failed", reason=build.error)


def versions() -> Named[str]:
    """Versions that decide this grade: of the grader and of what it computes with."""
    return (("grader", __version__), ("python", platform.python_version()), ("numpy", np.__version__))


__all__ = ["Plan", "failed", "grade", "grade_built", "judge", "make_plan", "with_trace"]
