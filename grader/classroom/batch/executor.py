"""Grading submissions side by side, each in a process of its own.

A submission that brings its process down, or never ends, costs only itself: it gets a grade that says the
grader failed, and the batch goes on. The processes fork from a small server that has everything loaded,
so that each starts in milliseconds.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import tempfile
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from multiprocessing.connection import wait as wait_for
from multiprocessing.forkserver import ensure_running
from pickle import PicklingError
from typing import TYPE_CHECKING

from grader.base import processors, staff_code
from grader.base.errors import StorageError, described
from grader.base.records import frozen
from grader.classroom.batch.gpu_trial import on_trial, passed
from grader.grading.submission import lines
from grader.grading.submission.items import safe, stored_sources
from grader.kinds import kind_of, pipeline
from grader.model import Verdict
from grader.reports import files, trace_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerContext
    from pathlib import Path

    from grader.kinds.pipeline import Plan
    from grader.model import Assignment, Grade, Named, Submission
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import Tools

_MOST_BYTES = 107
"""Maximum length of a socket's path in bytes (man 7 unix: 108 with the byte that ends it)."""

_ADDED = len("/pymp-12345678/listener-12345678")
"""Suffix that Python appends to the temporary folder's path for the server's socket, as a length."""

CPU_SECONDS = 600
"""CPU time for one submission before its process is ended, independent of other load on the machine; the
emulator's work is bounded, so that it ends far earlier."""

PATIENCE_SECONDS = 3600.0
"""Wall time for the same, for what waits without working: an engine that does not answer."""

_AHEAD = 2
"""Maximum number of submissions in flight (given out, or graded and not yet taken) for each one that is
graded at a time: a slow consumer is waited for, instead of having grades pile up in memory."""

_LOADED_WHEN_USED = ("numpy.ma", "numpy.random", "grader.toolchain.nvcc.stage")
"""Modules that are loaded when they are first needed, which each process would do anew."""

_SERVER_GONE = 255
"""The exit code that multiprocessing gives a process whose fork server was killed."""

_SAME_SIGNAL = 0.2
"""Seconds within which a signal to the whole group of processes, which ended one of them, has reached us."""

_BURIAL = 1.0
"""Seconds after which a server that was killed is seen to be gone, so that another one is started."""


@frozen
class BatchSetting:
    """Properties of a machine that decide the grades made on it: ``device`` is what its GPUs are called.

    ``toolkit`` is the compiler's version, and ``races`` names the judge of races on a GPU.
    """

    backend: str
    toolkit: str
    device: str = ""
    races: str = ""


@frozen
class Graded:
    """A grade with its data: the packed trace, and the files of the submission by name.

    The process that grades makes the files, for there are many of them. There are none where it failed.
    """

    grade: Grade
    trace: bytes = b""
    files: Named[str] = ()

    def decided(self, grade: Grade) -> Graded:
        """The same with the grade as it is to be written; of another one other files have to be made."""
        return replace(self, grade=grade, files=self.files if grade == self.grade else ())


@frozen
class Executor:
    """Grader of several submissions side by side, with its tools.

    ``grade`` takes the seed and the submissions, and yields grades as they are finished. It raises OurError
    before the first of them where no backend here can be trusted with grades.
    """

    setting: BatchSetting
    grade: Callable[[int, Sequence[Submission]], Iterator[Graded]]


