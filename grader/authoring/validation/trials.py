"""Grading one file after the other: the model solution, the mistakes and the mutants, each on all cases.

A runner keeps the plan of a seed (cases, what the baselines moved) for the next trial with that seed. Builds
come from the cache that all grading uses.
"""

from __future__ import annotations

import hashlib
import re
import signal
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, TypeVar

from grader.authoring.validation.mutants import without_barrier
from grader.authoring.validation.records import LargeCase, Made, TrialOutcome
from grader.base.errors import GraderError, OurError, described, log_swallowed
from grader.classroom.batch.executor import forkserver
from grader.grading.assignment import expand_cases
from grader.grading.checks import CHECKS
from grader.kinds import kind_of, pipeline
from grader.kinds.answers.sheets import with_expressions_worked_out
from grader.model import Submission, Verdict
from grader.model.messages import clause
from grader.running.backends.emulator import EMULATOR
from grader.simulation.emulator.launch import STEPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from multiprocessing.process import BaseProcess
    from types import FrameType, TracebackType
    from typing import Self

    from grader.authoring.validation.records import Trial
    from grader.kinds.pipeline import Plan
    from grader.model import Assignment, Build, CaseEvidence, Grade, ItemGrade, Named
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import Tools

    Progress = Callable[[int, int], None]

LONG_SECONDS = 10.0
"""Seconds from which on a case is reported to staff: each submission, mistake and mutant waits for it."""

QUICK_STEPS = STEPS // 25
"""Step limit of a mutant: enough for any model solution of a lesson, checked before it is used."""

_NO_CODE = re.compile(
    r"^[ \t]*(?:\.(?:loc|file)\b.*|\$L__tmp\d+:|//.*)?\n|^[ \t]*\.section[\s\S]*", re.MULTILINE
)

STYLE = tuple(check.name for check in CHECKS if check.style)
"""Checks that say how a kernel is written: losing one of them alone does not distinguish right from wrong."""


@dataclass(eq=False)
class TrialRunner:
    """Runner of trials: an assignment, the tools, and the model solution that they are compared with."""

    assignment: Assignment
    tools: Tools
    original: Build | None = None
    quick_steps: int = QUICK_STEPS
    backend: Backend = EMULATOR

    def __post_init__(self) -> None:
        """Start without a plan."""
        self._plans: dict[int, Plan] = {}

    def attempt(self, trial: Trial) -> TrialOutcome:
        """Build and grade one file; any failure on our side is in ``error``."""
        began = time.perf_counter()
        try:
            outcome = self._graded(trial)
        except GraderError as problem:
            outcome = _broken(trial, str(problem))
        except Exception as problem:  # noqa: BLE001 - a bug of ours must not end the whole validation
            outcome = _broken(trial, described(problem))
        return replace(outcome, seconds=time.perf_counter() - began)

    def build(self, source: bytes, file: str) -> Build:
        """A build of a file as a submission."""
        kind, architecture = kind_of(self.assignment), self.backend.architecture
        return kind.build(self.tools, _submission(file, source), self.assignment, architecture)

    def share_plans(self, other: TrialRunner) -> None:
        """Take over the plans that another runner of the same assignment has made."""
        self._plans = other._plans

    def make(self, trial: Trial) -> Made:
        """Build one file, and say which program came of it; failures are reported when it is graded."""
        began = time.perf_counter()
        try:
            built = self._built(trial)
            equal = trial.barrier < 0 and same_program(built, self.original)
            attempt = Made(program(built) if built.ok else "", equal)
        except Exception:  # noqa: BLE001 - as above
            log_swallowed("compiling a changed file")
            attempt = Made()
        return attempt._replace(seconds=time.perf_counter() - began)

    def _built(self, trial: Trial) -> Build:
        built = self.build(trial.source, trial.file)
        return without_barrier(built, trial.barrier) if trial.barrier >= 0 else built

    def _graded(self, trial: Trial) -> TrialOutcome:
        built = self._built(trial)
        plan = replace(self.plan(trial.seed), feedback=trial.feedback)
        if trial.quick:
            plan = replace(plan, steps=self.quick_steps)
        source = with_expressions_worked_out(self.assignment, trial.source, trial.file, trial.seed)
        grade = pipeline.grade_built(plan, _submission(trial.file, source), built, self.tools)
        return outcome_of(trial, grade, self.case_plans(trial.seed), built=built.ok)

    def plan(self, seed: int) -> Plan:
        """Shared plan of the trials with a seed.

        Raises UsageError where the staff's files are not as they must be, OurError where one of their kernels
        cannot be run.
        """
        if seed not in self._plans:
            plan = pipeline.make_plan(
                self.assignment, seed, self.tools, visible_only=False, backend=self.backend
            )
            self._plans[seed] = replace(plan, compares_work=False)  # no one is asked about a trial
        return self._plans[seed]

    def case_plans(self, seed: int) -> dict[str, str]:
        """The id of the plan that each case comes from: its own, or that of the draw."""
        drawn = {plan.id for plan in self.assignment.cases if plan.draws}
        return {
            case.id: next((tag for tag in case.tags if tag in drawn and case.id != tag), case.id)
            for case in expand_cases(self.assignment, seed)
        }


