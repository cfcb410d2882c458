"""Records of compute-sanitizer → findings: whose launch, which line, which element, in our words.

    files that a tool left ─read_records, read_log▶ records ─findings_by_case▶ findings

The files are read as if an enemy had written them. The XML names functions and files of the student's, so it
is hostile: no document type (which could define entities), no other markup declarations, no more than a few
megabytes, and control characters made harmless before a parser sees them. Its form (2025.3) is flat:
``ComputeSanitizerOutput`` holds a ``record`` for each report, with ``kind``, ``who``, ``what`` and ``where``.

Kinds of records, as version 2025.3 writes them: ``Precise`` and ``Imprecise`` (memcheck: an access that was
seen, a stop that was not), ``Analysis`` (racecheck: instructions that race), ``Initcheck``, ``Synccheck``;
and ``Api`` for calls of the host's: those say nothing of a kernel that the harness does not say better.
``Sanitizer`` is the tool's own trouble: it dropped records, having too many of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias
from xml.etree import ElementTree as ET  # declarations are refused before it reads
from xml.etree.ElementTree import Element

import numpy as np

from grader.base.records import frozen
from grader.model import Access, Clause, Finding, FindingCode, FindingKind, Severity
from grader.model.messages import worded
from grader.model.messages.hazards import at_line
from grader.toolchain.gpu.request import index_of
from grader.toolchain.nvcc.source import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grader.model import Detail, Named
    from grader.toolchain.gpu.answer import AnsweredCase
    from grader.toolchain.gpu.request import DeviceCase

MOST_BYTES = 8 * 2**20
MOST_DIGITS = 20

_ROOT = "ComputeSanitizerOutput"
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document may hold."""

_SUMMARY = re.compile(
    r"(?:ERROR|RACECHECK) SUMMARY: ([\d,]{1,20}) (?:error|hazard)s?(?: displayed)?(?: \((.*)\))?"
)
_LEFT_OUT = re.compile(r"(?:ERROR SUMMARY: )?[\d,]+ errors (?:were not printed|were skipped)")
_PART = re.compile(r"([\d,]{1,20}) (error|warning)")
_HEADER = "COMPUTE-SANITIZER"


class UnreadableError(Exception):
    """Error for output of a tool that cannot be believed; the text gives the reason."""


@frozen
class ToolLog:
    """Contents of a tool's log: the number of records, by grade, and the first line of another kind."""

    total: int
    errors: int
    warnings: int
    left_out: bool
    other: str

    @property
    def quoted(self) -> str:
        """The other line as the end of a sentence."""
        return f": {harmless(self.other)[:200]}" if self.other else ""


def read_log(content: bytes | None) -> ToolLog:
    """The log's summary, which comes last; raises UnreadableError where there is none."""
    if content is None:
        raise UnreadableError("it left no log")
    if len(content) > MOST_BYTES:
        raise UnreadableError(f"its log has {len(content)} bytes")
    lines = [line.lstrip("=").strip() for line in content.decode("utf-8", "replace").splitlines()]
    summaries = [match for line in lines if (match := _SUMMARY.fullmatch(line))]
    left_out = any(_LEFT_OUT.match(line) for line in lines)
    messages = [
        line
        for line in lines
        if line not in ("", _HEADER) and not _SUMMARY.fullmatch(line) and line[:1].strip()
    ]
    if not summaries:
        raise UnreadableError(
            f"its log has no summary{f': {harmless(messages[0])[:200]}' if messages else ''}"
        )
    total = _whole(summaries[-1][1])
    parts = {word: _whole(number) for number, word in _PART.findall(summaries[-1][2] or "")}
    return ToolLog(
        total, parts.get("error", total), parts.get("warning", 0), left_out, next(iter(messages), "")
    )


def _whole(digits: str) -> int:
    return int(digits.replace(",", "") or "0")


def read_records(content: bytes | None) -> tuple[Element, ...]:
    """The records of a complete document; raises UnreadableError for anything else."""
    if content is None:
        raise UnreadableError("it left no XML")
    if len(content) > MOST_BYTES:
        raise UnreadableError(f"its XML has {len(content)} bytes, and {MOST_BYTES} are the most that we read")
    text = _FORBIDDEN.sub("?", content.decode("utf-8", "replace"))
    if "<!" in text:
        raise UnreadableError("its XML has declarations (DOCTYPE, ENTITY), which the tool never writes")
    try:
        root = ET.fromstring(text)  # noqa: S314 - there is nothing to expand
    except ET.ParseError as problem:
        raise UnreadableError(f"its XML is cut off or broken: {problem}") from None
    if root.tag != _ROOT or any(child.tag != "record" for child in root):
        raise UnreadableError(f"its XML is not a {_ROOT} with records")
    return tuple(root)


