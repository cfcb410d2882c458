"""Bytes that a student handed in → text that can be shown."""

from __future__ import annotations

import codecs

_SURROGATES = (0xDC80, 0xDCFF)  # what "surrogateescape" makes of the bytes 0x80 to 0xFF
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


def harmless(text: str, limit: int = 200) -> str:
    r"""``text`` on one line, in which nothing controls a terminal, and no longer than ``limit``.

    What is not printable becomes its escape; bytes of a file name that are no text (which Python keeps as
    lone surrogates) become ``\xNN``.
    """
    shown = "".join(map(_shown, text[: limit + 1]))
    return shown if len(text) <= limit else shown[: limit - 1] + "…"


def _shown(character: str) -> str:
    code = ord(character)
    if _SURROGATES[0] <= code <= _SURROGATES[1]:
        return f"\\x{code & 0xFF:02x}"
    return character if character.isprintable() else ascii(character)[1:-1]
