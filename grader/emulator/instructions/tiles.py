"""`wmma.load` and `wmma.store`: a matrix between memory and the registers of a warp (section 9.7.15.4).

Which lane touches which bytes is open in PTX, and devices differ. Here every byte of the matrix is touched
once: the lanes share it out in pieces of up to 16 bytes that lie side by side, in order. CUDA asks for
a leading dimension that is a multiple of 16 bytes, and for a first element aligned to 32: a piece that is
not aligned is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.instructions.fragments import (
    KINDS,
    ElementKind,
    FragmentLayout,
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

    from grader.emulator.linking.link import Fetch, Link
    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.values import Value
    from grader.ptx import Instruction, Operand

_WIDEST = 16
"""Bytes of the widest access of a lane."""
_WORD = 4
"""Bytes that a lane reads or writes at a time, of narrower elements as well."""


class Pieces(NamedTuple):
    """How a matrix of ``runs`` contiguous runs of ``length`` elements is shared out among 32 lanes."""

    runs: int
    length: int
    kind: ElementKind

    @property
    def size(self) -> int:
        """Bytes of a piece."""
        return min(_WIDEST, self.runs * self.length * self.kind.size // WARP)

    @property
    def word(self) -> np.dtype[np.unsignedinteger]:
        """What one access reads or writes."""
        return np.dtype(f"u{max(_WORD, self.kind.size)}")

    @property
    def rounds(self) -> int:
        """Pieces of each lane."""
        return self.runs * self.length * self.kind.size // (WARP * self.size)

    def addresses(self, lane: NDArray[np.intp], base: Value, stride: Value) -> Iterator[Value]:
        """The address of each piece of some lanes; runs begin ``stride`` elements apart."""
        in_run = self.length * self.kind.size // self.size
        for number in range(self.rounds):
            run, piece = np.divmod(number * WARP + lane, in_run)
            yield base + run * stride * np.int64(self.kind.size) + piece * self.size

    def words(self) -> Iterator[tuple[int, int]]:
        """Of each access for a piece: its offset, and how many bytes travel with it (see `Target`)."""
        for offset in range(0, self.size, self.word.itemsize):
            yield offset, 0 if offset else self.size


class _Form(NamedTuple):
    """What the words after `wmma.load` or `wmma.store` say."""

    kind: ElementKind
    where: FragmentLayout
    pieces: Pieces
    space: str
    by_column: bool


def _form(ins: Instruction, link: Link, extents: tuple[int, int, int], registers: int) -> _Form:
    part, name = ins.modifiers[1], ins.modifiers[-1]
    space = next((word.split("::")[0] for word in ins.modifiers if word.startswith(("global", "shared"))), "")
    if name not in KINDS or part not in "abcd":
        raise link.unsupported()
    kind, by_column = KINDS[name], "col" in ins.modifiers
    try:
        where = layout("c" if part == "d" else part, extents, kind.pack, registers)
    except ValueError:
        raise link.unsupported() from None
    runs, length = (where.columns, where.rows) if by_column else (where.rows, where.columns)
    return _Form(kind, where, Pieces(runs, length, kind), space, by_column)


def _stride(link: Link, operands: tuple[Operand, ...], default: int) -> Fetch:
    """The leading dimension in elements: the third operand, if there is one."""
    if not operands:
        return lambda _m, _lanes: np.int64(default)
    fetch = link.fetch(operands[0], "u32")
    return lambda m, lanes: fetch(m, lanes).astype(np.int64)


def load(ins: Instruction, link: Link, extents: tuple[int, int, int], site: int) -> Callable[[Machine], None]:
    """`wmma.load.a|b|c.sync.aligned.layout.shape{.ss}.type r, [p] {, stride}`."""
    vector, address, *rest = ins.operands
    registers = [link.register(element) for element in elements_of(link, vector)]
    form, base = _form(ins, link, extents, len(registers)), link.address(address)
    pieces, stride = form.pieces, _stride(link, tuple(rest), form.pieces.length)

    def act(m: Machine) -> None:
        warps = Warps(m)
        rounds = []
        for at in pieces.addresses(warps.lane, base(m, m.active), stride(m, m.active)):
            words = [
                access.load(m, site, at, pieces.word, form.space, request, offset)
                for offset, request in pieces.words()
            ]
            rounds.append(np.stack([warps.table(word) for word in words], axis=-1))
        bits = np.stack(rounds, axis=1).view(form.kind.bits).reshape(warps.count, pieces.runs, pieces.length)
        whole = bits.transpose(0, 2, 1) if form.by_column else bits
        hand_out(m, warps, registers, whole, form.kind, form.where)

    return act


def store(
    ins: Instruction, link: Link, extents: tuple[int, int, int], site: int
) -> Callable[[Machine], None]:
    """`wmma.store.d.sync.aligned.layout.shape{.ss}.type [p], r {, stride}`."""
    address, vector, *rest = ins.operands
    elements = elements_of(link, vector)
    form, base = _form(ins, link, extents, len(elements)), link.address(address)
    registers = [link.fetch(element, f"b{8 * int(form.kind.word[1:])}") for element in elements]
    pieces, stride = form.pieces, _stride(link, tuple(rest), form.pieces.length)

    def act(m: Machine) -> None:
        warps = Warps(m)
        whole = collect(m, warps, registers, form.kind, form.where)
        bits = np.ascontiguousarray(whole.transpose(0, 2, 1) if form.by_column else whole)
        words = bits.reshape(-1).view(pieces.word).reshape(warps.count, pieces.rounds, WARP, -1)
        addresses = pieces.addresses(warps.lane, base(m, m.active), stride(m, m.active))
        for number, at in enumerate(addresses):
            for word, (offset, request) in enumerate(pieces.words()):
                value = warps.lanes(words[:, number, :, word])
                access.store(m, site, at, value, form.space, request, offset)

    return act