def text_at(record: Element, path: str) -> str:
    """The text of an element below a record; empty where there is none."""
    return (record.findtext(path) or "").strip()


def number_at(record: Element, path: str) -> int | None:
    """A number as the tool writes it, decimal or hexadecimal; None where there is none to believe."""
    digits = text_at(record, path)
    try:
        return int(digits, 0) if len(digits) <= MOST_DIGITS and digits[:1].isdigit() else None
    except ValueError:
        return None


def triple_at(record: Element, path: str) -> tuple[int, int, int] | None:
    """A thread's or a block's index; None where it is not complete."""
    x, y, z = (number_at(record, f"{path}/{axis}") for axis in "xyz")
    return None if x is None or y is None or z is None else (x, y, z)


@frozen
class DeviceArray:
    """Address range of an array in the device's memory during one launch."""

    array: str
    start: int
    bytes: int
    shape: tuple[int, ...]
    itemsize: int

    def distance(self, address: int) -> int:
        """Bytes from the array to an address; 0 within it."""
        return max(self.start - address, address - (self.start + self.bytes) + 1, 0)

    def index(self, address: int) -> int:
        """The flat element index of an address; negative before the array."""
        return (address - self.start) // self.itemsize


@frozen
class WatchedLaunches:
    """The launches that a tool watched: what was asked for, and the harness's report on it, by name.

    ``source`` is what the student's ``file`` was compiled as: lines of other files mean nothing to a student.
    ``trouble`` is the harness's own message where it failed.
    """

    cases: Mapping[str, DeviceCase]
    answered: Mapping[str, AnsweredCase]
    file: str
    source: str
    trouble: str = ""

    def unfinished(self, name: str) -> str:
        """Reason why the effect of a launch is unknown; empty where it came to its end."""
        answered = self.answered.get(name)
        if answered is None:
            return "the kernel was not launched" + (self.trouble and f": {harmless(self.trouble)}")
        if answered.state == "done":
            return ""
        reason = answered.error or answered.message
        return f"the kernel did not come to its end ({harmless(answered.state + (reason and f': {reason}'))})"

    def owners(self, functions: Iterable[str]) -> tuple[str, ...]:
        """The cases that a record with these functions belongs to.

        Every case has a kernel of its own name, and a device function is copied for each kernel that calls
        it, as ``$grader_case_3$helper``; so the first name says which launch it was. Only ptxas's own
        helpers (a division's slow path) have no such name: what is seen there belongs to every case that ran.
        """
        for function in functions:
            index = index_of(function.removeprefix("$").partition("$")[0])
            if index is not None and str(index) in self.cases:
                return (str(index),)
        return tuple(name for name in self.cases if name in self.answered)

    def arrays(self, name: str) -> Iterator[DeviceArray]:
        """Address ranges of the arrays of a case, as the harness reports them."""
        addresses = self.answered[name].places if name in self.answered else {}
        for argument in self.cases[name].arguments:
            value = argument.value
            if argument.name in addresses and isinstance(value, np.ndarray):
                start, _ = addresses[argument.name]
                yield DeviceArray(argument.label, start, value.nbytes, value.shape, value.itemsize)

    def line(self, record: Element, path: str) -> int | None:
        """The line in the student's file."""
        if text_at(record, f"{path}/path").rpartition("/")[2] != self.source:
            return None
        line = number_at(record, f"{path}/line")
        return line if line is not None and line > 0 else None


_NEAR = 2**20
"""Bytes from an array within which an address was likely meant for it."""

_NULL = 4096
"""Addresses this near to 0 come of a null pointer and an index."""

_LEVELS = {"Error": Severity.ERROR, "Warning": Severity.WARNING, "Info": Severity.INFO}
_GRAVEST = tuple(Severity)
_HAZARDS = {("Write", "Read"): "RAW", ("Read", "Write"): "WAR", ("Write", "Write"): "WAW"}
_VERBS = {"read": "reads", "write": "writes"}
_PLURALS = {"read": "read", "write": "write"}
_SILENT = ("Api", "InitcheckApiError", "Hazard")
"""Records that are understood and do not concern a kernel, or add nothing to an ``Analysis``."""


