"""The student's file as the compiler gets it: under a neutral name, in an encoding that it reads."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.model import KernelInterface
from grader.nvcc import includes, repairs, sizes
from grader.nvcc.shown import harmless
from grader.nvcc.toolchain import UNIT

if TYPE_CHECKING:
    from grader.model import Build, Finding, Named, ProgramInterface, Submission

SOURCE_NAME = "student_source.cu"
"""What every submission is called while it is compiled, so that no file name reaches a command line."""

_HEADER_NAME = re.compile(r"(?:[\w+-][\w.+ -]*/){0,4}[\w+-][\w.+ -]{0,80}")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def remarks(submission: Submission) -> tuple[Finding, ...]:
    """What of the files was read as it was meant, and not as it stands there (`grader.nvcc.repairs`)."""
    texts = ((submission.file, submission.source), *submission.headers)
    return tuple(
        remark for name, text in texts for remark in repairs.findings(readable(text).decode(), harmless(name))
    )


def with_remarks(build: Build, told: tuple[Finding, ...]) -> Build:
    """The build with remarks: before its warnings, or after what keeps it from being one."""
    if build.ok:
        return replace(build, warnings=(*told, *build.warnings))
    return replace(build, findings=(*build.findings, *told))


def compilable(source: bytes) -> bytes:
    """``source`` as a compiler gets it: `readable`, and as its author meant it."""
    return repairs.repaired(readable(source).decode()).text.encode()


def readable(source: bytes) -> bytes:
    """``source`` as UTF-8 without a byte order mark, with line ends that compilers know.

    What is neither UTF-8 nor UTF-16 counts as Latin-1: cicc refuses strings that are not UTF-8, and no
    string of a submission decides anything.
    """
    text = _decoded(source)
    return (text if "\n" in text else text.replace("\r", "\n")).encode(errors="replace")


def _decoded(source: bytes) -> str:
    marked = (encoding for mark, encoding in _MARKS if source.startswith(mark))
    encoding = next(marked, None) or _unmarked(source)
    return source.decode(encoding, errors="replace")


def _unmarked(source: bytes) -> str:
    """The encoding of a text without a mark; program text in UTF-16 has a NUL in every other byte."""
    head = source[:200]
    for encoding, nuls in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if len(head) >= 4 and not nuls.strip(b"\0"):  # noqa: PLR2004 - two characters
            return encoding
    try:
        source.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def line_count(source: bytes) -> int:
    """How many lines the student sees, at least 1."""
    text = readable(source)
    return max(1, text.count(b"\n") + (not text.endswith(b"\n")))


def compile_files(submission: Submission, interface: KernelInterface | ProgramInterface) -> Named[bytes]:
    """The submission, its headers and the assignment's, by the names they are compiled under.

    The assignment's header wins over a student's copy. A student's header whose name is not a plain one
    is left out; the compiler then says that it is missing.
    """
    theirs = {n: compilable(content) for n, content in submission.headers if is_header_name(n)}
    ours = {name: text.encode() for name, text in interface.include}
    files = {**theirs, **ours, SOURCE_NAME: compilable(submission.source)}
    if isinstance(interface, KernelInterface):
        files = sizes.set_to(interface, files)
    return tuple(includes.reaching(files, SOURCE_NAME).items())


def is_header_name(name: str) -> bool:
    """Whether a file may be written under ``name``: letters, blanks, folders below, no name of ours."""
    ours = name in (SOURCE_NAME, "cuda_runtime.h") or name.startswith(f"{UNIT}.")
    return bool(_HEADER_NAME.fullmatch(name)) and not ours
