"""Excerpts of a finding: lines of the student's source, and a map of where an output is wrong.

A report in a terminal quotes the lines. A page shows the file, with remarks at the lines that findings name;
a long one is shown around its remarks only, so that a page stays small for any submission. A map has a
character for each element, or for a few rows and columns of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from grader.base.records import frozen
from grader.base.text import headline, one_line, source_line
from grader.model import FindingKind
from grader.model.compare import MAP_CHARACTERS
from grader.model.messages import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.model import Finding

FAR_APART = 6
"""Lines further apart than this are quoted without what lies between them."""


SHORTER, LONGEST = 160, 4_000
"""Characters of a line that are looked at: of a long one a terminal shows the part that matters."""


Further: TypeAlias = Mapping[str, Sequence[str]]
"""The lines of files that were handed in beside the one that was graded, by their names."""

NONE_FURTHER: Further = MappingProxyType({})


class QuotedLine(NamedTuple):
    """One row of a quotation: the number in the margin, and the code; ``marked`` where the finding is."""

    gutter: str
    code: str
    marked: bool


def lines_of(finding: Finding) -> list[int]:
    """Give the lines that a finding names, from the top."""
    return sorted({line for line in (finding.line, finding.other_line) if line is not None})


def lines_in_words(finding: Finding) -> str:
    """Write ``tiled.cu:14 and 18``; empty where no line is known."""
    lines, file = lines_of(finding), one_line(finding.file, 80)
    if not lines:
        return ""
    if len(lines) == 1:
        return f"{file}:{lines[0]}" if file else text_of("line", line=lines[0])
    line, other = lines
    name = "lines-of-file" if file else "lines"
    return text_of(name, file=file, line=line, other_line=other)


def quote(
    finding: Finding,
    submission_file: str,
    source: Sequence[str],
    width: int | None = None,
    *,
    around: int = 0,
) -> list[QuotedLine]:
    """Quote the finding's lines with a mark in the margin and the array underlined.

    Nothing is quoted where the finding is in another file, or its lines lie beyond the source. Of a line that
    is longer than a row of ``width`` that part is shown where the array is. ``around`` is the number of lines
    before and after the finding that are quoted, too.
    """
    lines = [line for line in lines_of(finding) if 1 <= line <= len(source)]
    if not lines or not is_in(finding, submission_file):
        return []
    room = len(str(lines[-1] + around))
    rows = []
    for line in _between(lines, around, len(source)):
        if not line:
            rows.append(QuotedLine(f"  {'…':>{room}} |", "", marked=False))
            continue
        code = source_line(source[line - 1], LONGEST if width else SHORTER)
        marked = line in lines
        gutter = f"{'>' if marked else ' '} {line:>{room}} | "
        carets = _carets(code, finding.array) if marked else ""
        if carets and width is not None:
            code, carets = _window(code, carets, width - len(gutter))
        rows.append(QuotedLine(gutter, code, marked))
        if carets:
            rows.append(QuotedLine(f"  {'':>{room}} | ", carets, marked=True))
    return rows


def without_indentation(rows: Sequence[QuotedLine]) -> list[QuotedLine]:
    """The same rows without the spaces that all of them begin with: a phone is forty letters wide."""
    indented = [len(row.code) - len(row.code.lstrip()) for row in rows if row.code.strip()]
    return [row._replace(code=row.code[min(indented) :]) for row in rows] if indented else list(rows)


def is_in(finding: Finding, submission_file: str) -> bool:
    """True if the lines of a finding are in the file that was graded."""
    return finding.file in {"", submission_file, PurePath(submission_file).name}


@frozen
class Sources:
    """The files of a submission, to quote from: the one that was graded, its lines, and further ones."""

    file: str
    lines: Sequence[str]
    further: Further

    def quote(self, finding: Finding, width: int | None = None, *, around: int = 0) -> list[QuotedLine]:
        """Quote a finding's lines from the file that it is in; see `quote`."""
        if is_in(finding, self.file):
            return quote(finding, self.file, self.lines, width, around=around)
        return quote(finding, finding.file, self.further.get(finding.file, ()), width, around=around)


def _between(lines: list[int], around: int, end: int) -> list[int]:
    """List the lines to show, with 0 for a gap; ``end`` is the last that there is."""
    first, last = lines[0], lines[-1]
    before, after = range(max(1, first - around), first), range(last + 1, min(end, last + around) + 1)
    if last - first <= FAR_APART:
        return [*before, *range(first, last + 1), *after]
    return [*before, first, 0, last, *after]


