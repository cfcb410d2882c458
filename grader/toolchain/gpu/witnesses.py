"""Witnesses of one launch, merged: the findings of each, once, and what no witness could rule out.

The emulator sees every access of every thread and knows what orders them; memcheck and initcheck saw the
accesses on a device. Where they report the same kind on the same lines it is one finding with all their
names and the emulator's text, which knows threads, elements and repairs.

racecheck and synccheck also accuse kernels that are right: of 180 labelled ones 2 and 3, because they follow
neither flags with fences nor barriers that different branches share. So what they alone say of a launch that
the emulator saw as a whole is kept, says who claims it, and costs nothing. The same holds of all that a
device and its tools see of a launch of which the emulator proves that nothing is defined: they see it once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from grader.base.records import frozen
from grader.model import Clause, Finding, FindingKind, Severity
from grader.model.messages import remarked
from grader.toolchain.gpu import WITNESS, RaceJudge
from grader.toolchain.gpu.sanitizer import KINDS, OF_RACES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.model import Named, Run
    from grader.toolchain.gpu.sanitizer import ToolReport

EMULATOR = "emulator"
"""The witness of what the emulator saw."""

RACES = tuple(KINDS[tool] for tool in OF_RACES)
"""The kinds of findings that ``--races`` is about."""

_QUESTIONS = {
    FindingKind.OUT_OF_BOUNDS: "whether all accesses are inside their arrays",
    FindingKind.RACE: "whether threads race",
    FindingKind.UNINITIALISED: "whether only what was written is read",
    FindingKind.BARRIER_DIVERGENCE: "whether all threads come to every barrier",
}
_ACQUITTALS = {FindingKind.RACE: "doubted-race", FindingKind.BARRIER_DIVERGENCE: "doubted-barrier"}
"""The remark that a claim costs nothing, and why."""

_STOPS = (FindingKind.FAULT, FindingKind.TIMEOUT)
_SEVERITIES = tuple(Severity)


class MergedFindings(NamedTuple):
    """Findings of all witnesses together on a case; ``undecided`` as in `CaseEvidence`."""

    findings: tuple[Finding, ...]
    undecided: Named[str]


@frozen
class Witnesses:
    """Witnesses of a case: the emulator (or why it could not), the harness on the device, the tools.

    ``name`` is the case's for the harness, ``races`` whose word counts for races and barriers.
    """

    name: str
    emulated: Run | None
    emulator_error: str
    device: tuple[Finding, ...]
    reports: tuple[ToolReport, ...]
    races: RaceJudge

    def counted_reports(self) -> tuple[ToolReport, ...]:
        """The tools whose word counts."""
        return tuple(r for r in self.reports if self.races.asks_tools or r.tool not in OF_RACES)

    def emulator_doubt(self) -> str:
        """Reason why the emulator's silence means nothing; empty where it followed the launch as a whole."""
        if self.emulated is None or self.emulator_error or self.emulated.error:
            return self.emulator_error or (self.emulated.error if self.emulated else "it did not run")
        return "" if self.emulated.completed else "it did not come to the launch's end"


def merged(
    *,
    emulated: Run | None,
    emulator_error: str,
    device: tuple[Finding, ...],
    reports: tuple[ToolReport, ...],
    index: int,
    mode: RaceJudge = RaceJudge.BOTH,
    remark: Callable[[Finding], Finding] | None = None,
) -> MergedFindings:
    """All findings of case number ``index``, each once, the gravest first; and what could not be ruled out.

    ``emulated`` is None where the emulator does not decide, and ``emulator_error`` why. ``mode`` says whose
    word counts for races and barriers. ``remark`` makes remarks of what the emulator did not see, where what
    others see is another thing each time.
    """
    if remark is not None:
        device = tuple(map(remark, device))
    witnesses = Witnesses(str(index), emulated, emulator_error, device, reports, mode)
    findings = _of_emulator(witnesses)
    sure = witnesses.races is RaceJudge.BOTH and not witnesses.emulator_doubt()
    claims = [(r.tool, finding) for r in witnesses.counted_reports() for finding in r.of(witnesses.name)]
    for tool, finding in claims:
        if finding.kind is not FindingKind.FAULT:
            doubt = partial(_claim, witness=tool) if sure and tool in OF_RACES else remark
            _join(findings, finding, tool, doubt)
    for tool, finding in claims:
        if finding.kind is FindingKind.FAULT and not any(_explains(other, finding) for other in findings):
            _join(findings, finding, tool, remark)
    for finding in witnesses.device:
        _join_device(findings, finding)
    return MergedFindings(tuple(sorted(findings, key=_order)), _undecided(witnesses, findings))


