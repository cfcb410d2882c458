"""The kernels of a PTX text: names, parameters, shared memory. One pass of a pattern, no parse."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"^(?:\.\w+ )*\.entry (?P<name>[\w$]+)\((?P<parameters>[^)]*)\)", re.MULTILINE)
_PARAMETER = re.compile(
    r"\.param (?:\.align (?P<align>\d+) )?\.(?P<type>[a-z]\d+)(?: \.ptr(?: \.\w+)*(?: \d+)?)? "
    r"(?P<name>[\w$]+)(?:\[(?P<count>\d+)\])?"
)
_BITS_PER_BYTE = 8


@dataclass(frozen=True, slots=True)
class EntryParameter:
    """A kernel parameter as PTX declares it (PTX ISA sections 4.4 and 5.1.6.1): ``u64``, ``f32``, … ."""

    type: str
    bytes: int
    is_struct: bool = False
    """Passed by value as an array of bytes: a struct, or anything that is a ``__grid_constant__``."""
    align: int = 0
    """The alignment that PTX declares, in bytes; 0 where it declares none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel of a PTX text."""

    name: str
    parameters: tuple[EntryParameter, ...]


def read_entries(ptx: str) -> tuple[Entry, ...]:
    """Every ``.entry`` of the text, in its order."""
    return tuple(Entry(m["name"], _parameters(m["parameters"])) for m in _ENTRY.finditer(ptx))


def _parameters(text: str) -> tuple[EntryParameter, ...]:
    return tuple(
        EntryParameter(
            m["type"],
            int(m["type"][1:]) // _BITS_PER_BYTE * int(m["count"] or 1),
            m["count"] is not None,
            int(m["align"] or 0),
        )
        for m in _PARAMETER.finditer(text)
    )
