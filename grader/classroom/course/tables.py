"""The bytes of a CSV file ↔ its cells, each with its place: a cell is replaced, the file never written anew.

Platforms differ in encoding, separator, quotes and line ends, and so do the spreadsheets that staff open an
export with. All of that stays, because what is not replaced is never taken apart.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_BYTES = 32 * 2**20
MAX_COLUMNS = 5_000
MAX_ROWS = 100_000
MAX_CELLS = 2_000_000

_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""First bytes of a zip archive (.xlsx, .ods) and of an OLE document (a true .xls)."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED = ("utf-8", "cp1252", "latin-1")
"""Latin-1 takes what Windows-1252 leaves undefined, so that some encoding gives every byte back."""


@frozen
class Cell:
    """A cell: ``value`` is what it says, ``start`` to ``end`` its place in the text, quotes included."""

    start: int
    end: int
    value: str
    quoted: bool


Record = tuple[Cell, ...]


@frozen
class Table:
    """A CSV file. ``records`` are its lines with cells, the headings first; blank lines are left out."""

    text: str
    mark: bytes
    encoding: str
    separator: str
    records: tuple[Record, ...]

    @property
    def headings(self) -> tuple[str, ...]:
        """Cells of the first line."""
        return tuple(cell.value for cell in self.records[0])

    def line_of(self, record: Record) -> int:
        """The number of the line that a record begins on, from 1."""
        return _line(self.text, record[0].start)

    def replaced(self, values: Mapping[Cell, str]) -> bytes:
        """The file with other values in some cells, and every other byte as it was.

        A cell keeps its quotes, and gets some where its new value needs them.
        """
        parts: list[str] = []
        done = 0
        for cell in sorted(values, key=lambda cell: cell.start):
            parts += self.text[done : cell.start], self._source(values[cell], quoted=cell.quoted)
            done = cell.end
        text = "".join([*parts, self.text[done:]])
        return self.mark + text.encode(self.encoding)

    def _source(self, value: str, *, quoted: bool) -> str:
        needed = any(character in value for character in (self.separator, '"', "\r", "\n"))
        return '"' + value.replace('"', '""') + '"' if quoted or needed else value


def read_table(content: bytes) -> Table:
    """The cells of a CSV file: UTF-8 with or without its mark, UTF-16 with one, or else Windows-1252.

    The separator is the one of ``,``, ``;`` and TAB with which the lines agree best on a number of cells.
    Raises `UsageError` where it is no such table, or has more than 32 MiB, 100,000 rows, 5,000 columns
    or 2 million cells.
    """
    _require_text(content)
    mark, encoding, text = _decoded(content)
    if "\0" in text:
        raise UsageError(
            "the gradebook holds NUL characters; expected the CSV file that the platform exports"
        )
    problem: UsageError | None = None
    tables: list[Table] = []
    for separator in _likely_separators(text):
        try:
            records = tuple(_records(text, separator))
        except UsageError as first:
            problem = problem or first
            continue
        tables.append(Table(text, mark, encoding, separator, records))
        if not _uneven(tables[-1]):
            break
    if tables:
        return min(tables, key=_uneven)
    raise problem or UsageError(
        "the gradebook is no table: its first line has no `,`, `;` or tab; expected the CSV file that the"
        " platform exports"
    )


def _require_text(content: bytes) -> None:
    if len(content) > MAX_BYTES:
        raise UsageError(f"the gradebook has {len(content):,} bytes; expected at most {MAX_BYTES:,}")
    if content.startswith(_WORKBOOKS):
        raise UsageError("the gradebook is an Excel workbook; save it as CSV")
    if not content.strip():
        raise UsageError("the gradebook is empty; expected the CSV file that the platform exports")


def _decoded(content: bytes) -> tuple[bytes, str, str]:
    """The byte order mark, the encoding, and the text behind the mark."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            try:
                return mark, encoding, content[len(mark) :].decode(encoding)
            except UnicodeDecodeError as problem:
                raise UsageError(
                    f"the gradebook is marked as {encoding.upper()}, but byte {len(mark) + problem.start:,}"
                    " is none of it; export it anew"
                ) from None
    for encoding in _UNMARKED[:-1]:
        try:
            return b"", encoding, content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return b"", _UNMARKED[-1], content.decode(_UNMARKED[-1])


def _pattern(separator: str) -> re.Pattern[str]:
    # Possessive repetitions: a quote that is never closed costs one look at the file, not one for each cell.
    return re.compile(
        rf'(?:"(?P<quoted>[^"]*+(?:""[^"]*+)*+)"|(?!")(?P<plain>[^{separator}\r\n]*+))'
        rf"(?P<end>{separator}|\r\n|\n|\r|\Z)"
    )


_CELL = {separator: _pattern(separator) for separator in ",;\t"}


def _likely_separators(text: str) -> list[str]:
    """The separators that divide the first line, the one that does it most often first."""
    widths: dict[str, int] = {}
    for separator in _CELL:
        try:
            widths[separator] = len(next(_records(text, separator), ()))
        except UsageError:
            widths[separator] = 2  # what is the matter with it is said when the whole is read
    return sorted((one for one in widths if widths[one] > 1), key=lambda one: -widths[one])


def _uneven(table: Table) -> int:
    """Number of lines that have another number of cells than the headings."""
    width = len(table.records[0])
    return sum(len(record) != width for record in table.records)


def _records(text: str, separator: str) -> Iterator[Record]:
    """The lines with cells, in order."""
    pattern = _CELL[separator]
    position = cells = rows = 0
    record: list[Cell] = []
    while position < len(text) or record:
        match = pattern.match(text, position)
        if match is None:
            raise UsageError(
                f"the gradebook, line {_line(text, position)}: a quotation mark is not closed, or text"
                " follows the one that closes a cell; export the gradebook anew"
            )
        quoted, plain, end = match.groups()
        value = plain if quoted is None else quoted.replace('""', '"')
        record.append(Cell(position, match.start("end"), value, quoted is not None))
        position = match.end()
        cells += 1
        if len(record) > MAX_COLUMNS or cells > MAX_CELLS or rows > MAX_ROWS:
            raise UsageError(
                f"the gradebook has more than {MAX_COLUMNS:,} columns, {MAX_ROWS:,} rows or {MAX_CELLS:,}"
                " cells; expected those of a class"
            )
        if end != separator:
            if len(record) > 1 or record[0].end > record[0].start:
                rows += 1
                yield tuple(record)
            record = []


def _line(text: str, position: int) -> int:
    before = text[:position]
    return 1 + before.count("\n") + before.count("\r") - before.count("\r\n")
