"""Bytes that a student handed in → text that can be shown."""

from __future__ import annotations

import codecs

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(source: bytes) -> str:
    """The text of a source file; never fails.

    UTF-8 with or without a byte order mark, UTF-16 with one, else Latin-1, in which every byte is a
    character. CRLF is a line end like any other.
    """
    return _characters(source).replace("\r\n", "\n")


def lines(source: bytes) -> list[str]:
    """The lines of a source file as nvcc counts them: a form feed or a lone CR ends none."""
    return decode(source).split("\n")


def _characters(source: bytes) -> str:
    encoding = "utf-16" if source.startswith(_UTF16) else "utf-8-sig"
    try:
        return source.decode(encoding)
    except UnicodeDecodeError:
        return source.decode("latin-1")
