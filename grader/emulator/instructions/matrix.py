"""Matrices held by a warp: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix` (PTX ISA section 9.7.15).

**Arithmetic.** PTX leaves the order and the rounding of the sums open. Here products and sums are computed in
float64, where products of f16, bf16 and tf32 numbers are exact, in the order of K, and rounded once to the
accumulator's type; f64 products and sums are each rounded. A tf32 operand is truncated to 10 bits of
mantissa. Integers are exact; a sum that leaves s32 wraps, or saturates with ``.satfinite``.

All 32 lanes of a warp take part. The warps of the chunk compute side by side.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.emulator.instructions import matrix_rows, tiles
from grader.emulator.instructions.fragments import (
    KINDS,
    Kind,
    Layout,
    Warps,
    collect,
    elements_of,
    hand_out,
    layout,
)
from grader.emulator.machine.geometry import WARP
from grader.emulator.machine.state import WarpOperation
from grader.emulator.machine.warp_sync import arrive
from grader.ptx import Immediate, Operand

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.emulator.linking.link import ControlStep, Fetch, Link
    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.warp_sync import Table
    from grader.ptx import Instruction

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_EVERY_LANE = Immediate(0xFFFFFFFF)
_PLAIN = {"sync", "aligned", "row", "col", "mma", "rn", "satfinite"}
_FLOATS = {"f16", "bf16", "tf32", "f64"}


def _collective(link: Link, site: int, act: Callable[[Machine], None]) -> ControlStep:
    """``act`` once all lanes of the warp are there; a warp that is not complete is reported."""

    def act_together(m: Machine, _party: NDArray[np.uint32], _offered: Table) -> None:
        if (m.count % WARP or not Warps(m).whole) and _nobody_else_lives(m):
            m.reporter.warp_incomplete(m, site)
        act(m)

    # `.aligned`: all lanes of the warp must execute the very same instruction
    kind = f"{link.instruction.name} at {site}"
    operation = WarpOperation(site, kind, link.fetch(_EVERY_LANE, "u32"), act_together)
    return lambda m, group: arrive(m, group, operation)


def _nobody_else_lives(m: Machine) -> bool:
    """Whether the lanes of the active warps that are not here have exited, or never were."""
    living = np.bincount(m.warp_of[m.alive], minlength=int(m.warp_of[-1]) + 1)
    return int(living[np.unique(m.warp_of[m.lanes()])].sum()) == m.count


def _extents(ins: Instruction, link: Link) -> tuple[int, int, int]:
    """M, N and K."""
    for word in ins.modifiers:
        if found := _SHAPE.fullmatch(word):
            m, n, k = (int(number) for number in found.groups())
            return m, n, k
    raise link.unsupported()


class _Part(NamedTuple):
    """An operand of a product: its registers, its type, where its elements are."""

    registers: list[Fetch]
    kind: Kind
    where: Layout

    def matrix(self, m: Machine, warps: Warps) -> NDArray[Any]:
        """Its numbers: shape (warps, rows, columns), float64 or int64."""
        return self.kind.decode(collect(m, warps, self.registers, self.kind, self.where))


def mma(ins: Instruction, link: Link) -> ControlStep:
    """`mma.sync.aligned.shape.row.col{.satfinite}.d.a.b.c` and `wmma.mma.sync`, both D = A B + C."""
    extents = _extents(ins, link)
    names = _types(ins, link)
    try:
        parts = [
            _part(link, operand, part, name, extents)
            for operand, part, name in zip(ins.operands[1:], "abc", names[1:], strict=True)
        ]
        target = _part(link, ins.operands[0], "c", names[0], extents)
    except ValueError:  # no such shape for this type
        raise link.unsupported() from None
    registers = [link.register(element) for element in elements_of(link, ins.operands[0])]
    saturates, size = "satfinite" in ins.modifiers, extents[0] * extents[1] * extents[2]
    operations = 2 * size if names[1] in _FLOATS else 0

    def act(m: Machine) -> None:
        warps = Warps(m)
        a, b, c = (part.matrix(m, warps) for part in parts)
        total = product(a, b, c)
        if saturates:
            total = np.clip(total, -(2**31), 2**31 - 1)
        hand_out(m, warps, registers, target.kind.encode(total), target.kind, target.where)
        m.observer.count_flops(operations * warps.count)

    return _collective(link, link.site(), act)


def _types(ins: Instruction, link: Link) -> tuple[str, str, str, str]:
    """The types of D, A, B and C; `wmma.mma` of f16 names only those of D and C."""
    names = [word for word in ins.modifiers if word in KINDS]
    others = [word for word in ins.modifiers if word not in KINDS and not _SHAPE.fullmatch(word)]
    if not set(others) <= _PLAIN:
        raise link.unsupported()
    if len(names) == 2:  # noqa: PLR2004 - D and C
        return names[0], "f16", "f16", names[1]
    d, a, b, c = names if len(names) == 4 else [""] * 4  # noqa: PLR2004 - D, A, B, C
    if not d or (a in _FLOATS) != (b in _FLOATS) or KINDS[a].size != KINDS[b].size:
        raise link.unsupported()
    return d, a, b, c


def _part(link: Link, operand: Operand, part: str, name: str, extents: tuple[int, int, int]) -> _Part:
    """Raises ValueError if the registers cannot hold the matrix."""
    kind, elements = KINDS[name], elements_of(link, operand)
    registers = [link.fetch(element, f"b{8 * int(kind.word[1:])}") for element in elements]
    return _Part(registers, kind, layout(part, extents, kind.pack, len(registers)))


def product(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
    """A B + C for shapes (warps, M, K), (warps, K, N) and (warps, M, N), summed in the order of K.

    One rank-one update after the other, and not a library's product: the same bits on every machine.
    """
    total = c.copy()
    for k in range(a.shape[2]):
        total += a[:, :, k : k + 1] * b[:, k : k + 1, :]
    return total


def wmma(ins: Instruction, link: Link) -> ControlStep:
    """`wmma.load`, `wmma.store` and `wmma.mma` (section 9.7.15.4)."""
    if ins.modifiers[0] == "mma":
        return mma(ins, link)
    if ins.modifiers[0] not in ("load", "store"):
        raise link.unsupported()
    site = link.site()
    build = tiles.load if ins.modifiers[0] == "load" else tiles.store
    return _collective(link, site, build(ins, link, _extents(ins, link), site))


def ldmatrix(ins: Instruction, link: Link) -> ControlStep:
    """`ldmatrix.sync.aligned.m8n8.x1|x2|x4{.trans}{.shared}.b16 r, [p]` (section 9.7.15.5.15)."""
    site = link.site()
    return _collective(link, site, matrix_rows.load(ins, link, site))


def stmatrix(ins: Instruction, link: Link) -> ControlStep:
    """`stmatrix.sync.aligned.m8n8.x1|x2|x4{.trans}{.shared}.b16 [p], r` (section 9.7.15.5.16)."""
    site = link.site()
    return _collective(link, site, matrix_rows.store(ins, link, site))


def movmatrix(ins: Instruction, link: Link) -> ControlStep:
    """`movmatrix.sync.aligned.m8n8.trans.b16 d, a`: transpose in registers (section 9.7.15.5.17)."""
    return _collective(link, link.site(), matrix_rows.transpose(ins, link))


TABLE = {
    "mma": mma,
    "wmma": wmma,
    "ldmatrix": ldmatrix,
    "stmatrix": stmatrix,
    "movmatrix": movmatrix,
}
