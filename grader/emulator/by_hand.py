"""Who wrote an instruction that is not interpreted: the student, by hand, or nvcc.

nvcc makes only instructions that are interpreted of C++ in the student's file. What a student writes as
`asm`, or by a built-in function that is one instruction, is the student's choice: else a kernel that loses
could have itself called an error of ours. What stems from the toolkit's headers stays ours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.emulator.instructions import TABLE
from grader.errors import UnsupportedPtx
from grader.model import Finding, FindingKind
from grader.ptx.by_hand import is_inside_asm, source_line

if TYPE_CHECKING:
    from grader.errors import PtxSyntaxError


def written_by_hand(
    problem: UnsupportedPtx | PtxSyntaxError, ptx: str, source: str, file: str
) -> Finding | None:
    """The student's finding if the instruction was written by hand in ``source``; None if it is ours.

    ``ptx`` is the text in which the problem has its line, ``source`` what it calls the student's file.
    """
    line = source_line(ptx, problem.ptx_line, source)
    if line is None:
        return None
    name = problem.instruction if isinstance(problem, UnsupportedPtx) else ""
    opcode = re.match(r"[a-z]\w*", name)
    never_from_nvcc = opcode is not None and opcode[0] not in TABLE  # an `asm` may forge the marks around it
    if not (is_inside_asm(ptx, problem.ptx_line) or never_from_nvcc):
        return None
    return Finding(FindingKind.UNSUPPORTED, "", hazard=name, file=file, line=line)