def _carets(code: str, name: str) -> str:
    """Carets below each use of the array; nothing if its name is not in the line."""
    if not name.isidentifier():
        return ""
    below = [" "] * len(code)
    for match in re.finditer(rf"\b{re.escape(name)}\b", code):
        below[match.start() : match.end()] = "^" * len(name)
    return "".join(below).rstrip()


def _window(code: str, carets: str, room: int) -> tuple[str, str]:
    """The part of a line, and of the carets below it, that shows the first of them within ``room``."""
    first = carets.index("^")
    end = first + len(carets[first:].partition(" ")[0])
    if len(code) <= room or end < room:  # one character is for the dots at the cut
        return code, carets
    start = min(first - room // 3, len(code) - room)
    return "…" + code[start + 1 :], " " + carets[start + 1 :]


MEANINGS = ("map-right", "map-never-written", "map-nan", "map-wrong")
"""The texts that say what the characters of a map stand for, in the order of `MAP_CHARACTERS`."""

UNICODE = "·○n█"
"""The same where a terminal can show them: shades are taken in at a glance."""


NEARLY_ALL = 0.95
"""Share of a map at which one sort of wrong leaves no pattern to see."""


def says_something(finding: Finding) -> bool:
    """True if there is a map, and not nearly everywhere the same sort of wrong."""
    drawn = "".join(finding.wrong_map)
    right = MAP_CHARACTERS[0]
    return len(set(drawn)) > 1 and all(
        drawn.count(character) < NEARLY_ALL * len(drawn) for character in set(drawn) - {right}
    )


def legend(finding: Finding, *, ascii_only: bool = False) -> str:
    """Meaning of each character of the map that occurs."""
    drawn = set("".join(finding.wrong_map))
    shown = zip(MAP_CHARACTERS, _signs(ascii_only=ascii_only), MEANINGS, strict=True)
    signs = ", ".join(
        f"{sign} {text_of(meaning)}" for character, sign, meaning in shown if character in drawn
    )
    rows, columns = finding.map_cell
    if (rows, columns) != (1, 1):
        signs = text_of("map-cells", signs=signs, rows=rows, columns=columns)
    array = finding.array or text_of("map-output")
    return text_of("map-of-case" if finding.case else "map-of", array=array, case=finding.case, signs=signs)


def drawing(finding: Finding, *, ascii_only: bool = False) -> tuple[str, ...]:
    """The lines of the map."""
    signs = str.maketrans(MAP_CHARACTERS, _signs(ascii_only=ascii_only))
    return tuple(line.translate(signs) for line in finding.wrong_map)


def _signs(*, ascii_only: bool) -> str:
    return MAP_CHARACTERS if ascii_only else UNICODE


MOST_LINES = 1_500
MOST_CHARACTERS = 150_000
"""Maximum length in lines and in characters of a file that is shown as a whole."""
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
    """Remark of a finding at a line, and the part of the page that reports the finding."""

    target: str
    words: str
    severity: str
    same: str
    """Key that it has in common with another remark at the line that says the same."""


class SourceRow(NamedTuple):
    """A line with its remarks, or lines that are left out."""

    line: int
    code: str = ""
    remarks: tuple[Remark, ...] = ()
    more: int = 0
    left_out: int = 0


def remarks_of(findings: Iterable[tuple[str, Finding]], file: str, lines: int) -> dict[int, list[Remark]]:
    """Remarks by line; each finding comes after the part of the page that reports it."""
    remarks: dict[int, list[Remark]] = {}
    for target, finding in findings:
        if not is_in(finding, file):
            continue
        words = one_line(headline(finding.message), REMARK)
        same = (
            finding.kind.value if finding.kind is FindingKind.TIMEOUT else words
        )  # a case more says no more
        for line in lines_of(finding):
            if 1 <= line <= lines and (line in remarks or len(remarks) < MOST_MARKED):
                at_line = remarks.setdefault(line, [])
                if all(same != remark.same for remark in at_line):
                    at_line.append(Remark(target, words, finding.severity.value, same))
    return remarks


def rows_of(source: Sequence[str], remarks: dict[int, list[Remark]]) -> Iterator[SourceRow]:
    """All lines of a file, or those around remarks where it is long; nothing behind its last line feed."""
    if source and not source[-1]:
        source = source[:-1]
    shown = _shown_lines(source, remarks)
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


def _shown_lines(source: Sequence[str], remarks: dict[int, list[Remark]]) -> list[int]:
    if len(source) <= MOST_LINES and sum(map(len, source)) <= MOST_CHARACTERS:
        return list(range(1, len(source) + 1))
    around = {
        line for at in (1, *remarks) for line in range(max(1, at - AROUND), min(len(source), at + AROUND) + 1)
    }
    return sorted(around)
