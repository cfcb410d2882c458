"""Tracing: one launch of the -O0 build, with a record of all actions of one block.

The launch is run as for hazard detection, all blocks of it, so that the findings are those of `check`; of the
block in question a `TraceRecorder` keeps the accesses. Tracing does not change the run.

Each finding of the launch is located: its interval, its elements, its threads. The hazard analysis reports a
race, with its lines and array; here all its elements in the traced block are determined. Accesses out of
bounds or to memory not yet written are noted as they happen.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from grader.model import Clause, FindingKind, Severity
from grader.model.trace import Accumulator, Trace, TracedHazard, TracedInterval
from grader.simulation.emulator.launch import STEPS, Execution, Kernel, LaunchOptions
from grader.simulation.emulator.linking.linker import link_function
from grader.simulation.emulator.naming import Names
from grader.simulation.emulator.races import RestartTracking
from grader.simulation.emulator.trace.arrays import Arrays, gathered, name_of
from grader.simulation.emulator.trace.recorder import (
    MOST_ACCESSES,
    MOST_INTERVALS,
    TraceRecorder,
    intervals_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from grader.model import Argument, Dim3, Finding, Launch, Run
    from grader.simulation.emulator.linking.link import Step
    from grader.simulation.emulator.linking.program import Program
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import Code
    from grader.simulation.emulator.reporter import Reporter
    from grader.simulation.emulator.trace.recorder import Interval
    from grader.simulation.ptx import Function

Key = tuple[object, ...]

_ENDS = (FindingKind.BARRIER_DIVERGENCE, FindingKind.FAULT, FindingKind.TIMEOUT)


def link_followed(source: str, text: Sequence[str], program: Program, function: Function) -> Code:
    """A function whose accumulating instructions report their results to observers.

    ``source`` is the name of the student's file in the PTX, ``text`` its lines.
    """
    code = link_function(program, function)
    line_of = Names(program, (), source).line
    for index, line in gathered(function, line_of, text).items():
        code.steps[index] = _telling(code, index, line)
    return code


def _telling(code: Code, index: int, line: int) -> Step:
    """The step of an instruction, which also reports its result to observers."""
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
    arrays: Iterable[Argument] = (),
    steps: int = STEPS,
) -> Trace:
    """Run a launch and trace one of its blocks (``blockIdx`` as x, y, z, which must be in the grid).

    ``kernel`` is of the -O0 build, ``text`` the lines of the source. ``arrays`` are the arrays that the
    kernel may use beside its arguments, by their names, masked where they hold nothing yet. A kernel that
    goes wrong is followed up to the error. Raises UnsupportedPtx for an instruction that the emulator does
    not interpret.
    """
    x, y, _ = launch.grid
    followed = Kernel(
        kernel.module,
        kernel.entry,
        kernel.source,
        kernel.file,
        kernel.shapes,
        linker=partial(link_followed, kernel.source, text),
        lay_out=kernel.lay_out,
    )
    arrays_by_label = {a.label: a for a in (*arguments, *arrays) if isinstance(a.value, np.ndarray)}
    tracked = frozenset[str]()
    while True:
        recorder = TraceRecorder(
            block=block[0] + x * (block[1] + y * block[2]),
            threads=int(np.prod(launch.block)),
            grid=launch.grid,
            arrays=Arrays(arrays_by_label),
            source=text,
        )
        options = LaunchOptions(detect=True, races=True, observers=(recorder,))
        execution = Execution(followed, launch, arguments, options, tracked=tracked)
        execution.reporter.listener = partial(note_end, recorder)
        try:
            with np.errstate(all="ignore"):
                run = execution.run(steps)
        except RestartTracking as request:
            tracked |= {request.array}
            continue
        return _traced(recorder, execution.reporter, run, launch, block)


def _traced(recorder: TraceRecorder, reporter: Reporter, run: Run, launch: Launch, block: Dim3) -> Trace:
    if recorder.now.steps or not recorder.intervals:
        recorder.close("exit" if run.completed else "stopped")
    findings = tuple(finding for finding in run.findings if finding.severity is not Severity.INFO)
    keys = numbers_of(findings, reporter.by_key)
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


def _accumulators(recorder: TraceRecorder) -> tuple[Accumulator, ...]:
    """Accumulators, by name where the source shows one; of local arrays by element."""
    accumulators = []
    for line, offset in recorder.accumulators:
        beside = sorted(other for number, other in recorder.accumulators if number == line and other >= 0)
        element = beside.index(offset) if offset >= 0 and len(beside) > 1 else -1
        name = name_of(line, recorder.source)
        lines = {other for other, _ in recorder.accumulators if name_of(other, recorder.source) == name}
        accumulators.append(Accumulator(line, name, element, twice=len(lines) > 1))
    return tuple(accumulators)


def _notes(recorder: TraceRecorder, findings: tuple[Finding, ...], *, completed: bool) -> Iterator[Clause]:
    """Notes on omitted parts, with the reasons."""
    if recorder.full:
        limits = (("accesses", MOST_ACCESSES), ("most", MOST_INTERVALS))
        yield Clause("trace-note-full", (("intervals", len(recorder.intervals)), *limits))
    if not recorder.intervals:
        yield Clause("trace-note-not-begun")
    elif not completed:
        ends = (FindingKind.FAULT, FindingKind.TIMEOUT, FindingKind.BARRIER_DIVERGENCE)
        numbers = [number for number, finding in enumerate(findings) if finding.kind in ends]
        yield (
            Clause("trace-note-cut", (("finding", numbers[0]),)) if numbers else Clause("trace-note-stopped")
        )


def note_end(recorder: TraceRecorder, key: Key, finding: Finding) -> None:
    """Note in which interval the traced block had a finding that ends it or holds it."""
    if recorder.full or finding.kind not in _ENDS:
        return
    x, y, _ = recorder.grid
    block = finding.block
    if block is None or block[0] + x * (block[1] + y * block[2]) == recorder.block:
        recorder.now.reported.append(key)


def numbers_of(findings: tuple[Finding, ...], reported: Mapping[Key, Finding]) -> dict[Key, int]:
    """The number of each reported finding among ``findings``, by its key."""
    order = {_identity(finding): number for number, finding in enumerate(findings)}
    numbers = {key: order.get(_identity(finding)) for key, finding in reported.items()}
    return {key: number for key, number in numbers.items() if number is not None}


def _identity(finding: Finding) -> Key:
    return (finding.kind, finding.hazard, finding.line, finding.other_line, finding.address, finding.thread)


def located(
    intervals: tuple[TracedInterval, ...],
    recorder: TraceRecorder,
    findings: tuple[Finding, ...],
    keys: Mapping[Key, int],
) -> tuple[TracedInterval, ...]:
    """The intervals, each with its findings."""
    names = {array.name: number for number, array in enumerate(recorder.arrays.touched)}
    return tuple(
        replace(interval, hazards=tuple(_hazards(interval, noted, findings, names, keys)))
        for interval, noted in zip(intervals, recorder.intervals, strict=True)
    )


def _hazards(
    interval: TracedInterval,
    noted: Interval,
    findings: tuple[Finding, ...],
    names: Mapping[str, int],
    keys: Mapping[Key, int],
) -> Iterator[TracedHazard]:
    numbers = {keys[key] for key in noted.reported if key in keys}
    for number, finding in enumerate(findings):
        array = names.get(finding.array, -1)
        if finding.kind is FindingKind.RACE:
            yield from _races(interval, number, finding, array)
        elif finding.kind is FindingKind.UNINITIALISED:
            reads = [read for read in noted.unset if read[:2] == (finding.line, array)]
            yield from _some(number, array, ((element, thread) for _, _, element, thread in reads))
        elif finding.kind in (FindingKind.OUT_OF_BOUNDS, FindingKind.MISALIGNED):
            yield from _outside(interval, number, finding, array)
        elif finding.kind is FindingKind.BARRIER_DIVERGENCE and finding.line in interval.barrier_lines:
            numbers.discard(number)
            yield from (TracedHazard(number, threads=absent) for absent in (noted.absent,) if absent)
    yield from (TracedHazard(number) for number in sorted(numbers))


def _outside(interval: TracedInterval, number: int, finding: Finding, array: int) -> Iterator[TracedHazard]:
    steps = [step for step in interval.steps if step.line == finding.line]
    events = [event for step in steps for event in step.events if event.kind == "outside"]
    threads = {thread for event in events if event.target == array for thread in event.threads}
    if threads:
        yield TracedHazard(number, array, (), tuple(sorted(threads)))


def _some(finding: int, array: int, pairs: Iterable[tuple[int, int]]) -> Iterator[TracedHazard]:
    touched = list(pairs)
    if touched:
        elements, threads = (tuple(sorted(set(column))) for column in zip(*touched, strict=True))
        yield TracedHazard(finding, array, elements, threads)


def _races(interval: TracedInterval, number: int, finding: Finding, array: int) -> Iterator[TracedHazard]:
    """The elements that different threads touched on the lines of a race, one of them to write."""
    one = _accesses(interval, finding.line, array)
    other = one if finding.other_line == finding.line else _accesses(interval, finding.other_line, array)
    pairs = set[tuple[int, int]]()
    for element in one.keys() & other.keys():
        for thread, kind in one[element]:
            against = {(t, k) for t, k in other[element] if t != thread and _clash(kind, k)}
            if against:
                pairs.add((element, thread))
                pairs.update((element, t) for t, _ in against)
    yield from _some(number, array, pairs)


def _clash(kind: str, other: str) -> bool:
    return "store" in (kind, other) or ("atomic" in (kind, other) and kind != other)


def _accesses(interval: TracedInterval, line: int | None, array: int) -> dict[int, set[tuple[int, str]]]:
    """By element the threads that touched it on a line, and how."""
    touched: dict[int, set[tuple[int, str]]] = {}
    for step in interval.steps:
        if step.line != line:
            continue
        for event in step.events:
            if event.target == array and event.kind in ("load", "store", "atomic"):
                for element, thread in zip(event.elements, event.threads, strict=True):
                    touched.setdefault(element, set()).add((thread, event.kind))
    return touched
