"""The student's file as the compiler gets it: under a neutral name, in an encoding that it reads."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.model import KernelInterface, Named, Submission

SOURCE_NAME = "student_source.cu"
"""What every submission is called while it is compiled, so that no file name reaches a command line."""

_HEADER_NAME = re.compile(r"(?:[\w+-][\w.+-]*/){0,4}[\w+-][\w.+-]{0,80}", re.ASCII)
_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def readable(source: bytes) -> bytes:
    """``source`` without a byte order mark, UTF-16 and UTF-32 as UTF-8, line ends that compilers know.

    Other encodings are left alone: a compiler minds them only outside of comments and strings.
    """
    source = source.removeprefix(codecs.BOM_UTF8)
    for mark, encoding in _WIDE_MARKS:
        if source.startswith(mark):
            source = source.decode(encoding, errors="replace").encode()
            break
    else:
        source = _narrowed(source)
    return source if b"\n" in source else source.replace(b"\r", b"\n")


def _narrowed(source: bytes) -> bytes:
    """UTF-16 without a mark: program text has a NUL in every other byte then."""
    head = source[:200]
    for encoding, nuls in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if len(head) >= 4 and not nuls.strip(b"\0"):  # noqa: PLR2004 - two characters
            return source.decode(encoding, errors="replace").encode()
    return source


def text_of(source: bytes) -> str:
    """``source`` for people and patterns: as UTF-8 if it is, else byte by byte."""
    try:
        return readable(source).decode()
    except UnicodeDecodeError:
        return readable(source).decode("latin-1")


def line_count(source: bytes) -> int:
    """How many lines the student sees, at least 1."""
    text = readable(source)
    return max(1, text.count(b"\n") + (not text.endswith(b"\n")))


def compile_files(submission: Submission, interface: KernelInterface) -> Named[bytes]:
    """The submission, its headers and the assignment's, by the names they are compiled under.

    The assignment's header wins over a student's copy. A student's header whose name is not a plain one
    is left out; the compiler then says that it is missing.
    """
    theirs = {n: readable(content) for n, content in submission.headers if is_header_name(n)}
    ours = {name: text.encode() for name, text in interface.include}
    return tuple({**theirs, **ours, SOURCE_NAME: readable(submission.source)}.items())


def is_header_name(name: str) -> bool:
    """Whether a file may be written under ``name``: plain characters, folders below, not our own names."""
    return bool(_HEADER_NAME.fullmatch(name)) and name not in (SOURCE_NAME,) and not name.startswith("unit.")
