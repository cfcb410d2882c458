"""NVIDIA compute-sanitizer around the harness: how its four tools are called, and when they are believed.

    command(tool) + harness ─sandbox▶ Result(memcheck.xml, memcheck.log, result.json) ─read▶ ToolReport

A record in the XML is believed. The absence of records is believed only where everything agrees: the exit
status, the tool's own log (which kernels cannot print into), the XML, and the harness, which launched the
case and saw it end. All else is `inconclusive`, and says why: ours, never a pass.

Their subjects: memcheck all accesses, racecheck shared memory only, synccheck barriers, initcheck global
memory only (unwritten shared memory is the emulator's task).
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from grader.base.errors import OurError, UsageError
from grader.base.records import frozen
from grader.model import FindingKind
from grader.toolchain.gpu.request import ANSWER
from grader.toolchain.gpu.sanitizer_findings import (
    ToolLog,
    UnreadableError,
    WatchedLaunches,
    findings_by_case,
    read_log,
    read_records,
)
from grader.toolchain.nvcc.source import SOURCE_NAME, harmless
from grader.toolchain.sandbox import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

    from grader.model import Finding, Named
    from grader.toolchain.gpu import RaceJudge
    from grader.toolchain.gpu.request import DeviceCase
    from grader.toolchain.sandbox import Result

KINDS = {
    "memcheck": FindingKind.OUT_OF_BOUNDS,
    "racecheck": FindingKind.RACE,
    "initcheck": FindingKind.UNINITIALISED,
    "synccheck": FindingKind.BARRIER_DIVERGENCE,
}
"""Kinds of findings that each tool is there to report."""

_ASTRAY = frozenset({FindingKind.OUT_OF_BOUNDS, FindingKind.MISALIGNED, FindingKind.FAULT})
"""Findings of accesses that should not be made at all."""

TOOLS = tuple(KINDS)
OF_RACES = ("racecheck", "synccheck")
"""The tools whose word the emulator's stands against: both also accuse kernels that are right."""

CLEAN, FINDINGS, INCONCLUSIVE = "clean", "findings", "inconclusive"

FOUND = 86
"""Exit status of a tool that has findings; the harness never ends with it."""

MOST_RECORDS = 1000
"""Records that a tool writes; later ones are only counted."""

TROUBLE = "Sanitizer"
"""Kind of its records about its own trouble: that it dropped others."""

_OPTIONS = {
    "memcheck": ("--padding", "64"),  # an access just behind an array must not land in the next one
    "racecheck": (
        *("--racecheck-report", "analysis"),
        *("--racecheck-num-workers", "2"),
        *("--racecheck-detect-level", "warn"),
    ),
    "initcheck": ("--check-api-memory-access", "no"),  # the harness may copy what a kernel left unwritten
    "synccheck": (),
}

OF_GRADED_BUILD = 10**6
"""Added to the number of a case that is launched in the default build, beside the -O0 build."""

HOW_TO_GET = (
    "compute-sanitizer was not found; it comes with the CUDA toolkit, or with "
    '`pip install "nvidia-cuda-sanitizer-api==13.0.*"`, or name one in GRADER_SANITIZER'
)

_ENDS = {
    Status.SIGNAL: "was killed",
    Status.TIME: "took too long and was stopped",
    Status.MEMORY: "ran out of memory",
    Status.OUTPUT: "wrote too much and was stopped",
}


@frozen
class ToolReport:
    """Report of one tool on the cases it was given, by the names that the harness knows them by.

    ``verdict`` is ``clean`` only where every case is cleared, ``findings`` where there are some, else
    ``inconclusive``; ``reason`` is why not everything is cleared. ``cleared`` are the cases in which it saw
    nothing and is to be believed; ``doubts`` are the reasons why others, without findings, are not.
    """

    tool: str
    verdict: str
    reason: str = ""
    findings: Named[tuple[Finding, ...]] = ()
    cleared: tuple[str, ...] = ()
    doubts: Named[str] = ()

    def of(self, case: str) -> tuple[Finding, ...]:
        """Findings of the tool in a case."""
        return dict(self.findings).get(case, ())

    def saw(self, case: str) -> bool:
        """True if it was asked to look at a case."""
        return case in self.cleared or case in dict(self.findings) or case in dict(self.doubts)

    def doubt(self, case: str) -> str:
        """Reason why its silence about a case means nothing; empty where it means that there is nothing."""
        if case in self.cleared or self.of(case):
            return ""
        return dict(self.doubts).get(case, "it was not run on this case")

    @property
    def outcome(self) -> str:
        """``ok``, or why it came to no conclusion."""
        return "ok" if self.verdict != INCONCLUSIVE else self.reason