def at_once(backend: Backend) -> int:
    """Default number of submissions to grade at a time: the number of processors.

    Those that wait for a GPU need no core; but more than its queues can use would only wait.
    """
    cores = processors.available()
    return min(cores * 3 // 2, 16 + 16 * len(backend.pool.gpus)) if backend.pool else cores


def on_this_machine(
    assignment: Assignment,
    tools: Tools | None,
    backend: Backend,
    jobs: int,
    trial: Callable[[Path], Backend] | None = None,
) -> Executor:
    """Processes of this machine, ``jobs`` at a time; answers need no ``tools``.

    What the ``trial`` of the backend raises, `Executor.grade` does: submissions are prepared meanwhile.
    """

    def batches(seed: int, submissions: Sequence[Submission]) -> Iterator[list[Graded]]:
        forkserver(loaded_for(assignment, backend))
        ensure_running()  # its modules are loaded while the plan is made
        with on_trial(backend, trial) as (awaiting, trial_over):
            plan = pipeline.make_plan(assignment, seed, tools, visible_only=False, backend=awaiting)
            yield from _batches(plan, submissions, tools, jobs, (PATIENCE_SECONDS, CPU_SECONDS), trial_over)

    def grade(seed: int, submissions: Sequence[Submission]) -> Iterator[Graded]:
        under_way = batches(seed, submissions)
        return chain(next(under_way), chain.from_iterable(under_way))

    return Executor(setting_of(assignment, tools, backend), grade)


def setting_of(assignment: Assignment, tools: Tools | None, backend: Backend) -> BatchSetting:
    """Return the setting of this machine that decides grades."""
    pool = backend.pool
    return BatchSetting(
        kind_of(assignment).backend_name(backend),
        tools.toolchain.version if tools else "",
        pool.devices if pool else "",
        pool.races if pool else "",
    )


def grade_class(
    plan: Plan,
    submissions: Iterable[Submission],
    tools: Tools | None,
    *,
    jobs: int,
    patience: float = PATIENCE_SECONDS,
    cpu_seconds: int = CPU_SECONDS,
) -> Iterator[Graded]:
    """Yield the grade of each submission as it is finished, ``jobs`` at a time; never raises for one.

    Of identical submissions one is graded for all, unless that is where the grader fails.

    Raises:
        StorageError: no process can be started here; see `forkserver`.

    """
    return chain.from_iterable(_batches(plan, submissions, tools, jobs, (patience, cpu_seconds), passed))


def _batches(
    plan: Plan,
    submissions: Iterable[Submission],
    tools: Tools | None,
    jobs: int,
    most: tuple[float, int],
    trial_over: Callable[[], None],
) -> Iterator[list[Graded]]:
    """Identical submissions' grades as they are finished; first an empty list, when the trial is over.

    ``most`` as in `_in_process`; ``trial_over`` waits for the trial.
    """
    context = forkserver(loaded_for(plan.assignment, plan.backend))
    stopped, stop = multiprocessing.Pipe(duplex=False)

    def one(submission: Submission) -> Graded:
        return isolated(context, plan, submission, tools, most, stopped)

    def once(group: list[Submission]) -> list[Graded]:
        first, *others = group
        graded = one(first)
        failed = graded.grade.verdict is Verdict.ERROR
        return [graded, *(one(other) if failed else _attributed(graded, other) for other in others)]

    waiting = iter(grouped(plan, submissions))
    with stopped, ThreadPoolExecutor(max_workers=max(1, jobs)) as pool, stop:
        ahead = islice(waiting, _AHEAD * max(1, jobs))
        pending: set[Future[list[Graded]]] = {pool.submit(once, group) for group in ahead}
        try:
            trial_over()
            yield []
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
                    pending |= {pool.submit(once, group) for group in islice(waiting, 1)}
        finally:  # then `stop` is closed, and a stopped batch does not wait for what is under way
            for future in pending:
                future.cancel()


def loaded_for(assignment: Assignment, backend: Backend) -> list[str]:
    """The modules that a process which grades a submission needs, to be loaded before it is forked."""
    kind = kind_of(assignment)
    shown = ["grader.kinds.kernel.tracing"] if kind.has_kernels else []
    stages = f"grader.kinds.{kind.name}.stages"
    return [
        "grader.kinds.pipeline",
        stages,
        type(backend).__module__,
        *shown,
        *_LOADED_WHEN_USED,
        "grader.classroom.batch.preloading",
    ]


def isolated(
    context: ForkServerContext,
    plan: Plan,
    submission: Submission,
    tools: Tools | None,
    most: tuple[float, int],
    stopped: Connection | None = None,
) -> Graded:
    """The grade, from a process of its own; see `_in_process`. Never raises: what fails is in the grade."""
    try:
        return _in_process(context, plan, submission, tools, most, stopped)
    except Exception as problem:  # noqa: BLE001 - no process could be started, no memory left…
        return _failed(plan, submission, described(problem))


def _failed(plan: Plan, submission: Submission, reason: str, *, is_question: bool = False) -> Graded:
    return Graded(pipeline.failed(plan, submission, reason, is_question=is_question))


def _in_process(
    context: ForkServerContext,
    plan: Plan,
    submission: Submission,
    tools: Tools | None,
    most: tuple[float, int],
    stopped: Connection | None = None,
    *,
    again: bool = False,
) -> Graded:
    """The grade, from a process of its own; once more where that was killed from outside (no memory left).

    ``most`` is the wall time and the CPU time that it may take, in seconds. Once ``stopped`` has something to
    be read, or is at its end, the grade is no longer wanted, and the process is ended.
    """
    patience, cpu_seconds = most
    if _is_stopped(stopped):
        return _failed(plan, submission, _STOPPED)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(
        target=_limited, args=(cpu_seconds, sender, plan, submission, tools), daemon=True
    )
    try:
        process.start()
    except (EOFError, OSError):  # the server was killed just now: the next process is of another one
        if again:
            raise
        time.sleep(_BURIAL)
        return _in_process(context, plan, submission, tools, most, stopped, again=True)
    sender.close()
    try:
        ready = wait_for([receiver, *([stopped] if stopped else [])], patience)
        if receiver in ready:  # also at the end of a process that never answers
            answer = receiver.recv()
        else:
            process.kill()
            answer = _STOPPED if ready else f"grading took longer than {patience:.0f} s and was ended"
        return answer if not isinstance(answer, str) else _failed(plan, submission, answer)
    except (EOFError, OSError):
        process.join()
        if _killed(process.exitcode) and not again and not _is_stopped(stopped, _SAME_SIGNAL):
            return _in_process(context, plan, submission, tools, most, stopped, again=True)
        too_long = process.exitcode == -signal.SIGXCPU  # the submission's work, not the machine's load
        return _failed(plan, submission, _ending(process.exitcode, cpu_seconds), is_question=too_long)
    finally:
        process.join(timeout=5)
        if process.is_alive():
            process.kill()
        receiver.close()


_STOPPED = "grading was stopped"


def _is_stopped(stopped: Connection | None, seconds: float = 0.0) -> bool:
    """True if the grade is no longer wanted, or will not be within this number of seconds."""
    return stopped is not None and stopped.poll(seconds)


def _killed(code: int | None) -> bool:
    """True if a process was ended from outside, or went down with the server that it was forked from."""
    return code is None or code == _SERVER_GONE or (code < 0 and code != -signal.SIGXCPU)


def _ending(code: int | None, cpu_seconds: int) -> str:
    """Reason why a process gave no grade; beyond ``cpu_seconds`` the kernel ends it by SIGXCPU."""
    if code == -signal.SIGXCPU:
        return f"grading took more than {cpu_seconds} s of CPU time and was ended"
    if code is not None and code < 0:
        return f"the process that graded it was ended by {signal.Signals(-code).name}"
    return f"the process that graded it ended with status {code}"


def _limited(
    cpu_seconds: int, sender: Connection, plan: Plan, submission: Submission, tools: Tools | None
) -> None:
    """Work of a process with a limit of CPU time; each of its children has the same limit."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = cpu_seconds if hard == resource.RLIM_INFINITY else min(cpu_seconds, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
    _work(sender, plan, submission, tools)


def _end_with_parent() -> None:
    """End this process when that is gone which waits for its grade; the server between them outlives it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL)


