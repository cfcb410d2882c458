"""The names that an object file leaves open: what its code calls, and somebody else must define.

ELF for 64 bits, little-endian (System V ABI, chapters 4 "Sections" and "Symbol Table"), as g++ makes it here.
"""

from __future__ import annotations

import struct

_MAGIC = b"\x7fELF\x02\x01"
_SECTION_TABLE = struct.Struct("<40xQ10xHH")
"""Of the file's header: where the sections' headers are, how long each is, how many."""

_SECTION = struct.Struct("<4xI16xQQI20x")
"""A section's header: its type, where it is, how long, and the section that belongs to it."""

_SYMBOL = struct.Struct("<IxxH16x")
"""A symbol: where its name begins, and the section that defines it."""

_SYMBOL_TABLE, _NOWHERE = 2, 0


def undefined_names(code: bytes) -> frozenset[str]:
    """The names of the undefined symbols of an object file; raises ValueError where it is none."""
    if not code.startswith(_MAGIC):
        raise ValueError("no ELF file for 64 bits")
    try:
        return frozenset(_undefined(code))
    except struct.error as problem:
        raise ValueError(f"no whole object file: {problem}") from None


def _undefined(code: bytes) -> list[str]:
    place, step, count = _SECTION_TABLE.unpack_from(code)
    if step < _SECTION.size:
        raise ValueError("no headers of sections")
    sections = [_SECTION.unpack_from(code, place + index * step) for index in range(count)]
    found = []
    for kind, offset, size, link in sections:
        if kind != _SYMBOL_TABLE:
            continue
        if size % _SYMBOL.size or link >= count:
            raise ValueError("no table of symbols")
        names = code[sections[link][1] :][: sections[link][2]]
        symbols = _SYMBOL.iter_unpack(code[offset : offset + size])
        found += [_text(names, begin) for begin, where in symbols if begin and where == _NOWHERE]
    return found


def _text(names: bytes, begin: int) -> str:
    end = names.find(b"\0", begin)
    return names[begin : end if end >= 0 else len(names)].decode(errors="replace")
