"""Where in a trace the findings of a launch happened: in which interval, at which elements, by which threads.

That there is a race the hazard analysis says, with its lines and array; here all elements are sought that it
concerns in the traced block. What is out of bounds or not yet written is noted as it happens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.model import Finding, FindingKind
from grader.model.trace import TracedHazard, TracedInterval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grader.emulator.trace.recorder import Interval, Recorder

Key = tuple[object, ...]

_ENDS = (FindingKind.BARRIER_DIVERGENCE, FindingKind.FAULT, FindingKind.TIMEOUT)


def note_end(recorder: Recorder, key: Key, finding: Finding) -> None:
    """Note in which interval the traced block had a finding that ends it or holds it."""
    if recorder.full or finding.kind not in _ENDS:
        return
    x, y, _ = recorder.grid
    block = finding.block
    if block is None or block[0] + x * (block[1] + y * block[2]) == recorder.block:
        recorder.now.told.append(key)


def numbers_of(findings: tuple[Finding, ...], reported: Mapping[Key, Finding]) -> dict[Key, int]:
    """The number of each reported finding among ``findings``, by its key."""
    order = {_identity(finding): number for number, finding in enumerate(findings)}
    numbers = {key: order.get(_identity(finding)) for key, finding in reported.items()}
    return {key: number for key, number in numbers.items() if number is not None}


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
