"""Output of kernels: `vprintf` with the formats of CUDA C++, as hostile as a student's string may be.

A launch keeps its first lines; the rest is not counted. A lane's arguments lie in its local memory one after
another, each aligned to its size (CUDA C++ guide, "Formatted Output").
"""

from __future__ import annotations

import re
import struct
from dataclasses import field
from typing import TYPE_CHECKING

from grader.base.records import mutable
from grader.simulation.emulator.memory.memory import WINDOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.machine import Machine

MOST_CALLS = 1000
"""Calls of a launch whose text is kept."""

MOST_CHARACTERS = 1 << 16
"""Characters of a launch that are kept."""

_LONGEST = 1024
"""Bytes of a format, or of a string that is printed."""

_WIDEST = 100
"""Characters that a field is padded to, and digits behind the point, at most."""

_FIELD = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L)?(.)", re.DOTALL)


@mutable
class Printed:
    """The text of a launch."""

    calls: int = 0
    room: int = MOST_CHARACTERS
    pieces: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Keep a text, or as much of it as there is room for."""
        self.calls += 1
        self.pieces.append(text[: self.room])
        self.room -= len(self.pieces[-1])

    @property
    def full(self) -> bool:
        """True if nothing more is kept."""
        return self.calls >= MOST_CALLS or self.room <= 0

    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces)


def print_lanes(m: Machine, formats: NDArray[np.generic], values: NDArray[np.generic]) -> int:
    """Format the output of the active lanes, lane after lane; gives the first one's number of arguments."""
    lanes = m.lanes()
    for lane, format_at, values_at in zip(lanes.tolist(), formats.tolist(), values.tolist(), strict=True):
        if m.reporter.printed.full:
            break
        template = text_at(m, lane, format_at, _LONGEST)
        m.reporter.printed.add(printable(_formatted(template, _Arguments(m, lane, values_at))))
    template = text_at(m, int(lanes[0]), int(formats[0]), _LONGEST)
    return sum(match[5] != "%" for match in _FIELD.finditer(template))


class _Arguments:
    """The arguments of one call, taken one by one."""

    def __init__(self, m: Machine, lane: int, address: int) -> None:
        self._m, self._lane, self._next = m, lane, address

    def take(self, kind: str) -> int | float:
        """The next argument, as `struct` calls its type."""
        size = struct.calcsize(kind)
        self._next = -(-self._next // size) * size
        content = bytes_at(self._m, self._lane, self._next, size)
        self._next += size
        return struct.unpack(f"<{kind}", content)[0] if len(content) == size else 0

    def text(self) -> str:
        """The string that the next argument points to."""
        return text_at(self._m, self._lane, int(self.take("Q")), _LONGEST)


def _formatted(template: str, arguments: _Arguments) -> str:
    return "".join(_pieces(template, arguments))


def _pieces(template: str, arguments: _Arguments) -> Iterator[str]:
    end = 0
    for match in _FIELD.finditer(template):
        yield template[end : match.start()]
        yield _field(match, arguments)
        end = match.end()
    yield template[end:]


def _field(match: re.Match[str], arguments: _Arguments) -> str:
    """One field; text that is no field of `printf` is printed as it stands."""
    flags, width, precision, length, kind = match.groups()
    if kind == "%":
        return "%"
    if kind not in "diuoxXcsfFeEgGaAp":
        return match.group()
    wide = _number(width, arguments)
    digits = None if precision is None else _number(precision, arguments)
    if wide < 0:
        flags, wide = flags + "-", -wide
    spec = f"%{flags}{min(wide, _WIDEST) or ''}"
    if digits is not None and digits >= 0 and kind not in "cp":
        spec += f".{min(digits, _LONGEST if kind == 's' else _WIDEST)}"
    if kind == "s":
        return f"{spec}s" % arguments.text()
    if kind in "fFeEgGaA":
        return _real(spec, kind, float(arguments.take("d")))
    return _whole(spec, kind, length or "", arguments)


def _number(text: str | None, arguments: _Arguments) -> int:
    if text == "*":
        return int(arguments.take("i"))
    return int(text[:6]) if text else 0


def _real(spec: str, kind: str, value: float) -> str:
    if kind in "aA":
        text = value.hex()
        return text.upper() if kind == "A" else text
    return f"{spec}{kind}" % value


def _whole(spec: str, kind: str, length: str, arguments: _Arguments) -> str:
    if kind == "p":
        return f"0x{arguments.take('Q'):x}"
    if kind == "c":
        return f"{spec}c" % chr(int(arguments.take("I")) & 255)
    signed = kind in "di"
    wide = length in ("l", "ll", "j", "z", "t")
    value = int(arguments.take(("q" if signed else "Q") if wide else ("i" if signed else "I")))
    if length in ("h", "hh"):
        bits = 16 if length == "h" else 8
        value &= (1 << bits) - 1
        value -= (value >> (bits - 1) << bits) if signed else 0
    if kind == "o":  # Python writes 0o17 where C writes 017
        return f"{spec.replace('#', '')}o" % value
    return f"{spec}{'d' if kind in 'diu' else kind}" % value


def printable(text: str) -> str:
    """A text with a `?` for each character that could do harm where it is shown."""
    return "".join(character if character.isprintable() or character in "\n\t" else "?" for character in text)


def text_at(m: Machine, lane: int, address: int, longest: int) -> str:
    """The string at a generic address of a lane, cut off where it is long."""
    return bytes_at(m, lane, address, longest).split(b"\0")[0].decode("utf-8", "replace")


def bytes_at(m: Machine, lane: int, address: int, count: int) -> bytes:
    """Bytes at a generic address of a lane: fewer than asked for where its memory ends."""
    shared, local = (address - start for start in m.memory.space.windows.values())
    if 0 <= shared < WINDOW:
        offset = shared
        region, start, room = m.shared, int(m.shared_start[lane]) + offset, m.shared_bytes - offset
    elif 0 <= local < WINDOW:
        offset = local
        region, start, room = m.local, int(m.local_start[lane]) + offset, m.local_bytes - offset
    else:
        start = address - m.memory.base
        holder = m.memory.holding(start, start + 1)
        region, room = m.memory, holder.end - start if holder else 0
    return region.bytes[start : start + max(0, min(count, room))].tobytes()
