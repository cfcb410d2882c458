"""Whether the right results of a function are its kernels', or the host has computed them.

It is called again in two ways in which a kernel cannot leave them: where no kernel runs at all; and where the
device holds other numbers in place of every input that is copied there. Whoever is right all the same has
computed on the host, whatever its kernels store. The largest cases come first: one that needs its kernels
speaks for all others, and a result may be what was there before, or the same for all inputs. A host that
repairs what is wrong has kernels that compute: what they leave for other inputs is right for those.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.arguments import make_arguments
from grader.compare import compare
from grader.device.observation import Observation
from grader.device.recording import HostArrays
from grader.device.requests import CopyIn, CopyOut
from grader.errors import log_swallowed
from grader.kinds.function.recording import start_on_host
from grader.kinds.program.other_inputs import other_than
from grader.kinds.program.running import run_cases
from grader.oracle import draw_inputs, expected_of
from grader.plan import size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from grader.device.memory import DeviceMemory
    from grader.device.requests import Copy, Message
    from grader.kinds.program.on_emulator import EmulatedDevice
    from grader.kinds.program.running import Given, Task
    from grader.model import (
        Argument,
        Build,
        Case,
        CaseEvidence,
        Finding,
        FunctionInterface,
        ProgramRun,
        Submission,
    )
    from grader.nvcc import Tools
    from grader.oracle import Oracle
    from grader.plan import Plan

    Inputs = Mapping[str, NDArray[Any]]

_NEARLY_ALL, _HALF = 0.9, 0.5
"""The share of its values that says that an array came to the device; fewer are there by chance."""

SECONDS, TIMES = 2.0, 2
"""What each call may take, or so many times what it took first: a function that waits for what no kernel has
stored is none that is right."""


def told_of_host(
    plan: Plan,
    submission: Submission,
    built: Build,
    tools: Tools,
    cases: tuple[CaseEvidence, ...],
    task: Task,
    oracle: Oracle,
) -> tuple[CaseEvidence, ...]:
    """The cases, those marked whose right results are the host's; ``built`` is the build for the emulator."""
    right = sorted(
        (c for c in cases if c.launches and _is_right(c)), key=lambda c: size(c.case), reverse=True
    )
    called = _FurtherCalls(plan, submission, built, tools, task, oracle)
    try:
        for is_of_host in (called.is_right_without_kernels, called.is_right_with_other_inputs):
            everywhere = all(map(is_of_host, right)) and any(map(called.can_tell, right))
            if everywhere and not called.kernels_compute(right[0]):
                of_host = {evidence.case.id for evidence in right}
                return tuple(replace(c, of_host=c.case.id in of_host) for c in cases)
    except Exception:  # noqa: BLE001 - nobody is accused where we fail
        log_swallowed("calling a function without its kernels")
    return cases


def _is_right(case: CaseEvidence) -> bool:
    handed_back = [comparison for comparison in case.comparisons if not comparison.kernel]
    wrong = any(comparison.wrong for comparison in handed_back) or case.changed_inputs
    return case.completed and not case.error and bool(handed_back) and not wrong


def _outputs(case: CaseEvidence) -> list[str]:
    """The names of what the function hands back."""
    return [comparison.array for comparison in case.comparisons if not comparison.kernel]


@dataclass(frozen=True, slots=True)
class _FurtherCalls:
    """Further calls of one submission's function."""

    plan: Plan
    submission: Submission
    built: Build
    tools: Tools
    task: Task
    oracle: Oracle

    def is_right_without_kernels(self, evidence: CaseEvidence) -> bool:
        """Whether a case is right where each launch succeeds, and nothing runs."""
        return self._is_right(evidence, self.task, Observation(idle=True))

    def is_right_with_other_inputs(self, evidence: CaseEvidence) -> bool:
        """Whether a case is right where the device gets others than its inputs, or the result."""
        task = self._with_other_inputs(evidence)
        if task is None:
            return False
        is_right = self._is_right(evidence, task, Observation(count_only=True))
        missing = set(task.drawn) - task.exchanged
        return is_right and (not missing or task.has_sent_result(evidence.case, missing, _outputs(evidence)))

    def can_tell(self, evidence: CaseEvidence) -> bool:
        """Whether anything but zeros is right in a case: memory may well have held those before."""
        case, names = evidence.case, _outputs(evidence)
        drawn = draw_inputs(self.oracle, case)
        expected = expected_of(self.oracle, drawn, dict(case.shape), names, case.id)
        return any(np.ma.filled(expected[name][0], 0).any() for name in names)

    def kernels_compute(self, evidence: CaseEvidence) -> bool:
        """Whether copies bring back what is right for other inputs, whatever the host makes of it."""
        task, case = self._with_other_inputs(evidence), evidence.case
        if task is None:
            return False
        self._is_right(evidence, task, Observation(count_only=True))
        expected = expected_of(self.oracle, task.other, dict(case.shape), _outputs(evidence), case.id)
        brought = task.brought(case)
        return not any(compare(name, brought[name], *expected[name]).wrong for name in _outputs(evidence))

    def _with_other_inputs(self, evidence: CaseEvidence) -> _WithOtherInputs | None:
        """A task whose device gets inputs with other results than the host's; None if there are none."""
        case, interface = evidence.case, self.plan.assignment.function
        drawn = draw_inputs(self.oracle, case)
        other = other_than(drawn, self.oracle, case, case.shape)
        if other is None or interface.pointers != "host":
            return None
        names = _outputs(evidence)
        expected, others = (
            expected_of(self.oracle, inputs, dict(case.shape), names, case.id) for inputs in (drawn, other)
        )
        differs = any(compare(name, np.asarray(others[name][0]), *expected[name]).wrong for name in names)
        return _WithOtherInputs(self.task, interface, drawn, other) if differs else None

    def _is_right(self, evidence: CaseEvidence, task: Task, observation: Observation) -> bool:
        seconds = max(SECONDS, TIMES * evidence.seconds)
        interface = self.plan.assignment.function
        program = replace(interface.program, seconds=min(seconds, interface.program.seconds))
        assignment = replace(self.plan.assignment, interface=replace(interface, program=program))
        plan = replace(self.plan, assignment=assignment, cases=(evidence.case,), feedback=False)
        ran = run_cases(plan, self.submission, self.built, self.tools, task, observation=observation)
        return all(map(_is_right, ran.cases))


