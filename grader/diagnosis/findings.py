"""What findings suggest: which barrier is missing, which guard.

A race is read as follows (the emulator's convention): ``hazard`` is second access after first, ``line`` and
``thread`` belong to the second access, ``other_line`` and ``other_thread`` to the first. So in a RAW ``line``
reads what ``other_line`` writes, and in a WAR ``line`` overwrites what ``other_line`` reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.diagnosis.compilation import compile_hint
from grader.diagnosis.facts import Diagnosis
from grader.diagnosis.mistakes import MISTAKES
from grader.model import FindingKind, Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import CheckResult, Finding

LOADS = ("load", "read")
STORES = ("store", "write")

SIMPLE = {
    FindingKind.BARRIER_DIVERGENCE: "barrier-divergence",
    FindingKind.MISALIGNED: "misaligned-access",
    FindingKind.UNINITIALISED: "uninitialised-read",
    FindingKind.TIMEOUT: "endless",
    FindingKind.FAULT: "fault",
}

IMPORTANCE = (
    "barrier-divergence",
    "store-out-of-bounds",
    "load-out-of-bounds",
    "access-out-of-bounds",
    "barrier-before-reading",
    "barrier-before-overwriting",
)
"""Repair these first, in this order; the others come as they were found."""

MOST_HINTS = 2
"""Hints at once: more would not be read."""

ARRAY_NAME = re.compile(r"(?!local$|shared$|0x)[A-Za-z_$][\w$]*$", re.ASCII)
"""A name that the source may hold; the emulator also gives addresses and places."""

REFUSALS = {
    "launch-shared-memory": "shared memory",
    "launch-too-large": "may ",
    "launch-too-small": "launch",
}
"""How the message of a refused launch tells its reasons apart, to be asked in this order."""

CONSTANT = re.compile(r"`([A-Za-z_]\w*)` is -?\d", re.ASCII)
"""A constant in the message of a refused launch."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A mistake with the arrays and lines of all findings that it explains, in the order of the lines."""

    mistake: str
    arrays: tuple[str, ...]
    lines: tuple[int, ...]
    other_lines: tuple[int, ...]
    repairs: tuple[str, ...] = ()
    """What was tried and removes them."""

    @classmethod
    def of(cls, mistake: str, finding: Finding) -> Suspect:
        """What one finding suggests."""
        array = finding.address.partition("[")[0]
        constants = CONSTANT.findall(finding.message) if mistake in REFUSALS else ()
        return cls(
            mistake,
            (array,) if ARRAY_NAME.match(array) else tuple(constants),
            () if finding.line is None else (finding.line,),
            () if finding.other_line is None else (finding.other_line,),
            (finding.repair,) if finding.repair else (),
        )

    def joined(self, other: Suspect) -> Suspect | None:
        """Both in one, None where one repair would not do for both."""
        both = Suspect(
            self.mistake,
            tuple(dict.fromkeys(self.arrays + other.arrays)),
            tuple(sorted({*self.lines, *other.lines})),
            tuple(sorted({*self.other_lines, *other.other_lines})),
            tuple(dict.fromkeys(self.repairs + other.repairs)),
        )
        same = self.mistake == other.mistake and bool(self.other_lines) == bool(other.other_lines)
        return both if same and both._forward() == self._forward() == other._forward() else None

    def diagnosis(self) -> Diagnosis:
        """The mistake's texts with these names and lines."""
        found = MISTAKES[self.mistake]
        places = {
            "array": _listed([f"`{name}`" for name in self.arrays]) or "memory",
            "at": _at(self.lines),
            "other_at": _at(self.other_lines),
            "between": self._between(),
            "around": _at(self.lines).replace(" on", "", 1) or " the last line that ran",
            "constants": _listed([f"`{name}`" for name in self.arrays]) or "the block",
        }
        explanation, hint = found.explanation.format(**places), found.hint.format(**places)
        if self.repairs:  # what was tried says more than what is usual
            hint = " ".join(f"{repair[:1].upper()}{repair[1:]}." for repair in self.repairs)
        return Diagnosis(self.mistake, found.title, explanation, hint, found.concept)

    def _forward(self) -> bool:
        """Whether all first accesses stand above all second ones."""
        return bool(self.lines and self.other_lines) and self.other_lines[-1] < self.lines[0]

    def _between(self) -> str:
        """Where to put what is missing, in the order of the program."""
        if not self.lines or not self.other_lines:
            return "between the two accesses"
        first, second = self.other_lines[-1], self.lines[0]
        if first == second:
            return f"between the two accesses on line {first}"
        if first < second:
            return f"between lines {first} and {second}"
        return f"after line {first}, before the loop comes back to line {second}"


