"""All trials of a validation, side by side, in processes that stay and have a runner each.

First all mutants are built. Those that are the same program as the model solution are set aside; of those
that are the same program as each other one is graded, for all. Mistakes and other seeds are graded each.

The processes are ended, with what they have started, as soon as nobody waits for them any more: after Ctrl-C,
too, and in the middle of a trial that would take minutes.
"""

from __future__ import annotations

import signal
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, TypeVar

from grader.batch.executor import forkserver
from grader.errors import OurError
from grader.model import Verdict
from grader.validation.records import TrialOutcome
from grader.validation.trials import TrialRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from multiprocessing.process import BaseProcess
    from types import FrameType, TracebackType
    from typing import Self

    from grader.validation.records import Made, Trial

    Progress = Callable[[int, int], None]

T = TypeVar("T")

HEARTBEAT_SECONDS = 1.0
"""How often somebody who waits for the next answer hears that nothing has come yet."""

GRACE_SECONDS = 2.0
"""What a process has to end the compiler that it has started, before it is killed."""


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
        """What ``work`` gives for each trial, as it is finished.

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
            for connection in _answered(busy):
                answer: T = _received(connection)
                self._idle.append(connection)
                yield busy.pop(connection), answer
            heartbeat()

    def _start(self, jobs: int) -> None:
        context = forkserver(["grader.validation.trials", "grader.kinds.kernel.stages"])
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, self._bench), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self._idle.append(ours)


def _answered(busy: Iterable[Connection]) -> list[Connection]:
    ready = wait(list(busy), HEARTBEAT_SECONDS)
    return [connection for connection in ready if isinstance(connection, Connection)]


def _send(connection: Connection, task: object) -> None:
    try:
        connection.send(task)
    except OSError:
        raise _gone() from None


def _received(connection: Connection) -> Any:  # noqa: ANN401 - what the work gives, which `each` knows
    try:
        return connection.recv()
    except (EOFError, OSError):
        raise _gone() from None


def _gone() -> OurError:
    return OurError("a process that graded mutants came down; try again with -j 1")


def _serve(connection: Connection, runner: TrialRunner) -> None:
    """What each process does: try what it is sent, until nobody sends anything."""
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
