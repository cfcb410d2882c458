"""Recorded calls of a function: the requests to its device, and the results of each.

Further calls are real ones: their inputs are of the same kind as those of a case, kernels run, and what the
function sees is what it sees when it is graded.
"""

from __future__ import annotations

from dataclasses import field, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen, mutable
from grader.grading.arguments import make_arguments
from grader.grading.checks.program_cases import ended_by_itself
from grader.grading.oracle import draw_inputs
from grader.kinds.attempts.other_inputs import LaunchEffort, effort_of
from grader.kinds.function.recording import file_of, left_file
from grader.kinds.function.timing import with_zeros
from grader.kinds.host_runs.further_runs import further_seconds, run_further
from grader.kinds.host_runs.too_large import STEPS_A_SECOND
from grader.running.device.call_log import MOST_BYTES, CallLog
from grader.running.device.observation import Observation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from grader.grading.oracle import Oracle
    from grader.kinds.host_runs.on_emulator import EmulatedDevice
    from grader.kinds.host_runs.running import Given, Task
    from grader.kinds.plan import Plan
    from grader.model import (
        Argument,
        Build,
        Case,
        CaseEvidence,
        Finding,
        FunctionInterface,
        ProgramInterface,
        ProgramRun,
        Submission,
    )
    from grader.running.device.call_log import LoggedRequest
    from grader.running.device.device import Device, Notes
    from grader.toolchain.nvcc import Tools

    Arrays = Mapping[str, NDArray[Any]]
    Recorders = Callable[[Device], tuple[Notes, CallLog]]

MOST_ALIGNED = 1_000
"""Requests of calls that are compared one by one."""

_LITTLE = 0.1
"""Share of the work that launches may take: for other inputs none that took less takes all of it."""

_TIME_BYTES = 4
"""Bytes of an elapsed time, by which kernels can say something to the host."""


@frozen(eq=False)
class LoggedCall:
    """A call that came to its end: its inputs, its requests to its device, and the arrays that it left.

    ``work`` is what its launches took, with those that look for hazards, ``effort`` what their threads did,
    and ``printed`` how many bytes of text and of elapsed times: the host may read them, too. A call that
    asked for more than is kept is not whole: it has no ``entries``. The ``digest`` is of all that it sent.
    """

    inputs: Arrays
    entries: tuple[LoggedRequest, ...]
    arrays: Arrays
    evidence: CaseEvidence
    work: int = 0
    effort: LaunchEffort = field(default_factory=LaunchEffort)
    printed: int = 0
    is_whole: bool = True
    digest: bytes = b""

    @property
    def forms(self) -> tuple[tuple[object, ...], ...]:
        """Form of each request, without the numbers that it sends."""
        return tuple(entry.form for entry in self.entries)

    @property
    def sent(self) -> list[NDArray[np.uint8]]:
        """Bytes that the call sends, request by request."""
        return [entry.sent for entry in self.entries]

    @property
    def back(self) -> list[bytes]:
        """Bytes that come back, request by request."""
        return [entry.content for entry in self.entries if entry.goes_out]


def arguments_of(
    interface: FunctionInterface, case: Case, inputs: Mapping[str, NDArray[Any]]
) -> tuple[Argument, ...]:
    """Arguments of a function in a case with these inputs."""
    arguments = make_arguments(interface, dict(case.shape), inputs, {})
    return tuple(map(with_zeros, arguments)) if interface.outputs == "zeros" else arguments


def aligned(calls: Sequence[LoggedCall]) -> list[LoggedCall]:
    """Calls with what all of them ask for alone, in the order of the first; nothing where it is too much."""
    first, *others = calls
    kinds = [[entry.kind for entry in call.entries] for call in calls]
    if max(map(len, kinds)) > MOST_ALIGNED:
        return [replace(call, entries=()) for call in calls]
    pairs = []
    for other in kinds[1:]:
        blocks = SequenceMatcher(None, kinds[0], other, autojunk=False).get_matching_blocks()
        pairs.append({b.a + i: b.b + i for b in blocks for i in range(b.size)})
    common = [i for i in range(len(first.entries)) if all(i in pair for pair in pairs)]
    kept = [replace(first, entries=tuple(first.entries[i] for i in common))]
    for call, pair in zip(others, pairs, strict=True):
        kept.append(replace(call, entries=tuple(call.entries[pair[i]] for i in common)))
    return kept


