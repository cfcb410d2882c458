"""Words for reads of what nobody wrote: what was there to begin with, and who should have written it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.sentences import on_lines
from grader.model import FindingKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.memory.place import Place
    from grader.emulator.naming import Names, SharedArray
    from grader.emulator.static.bounds import Bounds
    from grader.model import Finding


class Unset(NamedTuple):
    """A shared array of which something was read that nobody wrote, with the bounds of the launch."""

    bounds: Bounds
    array: SharedArray | None


def used_and_missing(place: Place, missing: NDArray[np.bool_], size: int, used: int) -> NDArray[np.bool_]:
    """Of the lanes that read bytes which nobody wrote, those that use one.

    ``used`` are the bytes as bits, -1 for all. Of a vector, of which ``size`` is a part, all count.
    """
    initialised = place.region.initialised
    if used < 0 or used >> size or initialised is None:
        return missing
    holes = np.zeros(len(missing), np.bool_)
    for byte in range(size):
        if used >> byte & 1:
            holes |= initialised[place.index + byte] == 0
    return missing & holes


def empty_output(m: Machine, space: str, index: int) -> str:
    """The name of the output that a byte belongs to: it holds nothing to begin with. Empty for others."""
    holder = m.memory.holding(index, index + 1) if space == "global" else None
    return holder.name if holder is not None and holder.direction == "out" else ""


def why_unset(unset: Unset, finding: Finding, others: Iterable[Finding], names: Names) -> str:
    """Whether a barrier is missing before the read, or nobody writes the array, or not this element."""
    if unset.array is None:
        return ""
    late = [line for other in others if (line := _written_too_late(finding, other))]
    name = unset.array.name
    if late:
        return f": {name} is written {on_lines(late)}, but no barrier stands between"
    stores = unset.bounds.stores_to(unset.array)
    if stores is None:
        return ""
    lines = [line for site in stores if (line := names.line(names.program.sites[site]))]
    if not lines:
        return "" if stores else f": nothing in the kernel writes {name}"
    return f": {name} is written {on_lines(lines)}, but nobody has written this element: is there a guard?"


def _written_too_late(read: Finding, race: Finding) -> int | None:
    """The line of a write to the same array that races with the read."""
    same = race.array == read.array
    if race.kind is not FindingKind.RACE or not same:
        return None
    if race.hazard == "RAW" and race.line == read.line:
        return race.other_line
    return race.line if race.hazard == "WAR" and race.other_line == read.line else None
