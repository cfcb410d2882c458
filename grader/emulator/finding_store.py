"""The findings of a launch: the same thing on the same lines once, with how often; the gravest first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.emulator.unset import Unset, with_reason
from grader.messages import worded
from grader.model import Finding, FindingKind, Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.emulator.naming import Names

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
