"""Data of a cubin beside its code: the contents of constant banks, and the offsets of variables in them.

A cubin is an ELF file of 64 bits, little-endian (System V ABI, chapters 4 and 5). ptxas puts `__constant__`
variables into the section `.nv.constant3`, and the addresses of other variables into `.nv.constant4`, where
relocations name the variables.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from grader.base.errors import OurError
from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQ")
_SYMBOLS, _NOTHING_IN_FILE = 2, 8
_WITH_ADDEND, _RELOCATIONS = 4, 9
_BANK = re.compile(r"\.nv\.constant(?P<bank>\d+)(?:\.(?P<kernel>.+))?")
_VARIABLES, _ADDRESSES = 3, 4
_MOST_BYTES = 1 << 16
"""Limit of a constant bank."""


@frozen
class _ElfSection:
    name: str
    kind: int
    content: bytes
    link: int
    info: int
    size: int


@frozen
class ConstantBanks:
    """The banks of a kernel as the cubin has them, and the addresses that a loader has to put into them.

    ``variables`` are the variables of bank 3 by name, each with its offset and size; ``addresses`` says which
    offsets of bank 4 hold the address of which variable.
    """

    contents: Mapping[int, bytes]
    variables: tuple[tuple[str, int, int], ...]
    addresses: tuple[tuple[int, str], ...]


def constant_banks(cubin: bytes, entry: str) -> ConstantBanks:
    """The banks of the kernel ``entry``; raises OurError for data that is no cubin: ptxas wrote it."""
    try:
        sections = list(_sections(cubin))
        contents: dict[int, bytes] = {}
        variables: list[tuple[str, int, int]] = []
        addresses: list[tuple[int, str]] = []
        symbols = _symbols(sections)
        for number, section in enumerate(sections):
            match = _BANK.fullmatch(section.name)
            if match and match["kernel"] in (None, entry):
                bank = int(match["bank"])
                contents[bank] = section.content[:_MOST_BYTES].ljust(min(section.size, _MOST_BYTES), b"\0")
                if bank == _VARIABLES:
                    variables += [
                        (name, at, size) for name, home, at, size in symbols if home == number and size
                    ]
                if bank == _ADDRESSES:
                    addresses += _relocated(sections, number, symbols)
        return ConstantBanks(contents, tuple(variables), tuple(addresses))
    except (struct.error, IndexError, OverflowError, ValueError) as problem:
        raise OurError(f"the machine code is no cubin that can be read: {problem}") from problem


def _sections(cubin: bytes) -> Iterator[_ElfSection]:
    header = _HEADER.unpack_from(cubin)
    table, size, count, names = header[6], header[11], header[12], header[13]
    rows = [_SECTION.unpack_from(cubin, table + size * number) for number in range(count)]
    texts = cubin[rows[names][4] : rows[names][4] + rows[names][5]]
    for name, kind, _, _, offset, length, link, info, _, _ in rows:
        content = b"" if kind == _NOTHING_IN_FILE else cubin[offset : offset + length]
        yield _ElfSection(_text(texts, name), kind, content, link, info, length)


def _text(texts: bytes, at: int) -> str:
    return texts[at : texts.index(b"\0", at)].decode()


def _symbols(sections: list[_ElfSection]) -> list[tuple[str, int, int, int]]:
    """Name, section, offset and size of each symbol."""
    table = next((section for section in sections if section.kind == _SYMBOLS), None)
    if table is None:
        return []
    texts = sections[table.link].content
    rows = _SYMBOL.iter_unpack(table.content)
    return [(_text(texts, name), home, at, size) for name, _, _, home, at, size in rows]


def _relocated(
    sections: list[_ElfSection], number: int, symbols: list[tuple[str, int, int, int]]
) -> Iterator[tuple[int, str]]:
    for section in sections:
        if section.kind in (_WITH_ADDEND, _RELOCATIONS) and section.info == number:
            size = 24 if section.kind == _WITH_ADDEND else 16
            for at in range(0, len(section.content), size):
                offset, info = _RELOCATION.unpack_from(section.content, at)
                yield offset, symbols[info >> 32][0]