def outcome_of(trial: Trial, grade: Grade, plans: dict[str, str], *, built: bool) -> TrialOutcome:
    """Outcome of a trial from its grade; ``plans`` gives for each case the plan that it comes from."""
    items = {item.result.item.id: item for item in grade.items}
    charged: list[str] = []
    kills: dict[str, list[str]] = {}
    for name, item in items.items():
        if not _is_charged(item):
            continue
        losing = _losing_cases(trial, grade, item)
        if losing or item.result.verdict is Verdict.FAIL:
            charged.append(name)
        for case in losing:
            kills.setdefault(plans.get(case, case), []).append(name)
    return TrialOutcome(
        name=trial.name,
        seed=trial.seed,
        verdict=grade.verdict,
        score=grade.score,
        max_score=grade.max_score,
        skipped=tuple(name for name, item in items.items() if item.result.verdict is Verdict.SKIP),
        failed=tuple(name for name, item in items.items() if item.result.verdict is Verdict.FAIL),
        charged=tuple(charged),
        kills=_frozen(kills),
        built=built,
        first_loss=_first_loss(grade),
        large=() if trial.quick else large_cases(grade.evidence.cases if grade.evidence else ()),
        error=_our_error(grade),
    )


def _losing_cases(trial: Trial, grade: Grade, item: ItemGrade) -> list[str]:
    """The cases in which an item is lost.

    A mutant that takes many times the work of the model solution is given up, and earns nothing there.
    """
    lost = {(case, Verdict.FAIL) for case, _ in item.result.case_verdicts}
    if trial.quick:
        lost |= {(case.case.id, Verdict.SKIP) for case in grade.cases if case.too_much_work}
    is_lost = item.result.verdict in (Verdict.FAIL, Verdict.SKIP)
    return [case for case, verdict in item.result.case_verdicts if is_lost and (case, verdict) in lost]


def _is_charged(item: ItemGrade) -> bool:
    """True if losing an item makes a grade less than full, for more than how the kernel is written."""
    rubric = item.result.item
    return rubric.check not in STYLE and not rubric.extra and rubric.points > 0


def _frozen(kills: dict[str, list[str]]) -> Named[tuple[str, ...]]:
    return tuple((case, tuple(dict.fromkeys(items))) for case, items in kills.items())


def large_cases(cases: Iterable[CaseEvidence]) -> tuple[LargeCase, ...]:
    """The cases that the emulator gave up as too much work, or that took it long."""
    return tuple(
        LargeCase(case.case.id, case.case.shape, case.seconds, clause(case.too_much_work))
        for case in cases
        if case.too_much_work or case.seconds >= LONG_SECONDS
    )


def _first_loss(grade: Grade) -> str:
    """Message of the first item that is lost; of a file that does not compile, nvcc's first error."""
    lost = (item.result for item in grade.items if item.result.verdict is Verdict.FAIL)
    result = next(lost, None)
    return result.message if result is not None else ""


def _our_error(grade: Grade) -> str:
    if grade.verdict is not Verdict.ERROR:
        return ""
    messages = (item.result.message for item in grade.items if item.result.verdict is Verdict.ERROR)
    return grade.error or next(messages, "could not be judged")


def _broken(trial: Trial, error: str) -> TrialOutcome:
    return TrialOutcome(trial.name, trial.seed, Verdict.ERROR, Fraction(0), Fraction(0), error=error)


def same_program(built: Build, original: Build | None) -> bool:
    """True if nvcc's default build made the same instructions of both."""
    return original is not None and built.ok and _texts(built) == _texts(original)


def _texts(built: Build) -> tuple[str | bytes, ...]:
    """The default builds without what only says where in the source an instruction comes from.

    A program's own text, its host code, is among them as it is.
    """
    kernels = (built, *(other for _, other in built.others))
    return (built.program, *(_NO_CODE.sub("", kernel.ptx) for kernel in kernels))


def program(built: Build) -> str:
    """A mark of all that a build runs and counts as, the same for two files that are the same program.

    Of the -O0 build, too: a hazard may be in one of two files that nvcc's optimiser makes the same of.
    """
    builds = (built, *(other for _, other in built.others))
    parts = [
        (
            _NO_CODE.sub("", kernel.ptx),
            _NO_CODE.sub("", kernel.hazard_ptx),
            kernel.entry,
            kernel.constants,
            kernel.parameter_bytes,
            kernel.shared_shapes,
        )
        for kernel in builds
    ]
    return hashlib.sha256(repr((built.program, parts)).encode()).hexdigest()


def _submission(file: str, source: bytes) -> Submission:
    return Submission(file, file, source, hashlib.sha256(source).hexdigest())


def is_kernel(assignment: Assignment) -> bool:
    """True if an assignment asks for kernels, which the emulator launches by itself."""
    return kind_of(assignment).has_kernels


