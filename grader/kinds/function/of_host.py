"""Whether the right results of a function are its kernels', or the host has computed them.

It is called again in two ways in which a kernel cannot leave them: where no kernel runs at all; and where the
device holds other numbers in place of every input that is copied there. Whoever is right all the same has
computed on the host, whatever its kernels store. The largest cases come first: one that needs its kernels
speaks for all others, and a result may be what was there before, or the same for all inputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.compare import compare
from grader.device.observation import Observation
from grader.device.recording import HostArrays
from grader.device.requests import CopyIn
from grader.errors import log_swallowed
from grader.kinds.function.recording import start_on_host
from grader.kinds.program.other_inputs import other_than
from grader.kinds.program.running import run_cases
from grader.oracle import draw_inputs, expected_of, make_arguments
from grader.plan import size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grader.device.memory import DeviceMemory
    from grader.device.requests import Message
    from grader.kinds.program.on_emulator import EmulatedDevice
    from grader.kinds.program.running import Given, Task
    from grader.model import Build, Case, CaseEvidence, Finding, FunctionInterface, ProgramRun, Submission
    from grader.nvcc import Tools
    from grader.oracle import Oracle
    from grader.plan import Plan

    Inputs = Mapping[str, NDArray[Any]]

MOST_SECONDS = 2.0
"""What each call may take at most: one that waits for what no kernel has stored is none that is right."""


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
            of_host = {evidence.case.id for evidence in takewhile(is_of_host, right)}
            if of_host and len(of_host) == len(right):
                return tuple(replace(c, of_host=c.case.id in of_host) for c in cases)
    except Exception:  # noqa: BLE001 - nobody is accused where we fail
        log_swallowed("calling a function without its kernels")
    return cases


def _is_right(case: CaseEvidence) -> bool:
    wrong = any(comparison.wrong for comparison in case.comparisons) or case.changed_inputs
    return case.completed and not case.error and bool(case.comparisons) and not wrong


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
        return self._is_right(evidence.case, self.task, Observation(idle=True))

    def is_right_with_other_inputs(self, evidence: CaseEvidence) -> bool:
        """Whether a case is right where every input was copied to the device, and others arrived there."""
        interface = self.plan.assignment.function
        drawn = draw_inputs(self.oracle, evidence.case)
        other = other_than(drawn, self.oracle, evidence.case, evidence.case.shape)
        if other is None or interface.pointers != "host" or not self._gives_others(evidence, drawn, other):
            return False
        task = _WithOtherInputs(self.task, interface, drawn, other)
        is_right = self._is_right(evidence.case, task, Observation(count_only=True))
        return is_right and task.exchanged == set(drawn)

    def _gives_others(self, evidence: CaseEvidence, drawn: Inputs, other: Inputs) -> bool:
        """Whether what is right for other inputs is wrong for those that were drawn."""
        case, names = evidence.case, [comparison.array for comparison in evidence.comparisons]
        expected, others = (
            expected_of(self.oracle, arrays, dict(case.shape), names, case.id) for arrays in (drawn, other)
        )
        return any(compare(name, np.asarray(others[name][0]), *expected[name]).wrong for name in names)

    def _is_right(self, case: Case, task: Task, observation: Observation) -> bool:
        interface = self.plan.assignment.function
        program = replace(interface.program, seconds=min(MOST_SECONDS, interface.program.seconds))
        assignment = replace(self.plan.assignment, interface=replace(interface, program=program))
        plan = replace(self.plan, assignment=assignment, cases=(case,), feedback=False)
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

    def given(self, case: Case, device: EmulatedDevice | None) -> Given:
        """What the function is given; the device takes care of what it copies."""
        given = self.task.given(case, device)
        if device is not None:
            arrays, others = HostArrays(), self._contents(case, self.other)
            for name, (start, content) in self._contents(case, self.drawn).items():
                arrays.add(name, start, content)
            contents = {name: content for name, (_, content) in others.items()}
            device.device.recorder = _Exchange(device.device.memory, arrays, contents, self.exchanged)
        return given

    def judged(
        self, case: Case, run: ProgramRun, findings: tuple[Finding, ...], device: EmulatedDevice | None
    ) -> CaseEvidence:
        """What the function left, against what is right for the inputs that the host has."""
        return self.task.judged(case, run, findings, device)

    def _contents(self, case: Case, arrays: Inputs) -> dict[str, tuple[int, bytes]]:
        """Where each input starts in memory of the host, and its bytes."""
        contents = {}
        for index, argument in enumerate(make_arguments(self.interface, dict(case.shape), arrays, {})):
            if argument.name in arrays and argument.direction != "value":
                content = np.ascontiguousarray(argument.value).tobytes()
                contents[argument.name] = start_on_host(index, len(content)), content
        return contents


@dataclass(frozen=True, slots=True)
class _Exchange:
    """Puts other bytes into device memory where a copy has brought those of an input."""

    memory: DeviceMemory
    arrays: HostArrays
    other: Mapping[str, bytes]
    exchanged: set[str]

    @property
    def is_done(self) -> bool:
        """It goes on to the end."""
        return False

    def note(self, message: Message) -> None:
        """Exchange what a copy has brought."""
        if not isinstance(message, CopyIn):
            return
        rows = self.memory.rows(message.to, message.to_pitch, message.width, message.height)
        for number, row in enumerate(() if rows is None else rows):
            source = self.arrays.source(message.source + number * message.source_pitch, row)
            if source is not None:
                content = self.other[source.array]
                row[:] = np.frombuffer(content, np.uint8)[source.offset : source.offset + row.size]
                self.exchanged.add(source.array)