def _at(lines: tuple[int, ...]) -> str:
    """` on line 13`, ` on lines 13 and 14`."""
    word = " on line " if len(lines) == 1 else " on lines "
    return word + _listed([str(line) for line in lines]) if lines else ""


def _listed(words: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def explain_findings(findings: Iterable[Finding]) -> tuple[Diagnosis, ...]:
    """Name the mistakes behind findings, the one to repair first in front.

    Findings that one repair would end (both tiles loaded before the same missing barrier) make one diagnosis.
    """
    suspects: list[Suspect] = []
    for finding in findings:
        mistake = mistake_behind(finding)
        if mistake:
            _join(suspects, Suspect.of(mistake, finding))
    rank = {mistake: place for place, mistake in enumerate(IMPORTANCE)}
    suspects.sort(key=lambda suspect: rank.get(suspect.mistake, len(rank)))
    return tuple(suspect.diagnosis() for suspect in suspects)


def advise(results: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """Results with the hints that their findings suggest, in place of what the staff wrote for the item.

    A hint that is not the staff's (a named mistake's) is specific already, and stays.
    """
    return tuple(_advised(result) for result in results)


def mistake_behind(finding: Finding) -> str:
    """The id of the mistake, empty where a finding suggests none."""
    if finding.kind is FindingKind.OUT_OF_BOUNDS:
        return _out_of_bounds(finding)
    if finding.kind is FindingKind.RACE:
        return _race(finding)
    if finding.kind is FindingKind.FAULT and finding.block is None and finding.line is None:
        signs = (mistake for mistake, sign in REFUSALS.items() if sign in finding.message)
        return next(signs, SIMPLE[finding.kind])
    return SIMPLE.get(finding.kind, "")


def _out_of_bounds(finding: Finding) -> str:
    """A load or a store, by the hazard or else by the first word of the message."""
    word = finding.hazard or finding.message.partition(" ")[0].removesuffix("s")
    if word in LOADS:
        return "load-out-of-bounds"
    return "store-out-of-bounds" if word in STORES else "access-out-of-bounds"


def _race(finding: Finding) -> str:
    """Which order is missing."""
    if finding.other_block is not None and finding.other_block != finding.block:
        return "race-between-blocks"
    if finding.severity is Severity.WARNING:
        return "race-inside-warp"
    if finding.hazard == "WAW":
        return "two-writers"
    if finding.line is not None and finding.line == finding.other_line:
        return "unsynchronised-update"
    if finding.hazard == "RAW":
        return "barrier-before-reading"
    return "barrier-before-overwriting" if _goes_back(finding) else "barrier-between"


def _goes_back(finding: Finding) -> bool:
    """Whether the second access stands above the first: then a loop lies between them."""
    return finding.line is None or finding.other_line is None or finding.line < finding.other_line


def _join(suspects: list[Suspect], new: Suspect) -> None:
    """Add a suspect, or make it one with the first that the same repair would end."""
    for place, known in enumerate(suspects):
        both = known.joined(new)
        if both is not None:
            suspects[place] = both
            return
    suspects.append(new)


def _advised(result: CheckResult) -> CheckResult:
    if result.verdict is not Verdict.FAIL or result.hint not in {"", result.item.hint}:
        return result
    compiling = compile_hint(result.findings)
    hints = [diagnosis.hint for diagnosis in explain_findings(result.findings)[:MOST_HINTS]]
    sentences = [hint[:1].upper() + hint[1:] for hint in dict.fromkeys([compiling, *hints]) if hint]
    return replace(result, hint=" ".join(sentences) or result.hint)
