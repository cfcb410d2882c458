"""`ldmatrix`, `stmatrix`, `movmatrix`: 8 x 8 matrices of b16 (PTX ISA sections 9.7.15.5.15 to 9.7.15.5.17).

Lanes 8 i to 8 i + 7 give the addresses of the rows of matrix i, of 16 bytes each.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from grader.emulator.instructions.fragments import (
    KINDS,
    Layout,
    Warps,
    collect,
    elements_of,
    hand_out,
    layout,
)
from grader.emulator.machine.geometry import WARP
from grader.emulator.memory import access

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from grader.emulator.linking.link import Link
    from grader.emulator.machine.machine import Machine
    from grader.ptx import Instruction

Act: TypeAlias = "Callable[[Machine], None]"
"""What an instruction does once all lanes of a warp are there."""

_ROW = 8
"""Elements of a row of an 8 x 8 matrix; also rows of one."""
_B16 = KINDS["f16"]
_WORD = np.dtype(np.uint32)


def _rows_form(ins: Instruction, link: Link) -> tuple[int, str, bool]:
    """How many 8 x 8 matrices of b16 `ldmatrix` or `stmatrix` moves, in which space, transposed or not."""
    words = set(ins.modifiers) - {"sync", "aligned", "m8n8", "b16", "trans"}
    count = {"x1": 1, "x2": 2, "x4": 4}.get(next(iter(words & {"x1", "x2", "x4"}), ""), 0)
    spaces = words - {"x1", "x2", "x4"}
    if not count or not spaces <= {"shared", "shared::cta"} or not {"m8n8", "b16"} <= set(ins.modifiers):
        raise link.unsupported()
    return count, "shared" if spaces else "", "trans" in ins.modifiers


def _quarter(count: int) -> tuple[Layout, int]:
    """The fragment layout of an 8 x 8 matrix of b16, and how many lanes give the rows of so many of them."""
    return layout("a", (_ROW, _ROW, _ROW), _B16.pack, 1), count * _ROW


@contextmanager
def _pointing(m: Machine, warps: Warps, giving: int) -> Iterator[NDArray[np.intp]]:
    """Only the first so many lanes of each warp are active; gives their places in a table of all warps."""
    chosen, everyone = np.flatnonzero(warps.lane < giving), m.active
    m.active = m.lanes()[chosen]
    yield warps.place[chosen]
    m.active = everyone


def load(ins: Instruction, link: Link, site: int) -> Act:
    """`ldmatrix.sync.aligned.m8n8.x1|x2|x4{.trans}{.shared}.b16 r, [p]` (section 9.7.15.5.15)."""
    count, space, transposed = _rows_form(ins, link)
    registers = [link.register(element) for element in elements_of(link, ins.operands[0])]
    address = link.address(ins.operands[1])
    where, giving = _quarter(count)
    if len(registers) != count:
        raise link.unsupported()

    def act(m: Machine) -> None:
        warps = Warps(m)
        rows = np.zeros((warps.count * WARP, 4), np.uint32)
        with _pointing(m, warps, giving) as place:
            at = address(m, m.active)
            for word in range(4 if place.size else 0):
                request = 0 if word else 16
                rows[place, word] = access.load(m, site, at, _WORD, space, request, 4 * word)
        bits = rows.view(np.uint16).reshape(warps.count, 4, _ROW, _ROW)
        for number, register in enumerate(registers):
            matrix = bits[:, number].transpose(0, 2, 1) if transposed else bits[:, number]
            hand_out(m, warps, [register], matrix, _B16, where)

    return act


def store(ins: Instruction, link: Link, site: int) -> Act:
    """`stmatrix.sync.aligned.m8n8.x1|x2|x4{.trans}{.shared}.b16 [p], r` (section 9.7.15.5.16)."""
    count, space, transposed = _rows_form(ins, link)
    registers = [link.fetch(element, "b32") for element in elements_of(link, ins.operands[1])]
    address = link.address(ins.operands[0])
    where, giving = _quarter(count)
    if len(registers) != count:
        raise link.unsupported()

    def act(m: Machine) -> None:
        warps = Warps(m)
        bits = np.zeros((warps.count, 4, _ROW, _ROW), np.uint16)
        for number, register in enumerate(registers):
            matrix = collect(m, warps, [register], _B16, where)
            bits[:, number] = matrix.transpose(0, 2, 1) if transposed else matrix
        rows = bits.reshape(warps.count * WARP, _ROW).view(np.uint32)
        with _pointing(m, warps, giving) as place:
            at = address(m, m.active)
            for word in range(4 if place.size else 0):
                access.store(m, site, at, rows[place, word], space, 0 if word else 16, 4 * word)

    return act


def transpose(ins: Instruction, link: Link) -> Act:
    """`movmatrix.sync.aligned.m8n8.trans.b16 d, a`: transpose in registers (section 9.7.15.5.17)."""
    if set(ins.modifiers) != {"sync", "aligned", "m8n8", "trans", "b16"}:
        raise link.unsupported()
    register, source = link.register(ins.operands[0]), link.fetch(ins.operands[1], "b32")
    where, _ = _quarter(1)

    def act(m: Machine) -> None:
        warps = Warps(m)
        matrix = collect(m, warps, [source], _B16, where)
        hand_out(m, warps, [register], matrix.transpose(0, 2, 1), _B16, where)

    return act