def accused_by(tool: str) -> frozenset[FindingKind]:
    """Kinds of findings that a tool would report as well; memory beside an array is unwritten, too."""
    if tool == "initcheck":
        return frozenset({KINDS[tool], FindingKind.OUT_OF_BOUNDS})
    return _ASTRAY if tool == "memcheck" else frozenset({KINDS[tool]})


def tools_for(races: RaceJudge) -> tuple[str, ...]:
    """Tools to run, given the judge of ``races``."""
    return tuple(tool for tool in TOOLS if races.asks_tools or tool not in OF_RACES)


def command(tool: str, program: str) -> tuple[str, ...]:
    """Prefix of the command that launches kernels.

    Device functions need no backtrace to be distinguished: ptxas gives each kernel its own copy of them, with
    the kernel's name in the symbol. Names are left mangled, so that they hold nothing but letters.
    """
    xml, log = files(tool)
    return (
        *(program, "--tool", tool, "--xml", "--save", xml, "--log-file", log),
        *("--error-exitcode", str(FOUND), "--print-limit", str(MOST_RECORDS)),
        *("--strip-paths", "no", "--demangle", "no", "--show-backtrace", "no"),
        *("--report-api-errors", "no", "--destroy-on-device-error", "kernel"),
        *("--target-processes", "application-only", "--launch-timeout", "60", "--require-cuda-init", "yes"),
        *_OPTIONS[tool],
    )


def files(tool: str) -> tuple[str, str]:
    """Files that a tool leaves: its records as XML, and its log."""
    return f"{tool}.xml", f"{tool}.log"


def find_sanitizer(explicit: str | None = None) -> Path | None:
    """The first compute-sanitizer of: ``explicit``, GRADER_SANITIZER, the pip wheels, PATH, /usr/local/cuda*.

    None where there is none, or where it was named ``none``; raises UsageError where one was named and is not
    there.
    """
    named = explicit or os.environ.get("GRADER_SANITIZER")
    if named == "none":
        return None
    if named:
        path = shutil.which(named)
        if path is None:
            raise UsageError(
                f"compute-sanitizer was named as {named!r}, but no program is there; name another"
            )
        return Path(path).absolute()
    programs = (shutil.which("compute-sanitizer", path=folder) for folder in _places())
    return next((Path(program).absolute() for program in programs if program), None)


def _places() -> Iterator[str]:
    spec = find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        yield from map(str, sorted(Path(root).glob("cu[0-9]*/bin"), reverse=True))
    yield os.environ.get("PATH", os.defpath)
    yield "/usr/local/cuda/bin"
    yield from map(str, sorted(Path("/usr/local").glob("cuda-*/bin"), reverse=True))


def read(
    tool: str, result: Result, cases: tuple[DeviceCase, ...], file: str, source: str = SOURCE_NAME
) -> ToolReport:
    """Report of a tool on ``cases``; ``file`` is the student's name of what was compiled as ``source``."""
    from grader.toolchain.gpu.answer import read_answer  # noqa: PLC0415 - on the emulator pydantic is not loaded

    names = tuple(str(case.index) for case in cases)
    try:
        records, log = _read_files(tool, result)
        answer = read_answer(result.file(ANSWER))
    except (UnreadableError, OurError) as problem:
        return _inconclusive(tool, names, str(problem))
    answered = {case.name: case for case in answer.cases}
    watched = WatchedLaunches({str(case.index): case for case in cases}, answered, file, source, answer.error)
    findings, strange = findings_by_case(tool, records, watched)
    if records and not findings:
        reason = "it reports something, but nothing of a kernel that we understand"
        return _inconclusive(tool, names, reason)
    gap = _gap(log, len(records), strange)
    doubts = {name: gap or watched.unfinished(name) for name in names if name not in findings}
    return _report(tool, findings, doubts)


