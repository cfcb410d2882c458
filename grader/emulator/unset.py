"""Reads of what nobody wrote: what was there to begin with, and who should have written it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.model import FindingCode, FindingKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.memory.bounds import Bounds
    from grader.emulator.memory.memory import Target
    from grader.emulator.naming import Names, SharedArray
    from grader.model import Finding


class Unset(NamedTuple):
    """A shared array of which something was read that nobody wrote, with the bounds of the launch."""

    bounds: Bounds
    array: SharedArray | None


def used_and_missing(target: Target, missing: NDArray[np.bool_], size: int, used: int) -> NDArray[np.bool_]:
    """Of the lanes that read bytes which nobody wrote, those that use one.

    ``used`` are the bytes as bits, -1 for all. Of a vector, of which ``size`` is a part, all count.
    """
    initialised = target.region.initialised
    if used < 0 or used >> size or initialised is None:
        return missing
    holes = np.zeros(len(missing), np.bool_)
    for byte in range(size):
        if used >> byte & 1:
            holes |= initialised[target.index + byte] == 0
    return missing & holes


def is_empty_output(m: Machine, space: str, index: int) -> bool:
    """Whether a byte belongs to an output, which holds nothing to begin with."""
    holder = m.memory.holding(index, index + 1) if space == "global" else None
    return holder is not None and holder.direction == "out"


def with_reason(unset: Unset, finding: Finding, others: Iterable[Finding], names: Names) -> Finding:
    """The finding with the reason: a barrier is missing, nobody writes the array, or nobody the element."""
    if unset.array is None:
        return finding
    late = {line for other in others if (line := _written_too_late(finding, other))}
    if late:
        lines = (("lines", tuple(sorted(late))),)
        return replace(finding, code=FindingCode.WRITTEN_TOO_LATE, details=lines)
    stores = unset.bounds.stores_to(unset.array)
    if stores is None:
        return finding
    written = {line for site in stores if (line := names.line(names.program.sites[site]))}
    if written:
        lines = (("lines", tuple(sorted(written))),)
        return replace(finding, code=FindingCode.ELEMENT_NOT_WRITTEN, details=lines)
    return finding if stores else replace(finding, code=FindingCode.NEVER_WRITTEN)


def _written_too_late(read: Finding, race: Finding) -> int | None:
    """The line of a write to the same array that races with the read."""
    same = race.array == read.array
    if race.kind is not FindingKind.RACE or not same:
        return None
    if race.hazard == "RAW" and race.line == read.line:
        return race.other_line
    return race.line if race.hazard == "WAR" and race.other_line == read.line else None
