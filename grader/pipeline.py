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
from typing import TYPE_CHECKING

import numpy as np

from grader import __version__, score
from grader.assignment import execution_digests
from grader.backends.emulator import EMULATOR
from grader.checks import run_checks
from grader.diagnosis import advise, context_of_submission, first_cause
from grader.kinds import kind_of
from grader.messages import Sentences, report_words, sentences_of, speaking, text_of
from grader.model import (
    Build,
    Evidence,
    Grade,
    Submission,
    Verdict,
)
from grader.plan import Plan, draw_plan
from grader.ptx.facts import digest
from grader.steps import Step, begin

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from grader.backends import Backend
    from grader.model import Assignment, CaseEvidence, Named
    from grader.nvcc import Tools

_RECORDS = 10_000
"""So many records that are made and kept let Python look for garbage; usually it is 700 or 2,000."""


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
    results = advise(run_checks(plan.assignment.rubric, evidence), plan.assignment.feedback, context)
    if evidence.build.error:
        results = tuple(
            replace(
                result,
                verdict=Verdict.ERROR,
                fraction=0 * result.fraction,
                message=_ours(evidence.build.error),
            )
            for result in results
        )
    cause = (
        None
        if evidence.build.error
        else first_cause(plan.assignment, evidence, results, context, submission.file)
    )
    total = score.total(results)
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
        advice=evidence.advice,
        timing=score.timing_of(evidence),
        estimate=evidence.estimate,
        witnesses=evidence.witnesses,
        cause=cause,
        hand_in=submission.hand_in,
        words=report_words(plan.assignment.feedback),
    )


def _error(evidence: Evidence) -> str:
    """What went wrong on our side."""
    return evidence.build.error or "; ".join(dict.fromkeys(c.error for c in evidence.cases if c.error))


def _array_parameters(assignment: Assignment, built: Build) -> tuple[str, ...]:
    """What findings call the arrays that the kernels are given: the file's names, whatever a case holds."""
    if not kind_of(assignment).has_kernels:
        return ()
    names = [parameter.name for parameter in assignment.kernel.parameters if parameter.extents]
    builds = (built, *(other for _, other in built.others))
    return tuple(dict.fromkeys(build.label(name) for build in builds for name in names))


def _evidence_to_store(plan: Plan, evidence: Evidence) -> Evidence:
    """What `rescore` needs of the evidence: no source, no code, of a program's files only the texts."""
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


def failed(plan: Plan, submission: Submission, reason: str) -> Grade:
    """The grade of a submission whose grading we could not finish: an error of ours, item by item."""
    evidence = kind_of(plan.assignment).stages().nothing(plan, Build(ok=False, error=reason))
    return judge(plan, submission, evidence)


def _ours(reason: str) -> str:
    return text_of("grader-failed", reason=reason)


def versions() -> Named[str]:
    """What decided this grade: versions of the grader and of what it computes with."""
    return (("grader", __version__), ("python", platform.python_version()), ("numpy", np.__version__))


__all__ = ["Plan", "failed", "grade", "grade_built", "judge", "make_plan", "with_trace"]
