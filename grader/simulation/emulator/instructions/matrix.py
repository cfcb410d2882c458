"""Matrices held by a warp: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix` (PTX ISA section 9.7.15).

**Arithmetic.** PTX leaves the order and the rounding of the sums open. Here products and sums are computed in
float64, where products of f16, bf16 and tf32 numbers are exact, in the order of K, and rounded once to the
accumulator's type; f64 products and sums are each rounded. A tf32 operand is truncated to 10 bits of
mantissa. Integers are exact; a sum that leaves s32 wraps, or saturates with ``.satfinite``.

All 32 lanes of a warp take part. The warps of the chunk compute side by side.

**Rows.** `ldmatrix`, `stmatrix` and `movmatrix` move 8 x 8 matrices of b16 (9.7.15.5.15 to 17).
Lanes 8 i to 8 i + 7 give the addresses of the rows of matrix i, of 16 bytes each.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from grader.simulation.emulator.instructions import fragments
from grader.simulation.emulator.instructions.fragments import (
    KINDS,
    ElementKind,
    FragmentLayout,
    Warps,
    collect,
    elements_of,
    hand_out,
    layout,
)
from grader.simulation.emulator.machine.geometry import WARP
from grader.simulation.emulator.machine.state import WarpOperation
from grader.simulation.emulator.machine.synchronisation import arrive
from grader.simulation.emulator.memory import access
from grader.simulation.ptx import Immediate, Operand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from grader.simulation.emulator.linking.link import ControlStep, Fetch, Link
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.synchronisation import Table
    from grader.simulation.ptx import Instruction

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_EVERY_LANE = Immediate(0xFFFFFFFF)
_PLAIN = {"sync", "aligned", "row", "col", "mma", "rn", "satfinite"}
_FLOATS = {"f16", "bf16", "tf32", "f64"}

Act: TypeAlias = "Callable[[Machine], None]"
"""Effect of an instruction once all lanes of a warp have arrived."""

_ROW = 8
"""Elements of a row of an 8 x 8 matrix; also rows of one."""

_B16 = KINDS["f16"]

_WORD = np.dtype(np.uint32)


def _collective(link: Link, site: int, act: Callable[[Machine], None]) -> ControlStep:
    """``act`` once all lanes of the warp are there; a warp that is not complete is reported."""

    def act_together(m: Machine, _party: NDArray[np.uint32], _offered: Table) -> None:
        if (m.count % WARP or not Warps(m).whole) and _others_have_exited(m):
            m.reporter.warp_incomplete(m, site)
        act(m)

    # `.aligned`: all lanes of the warp must execute the very same instruction
    kind = f"{link.instruction.name} at {site}"
    operation = WarpOperation(site, kind, link.fetch(_EVERY_LANE, "u32"), act_together)
    return lambda m, group: arrive(m, group, operation)


def _others_have_exited(m: Machine) -> bool:
    """True if the lanes of the active warps that are not here have exited, or never existed."""
    living = np.bincount(m.warp_of[m.alive], minlength=int(m.warp_of[-1]) + 1)
    return int(living[np.unique(m.warp_of[m.lanes()])].sum()) == m.count


def _extents(ins: Instruction, link: Link) -> tuple[int, int, int]:
    """M, N and K."""
    for word in ins.modifiers:
        if match := _SHAPE.fullmatch(word):
            m, n, k = (int(number) for number in match.groups())
            return m, n, k
    raise link.unsupported()


class _MatrixOperand(NamedTuple):
    """An operand of a product: its registers, its type, where its elements are."""

    registers: list[Fetch]
    kind: ElementKind
    where: FragmentLayout

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
    """The types of D, A, B and C; `wmma.mma` of f16 names only the types of D and C."""
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


def _part(
    link: Link, operand: Operand, part: str, name: str, extents: tuple[int, int, int]
) -> _MatrixOperand:
    """Raises ValueError if the registers cannot hold the matrix."""
    kind, elements = KINDS[name], elements_of(link, operand)
    registers = [link.fetch(element, f"b{8 * int(kind.word[1:])}") for element in elements]
    return _MatrixOperand(registers, kind, layout(part, extents, kind.pack, len(registers)))


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
    build = fragments.load if ins.modifiers[0] == "load" else fragments.store
    return _collective(link, site, build(ins, link, _extents(ins, link), site))


def ldmatrix(ins: Instruction, link: Link) -> ControlStep:
    """`ldmatrix.sync.aligned.m8n8.x1|x2|x4{.trans}{.shared}.b16 r, [p]` (section 9.7.15.5.15)."""
    site = link.site()
    return _collective(link, site, load(ins, link, site))


def stmatrix(ins: Instruction, link: Link) -> ControlStep:
    """`stmatrix.sync.aligned.m8n8.x1|x2|x4{.trans}{.shared}.b16 [p], r` (section 9.7.15.5.16)."""
    site = link.site()
    return _collective(link, site, store(ins, link, site))


def movmatrix(ins: Instruction, link: Link) -> ControlStep:
    """`movmatrix.sync.aligned.m8n8.trans.b16 d, a`: transpose in registers (section 9.7.15.5.17)."""
    return _collective(link, link.site(), transpose(ins, link))


TABLE = {
    "mma": mma,
    "wmma": wmma,
    "ldmatrix": ldmatrix,
    "stmatrix": stmatrix,
    "movmatrix": movmatrix,
}


def _rows_form(ins: Instruction, link: Link) -> tuple[int, str, bool]:
    """Number of 8 x 8 matrices of b16 that `ldmatrix` or `stmatrix` moves, their space, transposed or not."""
    words = set(ins.modifiers) - {"sync", "aligned", "m8n8", "b16", "trans"}
    count = {"x1": 1, "x2": 2, "x4": 4}.get(next(iter(words & {"x1", "x2", "x4"}), ""), 0)
    spaces = words - {"x1", "x2", "x4"}
    if not count or not spaces <= {"shared", "shared::cta"} or not {"m8n8", "b16"} <= set(ins.modifiers):
        raise link.unsupported()
    return count, "shared" if spaces else "", "trans" in ins.modifiers


def _quarter(count: int) -> tuple[FragmentLayout, int]:
    """Fragment layout of an 8 x 8 matrix of b16, and the number of lanes that give ``count`` such rows."""
    return layout("a", (_ROW, _ROW, _ROW), _B16.pack, 1), count * _ROW


@contextmanager
def _pointing(m: Machine, warps: Warps, giving: int) -> Iterator[NDArray[np.intp]]:
    """Activate the first ``giving`` lanes of each warp; gives their positions in a table of all warps."""
    chosen, everyone = np.flatnonzero(warps.lane < giving), m.active
    m.active = m.lanes()[chosen]
    yield warps.position[chosen]
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
        with _pointing(m, warps, giving) as pointer:
            at = address(m, m.active)
            for word in range(4 if pointer.size else 0):
                request = 0 if word else 16
                rows[pointer, word] = access.load(m, site, at, _WORD, space, request, 4 * word)
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
        with _pointing(m, warps, giving) as pointer:
            at = address(m, m.active)
            for word in range(4 if pointer.size else 0):
                access.store(m, site, at, rows[pointer, word], space, 0 if word else 16, 4 * word)

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
