"""The proof itself, from an assignment to a report: what is tried, and what must come of it.

staff's files ─▶ model solution, skeleton ─▶ mistakes, mutants, other seeds ─▶ judgement ─▶ Report
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from inspect import signature
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from grader.authoring.validation import judgement
from grader.authoring.validation.judgement import case_uses, columns
from grader.authoring.validation.mutants import (
    barrier_mutants,
    interface_names,
    program_mutants,
    source_mutants,
)
from grader.authoring.validation.records import Control, Report, Trial, is_counted
from grader.authoring.validation.staff import read_staff
from grader.authoring.validation.trials import QUICK_STEPS, TrialRunner, is_kernel, run_trials
from grader.grading.assignment import expand_cases, reference_folder, staff_kernel
from grader.grading.oracle import array_types, draw_inputs, expected_of, in_case, load_oracle
from grader.kinds import kind_of
from grader.model import Verdict
from grader.model.compare import compare
from grader.running.backends.emulator import EMULATOR
from grader.simulation.emulator.launch import STEPS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.authoring.validation.records import Mutant, Staff, StaffMistake, TrialOutcome
    from grader.grading.oracle import Array, Oracle, Results, Shape
    from grader.model import Assignment, Build
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import Tools

    Progress = Callable[[int, int], None]
    Family = Callable[[Mapping[str, Array], Shape], Results]

__all__ = ["MISTAKE_SEEDS", "SEEDS", "Effort", "controls", "validate"]

SEEDS = 20
MISTAKE_SEEDS = 3
"""Numbers of seeds with which the model solution and each mistake are graded."""


PER_SUBMISSION = {
    "kernel": "per submission on the emulator",
    "program": "per submission, run as a program",
    "function": "per submission, called on the emulator",
    "answers": "per submission, answers compared",
}
"""Names of the time per submission, by the kind of the assignment."""


class Effort(NamedTuple):
    """Amount of trials: seeds of the model solution and of the mistakes, processes side by side."""

    seed: int = 1
    seeds: int = SEEDS
    mistake_seeds: int = MISTAKE_SEEDS
    jobs: int = 1


def validate(
    assignment: Assignment,
    tools: Tools,
    effort: Effort,
    *,
    backend: Backend = EMULATOR,
    progress: Progress | None = None,
    notice: Callable[[str], None] = lambda _: None,
) -> Report:
    """Prove an assignment; ``progress`` hears how many of how many trials are done.

    ``notice`` hears at once what will make it take long.

    Raises:
        UsageError: a file of the staff's is missing or cannot be understood.
        OurError: a kernel of the staff's cannot be run, or the machine failed.

    """
    began = time.perf_counter()
    staff = read_staff(assignment)
    on_gpu = kind_of(assignment).compiles and not backend.is_deterministic
    runner = TrialRunner(assignment, tools, backend=EMULATOR if on_gpu else backend)
    runner.plan(effort.seed)  # what is wrong with it is said here, once, and not as a fault of each trial
    built = runner.build(staff.solution, staff.solution_file)
    runner.original = built
    solution = runner.attempt(_solution_trial(staff, effort.seed))
    for sentence in judgement.of_large_cases(solution):
        notice(sentence)
    report = _report_before_cases(assignment, staff, runner, solution, effort.seed)
    if not solution.error:
        again = runner.attempt(_solution_trial(staff, effort.seed, feedback=True))  # built and planned
        report = replace(report, seconds=((PER_SUBMISSION[report.kind], again.seconds),))
    if judgement.is_full(solution):
        report = replace(report, baselines=_baselines(runner, effort.seed))
        runner.quick_steps = _quick_steps(runner, staff, effort.seed) if is_kernel(assignment) else STEPS
        report = replace(report, spent=(("model solution, skeleton", time.perf_counter() - began),))
        report = _proved(report, staff, runner, built, effort, progress)
        if on_gpu:
            report = _on_gpu(report, staff, TrialRunner(assignment, tools, backend=backend), effort.seed)
    report = replace(report, seconds=(*report.seconds, ("validation", time.perf_counter() - began)))
    return judgement.judged(report, staff, assignment)


def _report_before_cases(
    assignment: Assignment, staff: Staff, runner: TrialRunner, solution: TrialOutcome, seed: int
) -> Report:
    skeleton = None
    if staff.skeleton and not solution.error:  # else it would fail as the model solution did
        skeleton = runner.attempt(
            Trial("skeleton", f"skeleton{PurePath(staff.solution_file).suffix}", staff.skeleton, seed)
        )
    return Report(
        assignment=assignment.id,
        title=assignment.title,
        kind=kind_of(assignment).name,
        digest=assignment.digest,
        seed=seed,
        cases=len(expand_cases(assignment, seed)),
        points=sum((item.points for item in assignment.rubric if item.counts), Fraction(0)),
        solution=solution,
        skeleton=skeleton,
        mistakes=(),
        explained=staff.explained,
    )


def _baselines(runner: TrialRunner, seed: int) -> tuple[TrialOutcome, ...]:
    """The kernels that submissions are compared with, graded as submissions are."""
    options = (dict(item.options) for item in runner.assignment.rubric)
    names = dict.fromkeys(str(option["baseline"]) for option in options if "baseline" in option)
    files = (staff_kernel(runner.assignment, name) for name in names)
    return tuple(runner.attempt(Trial(file.name, file.name, file.read_bytes(), seed)) for file in files)


def _solution_trial(staff: Staff, seed: int, *, quick: bool = False, feedback: bool = False) -> Trial:
    return Trial("model solution", staff.solution_file, staff.solution, seed, quick=quick, feedback=feedback)


def _quick_steps(runner: TrialRunner, staff: Staff, seed: int) -> int:
    """Step limit of mutants: less than a submission's, if the model solution needs a quarter of that."""
    trial = _solution_trial(staff, seed, quick=True)
    tried = TrialRunner(runner.assignment, runner.tools, quick_steps=QUICK_STEPS // 4)
    tried.share_plans(runner)
    return QUICK_STEPS if judgement.is_full(tried.attempt(trial)) else STEPS


def _proved(
    report: Report,
    staff: Staff,
    runner: TrialRunner,
    built: Build,
    effort: Effort,
    progress: Progress | None,
) -> Report:
    """Mistakes, mutants and other seeds, in one go; then what follows from them."""
    mutants = _mutants(runner.assignment, staff, built) if kind_of(runner.assignment).compiles else ()
    at = effort.seed
    of_mistakes = {
        m.file: [_mistake_trial(m, at + k) for k in range(effort.mistake_seeds)] for m in staff.mistakes
    }
    of_mutants = {m.id: _mutant_trial(m, staff, at) for m in mutants}
    others = [_solution_trial(staff, at + k) for k in range(1, effort.seeds)]
    trials = [trial for seeds in of_mistakes.values() for trial in seeds] + others
    outcomes, building = run_trials(runner, trials, tuple(of_mutants.values()), effort.jobs, progress)
    mistakes = tuple((m, outcomes[of_mistakes[m.file][0]]) for m in staff.mistakes)
    judged = tuple((m, outcomes[of_mutants[m.id]]) for m in mutants)
    again = [(m, outcomes[trial]) for m in staff.mistakes for trial in of_mistakes[m.file][1:]]
    stability = judgement.stability([outcomes[trial] for trial in others], again, effort.mistake_seeds)
    stages = (
        ("building mutants", (building,)),
        ("mutants", [o.seconds for _, o in judged if not o.same_as]),
        ("mistakes", [outcomes[trial].seconds for seeds in of_mistakes.values() for trial in seeds]),
        ("other seeds", [outcomes[trial].seconds for trial in others]),
    )
    spent = tuple((name, sum(seconds)) for name, seconds in stages if any(seconds))
    report = replace(report, mistakes=mistakes, mutants=judged, stability=stability)
    return _with_matrix(replace(report, spent=(*report.spent, *spent)), runner, at)


def _with_matrix(report: Report, runner: TrialRunner, seed: int) -> Report:
    cases = tuple(dict.fromkeys(runner.case_plans(seed).values()))
    uses = case_uses(
        cases, columns(report.mistakes, [pair for pair in report.mutants if is_counted(pair[1])])
    )
    if not is_kernel(runner.assignment):
        return replace(report, uses=uses)
    tolerance, missing = controls(runner.assignment, seed)
    return replace(report, uses=uses, controls=tolerance, uncontrolled=missing)


def _mutants(assignment: Assignment, staff: Staff, built: Build) -> tuple[Mutant, ...]:
    if is_kernel(assignment):
        of_source = source_mutants(staff.solution, *interface_names(assignment))
    else:
        of_source = program_mutants(staff.solution)
    return (*of_source, *barrier_mutants(built, staff.solution))


def _mistake_trial(mistake: StaffMistake, seed: int) -> Trial:
    return Trial(mistake.file, mistake.file, mistake.source, seed)


def _mutant_trial(mutant: Mutant, staff: Staff, seed: int) -> Trial:
    return Trial(mutant.id, staff.solution_file, mutant.source, seed, quick=True, barrier=mutant.barrier)


def _on_gpu(
    report: Report,
    staff: Staff,
    runner: TrialRunner,
    seed: int,
) -> Report:
    """The model solution on a GPU: full marks there, too, and how long it takes."""
    outcome = runner.attempt(_solution_trial(staff, seed))
    if outcome.verdict is Verdict.PASS:
        outcome = runner.attempt(_solution_trial(staff, seed, feedback=True))
    seconds = (*report.seconds, ("per submission on the GPU", outcome.seconds))
    return replace(report, seconds=seconds, on_gpu=outcome, device=runner.backend.device)


def controls(assignment: Assignment, seed: int) -> tuple[tuple[Control, ...], str]:
    """The controls on all cases of a seed; and where there are none why, empty if none is needed."""
    outputs = [p for p in assignment.kernel.arrays if p.direction in ("out", "inout")]
    rounded = {parameter.dtype for parameter in outputs if "float" in parameter.dtype}
    if not rounded:
        return (), ""
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.kernel))
    if oracle.orders is None or oracle.coarser is None:
        file = f"reference/{assignment.reference}/oracle.py"
        return (), f"no tolerance control: {file} gives no `orders` and `coarser`"
    if rounded != {"float32"} and not _follow_types(oracle):
        file = f"reference/{assignment.reference}/oracle.py"
        return (), f"no tolerance control: `orders` and `coarser` of {file} are for float32 alone"
    rights = _family(assignment, oracle, oracle.orders, seed, wanted=True)
    coarse = _family(assignment, oracle, oracle.coarser, seed, wanted=False)
    return (*rights, *coarse), ""


def _follow_types(oracle: Oracle) -> bool:
    """True if both families are computed in the types of the assignment's arrays."""
    families = (oracle.orders, oracle.coarser)
    return all(family is not None and "types" in signature(family).parameters for family in families)


def _family(
    assignment: Assignment, oracle: Oracle, family: Family, seed: int, *, wanted: bool
) -> tuple[Control, ...]:
    """One control for each result and output: is it inside the bound in every case?"""
    outside: dict[tuple[str, str], list[str]] = {}
    for case in expand_cases(assignment, seed):
        inputs, shape = draw_inputs(oracle, case), dict(case.shape)
        with in_case(case.id):
            results_of_case = tuple(family(inputs, shape))
        outputs = dict.fromkeys(array for _, results in results_of_case for array in results)
        expected = expected_of(oracle, inputs, shape, outputs, case.id)
        for name, results in results_of_case:
            for array, got in results.items():
                cases_outside = outside.setdefault((name, array), [])
                if compare(array, got, *expected[array]).wrong:
                    cases_outside.append(case.id)
    return tuple(
        Control(name, array, inside=not cases, wanted=wanted, cases=tuple(cases))
        for (name, array), cases in outside.items()
    )
