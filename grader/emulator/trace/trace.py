"""Tracing: one launch of the -O0 build, with everything written down that one block does.

The launch is run as it is when hazards are looked for, all blocks of it, so that what is found is what
`check` finds; of the block in question a `Recorder` keeps the accesses. Nothing about the run is different
for being watched.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.emulator.launch import STEPS, Execution, Kernel, Look
from grader.emulator.linking.program import Code, Program
from grader.emulator.naming import Names
from grader.emulator.races import TrackThisToo
from grader.emulator.trace.accumulators import gathered, name_of
from grader.emulator.trace.arrays import Arrays
from grader.emulator.trace.findings import TracingReporter, located
from grader.emulator.trace.interval import intervals_of
from grader.emulator.trace.recorder import MOST_ACCESSES, MOST_INTERVALS, Recorder
from grader.model import FindingKind, Severity
from grader.model.trace import Accumulator, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.emulator.machine.geometry import Geometry
    from grader.emulator.machine.machine import Machine
    from grader.emulator.memory.layout import Layout
    from grader.model import Argument, Dim3, Finding, Launch, Run
    from grader.ptx import Instruction, Location


@dataclass(eq=False, slots=True)
class TracedKernel(Kernel):
    """A kernel whose gathering instructions tell a recorder what they computed."""

    text: Sequence[str] = ()

    def program(self, layout: Layout) -> TracedProgram:
        """A program of its own for every launch: it is linked to one recorder."""
        return TracedProgram(self.module, layout.addresses, file=self.source, text=self.text)


@dataclass(eq=False, slots=True)
class TracedProgram(Program):
    """A program whose gathering instructions are followed by a word to ``recorder``."""

    file: str = ""
    text: Sequence[str] = ()
    recorder: Recorder | None = None
    _told: set[int] = field(default_factory=set)

    def link(self, name: str, call: Location | None = None) -> Code:
        """See `Program`."""
        code = Program.link(self, name, call)
        if id(code) not in self._told:
            self._told.add(id(code))
            line_of = Names(self, (), self.file).line
            for index, line in gathered(code.function, line_of, self.text).items():
                code.steps[index] = self._telling(code, index, line)
        return code

    def _telling(self, code: Code, index: int, line: int) -> Any:  # noqa: ANN401 - a Step
        """The step of an instruction, and a word about its result."""
        instruction: Instruction = code.function.body[index]
        step = code.steps[index]
        names = [name for name, _ in code.function.registers]
        register = names.index(instruction.operands[0].name)  # type: ignore[union-attr]

        def telling(m: Machine) -> None:
            step(m)
            value = m.registers[register]
            if self.recorder is not None and value is not None:
                self.recorder.added(m, instruction, line, value)

        return telling


class _TracedExecution(Execution):
    """One attempt at a launch that is traced."""

    def __init__(
        self,
        kernel: TracedKernel,
        launch: Launch,
        arguments: tuple[Argument, ...],
        block: int,
        tracked: frozenset[str],
    ) -> None:
        super().__init__(kernel, launch, arguments, Look(detect=True, races=True), tracked=tracked)
        self.recorder = Recorder(
            self.log,
            block=block,
            threads=int(np.prod(launch.block)),
            grid=launch.grid,
            arrays=Arrays({each.label: each for each in arguments if isinstance(each.value, np.ndarray)}),
            source=kernel.text,
        )
        self.observer = self.recorder
        self.reporter = TracingReporter(self.reporter.names, self.reporter.file, recorder=self.recorder)
        program = self.reporter.names.program
        if isinstance(program, TracedProgram):
            program.recorder = self.recorder

    def _machine(self, geometry: Geometry) -> Machine:
        if self.recorder.machine is not None:  # the chunk that the block was in is over
            self.recorder.close("exit")
        machine = super()._machine(geometry)
        self.recorder.begin(machine)
        return machine


def trace(
    kernel: TracedKernel,
    launch: Launch,
    arguments: tuple[Argument, ...],
    block: Dim3,
    *,
    steps: int = STEPS,
) -> Trace:
    """Run a launch and trace one of its blocks (``blockIdx`` as x, y, z, which must be in the grid).

    ``kernel`` is of the -O0 build, its ``text`` the lines of the source. A kernel that goes wrong is followed
    up to there. Raises UnsupportedPtx for an instruction that the emulator does not interpret.
    """
    x, y, _ = launch.grid
    number = block[0] + x * (block[1] + y * block[2])
    tracked = frozenset[str]()
    while True:
        execution = _TracedExecution(kernel, launch, arguments, number, tracked)
        try:
            with np.errstate(all="ignore"):
                run = execution.run(steps)
        except TrackThisToo as found:
            tracked |= {found.array}
            continue
        return _traced(execution, run, launch, block)


def _traced(execution: _TracedExecution, run: Run, launch: Launch, block: Dim3) -> Trace:
    recorder, reporter = execution.recorder, execution.reporter
    if recorder.now.steps or not recorder.intervals:
        recorder.close("exit" if run.completed else "stopped")
    findings = tuple(each for each in run.findings if each.severity is not Severity.INFO)
    keys = reporter.numbers(findings) if isinstance(reporter, TracingReporter) else {}
    return Trace(
        launch,
        block,
        recorder.arrays.records(),
        _accumulators(recorder),
        located(intervals_of(recorder.intervals), recorder, findings, keys),
        findings,
        run.completed,
        tuple(_notes(recorder, findings, completed=run.completed)),
    )


def _accumulators(recorder: Recorder) -> tuple[Accumulator, ...]:
    """What gathers, by name where the source shows one; of local arrays by element."""
    found = []
    for line, place in recorder.accumulators:
        beside = sorted(other for number, other in recorder.accumulators if number == line and other >= 0)
        element = beside.index(place) if place >= 0 and len(beside) > 1 else -1
        name = name_of(line, recorder.source)
        lines = {other for other, _ in recorder.accumulators if name_of(other, recorder.source) == name}
        found.append(Accumulator(line, name, element, twice=len(lines) > 1))
    return tuple(found)


def _notes(recorder: Recorder, findings: tuple[Finding, ...], *, completed: bool) -> list[str]:
    """What was left out, and why."""
    notes = []
    if recorder.full:
        notes.append(
            f"the trace ends after {len(recorder.intervals):,} barrier intervals: it holds at most "
            f"{MOST_ACCESSES:,} accesses and {MOST_INTERVALS} intervals; a smaller shape shows the same"
        )
    if not recorder.intervals:
        notes.append("the launch stopped before this block began")
    elif not completed:
        ends = (FindingKind.FAULT, FindingKind.TIMEOUT, FindingKind.BARRIER_DIVERGENCE)
        why = next((each.message for each in findings if each.kind in ends), "the launch was stopped")
        notes.append(f"what follows is missing, for the launch did not come to its end: {why}")
    return notes
