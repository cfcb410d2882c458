"""Which line of the student's file an address of a linked program belongs to, from its debug information.

objdump reads it once, in the sandbox, when a program is built (DWARF 5, section 6.2 "Line Number Information").
A program gives return addresses, which are those of the next instruction, so `LineTable.line` looks one byte before.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

MOST_ROWS = 200_000

_END = "-"
"""The line of the row behind a function."""

_ROW = re.compile(r"^(?P<file>\S.*?)\s+(?P<line>\d+|-)\s+0x(?P<address>[0-9a-f]+)(?:\s|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LineTable:
    """Rows by address, in order: from each address on code belongs to that line, 0 for nobody's."""

    addresses: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()

    def line(self, return_address: int) -> int | None:
        """The line whose call returns there; None for code that is not the student's."""
        row = bisect_right(self.addresses, return_address - 1) - 1
        return (self.lines[row] or None) if row >= 0 else None

    def first_line(self, return_addresses: tuple[int, ...]) -> int | None:
        """The line of the innermost call that is the student's."""
        return next((line for address in return_addresses if (line := self.line(address))), None)


def read_line_table(listing: str, source: str) -> LineTable:
    """The table in what ``objdump --dwarf=decodedline`` printed of a program with a section for each function.

    Code of another file that is inlined belongs to the line of ``source`` before it; a function of another file
    is nobody's.
    """
    rows: dict[int, int] = {}
    line = 0
    for match in _ROW.finditer(listing):
        if match["line"] == _END:
            line = 0
        elif match["file"].rsplit("/", 1)[-1] == source:
            line = int(match["line"])
        rows[int(match["address"], 16)] = line
        if len(rows) >= MOST_ROWS:
            break
    ordered = sorted(rows.items())
    return LineTable(tuple(address for address, _ in ordered), tuple(line for _, line in ordered))