def _work(sender: Connection, plan: Plan, submission: Submission, tools: Tools | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    try:
        with staff_code.last_words_to(sender.send):
            answer: Graded | str = _with_files(plan, submission, pipeline.grade(plan, submission, tools))
    except Exception as problem:  # noqa: BLE001 - the parent turns it into a grade
        answer = described(problem)
    with suppress(OSError), sender:  # a parent that was killed waits for no answer
        try:
            sender.send(answer)
        except (TypeError, ValueError, AttributeError, PicklingError) as problem:  # it cannot be sent
            sender.send(f"{type(problem).__name__}: {problem}")


def _with_files(plan: Plan, submission: Submission, grade: Grade) -> Graded:
    """The grade with its files, as `resume.write` makes them of a grade and of what is kept beside it."""
    trace = trace_files.packed(grade.trace)
    kept = stored_sources(submission) if kind_of(plan.assignment).compiles else {}
    own_name = safe(submission.file)
    written = files.of_submission(
        grade,
        source=lines(kept[own_name]) if kept.get(own_name) else (),
        further={name: lines(kept[name]) for name in sorted(kept) if name != own_name},
        trace=trace,
    )
    return Graded(replace(grade, trace=None), trace, tuple(written.items()))


def forkserver(loaded: Sequence[str]) -> ForkServerContext:
    """The context whose server has the modules ``loaded``.

    Raises:
        StorageError: the temporary folder's path is too long for the server's socket.

    """
    folder = tempfile.gettempdir()
    if len(os.fsencode(folder)) + _ADDED > _MOST_BYTES:
        raise StorageError(
            f"the path of the temporary folder is too long for the sockets in it: {folder}; "
            f"set TMPDIR to one of at most {_MOST_BYTES - _ADDED} bytes"
        )
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["grader.base.fork_server", *loaded])
    return context


def grouped(plan: Plan, submissions: Iterable[Submission]) -> list[list[Submission]]:
    """The submissions, those that are identical together, for they get one grade.

    Each is by itself where questions are drawn or time counts.
    """
    is_shared = kind_of(plan.assignment).compiles and plan.backend.is_deterministic
    groups: dict[object, list[Submission]] = {}
    for submission in submissions:
        content = (submission.file, submission.source, submission.headers, submission.problem)
        groups.setdefault(content if is_shared else submission.id, []).append(submission)
    return list(groups.values())


def _attributed(graded: Graded, submission: Submission) -> Graded:
    """The grade of an identical submission as that of this one."""
    grade = replace(
        graded.grade,
        submission_id=submission.id,
        submission_digest=submission.digest,
        hand_in=submission.hand_in,
    )
    return graded.decided(grade)
