"""The proof itself, from an assignment to a report: what is tried, and what must come of it.

staff's files ─▶ model solution, skeleton ─▶ mistakes, mutants, other seeds ─▶ judgement ─▶ Report
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from inspect import signature
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.assignment import document, expand_cases, reference_folder, staff_folder, staff_kernel
from grader.backends.emulator import EMULATOR
from grader.compare import compare
from grader.emulator.launch import STEPS
from grader.errors import UsageError
from grader.kinds import kind_of
from grader.model import Verdict
from grader.oracle import array_types, draw_inputs, expected_of, in_case, load_oracle
from grader.text import suggestion
from grader.validation import judgement
from grader.validation.judgement import case_uses, columns
from grader.validation.mutants import barrier_mutants, interface_names, source_mutants
from grader.validation.records import Control, Explained, Report, Staff, StaffMistake, Trial, is_counted
from grader.validation.trials import QUICK_STEPS, TrialRunner, is_kernel, run_trials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.backends import Backend
    from grader.model import Assignment, Build
    from grader.nvcc import Tools
    from grader.oracle import Array, Oracle, Results, Shape
    from grader.validation.records import Mutant, TrialOutcome

    Progress = Callable[[int, int], None]
    Family = Callable[[Mapping[str, Array], Shape], Results]
    from pathlib import Path

__all__ = [
    "EQUIVALENT",
    "MISTAKE_SEEDS",
    "SEEDS",
    "SUFFIXES",
    "TABLE",
    "Effort",
    "controls",
    "read_staff",
    "validate",
]

SEEDS = 20
MISTAKE_SEEDS = 3
"""As many seeds the model solution and each mistake are graded with."""


PER_SUBMISSION = {
    "kernel": "per submission on the emulator",
    "program": "per submission, run as a program",
    "function": "per submission, called on the emulator",
    "answers": "per submission, answers compared",
}
"""What is timed of a submission that is built, by the kind of the assignment."""


class Effort(NamedTuple):
    """How much to try: seeds of the model solution and of the mistakes, processes side by side."""

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
    report = _begun(assignment, staff, runner, solution, effort.seed)
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


def _begun(
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
    """How far mutants are followed: less than a submission, if the model solution needs a quarter of that."""
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
    mutants = _mutants(runner.assignment, staff, built) if is_kernel(runner.assignment) else ()
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
    kernels, constants = interface_names(assignment)
    return (*source_mutants(staff.solution, kernels, constants), *barrier_mutants(built, staff.solution))


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
    """Whether both families are computed in the types of the assignment's arrays."""
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


TABLE, EQUIVALENT = "mistakes.yaml", "equivalent.yaml"
SUFFIXES = (".cu", ".yaml", ".yml", ".json")
"""What may be handed in: a source file, or a file of answers."""

_KEYS = ("title", "wrong", "loses")
_FIRST = "first"
"""The keys of a mistake in the table, and one that says what its author must be told first."""


def read_staff(assignment: Assignment) -> Staff:
    """Read them all.

    Raises:
        UsageError: there is no model solution, or a table cannot be understood; says which line or entry.

    """
    folder = staff_folder(assignment)
    solution = _solution(assignment, folder)
    mistakes = folder / "mistakes"
    table = _mapping(mistakes / TABLE)
    files = {path.name: path for path in sorted(mistakes.glob("*")) if _is_handed_in(path)}
    items = {item.id for item in assignment.rubric}
    problems = [
        f"{name}: lies in mistakes/, but {TABLE} does not name it" for name in files if name not in table
    ]
    problems += [
        f"{name}: {TABLE} names it, but there is no such file" for name in table if name not in files
    ]
    entries = {name: _entry(mistakes / TABLE, name, entry, items) for name, entry in table.items()}
    skeleton = next(iter(sorted(_home(assignment).glob("skeleton.*"))), None)
    return Staff(
        solution_file=solution.name,
        solution=solution.read_bytes(),
        skeleton=skeleton.read_bytes() if skeleton else b"",
        mistakes=tuple(
            StaffMistake(name, title, loses, files[name].read_bytes())
            for name, (title, loses) in entries.items()
            if name in files
        ),
        explained=_explained(mistakes / EQUIVALENT),
        problems=tuple(problems),
    )


def _home(assignment: Assignment) -> Path:
    return assignment.path if assignment.path.is_dir() else assignment.path.parent


def _solution(assignment: Assignment, folder: Path) -> Path:
    for suffix in SUFFIXES:
        path = folder / f"solution{suffix}"
        if path.is_file():
            return path
    raise UsageError(f"the assignment `{assignment.id}` has no model solution; expected {folder}/solution.cu")


def _is_handed_in(path: Path) -> bool:
    return path.suffix in SUFFIXES and path.name not in (TABLE, EQUIVALENT) and path.is_file()


def _entry(path: Path, name: str, entry: Any, items: set[str]) -> tuple[str, tuple[str, ...]]:  # noqa: ANN401 - YAML
    if not isinstance(entry, dict) or not set(entry) >= set(_KEYS) or not isinstance(entry["loses"], list):
        raise UsageError(f"{path}: {name}: expected `title`, `wrong` and `loses`, a list of rubric items")
    unknown = next((key for key in entry if key not in {*_KEYS, _FIRST}), None)
    if unknown is not None:
        raise UsageError(f"{path}: {name}: unknown key `{unknown}`; {suggestion(unknown, (*_KEYS, _FIRST))}")
    missing = next((str(item) for item in entry["loses"] if item not in items), None)
    if missing is not None:
        hint = suggestion(missing, sorted(items))
        raise UsageError(f"{path}: {name}: loses `{missing}`, which the rubric does not have; {hint}")
    return str(entry["title"]), tuple(map(str, entry["loses"]))


def _explained(path: Path) -> tuple[Explained, ...]:
    explanations = _loaded(path) or []
    if not isinstance(explanations, list) or not all(
        _is_explanation(explanation) for explanation in explanations
    ):
        raise UsageError(f"{path}: expected a list of entries with `mutant` and `why`, both texts")
    return tuple(Explained(explanation["mutant"], explanation["why"]) for explanation in explanations)


def _is_explanation(entry: Any) -> bool:  # noqa: ANN401 - YAML
    texts = isinstance(entry, dict) and set(entry) == {"mutant", "why"}
    return texts and all(isinstance(text, str) and text.strip() for text in entry.values())


def _mapping(path: Path) -> dict[str, Any]:
    mapping = _loaded(path) or {}
    if not isinstance(mapping, dict) or not all(isinstance(name, str) for name in mapping):
        raise UsageError(f"{path}: expected a table of mistakes by file name")
    return mapping


def _loaded(path: Path) -> Any:  # noqa: ANN401 - YAML
    """What a file says, every value as text; nothing where there is none, or nothing in it."""
    try:
        content = path.read_bytes()
        if all(line.strip()[:1] in {b"", b"#"} for line in content.splitlines()):
            return None
        return document.read_plain(content, "a table")
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read: {problem.strerror}") from None
    except document.UnreadableDocument as refused:
        at = refused.position
        raise UsageError(f"{path}:{at.line}:{at.column}: {refused.message}") from None
