"""The races between accesses of a trace: PTX's memory model, spelt out as relations (PTX ISA chapter 8).

This is the definition that the detector is held to. Relations are sets of bits, a row per operation. Where
the detector goes beyond the letter of the PTX ISA (`grader/simulation/emulator/README.md` lists where), so
does this:

- a `volatile` read is strong; a `volatile` write is strong if it is its thread's first store after a fence
  and some loop waits for what it sets (``awaited`` lines), else it is plain;
- a barrier of the whole block is an acquire fence for what its threads have read before it, and hands the
  fences before it on to the strong writes after it;
- threads that have exited count as having arrived.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tests.simulation.emulator.interleaved import Operation, Trace

_ORDERED = {"relaxed", "acquire", "release", "acq_rel", "sc"}


class Race(NamedTuple):
    """The lines of two accesses that race, the lower first."""

    line: int
    other_line: int


def races(trace: Trace, awaited: Collection[int]) -> set[Race]:
    """The pairs of lines with accesses that conflict and that causality does not order."""
    operations = trace.operations
    strong = [_is_strong(operations, index, awaited) for index in range(len(operations))]
    causes = _causality(trace, strong)
    found = set()
    for later, operation in enumerate(operations):
        for earlier in range(later):
            other = operations[earlier]
            if not _overlap(operation, other) or operation.thread == other.thread:
                continue
            if "write" not in (operation.what, other.what) and "update" not in (operation.what, other.what):
                continue
            if strong[earlier] and strong[later] and _mutual(operation, other):
                continue
            if not causes[later] >> earlier & 1:
                found.add(Race(*sorted((operation.line, other.line))))
    return found


def _overlap(one: Operation, other: Operation) -> bool:
    if not one.size or not other.size or one.location[0] != other.location[0]:
        return False
    return one.location[1] < other.location[1] + other.size and other.location[1] < one.location[1] + one.size


def _words(operation: Operation) -> set[str]:
    return set(operation.instruction.modifiers)


def _is_strong(operations: list[Operation], index: int, awaited: Collection[int]) -> bool:
    """Section 8.4: strong operations are fences, relaxed ones and stronger; here also flags."""
    operation = operations[index]
    if operation.what in ("fence", "update") or _words(operation) & _ORDERED:
        return True
    if "volatile" not in _words(operation):
        return False
    if operation.what == "read":
        return True
    mine = [other for other in operations[:index] if other.thread == operation.thread]
    stores = [at for at, other in enumerate(mine) if other.what == "write"]
    fences = [at for at, other in enumerate(mine) if other.what == "fence"]
    after_fence = bool(fences) and fences[-1] > (stores[-1] if stores else -1)
    waited_for = any(other.line in awaited and _overlap(other, operation) for other in operations)
    return after_fence and waited_for


def _wide(operation: Operation) -> bool:
    return "cta" not in _words(operation)


def _mutual(one: Operation, other: Operation) -> bool:
    """Return whether each has the other's thread in its scope (section 8.7)."""
    return one.block == other.block or (_wide(one) and _wide(other))


def _causality(trace: Trace, strong: list[bool]) -> list[int]:
    """For each operation the set of operations that precede it in causality order (section 8.9.5)."""
    count = len(trace.operations)
    base = [0] * count
    for earlier, later in (*_program_order(trace), *_barriers(trace), *_synchronised(trace, strong)):
        base[later] |= 1 << earlier
    for later in range(count):  # edges lead forwards in time: one pass closes the relation
        reached = base[later]
        for earlier in range(later):
            if reached >> earlier & 1:
                reached |= base[earlier]
        base[later] = reached
    causes = list(base)
    for first, last in _observations(trace, strong):
        for later in range(count):
            if later == last or base[later] >> last & 1:
                causes[later] |= 1 << first
    return causes


def _program_order(trace: Trace) -> Iterator[tuple[int, int]]:
    by_thread: dict[int, list[int]] = {}
    for index, operation in enumerate(trace.operations):
        by_thread.setdefault(operation.thread, []).append(index)
    for mine in by_thread.values():
        yield from pairwise(mine)


def _barriers(trace: Trace) -> Iterator[tuple[int, int]]:
    """A barrier orders what its threads did before it, and what they do after it (section 8.9.4)."""
    for moment, members, gone in trace.passed:
        before = [i for i, o in enumerate(trace.operations[:moment]) if o.thread in (*members, *gone)]
        after = [i for i, o in enumerate(trace.operations) if i >= moment and o.thread in members]
        yield from ((one, other) for one in before for other in after)


def _observations(trace: Trace, strong: list[bool]) -> Iterator[tuple[int, int]]:
    """Section 8.9.2: a strong write, and a strong read of it or of what updates made of it."""
    number = {id(operation): index for index, operation in enumerate(trace.operations)}
    for last, operation in enumerate(trace.operations):
        if operation.what not in ("read", "update") or not strong[last]:
            continue
        reader, writer = operation, operation.writer
        while writer is not None and strong[number[id(writer)]] and _mutual(writer, reader):
            if writer.size != reader.size:
                break
            yield number[id(writer)], last
            if writer.what != "update":
                break
            reader, writer = writer, writer.writer


def _synchronised(trace: Trace, strong: list[bool]) -> Iterator[tuple[int, int]]:
    """A release pattern and an acquire pattern that observes it (sections 8.8 and 8.9.4)."""
    for write, read in _observations(trace, strong):
        for release in _releases(trace, write):
            for acquire, by_barrier in _acquires(trace, read):
                first, last = trace.operations[release], trace.operations[acquire]
                if first.block == last.block or (_wide(first) and (by_barrier or _wide(last))):
                    yield release, acquire


def _releases(trace: Trace, write: int) -> Iterator[int]:
    """The first operations of the release patterns that end with a strong write."""
    operations, mine = trace.operations, trace.operations[write]
    if _words(mine) & {"release", "acq_rel"}:
        yield write
    for index in range(write):
        fence = operations[index]
        if fence.what == "fence" and fence.block == mine.block:
            handed_on = any(index < moment <= write for moment, *_ in _whole(trace, mine.block))
            if fence.thread == mine.thread or handed_on:
                yield index


def _acquires(trace: Trace, read: int) -> Iterator[tuple[int, bool]]:
    """The last operations of acquire patterns that begin with a strong read, and whether by a barrier."""
    operations, mine = trace.operations, trace.operations[read]
    if _words(mine) & {"acquire", "acq_rel"}:
        yield read, False
    for index in range(read + 1, len(operations)):
        operation = operations[index]
        if operation.what == "fence" and operation.thread == mine.thread:
            yield index, False
    for moment, members, _ in _whole(trace, mine.block):
        if moment > read and mine.thread in members:
            for member in members:
                after = (i for i in range(moment, len(operations)) if operations[i].thread == member)
                yield from ((index, True) for index in islice(after, 1))


def _whole(trace: Trace, block: int) -> Iterator[tuple[int, list[int], list[int]]]:
    """The barriers of a whole block."""
    for moment, members, gone in trace.passed:
        mine = {operation.thread for operation in trace.operations if operation.block == block}
        if mine & set(members) and mine <= {*members, *gone}:
            yield moment, members, gone
