"""Tracing: one launch of the -O0 build, with everything written down that one block does.

The launch is run as it is when hazards are looked for, all blocks of it, so that what is found is what
`check` finds; of the block in question a `Recorder` keeps the accesses. Nothing about the run is different
for being watched.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.launch import STEPS, Execution, Kernel, Look
from grader.emulator.linking.linker import link_function
from grader.emulator.naming import Names
from grader.emulator.races import RestartTracking
from grader.emulator.trace.accumulators import gathered, name_of
from grader.emulator.trace.arrays import Arrays
from grader.emulator.trace.findings import located, note_end, numbers_of
from grader.emulator.trace.recorder import MOST_ACCESSES, MOST_INTERVALS, Recorder, intervals_of
from grader.model import FindingKind, Severity
from grader.model.trace import Accumulator, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.emulator.linking.link import Step
    from grader.emulator.linking.program import Program
    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.state import Code
    from grader.emulator.reporter import Reporter
    from grader.model import Argument, Dim3, Finding, Launch, Run
    from grader.ptx import Function


def link_followed(source: str, text: Sequence[str], program: Program, function: Function) -> Code:
    """A function whose gathering instructions tell observers what they computed.

    ``source`` is the name of the student's file in the PTX, ``text`` its lines.
    """
    code = link_function(program, function)
    line_of = Names(program, (), source).line
    for index, line in gathered(function, line_of, text).items():
        code.steps[index] = _telling(code, index, line)
    return code


def _telling(code: Code, index: int, line: int) -> Step:
    """The step of an instruction, and a word to observers about its result."""
    instruction = code.function.body[index]
    step = code.steps[index]
    names = [name for name, _ in code.function.registers]
    register = names.index(instruction.operands[0].name)  # type: ignore[union-attr]

    def telling(m: Machine) -> None:
        step(m)
        value = m.registers[register]
        if value is not None:
            m.observer.computed(m, instruction, line, value)

    return telling


def trace(
    kernel: Kernel,
    launch: Launch,
    arguments: tuple[Argument, ...],
    block: Dim3,
    text: Sequence[str] = (),
    *,
    steps: int = STEPS,
) -> Trace:
    """Run a launch and trace one of its blocks (``blockIdx`` as x, y, z, which must be in the grid).

    ``kernel`` is of the -O0 build, ``text`` the lines of the source. A kernel that goes wrong is followed
    up to there. Raises UnsupportedPtx for an instruction that the emulator does not interpret.
    """
    x, y, _ = launch.grid
    followed = Kernel(
        kernel.module,
        kernel.entry,
        kernel.source,
        kernel.file,
        kernel.shapes,
        linker=partial(link_followed, kernel.source, text),
    )
    tracked = frozenset[str]()
    while True:
        recorder = Recorder(
            block=block[0] + x * (block[1] + y * block[2]),
            threads=int(np.prod(launch.block)),
            grid=launch.grid,
            arrays=Arrays({each.label: each for each in arguments if isinstance(each.value, np.ndarray)}),
            source=text,
        )
        look = Look(detect=True, races=True, observers=(recorder,))
        execution = Execution(followed, launch, arguments, look, tracked=tracked)
        execution.reporter.listener = partial(note_end, recorder)
        try:
            with np.errstate(all="ignore"):
                run = execution.run(steps)
        except RestartTracking as request:
            tracked |= {request.array}
            continue
        return _traced(recorder, execution.reporter, run, launch, block)


def _traced(recorder: Recorder, reporter: Reporter, run: Run, launch: Launch, block: Dim3) -> Trace:
    if recorder.now.steps or not recorder.intervals:
        recorder.close("exit" if run.completed else "stopped")
    findings = tuple(each for each in run.findings if each.severity is not Severity.INFO)
    keys = numbers_of(findings, reporter.found)
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