def is_silent(tool: str, result: Result, names: Iterable[str]) -> bool:
    """True if a tool reported nothing in launches of these names, and it and they came to their end."""
    from grader.toolchain.gpu.answer import read_answer  # noqa: PLC0415 - on the emulator pydantic is not loaded

    try:
        records, log = _read_files(tool, result)
        answer = read_answer(result.file(ANSWER))
    except (UnreadableError, OurError):
        return False
    done = {case.name for case in answer.cases if case.state == "done"}
    return not (records or _gap(log, 0, ()) or answer.error) and done.issuperset(names)


def silent_report(tool: str, cases: tuple[DeviceCase, ...]) -> ToolReport:
    """Report of a tool on cases whose launches it was silent about."""
    return _report(tool, {}, {str(case.index): "" for case in cases})


def of_both_builds(report: ToolReport) -> ToolReport:
    """Report that joins the report of a tool about a case in both builds: cleared only if it is in both.

    Findings in the graded build count where there are none in the other, whose lines are true.
    """
    reported, doubts = dict(report.findings), dict(report.doubts)
    names = dict.fromkeys(_case_of(name) for name in (*reported, *doubts, *report.cleared))
    findings = {name: reported.get(name) or reported.get(_graded(name), ()) for name in names}
    findings = {name: some for name, some in findings.items() if some}
    either = {
        name: doubts.get(name) or doubts.get(_graded(name), "") for name in names if name not in findings
    }
    return _report(report.tool, findings, either)


def _case_of(name: str) -> str:
    """The case that a launch is of, in either build."""
    return str(int(name) % OF_GRADED_BUILD)


def _graded(name: str) -> str:
    """The name of a case's launch in the default build."""
    return str(int(name) + OF_GRADED_BUILD)


def _read_files(tool: str, result: Result) -> tuple[tuple[Element, ...], ToolLog]:
    """Records of a tool, and the contents of its log; raises UnreadableError where they disagree."""
    xml, log = files(tool)
    if result.outcome.status is not Status.EXIT:
        raise UnreadableError(f"it {_ENDS[result.outcome.status]}")
    summary = read_log(result.file(log))
    records = read_records(result.file(xml))
    _must_agree(result.outcome.returncode, summary, len(records))
    return records, summary


def _report(tool: str, findings: dict[str, tuple[Finding, ...]], doubts: dict[str, str]) -> ToolReport:
    """Cases with findings, and the others with the doubt about each."""
    doubtful = tuple((name, doubt) for name, doubt in doubts.items() if doubt)
    cleared = tuple(name for name, doubt in doubts.items() if not doubt)
    reason = doubtful[0][1] if doubtful else "" if findings or cleared else "it was given no case"
    verdict = FINDINGS if findings else INCONCLUSIVE if reason else CLEAN
    return ToolReport(tool, verdict, reason, tuple(findings.items()), cleared, doubtful)


def _inconclusive(tool: str, names: Iterable[str], reason: str) -> ToolReport:
    return ToolReport(tool, INCONCLUSIVE, reason, doubts=tuple((name, reason) for name in names))


def _must_agree(status: int, log: ToolLog, records: int) -> None:
    """Check that exit status, summary and XML agree: all report something, or all report nothing."""
    if status not in (0, FOUND):
        raise UnreadableError(f"it ended with the exit status {status}{log.quoted}")
    only_warnings = bool(log.warnings) and not log.errors
    if bool(log.total) != bool(records):
        raise UnreadableError(f"its summary counts {log.total}, but its XML holds {records} records")
    if (status == FOUND) != bool(records) and not only_warnings:
        raise UnreadableError(f"it ended with the exit status {status}, but its XML holds {records} records")


def _gap(log: ToolLog, records: int, strange: tuple[str, ...]) -> str:
    """Reason why records may be missing; empty where all are there and understood."""
    if TROUBLE in strange:
        return "it dropped records, because there were more than it can hold"
    if strange:
        kinds = harmless(", ".join(sorted(set(strange))))[:100]
        return f"{len(strange)} of its records are of a kind that we do not understand ({kinds})"
    if log.left_out or records >= MOST_RECORDS:
        return f"it left out records after the first {records}"
    if log.total != records:
        return f"its summary counts {log.total}, but its XML holds {records} records"
    if not records and log.other:
        return f"its log has more than a summary{log.quoted}"
    return ""