Reader: TypeAlias = Callable[[Element, WatchedLaunches, str], list[Finding]]


def findings_by_case(
    tool: str, records: Iterable[Element], watched: WatchedLaunches
) -> tuple[dict[str, tuple[Finding, ...]], tuple[str, ...]]:
    """The findings of each case that has some, and the kinds of records that we do not know, one a record."""
    groups: dict[str, dict[tuple[object, ...], Finding]] = {}
    strange: list[str] = []
    for record in records:
        kind = text_at(record, "kind")
        reader = _READERS.get((tool, kind))
        if reader is None:
            strange += [] if kind in _SILENT else [kind]
            continue
        functions = [element.text or "" for element in record.iter("func")]
        for name in watched.owners(functions):
            for finding in reader(record, watched, name):
                _count(groups.setdefault(name, {}), finding)
    by_case = {name: _without_stops(tuple(group.values())) for name, group in groups.items()}
    return {name: findings for name, findings in by_case.items() if findings}, tuple(strange)


def _count(group: dict[tuple[object, ...], Finding], finding: Finding) -> None:
    """The same kind on the same lines once: the first thread's, so that it is the same every time."""
    key = (finding.kind, frozenset((finding.line, finding.other_line)))
    earlier = group.get(key)
    if earlier is None:
        group[key] = finding
        return
    first = min(earlier, finding, key=lambda candidate: (candidate.block or (), candidate.thread or ()))
    gravest = min(earlier.severity, finding.severity, key=_GRAVEST.index)
    group[key] = replace(first, count=earlier.count + finding.count, severity=gravest)


