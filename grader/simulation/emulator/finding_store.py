"""The findings of a launch: each finding on the same lines once, with its count; the gravest first.

A read of memory that no thread wrote is kept with its initial state, and gets the reason at the end of the
launch: the thread that should have written it.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.base.records import mutable
from grader.model import SEVERITIES, Finding, FindingCode, FindingKind, Severity
from grader.model.messages import worded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from grader.model import Finding
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.memory.layout import Bounds
    from grader.simulation.emulator.memory.memory import Target
    from grader.simulation.emulator.naming import Names, SharedArray

_MOST = 100
"""Findings kept of one launch; more of them say nothing new."""

_ENDS = (FindingKind.FAULT, FindingKind.TIMEOUT)
"""Kinds of findings that end a launch, and explain why other findings may be missing."""

_SEVERITIES = list(Severity)


@mutable
class FindingStore:
    """Findings by identity: kind, line or pair of lines, array."""

    names: Names
    file: str = ""
    by_key: dict[tuple[object, ...], Finding] = field(default_factory=dict)
    unset: dict[tuple[object, ...], Unset] = field(default_factory=dict)
    """By the key of a finding: the shared array that holds nothing yet."""
    listener: Callable[[tuple[object, ...], Finding], None] | None = None
    """Function called with each finding and its key as it is reported."""

    def add(
        self, key: tuple[object, ...], finding: Finding, count: int = 1, *, gravest: bool = False
    ) -> None:
        """Add a finding; ``gravest``: it replaces a less severe one that it counts with."""
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
        """Count one more of a finding that exists; false where there is none, or there is a listener."""
        earlier = self.by_key.get(key)
        if earlier is None or self.listener is not None:
            return False
        self.by_key[key] = replace(earlier, count=earlier.count + count)
        return True

    def findings(self) -> tuple[Finding, ...]:
        """The findings: by severity, then the ones that ended the launch, then the most frequent."""
        findings = (worded(self._with_reason(key, finding)) for key, finding in self.by_key.items())
        return tuple(sorted(findings, key=_order))

    def _with_reason(self, key: tuple[object, ...], finding: Finding) -> Finding:
        """A read of memory that no thread wrote, with the thread that should have written it."""
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
    """A shared array of which an element was read that no thread wrote, with the bounds of the launch."""

    bounds: Bounds
    array: SharedArray | None


def used_and_missing(target: Target, missing: NDArray[np.bool_], size: int, used: int) -> NDArray[np.bool_]:
    """Of the lanes that read bytes which no thread wrote, the lanes that use such a byte.

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
    """True if a byte belongs to an output, which holds nothing initially."""
    holder = m.memory.holding(index, index + 1) if space == "global" else None
    return holder is not None and holder.direction == "out"


def with_reason(unset: Unset, finding: Finding, others: Iterable[Finding], names: Names) -> Finding:
    """The finding with the reason: a barrier is missing, no thread writes the array, or none the element."""
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


def with_races(findings: tuple[Finding, ...], others: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings with the races that only another order of the threads shows, or shows to be graver."""
    merged = list(findings)
    for race in (finding for finding in others if finding.kind is FindingKind.RACE):
        alike = [at for at, finding in enumerate(findings) if _race_key(finding) == _race_key(race)]
        if not alike:
            merged.append(race)
        elif all(_gravity(merged[at]) < _gravity(race) for at in alike):
            same = [at for at in alike if merged[at].hazard == race.hazard]
            merged[(same or alike)[0]] = race
    return tuple(merged)


def _race_key(finding: Finding) -> tuple[object, ...]:
    """Races with the same key are about the same two lines, whichever comes first."""
    return (finding.kind, frozenset((finding.line, finding.other_line)), finding.array)


def _gravity(finding: Finding) -> int:
    """Severity of a finding, as a number."""
    return SEVERITIES.index(finding.severity)
