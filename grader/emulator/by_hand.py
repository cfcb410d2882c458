"""The origin of an instruction that is not interpreted: the student wrote it by hand, or nvcc did.

nvcc makes only instructions that are interpreted of C++ in the student's file. What a student writes as
`asm`, or by a built-in function that is one instruction, is the student's choice: else a kernel that
loses could have itself called an error of ours. So are textures and surfaces, although a header of the
toolkit writes what fetches from them: the host makes them, and no assignment gives a kernel one. What
else stems from the toolkit's headers stays ours: nvcc and the headers give it to anybody who writes
plain C++.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.emulator.instructions import OPCODES
from grader.errors import UnsupportedPtx
from grader.model import Finding, FindingKind
from grader.ptx.facts import is_inside_asm, needs_texture, origin, renames_lines

if TYPE_CHECKING:
    from grader.errors import PtxSyntaxError
    from grader.model import Submission


@dataclass(frozen=True, slots=True)
class Handwriting:
    """What a student handed in beside the source: the names of headers; and whether any file renames lines.

    `renames_lines` says what that means.
    """

    headers: frozenset[str] = frozenset()
    renames_lines: bool = False


def handwriting(submission: Submission) -> Handwriting:
    """What there is in a submission."""
    texts = (submission.source, *dict(submission.headers).values())
    names = frozenset(name.rsplit("/", 1)[-1] for name, _ in submission.headers)
    return Handwriting(names, any(map(renames_lines, texts)))


def written_by_hand(
    problem: UnsupportedPtx | PtxSyntaxError,
    ptx: str,
    source: str,
    file: str,
    handed_in: Handwriting = Handwriting(),
) -> Finding | None:
    """The student's finding if the instruction was written by hand in a file of theirs; None if it is ours.

    ``ptx`` is the text in which the problem has its line, ``source`` what it calls the student's file. Of
    what lies elsewhere the finding has no line.
    """
    fetch = _of_texture(problem, source, file, handed_in)
    if fetch is not None:
        return fetch
    origin_of_line = origin(ptx, problem.ptx_line)
    in_source = origin_of_line is not None and origin_of_line.file == source
    in_header = origin_of_line is not None and origin_of_line.file in handed_in.headers
    if not (in_source or in_header or handed_in.renames_lines):
        return None
    name = problem.instruction if isinstance(problem, UnsupportedPtx) else ""
    opcode = re.match(r"[a-z]\w*", name)
    never_from_nvcc = (
        opcode is not None and opcode[0] not in OPCODES
    )  # an `asm` may forge the marks around it
    if not (is_inside_asm(ptx, problem.ptx_line) or never_from_nvcc):
        return None
    line = origin_of_line.line if origin_of_line and in_source and not handed_in.renames_lines else None
    return Finding(FindingKind.UNSUPPORTED, hazard=name, file=file, line=line)


def _of_texture(
    problem: UnsupportedPtx | PtxSyntaxError, source: str, file: str, handed_in: Handwriting
) -> Finding | None:
    """The finding for what needs a texture or a surface, with the student's line that calls it."""
    if not isinstance(problem, UnsupportedPtx) or not needs_texture(problem.instruction):
        return None
    lines = (line for name, line in problem.sources if name == source and not handed_in.renames_lines)
    name = problem.instruction
    return Finding(FindingKind.UNSUPPORTED, hazard=name, file=file, line=next(lines, None))
