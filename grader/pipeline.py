"""From an assignment and a submission to a grade: the stages, one after the other.

    plan ─▶ build ─▶ evidence (run, compare, per case) ─▶ checks ─▶ score ─▶ Grade

Every stage takes the records before it and gives the next. A student's mistake travels as findings; our
own failure as ``error`` in a record, which becomes the verdict `error` and never a zero.
"""

from __future__ import annotations

import math
import platform
import time
import traceback
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from grader import __version__, score
from grader.build import build_with
from grader.build.launch import plan_launch
from grader.checks import run_checks
from grader.compare import compare, untouched
from grader.diagnosis import WrongOutput, advise, explain_output
from grader.emulator import backend as emulator
from grader.errors import OurError
from grader.model import (
    Argument,
    Build,
    CaseEvidence,
    Comparison,
    Evidence,
    Finding,
    FindingKind,
    Grade,
    Submission,
    Verdict,
    Visibility,
)
from grader.oracle import draw_inputs, load_oracle, make_arguments
from grader.spec import expand_cases, reference_folder

if TYPE_CHECKING:
    from grader.build import Tools
    from grader.emulator.backend import Emulated
    from grader.model import Assignment, Case, Counters, Named, Run
    from grader.oracle import Oracle

    Baselines = Named[Named[Counters]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What all submissions of one grading run share.

    ``cases`` are concrete; ``baselines`` holds, per case, what the staff's kernels moved.
    """

    assignment: Assignment
    seed: int
    cases: tuple[Case, ...]
    baselines: Baselines


def make_plan(assignment: Assignment, seed: int, tools: Tools, *, visible_only: bool) -> Plan:
    """Draw the cases and run the staff's baselines; raises OurError if a baseline cannot be run."""
    cases = expand_cases(assignment, seed)
    if visible_only:
        cases = tuple(case for case in cases if case.visibility is Visibility.VISIBLE)
    return Plan(assignment, seed, cases, _baselines(assignment, cases, tools))


def _baselines(assignment: Assignment, cases: tuple[Case, ...], tools: Tools) -> Baselines:
    """The counters of each baseline kernel on the cases that a `traffic` item asks about."""
    wanted: dict[str, set[str]] = {}
    for item in assignment.rubric:
        if item.check == "traffic":
            chosen = {c.id for c in cases if not item.cases or {c.id, *c.tags} & set(item.cases)}
            wanted.setdefault(str(dict(item.options)["baseline"]), set()).update(chosen)
    oracle = load_oracle(reference_folder(assignment))
    counters: dict[str, dict[str, Counters]] = {}
    for name, chosen in wanted.items():
        built = _staff_build(assignment, name, tools)
        kernel = emulator.Emulated(built, "", f"{name}.cu")
        for case in (case for case in cases if case.id in chosen):
            launch = plan_launch(assignment.interface, built, dict(case.shape))
            if isinstance(launch, Finding):
                raise OurError(
                    f"the baseline {name}.cu cannot be launched for case {case.id}: {launch.message}"
                )
            run = kernel.launch(launch, _arguments(assignment, built, case, oracle), count_only=True)
            counters.setdefault(case.id, {})[name] = run.counters
    return tuple((case, tuple(found.items())) for case, found in counters.items())


def _staff_build(assignment: Assignment, name: str, tools: Tools) -> Build:
    path = reference_folder(assignment) / f"{name}.cu"
    try:
        source = path.read_bytes()
    except OSError as problem:
        raise OurError(f"the baseline {path} cannot be read: {problem.strerror}") from None
    built = build_with(tools, Submission(name, path.name, source, ""), assignment.interface)
    if not built.ok:
        reasons = "; ".join(finding.message for finding in built.findings) or built.error
        raise OurError(f"the baseline {path.name} does not build: {reasons}")
    return built


def grade(plan: Plan, submission: Submission, tools: Tools) -> Grade:
    """Grade one submission; whatever fails on our side ends as the verdict `error`."""
    began = time.perf_counter()
    built = build_with(tools, submission, plan.assignment.interface)
    return grade_built(plan, submission, built, (("build", time.perf_counter() - began),))


def grade_built(plan: Plan, submission: Submission, built: Build, stages: Named[float] = ()) -> Grade:
    """Grade a submission that is built; ``stages`` are the seconds that earlier stages took."""
    began = time.perf_counter()
    evidence = _gather(plan, submission, built) if built.ok else Evidence(emulator.NAME, built)
    return judge(plan, submission, evidence, (*stages, ("run", time.perf_counter() - began)))


def judge(plan: Plan, submission: Submission, evidence: Evidence, stages: Named[float] = ()) -> Grade:
    """Evidence → grade: checks and points; pure but for the versions it notes."""
    began = time.perf_counter()
    results = advise(run_checks(plan.assignment.rubric, evidence))
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
    total = score.total(results)
    return Grade(
        assignment_id=plan.assignment.id,
        assignment_title=plan.assignment.title,
        assignment_digest=plan.assignment.digest,
        submission_id=submission.id,
        submission_file=submission.file,
        submission_digest=submission.digest,
        backend=evidence.backend,
        device=emulator.DEVICE,
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
        error=evidence.build.error or "; ".join(dict.fromkeys(c.error for c in evidence.cases if c.error)),
        advice=evidence.advice,
    )


def failed(plan: Plan, submission: Submission, reason: str) -> Grade:
    """The grade of a submission whose grading we could not finish: an error of ours, item by item."""
    return judge(plan, submission, Evidence(emulator.NAME, Build(ok=False, error=reason)))


def _ours(reason: str) -> str:
    return f"could not be judged, and that is the grader's fault, not yours: {reason}"


def _gather(plan: Plan, submission: Submission, built: Build) -> Evidence:
    oracle = load_oracle(reference_folder(plan.assignment))
    text = tuple(submission.source.decode("latin-1").split("\n"))
    kernel = emulator.Emulated(built, built.source_name, submission.file, text=text)
    baselines = dict(plan.baselines)
    largest = _largest(plan)
    cases = tuple(
        replace(
            _run_case(plan, built, case, oracle, kernel, profile=case is largest),
            baselines=baselines.get(case.id, ()),
        )
        for case in plan.cases
    )
    try:
        return Evidence(emulator.NAME, built, kernel.repaired(cases), kernel.advice(cases))
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        return Evidence(emulator.NAME, built, cases)


def _largest(plan: Plan) -> Case | None:
    """The visible case with the most in it: what a line does in the long run shows there."""
    visible = [case for case in plan.cases if case.visibility is Visibility.VISIBLE]
    return max(visible, key=lambda case: math.prod(size for _, size in case.shape), default=None)


def _run_case(
    plan: Plan, built: Build, case: Case, oracle: Oracle, kernel: Emulated, *, profile: bool = False
) -> CaseEvidence:
    launch = plan_launch(plan.assignment.interface, built, dict(case.shape))
    if isinstance(launch, Finding):
        return CaseEvidence(case, findings=(replace(launch, case=case.id),), completed=False)
    arguments = _arguments(plan.assignment, built, case, oracle)
    try:
        run = kernel.launch(launch, arguments, case=case, profile=profile)
    except OurError as problem:
        return CaseEvidence(case, completed=False, error=str(problem))
    except MemoryError:
        return CaseEvidence(case, completed=False, error="the emulator ran out of memory")
    except Exception as problem:  # noqa: BLE001 - a bug of ours must not become a student's zero
        where = traceback.extract_tb(problem.__traceback__)[-1]
        place = f"{where.filename.rsplit('/', 1)[-1]}:{where.lineno}"
        reason = f"the emulator failed: {type(problem).__name__}: {problem} ({place})"
        return CaseEvidence(case, completed=False, error=reason)
    return _compared(plan, built, case, oracle, arguments, run)


def _arguments(assignment: Assignment, built: Build, case: Case, oracle: Oracle) -> tuple[Argument, ...]:
    arrays = draw_inputs(oracle, case)
    arguments = make_arguments(assignment.interface, dict(case.shape), arrays, dict(built.constants))
    return tuple(
        replace(each, offset=case.offset) if each.direction != "value" else each for each in arguments
    )


def _compared(
    plan: Plan,
    built: Build,
    case: Case,
    oracle: Oracle,
    arguments: tuple[Argument, ...],
    run: Run,
) -> CaseEvidence:
    """Evidence of a run: its outputs against the oracle, each wrong one with a mistake that explains it."""
    arrays = {a.name: a.value for a in arguments if isinstance(a.value, np.ndarray)}
    inputs = {a.name: arrays[a.name] for a in arguments if a.direction in ("in", "inout")}
    expected = oracle.expected(inputs, dict(case.shape))
    comparisons = []
    for name, got in run.outputs:
        values, bound = expected[name]
        unwritten = untouched(got, arrays[name])
        comparison = compare(name, got, values, bound, poison=unwritten)
        wrong = WrongOutput(
            name,
            got,
            values,
            bound,
            unwritten,
            inputs=tuple(inputs.items()),
            constants=built.constants,
            before=arrays[name],
            store_bytes=run.counters.global_store_bytes if run.completed else None,
            completed=run.completed,
            reads_outside=any(finding.kind is FindingKind.OUT_OF_BOUNDS for finding in run.findings),
        )
        comparisons.append(_explained(plan.assignment.reference, comparison, wrong))
    return CaseEvidence(
        case=case,
        comparisons=tuple(comparisons),
        findings=tuple(replace(finding, case=case.id) for finding in run.findings),
        changed_inputs=run.changed_inputs,
        counters=run.counters,
        seconds=run.seconds,
        completed=run.completed,
    )


def _explained(reference: str, comparison: Comparison, wrong: WrongOutput) -> Comparison:
    """The comparison with the named mistake that would have produced just this output, if there is one."""
    found = explain_output(reference, wrong) if comparison.wrong else None
    if found is None:
        return comparison
    return replace(comparison, mistake=found.mistake, explanation=found.explanation, hint=found.hint)


def versions() -> Named[str]:
    """What decided this grade: versions of the grader and of what it computes with."""
    return (("grader", __version__), ("python", platform.python_version()), ("numpy", version("numpy")))


__all__ = ["Plan", "failed", "grade", "grade_built", "judge", "make_plan"]
