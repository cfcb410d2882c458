"""Who wrote an instruction that is not interpreted: the student, by hand, or nvcc.

nvcc makes only instructions that are interpreted of C++ in the student's file. What a student writes as
`asm`, or by a built-in function that is one instruction, is the student's choice: else a kernel that loses
could have itself called an error of ours. What stems from the toolkit's headers stays ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.emulator.instructions import TABLE
from grader.errors import UnsupportedPtx
from grader.model import Finding, FindingKind
from grader.ptx.by_hand import is_inside_asm, origin

if TYPE_CHECKING:
    from grader.errors import PtxSyntaxError
    from grader.model import Submission


_LINE_DIRECTIVE = re.compile(
    r"(?:^|\*/)[ \t\f\v\r]*(?:#|%:|\?\?=)[ \t\f\v\r]*(?:line\b|\d|/\*)", re.MULTILINE
)
"""A directive, also behind the end of a comment. What a comment hides behind the sign counts as one."""

_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t\f\v\0]*\r?\n")
"""Where a line goes on in the next one; gcc takes blanks before the end of the line."""


@dataclass(frozen=True, slots=True)
class Handwriting:
    """What a student handed in beside the source: the names of headers, and whether any file renames lines.

    After `#line` a line of the student's may be said to be of any file, one of the toolkit's as well.
    """

    headers: frozenset[str] = frozenset()
    renames_lines: bool = False


def handwriting(submission: Submission) -> Handwriting:
    """What there is in a submission."""
    texts = [content.decode("latin-1") for content in (submission.source, *dict(submission.headers).values())]
    renames = any(_LINE_DIRECTIVE.search(_SPLICE.sub("", text)) for text in texts)
    names = frozenset(name.rsplit("/", 1)[-1] for name, _ in submission.headers)
    return Handwriting(names, renames)


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
    place = origin(ptx, problem.ptx_line)
    in_source = place is not None and place.file == source
    in_header = place is not None and place.file in handed_in.headers
    if not (in_source or in_header or handed_in.renames_lines):
        return None
    name = problem.instruction if isinstance(problem, UnsupportedPtx) else ""
    opcode = re.match(r"[a-z]\w*", name)
    never_from_nvcc = opcode is not None and opcode[0] not in TABLE  # an `asm` may forge the marks around it
    if not (is_inside_asm(ptx, problem.ptx_line) or never_from_nvcc):
        return None
    line = place.line if place and in_source and not handed_in.renames_lines else None
    return Finding(FindingKind.UNSUPPORTED, "", hazard=name, file=file, line=line)