@dataclass(frozen=True, slots=True)
class _WithOtherInputs:
    """A task whose device gets ``other`` inputs than the host has."""

    task: Task
    interface: FunctionInterface
    drawn: Inputs
    other: Inputs
    exchanged: set[str] = field(default_factory=set)
    """The inputs of which something was copied to the device."""
    arrays: HostArrays = field(default_factory=HostArrays)
    """The arrays on the host, as copies leave them."""
    sent: list[bytes] = field(default_factory=list)
    """What came to the device, row by row."""

    def given(self, case: Case, device: EmulatedDevice | None) -> Given:
        """What the function is given; the device takes care of what it copies."""
        given = self.task.given(case, device)
        if device is not None:
            for index, argument in self._arguments(case, self.drawn):
                content = np.ascontiguousarray(argument.value).tobytes()
                self.arrays.add(argument.name, start_on_host(index, len(content)), content)
            contents = {a.name: a.value.tobytes() for _, a in self._arguments(case, self.other)}
            other = {name: contents[name] for name in self.drawn}
            memory, drawn = device.device.memory, {n: self.arrays.content_of(n) for n in self.drawn}
            device.device.recorder = _Exchange(memory, self.arrays, drawn, other, self.exchanged, self.sent)
        return given

    def judged(
        self, case: Case, run: ProgramRun, findings: tuple[Finding, ...], device: EmulatedDevice | None
    ) -> CaseEvidence:
        """What the function left, against what is right for the inputs that the host has."""
        return self.task.judged(case, run, findings, device)

    def brought(self, case: Case) -> Inputs:
        """What the arrays hold if copies alone have changed them."""
        return {
            a.name: np.frombuffer(self.arrays.content_of(a.name), a.value.dtype).reshape(a.value.shape)
            for _, a in self._arguments(case, self.drawn)
        }

    def has_sent_result(self, case: Case, missing: set[str], outputs: list[str]) -> bool:
        """Whether what copies bring back was sent there, and of ``missing`` inputs less than half."""
        brought = self.brought(case)
        sent = all(self._share_sent(brought[name]) > _NEARLY_ALL for name in outputs)
        return sent and not any(self._share_sent(brought[name]) > _HALF for name in missing)

    def _share_sent(self, values: NDArray[Any]) -> float:
        """How many of the values came to the device, as they are, as a share of all."""
        width = values.dtype.itemsize
        rows = (np.frombuffer(r[: len(r) // width * width], values.dtype) for r in self.sent)
        sent = np.unique(np.concatenate([np.empty(0, values.dtype), *rows]))
        return float(np.isin(np.unique(values), sent).mean())

    def _arguments(self, case: Case, inputs: Inputs) -> Iterator[tuple[int, Argument]]:
        """The arrays that the function is given, by their places among the parameters."""
        arguments = make_arguments(self.interface, dict(case.shape), inputs, {})
        return ((index, a) for index, a in enumerate(arguments) if a.direction != "value")


@dataclass(frozen=True, slots=True)
class _Exchange:
    """Puts other bytes into device memory where a copy has brought those of an input."""

    memory: DeviceMemory
    arrays: HostArrays
    drawn: Mapping[str, bytes]
    other: Mapping[str, bytes]
    exchanged: set[str]
    sent: list[bytes]

    @property
    def is_done(self) -> bool:
        """It goes on to the end."""
        return False

    def note(self, message: Message) -> None:
        """Exchange what a copy has brought to the device, and remember what one has brought back."""
        if isinstance(message, CopyOut):
            for number, row in enumerate(self._rows(message.source, message.source_pitch, message)):
                self.arrays.target(message.to + number * message.to_pitch, row)
        if isinstance(message, CopyIn):
            for row in self._rows(message.to, message.to_pitch, message):
                self.sent.append(row.tobytes())
                self._exchange(row)

    def _exchange(self, row: NDArray[np.uint8]) -> None:
        """Exchange a row that holds bytes of an input, wherever on the host it came from."""
        content = row.tobytes()
        for name, drawn in self.drawn.items():
            offset = drawn.find(content)
            if offset >= 0:
                row[:] = np.frombuffer(self.other[name], np.uint8)[offset : offset + row.size]
                self.exchanged.add(name)
                return

    def _rows(self, address: int, pitch: int, message: Copy) -> Iterable[NDArray[np.uint8]]:
        rows = self.memory.rows(address, pitch, message.width, message.height)
        return () if rows is None else rows
