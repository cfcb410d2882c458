"""Where in a trace the findings of a launch happened: in which interval, at which elements, by which threads.

That there is a race the hazard analysis says, with its lines and array; here all elements are sought that it
concerns in the traced block. What is out of bounds or not yet written is noted as it happens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.outside import Bad, outside
from grader.emulator.reporter import Reporter
from grader.model import Finding, FindingKind
from grader.model.trace import TracedHazard, TracedInterval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.values import Value
    from grader.emulator.memory.access import Place
    from grader.emulator.trace.interval import Interval
    from grader.emulator.trace.recorder import Recorder

Key = tuple[object, ...]

_ENDS = (FindingKind.BARRIER_DIVERGENCE, FindingKind.FAULT, FindingKind.TIMEOUT)


@dataclass(eq=False, slots=True)
class TracingReporter(Reporter):
    """A reporter that also tells the recorder of what the traced block does wrong, thread by thread."""

    recorder: Recorder | None = None

    def add(self, key: Key, finding: Finding, count: int = 1, *, gravest: bool = False) -> None:
        """See `Collected`."""
        Reporter.add(self, key, finding, count, gravest=gravest)
        recorder = self.recorder
        if recorder is None or recorder.full or finding.kind not in _ENDS:
            return
        x, y, _ = recorder.grid
        block = finding.block
        if block is None or block[0] + x * (block[1] + y * block[2]) == recorder.block:
            recorder.now.told.append(key)

    def out_of_bounds(
        self,
        m: Machine,
        site: int,
        space: str,
        verb: str,
        address: Value,
        bad: NDArray[np.bool_],
        size: int,
    ) -> None:
        """See `Reporter`."""
        Reporter.out_of_bounds(self, m, site, space, verb, address, bad, size)
        recorder = self.recorder
        if recorder is None or recorder.machine is not m:
            return
        lanes = m.lanes()
        mine = np.flatnonzero(bad & (lanes >= recorder.low) & (lanes < recorder.low + recorder.threads))
        if mine.size:
            bytes_ = np.broadcast_to(address, lanes.shape)[mine].tolist()
            own = m.bounds[site]
            bad_ones = [Bad(f"{verb}s", space, byte, size, m.memory.base) for byte in bytes_]
            words = [outside(m, self.names, own, each)[0] for each in bad_ones]
            recorder.outside(m, self._site(site), lanes[mine], [f"{word} {verb}" for word in words])

    def uninitialised(
        self, m: Machine, site: int, place: Place, missing: NDArray[np.bool_], size: int
    ) -> None:
        """See `Reporter`."""
        Reporter.uninitialised(self, m, site, place, missing, size)
        if self.recorder is not None:
            self.recorder.unset(m, site, place, missing, size)

    def numbers(self, findings: tuple[Finding, ...]) -> dict[Key, int]:
        """The number of each finding among ``findings``, by its key here."""
        places = {_identity(finding): number for number, finding in enumerate(findings)}
        known = {key: places.get(_identity(finding)) for key, finding in self.found.items()}
        return {key: number for key, number in known.items() if number is not None}


def _identity(finding: Finding) -> Key:
    return (finding.kind, finding.hazard, finding.line, finding.other_line, finding.address, finding.thread)


def located(
    intervals: tuple[TracedInterval, ...],
    recorder: Recorder,
    findings: tuple[Finding, ...],
    keys: Mapping[Key, int],
) -> tuple[TracedInterval, ...]:
    """The intervals, each with what went wrong in it."""
    names = {each.name: number for number, each in enumerate(recorder.arrays.known)}
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
    told = {keys[key] for key in noted.told if key in keys}
    for number, finding in enumerate(findings):
        array = names.get(finding.array, -1)
        if finding.kind is FindingKind.RACE:
            yield from _races(interval, number, finding, array)
        elif finding.kind is FindingKind.UNINITIALISED:
            reads = [each for each in noted.unset if each[:2] == (finding.line, array)]
            yield from _some(number, array, ((element, thread) for _, _, element, thread in reads))
        elif finding.kind in (FindingKind.OUT_OF_BOUNDS, FindingKind.MISALIGNED):
            yield from _outside(interval, number, finding, array)
        elif finding.kind is FindingKind.BARRIER_DIVERGENCE and finding.line in interval.barrier_lines:
            told.discard(number)
            yield from (TracedHazard(number, threads=each) for each in (noted.absent,) if each)
    yield from (TracedHazard(number) for number in sorted(told))


def _outside(interval: TracedInterval, number: int, finding: Finding, array: int) -> Iterator[TracedHazard]:
    steps = [step for step in interval.steps if step.line == finding.line]
    events = [event for step in steps for event in step.events if event.kind == "outside"]
    threads = {thread for event in events if event.target == array for thread in event.threads}
    if threads:
        yield TracedHazard(number, array, (), tuple(sorted(threads)))


def _some(finding: int, array: int, pairs: Iterable[tuple[int, int]]) -> Iterator[TracedHazard]:
    found = list(pairs)
    if found:
        elements, threads = (tuple(sorted(set(each))) for each in zip(*found, strict=True))
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
    found: dict[int, set[tuple[int, str]]] = {}
    for step in interval.steps:
        if step.line != line:
            continue
        for event in step.events:
            if event.target == array and event.kind in ("load", "store", "atomic"):
                for element, thread in zip(event.elements, event.threads, strict=True):
                    found.setdefault(element, set()).add((thread, event.kind))
    return found
