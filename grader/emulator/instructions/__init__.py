"""One chapter of the PTX ISA per file, one function per opcode, one line per opcode in its TABLE.

A chapter's function takes an instruction and a `Link` and gives the step that executes it. To add an
opcode: write the function in its chapter, add the line, add the case to the chapter's test.
"""

from __future__ import annotations

from typing import Any

from grader.emulator.instructions import arithmetic, barrier, compare, control, convert, logic, memory

TABLE: dict[str, Any] = {
    **arithmetic.TABLE,
    **barrier.TABLE,
    **compare.TABLE,
    **control.TABLE,
    **convert.TABLE,
    **logic.TABLE,
    **memory.TABLE,
}
