"""The findings of a launch: the same thing on the same lines once, with how often; the gravest first.

A read of what nobody wrote is kept with what was there to begin with, and gets the reason once all is known:
who should have written it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.messages import worded
from grader.model import Finding, FindingCode, FindingKind, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.memory.layout import Bounds
    from grader.emulator.memory.memory import Target
    from grader.emulator.naming import Names, SharedArray
    from grader.model import Finding

_MOST = 100
"""Findings kept of one launch; more of them say nothing new."""

_ENDS = (FindingKind.FAULT, FindingKind.TIMEOUT)
"""What ends a launch, and explains why other findings may be missing."""

_SEVERITIES = list(Severity)


@dataclass(eq=False, slots=True)
class FindingStore:
    """Findings by what makes them one: kind, line or pair of lines, array."""

    names: Names
    file: str = ""
    by_key: dict[tuple[object, ...], Finding] = field(default_factory=dict)
    unset: dict[tuple[object, ...], Unset] = field(default_factory=dict)
    """By the key of a finding: the shared array that holds nothing yet."""
    listener: Callable[[tuple[object, ...], Finding], None] | None = None
    """Is called with each finding and its key as it is reported."""

    def add(
        self, key: tuple[object, ...], finding: Finding, count: int = 1, *, gravest: bool = False
    ) -> None:
        """One more; ``gravest``: it takes the place of a less severe one that it counts with."""
        if self.listener is not None:
            self.listener(key, finding)
        earlier = self.by_key.get(key)
        if earlier is not None:
            worse = gravest and _SEVERITIES.index(finding.severity) < _SEVERITIES.index(earlier.severity)
            kept = replace(finding, file=self.file) if worse else earlier
            self.by_key[key] = replace(kept, count=earlier.count + count)
        elif len(self.by_key) < _MOST:
            self.by_key[key] = replace(finding, file=self.file, count=count)

    def counted(self, key: tuple[object, ...], count: int) -> bool:
        """Count one more of a finding that is there; false where there is none, or somebody listens."""
        earlier = self.by_key.get(key)
        if earlier is None or self.listener is not None:
            return False
        self.by_key[key] = replace(earlier, count=earlier.count + count)
        return True

    def findings(self) -> tuple[Finding, ...]:
        """What was found: by severity, what ended the launch first, then what happened most often."""
        findings = (worded(self._with_reason(key, finding)) for key, finding in self.by_key.items())
        return tuple(sorted(findings, key=_order))

    def _with_reason(self, key: tuple[object, ...], finding: Finding) -> Finding:
        """A read of what nobody wrote, with who should have written it."""
        if key not in self.unset:
            return finding
        return with_reason(self.unset[key], finding, self.by_key.values(), self.names)


def _order(finding: Finding) -> tuple[int, bool, int, int, int, str]:
    return (
        _SEVERITIES.index(finding.severity),
        finding.kind not in _ENDS,
        -finding.count,
        finding.line or 0,
        finding.other_line or 0,
        finding.kind,
    )


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