def _without_stops(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Findings where a stop is reported only if no other finding explains it."""
    causes = tuple(finding for finding in findings if finding.kind is not FindingKind.FAULT)
    return causes or findings


def _about(
    record: Element,
    watched: WatchedLaunches,
    category: tuple[FindingKind, FindingCode],
    details: Named[Detail],
    address: str = "",
    access: Access | None = None,
) -> Finding:
    kind, code = category
    finding = Finding(
        kind,
        code=code,
        access=access,
        details=details,
        file=watched.file,
        line=watched.line(record, "where"),
        block=triple_at(record, "who/blockIdx"),
        thread=triple_at(record, "who/threadIdx"),
        address=address,
        severity=_LEVELS.get(text_at(record, "level"), Severity.ERROR),
    )
    return worded(finding)


def _access(record: Element, watched: WatchedLaunches, name: str) -> list[Finding]:
    """memcheck, ``Precise``: an access that belongs to no array, or does not fit its type."""
    space, size = text_at(record, "what/space").strip("_"), number_at(record, "what/size") or 0
    direction = text_at(record, "what/direction")
    kind, element = FindingKind.OUT_OF_BOUNDS, space
    details: Named[Detail] = ()
    if text_at(record, "what/error") == "misaligned":
        kind, code, element = FindingKind.MISALIGNED, FindingCode.MISALIGNED_SOMEWHERE, ""
    elif space in _OUTSIDE_SPACE:
        code = _OUTSIDE_SPACE[space]
    else:
        code, element, details = _out_of_bounds(
            number_at(record, "what/address"), tuple(watched.arrays(name))
        )
    access = Access(direction if direction in _VERBS else "", space, element.partition("[")[0], size=size)
    return [_about(record, watched, (kind, code), details, element, access)]


_OUTSIDE_SPACE = {
    "shared": FindingCode.OUTSIDE_SHARED_MEMORY,
    "local": FindingCode.OUTSIDE_LOCAL_ARRAY,
}


def _out_of_bounds(
    address: int | None, arrays: tuple[DeviceArray, ...]
) -> tuple[FindingCode, str, Named[Detail]]:
    """The code, the element and details for an address in global memory that no array holds.

    An address far from all arrays is not reported: it is another one in every run.
    """
    nearest = min(arrays, key=lambda array: array.distance(address or 0), default=None)
    if address is not None and address < _NULL:
        return FindingCode.NULL_POINTER, "", (("address", hex(address)),)
    if address is None or nearest is None or nearest.distance(address) > _NEAR:
        return FindingCode.NO_ARRAY, "", ()
    index, total = nearest.index(address), nearest.bytes // nearest.itemsize
    details = (("index", index), ("elements", total), ("extents", tuple(nearest.shape)))
    return FindingCode.BEYOND_ARRAY, f"{nearest.array}[{index}]", details


def _uninitialised(record: Element, watched: WatchedLaunches, name: str) -> list[Finding]:
    """Findings of initcheck, ``Initcheck``: a read of global memory that was never written."""
    address = number_at(record, "what/address")
    arrays = (array for array in watched.arrays(name) if address is not None and not array.distance(address))
    array = next(arrays, None)
    element = "" if array is None or address is None else array.array + _subscript(array, address)
    access = Access("read", "global", "" if array is None else array.array)
    category = (FindingKind.UNINITIALISED, FindingCode.UNSET_MEMORY)
    return [_about(record, watched, category, (), element, access)]


def _subscript(array: DeviceArray, address: int) -> str:
    index = np.unravel_index(array.index(address), array.shape) if array.shape else (0,)
    return "".join(f"[{int(coordinate)}]" for coordinate in index)


def _barrier_divergence(record: Element, watched: WatchedLaunches, name: str) -> list[Finding]:
    """synccheck, ``Synccheck``: a barrier that some come to and others do not."""
    del name
    text = harmless(text_at(record, "what/text")).removeprefix("Barrier error detected. ").rstrip(".")
    report = Clause("synccheck-silent")
    if text:
        report = Clause("synccheck-says", (("text", text[:1].lower() + text[1:]),))
    category = (FindingKind.BARRIER_DIVERGENCE, FindingCode.BARRIER_REPORTED)
    return [_about(record, watched, category, (("report", (report,)),))]


def _stop(record: Element, watched: WatchedLaunches, name: str) -> list[Finding]:
    """memcheck: the launch ended, and no access was seen to be the reason."""
    if not watched.unfinished(name):
        return []
    exception = harmless(text_at(record, "what/exception") or text_at(record, "what/text"))
    category = (FindingKind.FAULT, FindingCode.STOP_REPORTED)
    return [_about(record, watched, category, (("reason", exception or (Clause("hardware-exception"),)),))]


def _races(record: Element, watched: WatchedLaunches, name: str) -> list[Finding]:
    """racecheck, ``Analysis``: one access and those that race with it, a finding for each pair of lines.

    It lists accesses in the order of the code, as measured, and not of time: in a loop, or across functions,
    the one named first may be the later one. So ``RAW`` and ``WAR`` are a guess, which the sentence avoids.
    """
    del name
    first = text_at(record, "what/source/direction")
    line = watched.line(record, "what/source/where")
    findings = []
    for destination in record.iterfind("what/destination"):
        second, other_line = text_at(destination, "direction"), watched.line(destination, "where")
        finding = Finding(
            FindingKind.RACE,
            hazard="" if other_line is None else _HAZARDS.get((first, second), ""),
            file=watched.file,
            line=other_line if other_line is not None else line,
            other_line=line if other_line is not None else None,
            address="shared",
            severity=_LEVELS.get(text_at(record, "level"), Severity.ERROR),
            count=max(1, number_at(destination, "count") or 1),
            code=FindingCode.RACE_REPORTED,
            details=(("pair", (_pair((first, line), (second, other_line)),)),),
        )
        findings.append(worded(finding))
    return findings


def _pair(first: tuple[str, int | None], second: tuple[str, int | None]) -> Clause:
    """Clause on two uses of shared memory, with their lines; a pair on one line is mentioned once."""
    (direction, line), (other_direction, other_line) = first, second
    if first == second:
        return Clause(f"two-threads-{_PLURALS.get(direction.lower(), 'use')}", (("at", at_line(line)),))
    values = (
        ("verb", (Clause(_VERBS.get(direction.lower(), "uses")),)),
        ("at", at_line(line)),
        ("other_verb", (Clause(_VERBS.get(other_direction.lower(), "uses")),)),
        ("other_at", at_line(other_line)),
    )
    return Clause("one-and-another", values)


_READERS: dict[tuple[str, str], Reader] = {
    ("memcheck", "Precise"): _access,
    ("memcheck", "Imprecise"): _stop,
    ("memcheck", "StackOverflow"): _stop,
    ("memcheck", "Syscall"): _stop,
    ("racecheck", "Analysis"): _races,
    ("initcheck", "Initcheck"): _uninitialised,
    ("synccheck", "Synccheck"): _barrier_divergence,
}