T = TypeVar("T")

HEARTBEAT_SECONDS = 1.0
"""Seconds between heartbeats to a caller that waits for the next answer."""

GRACE_SECONDS = 2.0
"""Seconds for a process to end the compiler that it has started, before it is killed."""


class WorkerPool:
    """``jobs`` processes; with one job there is none, and all is tried right here."""

    def __init__(self, runner: TrialRunner, jobs: int) -> None:
        self._bench = runner
        self._processes: list[BaseProcess] = []
        self._idle: list[Connection] = []
        if jobs > 1:
            self._start(jobs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all of them."""
        for process in self._processes:
            process.terminate()
        end = time.monotonic() + GRACE_SECONDS
        for process in self._processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()

    def each(
        self,
        work: Callable[[TrialRunner, Trial], T],
        trials: Iterable[Trial],
        heartbeat: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[Trial, T]]:
        """Results of ``work`` for each trial, as they are finished.

        Raises:
            OurError: a process came down.

        """
        if not self._processes:
            for trial in trials:
                yield trial, work(self._bench, trial)
            return
        waiting, busy = deque(trials), dict[Connection, "Trial"]()
        while waiting or busy:
            while waiting and self._idle:
                trial, connection = waiting.popleft(), self._idle.pop()
                busy[connection] = trial
                _send(connection, (work, trial))
            for connection in _ready_connections(busy):
                answer: T = _received(connection)
                self._idle.append(connection)
                yield busy.pop(connection), answer
            heartbeat()

    def _start(self, jobs: int) -> None:
        context = forkserver(["grader.authoring.validation.trials", "grader.kinds.kernel.stages"])
        for _ in range(jobs):
            near_end, far_end = context.Pipe()
            process = context.Process(target=_serve, args=(far_end, self._bench), daemon=True)
            process.start()
            far_end.close()
            self._processes.append(process)
            self._idle.append(near_end)


def _ready_connections(busy: Iterable[Connection]) -> list[Connection]:
    ready = wait(list(busy), HEARTBEAT_SECONDS)
    return [connection for connection in ready if isinstance(connection, Connection)]


def _send(connection: Connection, task: object) -> None:
    try:
        connection.send(task)
    except OSError:
        raise _lost_process() from None


def _received(connection: Connection) -> Any:  # noqa: ANN401 - what the work gives, which `each` knows
    try:
        return connection.recv()
    except (EOFError, OSError):
        raise _lost_process() from None


def _lost_process() -> OurError:
    return OurError("a process that graded mutants came down; try again with -j 1")


def _serve(connection: Connection, runner: TrialRunner) -> None:
    """Loop of each process: try what it is sent, until the connection ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.signal(signal.SIGTERM, _leave)
    with suppress(EOFError, OSError):
        while True:
            work, trial = connection.recv()
            connection.send(work(runner, trial))


def _leave(_number: int, _frame: FrameType | None) -> None:
    """An exception, so that what was started is ended on the way out."""
    sys.exit(128 + signal.SIGTERM)


def run_trials(
    runner: TrialRunner,
    trials: Sequence[Trial],
    mutants: Sequence[Trial],
    jobs: int,
    progress: Progress | None = None,
) -> tuple[dict[Trial, TrialOutcome], float]:
    """The outcome of each trial, and the seconds that building the mutants took; ``jobs`` at a time.

    ``progress`` hears how many of how many steps are done, every second at least.

    Raises:
        OurError: a process came down.

    """
    steps = 2 * len(mutants) + len(trials)
    programs: dict[Trial, Made] = {}
    outcomes: dict[Trial, TrialOutcome] = {}

    def tell() -> None:
        if progress is not None:
            progress(len(programs) + len(outcomes), steps)

    with WorkerPool(runner, min(jobs, steps)) as pool:
        for trial, program in pool.each(TrialRunner.make, mutants, tell):
            programs[trial] = program
            tell()
        first = _first_of_each(programs, mutants)
        outcomes.update({trial: _unchanged(trial) for trial in mutants if programs[trial].unchanged})
        left = [trial for trial in (*trials, *first.values()) if trial not in outcomes]
        for trial, outcome in pool.each(TrialRunner.attempt, left, tell):
            outcomes[trial] = outcome
            tell()
    for trial in mutants:
        if trial not in outcomes:
            one = outcomes[first[programs[trial].program]]
            outcomes[trial] = replace(one, name=trial.name, same_as=one.name)
    if progress is not None:
        progress(steps, steps)
    return outcomes, sum(program.seconds for program in programs.values())


def _first_of_each(programs: Mapping[Trial, Made], mutants: Sequence[Trial]) -> dict[str, Trial]:
    """The first mutant of each program; one without a build stands for itself."""
    first: dict[str, Trial] = {}
    for trial in mutants:
        first.setdefault(programs[trial].program or trial.name, trial)
    return first


def _unchanged(trial: Trial) -> TrialOutcome:
    return TrialOutcome(trial.name, trial.seed, Verdict.SKIP, Fraction(0), Fraction(0), unchanged=True)
