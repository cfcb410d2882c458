"""Bytes that a student handed in → text that can be shown."""

from __future__ import annotations

import codecs

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(source: bytes) -> str:
    """The text of a source file, with ``\\n`` as its only line end; never fails.

    UTF-8 with or without a byte order mark, UTF-16 with one, else Latin-1, in which every byte is a
    character. Lines are those that nvcc counts.
    """
    return _characters(source).replace("\r\n", "\n").replace("\r", "\n")


def _characters(source: bytes) -> str:
    encoding = "utf-16" if source.startswith(_UTF16) else "utf-8-sig"
    try:
        return source.decode(encoding)
    except UnicodeDecodeError:
        return source.decode("latin-1")


def harmless(text: str, limit: int = 200) -> str:
    """``text`` on one line, in which nothing controls a terminal, and no longer than ``limit``.

    What is not printable becomes its escape; bytes of a file name that are no text (which Python keeps as
    lone surrogates) become ``\\xNN``.
    """
    shown = "".join(map(_shown, text[: limit + 1]))
    return shown if len(text) <= limit else shown[: limit - 1] + "…"


def _shown(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return character if character.isprintable() else ascii(character)[1:-1]
