"""The files that compute-sanitizer leaves, read as if an enemy had written them.

The XML names functions and files of the student's, so it is hostile: no document type (which could define
entities), no other markup declarations, no more than a few megabytes, and control characters made harmless
before a parser sees them. Its form (2025.3) is flat: ``ComputeSanitizerOutput`` holds a ``record`` for each
report, with ``kind``, ``who``, ``what`` and ``where``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET  # declarations are refused before it reads

from grader.nvcc.shown import harmless

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

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
    """What a tool left says nothing that could be believed; the text says why."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a tool's log says: how many it counted, of which grades, and the first line of another kind."""

    total: int
    errors: int
    warnings: int
    left_out: bool
    other: str

    @property
    def quoted(self) -> str:
        """That other line as the end of a sentence."""
        return f": {harmless(self.other)[:200]}" if self.other else ""


def read_log(content: bytes | None) -> Said:
    """The log's summary, which comes last; raises UnreadableError where there is none."""
    if content is None:
        raise UnreadableError("it left no log")
    if len(content) > MOST_BYTES:
        raise UnreadableError(f"its log has {len(content)} bytes")
    lines = [line.lstrip("=").strip() for line in content.decode("utf-8", "replace").splitlines()]
    summaries = [found for line in lines if (found := _SUMMARY.fullmatch(line))]
    left_out = any(_LEFT_OUT.match(line) for line in lines)
    other = [
        line
        for line in lines
        if line not in ("", _HEADER) and not _SUMMARY.fullmatch(line) and line[:1].strip()
    ]
    if not summaries:
        raise UnreadableError(f"its log has no summary{f': {harmless(other[0])[:200]}' if other else ''}")
    total = _whole(summaries[-1][1])
    parts = {word: _whole(number) for number, word in _PART.findall(summaries[-1][2] or "")}
    return Said(total, parts.get("error", total), parts.get("warning", 0), left_out, next(iter(other), ""))


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
