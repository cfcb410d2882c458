"""The kernels of a PTX text: names, parameters, shared memory. One pass of a pattern, no parse."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"^(?:\.\w+ )*\.entry (?P<name>[\w$]+)\((?P<parameters>[^)]*)\)", re.MULTILINE)
_PARAMETER = re.compile(
    r"\.param (?:\.align \d+ )?\.(?P<type>[a-z]\d+)(?: \.ptr(?: \.\w+)*(?: \d+)?)? "
    r"(?P<name>[\w$]+)(?:\[(?P<count>\d+)\])?"
)
_BITS_PER_BYTE = 8


@dataclass(frozen=True, slots=True)
class EntryParameter:
    """A kernel parameter as PTX declares it (PTX ISA section 4.4 and 5.1.6.1).

    ``type`` is ``u64``, ``f32``, …; ``b8`` with more than one byte is a struct passed by value.
    """

    type: str
    bytes: int


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
        EntryParameter(m["type"], int(m["type"][1:]) // _BITS_PER_BYTE * int(m["count"] or 1))
        for m in _PARAMETER.finditer(text)
    )