@mutable
class CallLoggingTask:
    """A task whose calls on an emulated device are logged, each by its case."""

    interface: FunctionInterface
    tasks: Callable[[Case], tuple[Task, Oracle]]
    """The task of a case, and the oracle that draws its inputs."""
    recorder: Recorders | None = None
    """Recorder of the requests to a device, and the log, if they are not the same."""
    calls: dict[str, LoggedCall] = field(default_factory=dict)
    _logs: dict[str, CallLog] = field(default_factory=dict)
    _room: int = MOST_BYTES
    """Bytes that may still be kept of all calls together."""

    def given(self, case: Case, device: EmulatedDevice | None) -> Given:
        """Inputs of the function's run."""
        task, _ = self.tasks(case)
        given = task.given(case, device)
        if device is not None:
            recorder, log = (self.recorder or _logging)(device.device)
            log.room = self._room
            device.device.recorders.append(recorder)
            self._logs[case.id] = log
        return given

    def judged(
        self, case: Case, run: ProgramRun, findings: tuple[Finding, ...], device: EmulatedDevice | None
    ) -> CaseEvidence:
        """Evidence from the results of a run; a run that has come to its end is kept as a call."""
        task, oracle = self.tasks(case)
        evidence = task.judged(case, run, findings, device)
        log = self._logs.pop(case.id, None)
        self.calls.pop(case.id, None)
        if device is not None and log is not None and evidence.completed:
            inputs = draw_inputs(oracle, case)
            arrays = arrays_left(self.interface, arguments_of(self.interface, case, inputs), run, device)
            if arrays is not None:
                self._room = log.room
                runs = [launched.run for launched in device.runs]
                self.calls[case.id] = LoggedCall(
                    inputs,
                    tuple(log.entries),
                    arrays,
                    evidence,
                    work=sum(run.work for run in runs),
                    effort=effort_of([run.counters for run in runs]),
                    printed=sum(len(run.printed) for run in runs) + _TIME_BYTES * device.device.times_asked,
                    is_whole=log.is_whole,
                    digest=log.digest,
                )
        return evidence


def _logging(device: Device) -> tuple[Notes, CallLog]:
    log = CallLog(device.memory)
    return log, log


def arrays_left(
    interface: FunctionInterface,
    arguments: Sequence[Argument],
    run: ProgramRun,
    device: EmulatedDevice | None,
) -> dict[str, NDArray[Any]] | None:
    """The arrays as the function left them; None where it did not return."""
    if not ended_by_itself(run) or run.returncode != 0:
        return None
    files, contents = dict(run.files), {}
    for index, argument in enumerate(arguments):
        if argument.direction == "value":
            continue
        if interface.pointers == "device" and device is not None:
            contents[argument.name] = device.held(argument)
            continue
        like = np.asarray(argument.value)
        content = files.get(left_file(file_of(index)), b"")
        if len(content) != like.nbytes:
            return None
        contents[argument.name] = np.frombuffer(content, like.dtype).reshape(like.shape)
    return contents


@frozen
class FurtherCalls:
    """Further calls of one submission's function, to explain the graded ones or to tell who has computed.

    ``task`` makes a task of plan, build and oracle, and of an order of the parameters if it is another.
    """

    plan: Plan
    submission: Submission
    built: Build
    tools: Tools
    task: Callable[..., Task]
    oracle: Oracle

    @property
    def program(self) -> ProgramInterface:
        """The limits of a graded call, among others."""
        return self.plan.assignment.function.program

    def task_with(self, oracle: Oracle, order: Sequence[int] = ()) -> Task:
        """Task whose inputs an oracle draws, and whose parameters come in an order."""
        return self.task(self.plan, self.built, oracle, tuple(order))

    def in_cases(
        self, cases: tuple[Case, ...], task: Task, program: ProgramInterface, *, idle: bool = False
    ) -> tuple[CaseEvidence, ...]:
        """Evidence of a call in each case, within the limits of ``program``, with no search for hazards."""
        observation = Observation(count_only=True, idle=idle)
        return run_further(
            self.plan, self.submission, self.built, self.tools, task, cases, program, observation
        )

    def with_inputs(
        self,
        graded: CaseEvidence,
        inputs: Sequence[Arrays],
        recorder: Recorders | None = None,
        *,
        idle: bool = False,
        whole: bool = True,
    ) -> tuple[LoggedCall | None, ...]:
        """A call for each of these inputs, at the shape of a graded case; None for one that did not end.

        None as well, unless parts will do, for one that is not ``whole``.
        """
        task, _ = self._logging_calls(graded, inputs, recorder, idle=idle)
        calls = (task.calls.get(str(number)) for number in range(len(inputs)))
        return tuple(call if call and (call.is_whole or not whole) else None for call in calls)

    def gives_up(self, graded: CaseEvidence, inputs: Arrays, work: int) -> bool:
        """True if the function itself does not return for these inputs, in all the time of a graded call.

        So where its launches take all the work there is, and those of the graded call took little ``work``.
        """
        _, (case,) = self._logging_calls(graded, [inputs], None, seconds=self.program.seconds)
        allowed = int(self.program.emulator_seconds * STEPS_A_SECOND)
        is_open = case.error or (case.too_much_work and work > _LITTLE * allowed)
        return not case.completed and not is_open

    def _logging_calls(
        self,
        graded: CaseEvidence,
        inputs: Sequence[Arrays],
        recorder: Recorders | None,
        *,
        idle: bool = False,
        seconds: float = 0.0,
    ) -> tuple[CallLoggingTask, tuple[CaseEvidence, ...]]:
        """A task that has logged a call with each of these inputs, by number, and the evidence of each."""
        oracles = [replace(self.oracle, inputs=_always(arrays)) for arrays in inputs]
        tasks = {str(number): (self.task_with(oracle), oracle) for number, oracle in enumerate(oracles)}
        task = CallLoggingTask(self.plan.assignment.function, lambda case: tasks[case.id], recorder)
        cases = tuple(replace(graded.case, id=name) for name in tasks)
        seconds = seconds or further_seconds(graded, self.program)
        return task, self.in_cases(cases, task, replace(self.program, seconds=seconds), idle=idle)


def _always(arrays: Arrays) -> Callable[..., dict[str, NDArray[Any]]]:
    return lambda *_: dict(arrays)