def _of_emulator(witnesses: Witnesses) -> list[Finding]:
    """The emulator's findings that count beside a device.

    It stops what takes too many steps; that a kernel does not end is reported only where the device reports
    it, too.
    """
    if witnesses.emulated is None:
        return []
    hung = any(finding.kind is FindingKind.TIMEOUT for finding in witnesses.device)
    left_out = (*(() if witnesses.races.asks_emulator else RACES), *(() if hung else (FindingKind.TIMEOUT,)))
    kept = (finding for finding in witnesses.emulated.findings if finding.kind not in left_out)
    return [replace(finding, witnesses=(EMULATOR,)) for finding in kept]


def _join(
    findings: list[Finding], finding: Finding, witness: str, doubt: Callable[[Finding], Finding] | None = None
) -> None:
    """Add a tool's finding: another witness of findings of its kind on its lines, or a finding of its own.

    ``doubt`` makes a remark of one that it alone reports.
    """
    same = [
        at
        for at, other in enumerate(findings)
        if other.kind is finding.kind and _lines(other) == _lines(finding)
    ]
    for at in same:
        findings[at] = replace(findings[at], witnesses=(*findings[at].witnesses, witness))
    if not same:
        claim = doubt(finding) if doubt else finding
        findings.append(replace(claim, witnesses=(witness,)))


def _claim(finding: Finding, witness: str) -> Finding:
    remark = Clause(_ACQUITTALS[finding.kind], (("witness", witness),))
    return remarked(replace(finding, severity=Severity.INFO), remark)


def _join_device(findings: list[Finding], finding: Finding) -> None:
    """Join a finding of the harness, which knows no lines, to another on the same array, or the same stop."""
    array = finding.array
    same = [
        at
        for at, other in enumerate(findings)
        if other.kind is finding.kind
        and other.severity is not Severity.INFO
        and (other.kind in _STOPS or other.array == array)
    ]
    for at in same:
        findings[at] = replace(findings[at], witnesses=(*findings[at].witnesses, WITNESS))
    if not same:
        findings.append(replace(finding, witnesses=(WITNESS,)))


def _lines(finding: Finding) -> frozenset[int]:
    """The lines without their order: racecheck does not know which came first."""
    return frozenset(line for line in (finding.line, finding.other_line) if line is not None)


def _explains(finding: Finding, stop: Finding) -> bool:
    """True if a finding says why a launch stopped, so that the stop itself is no news.

    Threads that do not come together explain what has no line: memcheck calls a shuffle by a lane that its
    mask leaves out an illegal instruction, and does not say which.
    """
    if finding.severity is not Severity.ERROR or finding.kind is FindingKind.RACE:
        return False
    if finding.kind is FindingKind.BARRIER_DIVERGENCE:
        return stop.line is None
    return finding.kind not in _STOPS or finding.line is not None


def _order(finding: Finding) -> tuple[int, bool]:
    """The gravest first; what names a line before what does not. Else as they came."""
    return _SEVERITIES.index(finding.severity), finding.line is None


def _undecided(witnesses: Witnesses, findings: Iterable[Finding]) -> Named[str]:
    """Kinds without a finding that no witness could rule out, with the reason."""
    decided = {finding.kind for finding in findings if finding.severity is not Severity.INFO}
    reasons = ((kind, _doubts(witnesses, tool, kind)) for tool, kind in KINDS.items() if kind not in decided)
    return tuple(
        (str(kind), f"it could not be decided {_QUESTIONS[kind]} ({'; '.join(doubts)})")
        for kind, doubts in reasons
        if doubts
    )


def _doubts(witnesses: Witnesses, tool: str, kind: FindingKind) -> tuple[str, ...]:
    """Reasons why no witness that counts can rule out a kind; empty where one of them can."""
    doubts = []
    if kind not in RACES or witnesses.races.asks_emulator:
        doubts.append((EMULATOR, witnesses.emulator_doubt()))
    if kind not in RACES or witnesses.races.asks_tools:
        doubts.append((tool, _tool_doubt(witnesses, tool)))
    return tuple(f"{who}: {doubt}" for who, doubt in doubts) if all(doubt for _, doubt in doubts) else ()


def _tool_doubt(witnesses: Witnesses, tool: str) -> str:
    """Reason why a tool's silence about the case means nothing.

    Tools are slow and see small cases only. Where races are theirs alone to judge, those stand for all.
    """
    report = next((report for report in witnesses.reports if report.tool == tool), None)
    if report is None:
        return "it was not run"
    alone = not witnesses.races.asks_emulator and tool in OF_RACES
    if alone and not report.saw(witnesses.name):
        return report.reason
    return report.doubt(witnesses.name)
