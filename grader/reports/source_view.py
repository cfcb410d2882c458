"""The student's own file on a page: its lines, with remarks at those that findings name.

A long file is shown around its remarks only, so that a page stays small whatever was handed in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.model import FindingKind
from grader.reports import excerpts
from grader.text import headline, one_line, source_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.model import Finding

MOST_LINES = 1_500
MOST_CHARACTERS = 150_000
"""Of a file that is shown as a whole."""
AROUND = 6
"""Lines shown before and after a remark in a longer one."""
WIDEST = 400
"""Characters of a line."""
MOST_MARKED = 60
"""Lines with remarks at most."""
MOST_REMARKS = 3
"""Remarks at one line that are written out."""
REMARK = 160


class Remark(NamedTuple):
    """What a finding says at a line, and the part of the page where it is told."""

    target: str
    words: str
    severity: str
    same: str
    """What another remark at the line has in common with it that says the same."""


class SourceRow(NamedTuple):
    """A line with its remarks, or lines that are left out."""

    line: int
    code: str = ""
    remarks: tuple[Remark, ...] = ()
    more: int = 0
    left_out: int = 0


def remarks_of(findings: Iterable[tuple[str, Finding]], file: str, lines: int) -> dict[int, list[Remark]]:
    """Remarks by line; each finding comes after the part of the page that tells of it."""
    remarks: dict[int, list[Remark]] = {}
    for target, finding in findings:
        if not excerpts.is_in(finding, file):
            continue
        words = one_line(headline(finding.message), REMARK)
        same = (
            finding.kind.value if finding.kind is FindingKind.TIMEOUT else words
        )  # a case more says no more
        for line in excerpts.lines_of(finding):
            if 1 <= line <= lines and (line in remarks or len(remarks) < MOST_MARKED):
                at_line = remarks.setdefault(line, [])
                if all(same != remark.same for remark in at_line):
                    at_line.append(Remark(target, words, finding.severity.value, same))
    return remarks


def rows_of(source: Sequence[str], remarks: dict[int, list[Remark]]) -> Iterator[SourceRow]:
    """All lines of a file, or those around remarks where it is long; nothing behind its last line feed."""
    if source and not source[-1]:
        source = source[:-1]
    shown = _shown(source, remarks)
    last = 0
    for line in shown:
        if line > last + 1:
            yield SourceRow(0, left_out=line - last - 1)
        at_line = remarks.get(line, [])
        yield SourceRow(
            line,
            source_line(source[line - 1], WIDEST),
            tuple(at_line[:MOST_REMARKS]),
            max(0, len(at_line) - MOST_REMARKS),
        )
        last = line
    if last < len(source):
        yield SourceRow(0, left_out=len(source) - last)


def _shown(source: Sequence[str], remarks: dict[int, list[Remark]]) -> list[int]:
    if len(source) <= MOST_LINES and sum(map(len, source)) <= MOST_CHARACTERS:
        return list(range(1, len(source) + 1))
    around = {
        line for at in (1, *remarks) for line in range(max(1, at - AROUND), min(len(source), at + AROUND) + 1)
    }
    return sorted(around)
