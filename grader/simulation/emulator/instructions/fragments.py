"""Fragments: assignment of the elements of a matrix to the lanes of a warp (PTX ISA section 9.7.15.5).

A *fragment* is the part of a matrix that the registers of a warp hold. For `mma` the PTX ISA says where each
element is, and all its figures follow one rule: with ``group = lane // 4`` and ``member = lane % 4``, a
register of A holds neighbours in row ``group`` from column ``member * pack`` on, a register of B the same
with rows and columns exchanged, an accumulator pair columns ``2 * member`` and the next in row ``group``;
further registers repeat this 8 rows down, or as many columns to the right as four members fill. The layout of
`wmma` fragments is unspecified, and is chosen here: they follow the same rule, and where CUDA gives a lane
more registers than there are elements, as for f16, each element is held several times.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.simulation.emulator.instructions.half import decoded, encoded
from grader.simulation.emulator.machine.geometry import WARP
from grader.simulation.emulator.machine.values import scalar
from grader.simulation.emulator.memory import access
from grader.simulation.ptx import Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from grader.simulation.emulator.linking.link import Fetch, Link
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.values import Value
    from grader.simulation.ptx import Instruction, Operand

_TILE = 8
"""Rows, or columns, that a warp covers with one register per lane: its groups."""
_GROUP = 4
"""Lanes of a group."""
_NAN = np.uint32(0x7FFFFFFF)
_TF32 = np.uint32(0xFFFFE000)


class ElementKind(NamedTuple):
    """Layout of elements of a PTX type in registers; ``bits`` is an element, ``word`` a register."""

    bits: str
    word: str
    decode: Callable[[NDArray[Any]], NDArray[Any]]
    encode: Callable[[NDArray[Any]], NDArray[Any]]

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return int(self.bits[1:])

    @property
    def pack(self) -> int:
        """Elements in a register."""
        return int(self.word[1:]) // self.size


def _single(value: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Rounded once to float32; every NaN is 0x7fffffff."""
    return np.where(np.isnan(value), _NAN, value.astype(np.float32).view(np.uint32))


def _viewed(dtype: str, wide: str) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda bits: bits.view(dtype).astype(wide)


KINDS = {
    "f16": ElementKind("u2", "u4", lambda bits: decoded(bits, "f16"), lambda value: encoded(value, "f16")),
    "bf16": ElementKind("u2", "u4", lambda bits: decoded(bits, "bf16"), lambda value: encoded(value, "bf16")),
    "tf32": ElementKind("u4", "u4", lambda bits: (bits & _TF32).view("f4").astype("f8"), _single),
    "f32": ElementKind("u4", "u4", _viewed("f4", "f8"), _single),
    "f64": ElementKind("u8", "u8", _viewed("f8", "f8"), lambda value: value.view("u8")),
    "s8": ElementKind("u1", "u4", _viewed("i1", "i8"), lambda value: value.astype("i1").view("u1")),
    "u8": ElementKind("u1", "u4", _viewed("u1", "i8"), lambda value: value.astype("u1")),
    "s32": ElementKind("u4", "u4", _viewed("i4", "i8"), lambda value: value.astype("i4").view("u4")),
}
"""Element types. The lowest 13 bits of a tf32 operand do not count: 10 bits of mantissa are left."""


def elements_of(link: Link, operand: Operand) -> tuple[Operand, ...]:
    """The registers of a fragment: ``{a, b, c, d}``."""
    if not isinstance(operand, Vector):
        raise link.unsupported()
    return operand.elements


class FragmentLayout(NamedTuple):
    """Positions of the elements of a matrix in a warp.

    ``element_of``, shape (32 * elements of a lane,), gives the element (row by row) that each slot holds,
    ``slots``, shape (rows * columns,), for each element the first slot that holds it.
    """

    rows: int
    columns: int
    element_of: NDArray[np.intp]
    slots: NDArray[np.intp]


@lru_cache(maxsize=256)
def layout(part: str, extents: tuple[int, int, int], pack: int, registers: int) -> FragmentLayout:
    """The layout of ``part`` ``a``, ``b`` or ``c`` of an M x N x K product in the ``registers`` of a lane.

    Raises ValueError if that many registers cannot hold it.
    """
    m, n, k = extents
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[part]
    elements = list(_elements(part, rows, columns, pack))
    copies, rest = divmod(registers * pack, len(elements) or registers * pack + 1)
    if rest or not copies:
        raise ValueError(part)
    element_of = np.stack([row * columns + column for row, column in elements * copies], axis=1).reshape(-1)
    _, slots = np.unique(element_of, return_index=True)
    if len(slots) != rows * columns:
        raise ValueError(part)
    return FragmentLayout(rows, columns, element_of, slots)


def _elements(
    part: str, rows: int, columns: int, pack: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Row and column, for each of the 32 lanes, of its first element, of its second and so on."""
    if part == "b":
        yield from ((row, column) for column, row in _elements("b'", columns, rows, pack))
        return
    pack = 2 if part == "c" else pack
    group, member = np.divmod(np.arange(WARP), _GROUP)
    down, right = range(0, rows, _TILE), range(0, columns - _GROUP * pack + 1, _GROUP * pack)
    tiles = [(r, c) for r in down for c in right] if part == "b'" else [(r, c) for c in right for r in down]
    for row, column in tiles:
        for element in range(pack):
            yield group + row, member * pack + element + column


class Warps:
    """The warps of the active lanes, and how values go from lanes to tables of shape (warps, 32) and back.

    ``lane`` is each active lane's number in its warp, ``position`` its position in such a table, row by row;
    ``whole`` is true if all 32 lanes of each warp are active.
    """

    def __init__(self, m: Machine) -> None:
        self.lane = m.lanes() % m.geometry.threads % WARP
        warp = m.warp_of if m.active is None else m.warp_of[m.active]
        row = np.cumsum(np.diff(warp, prepend=warp[0]) != 0)
        self.count = int(row[-1]) + 1
        self.whole = self.count * WARP == len(warp)
        self.position = row * WARP + self.lane

    def table(self, values: Value) -> NDArray[np.generic]:
        """Values of the active lanes, with zeros where a lane is not active."""
        if values.ndim and self.whole:
            return values.reshape(self.count, WARP)
        cells = np.zeros(self.count * WARP, values.dtype)
        cells[self.position] = values
        return cells.reshape(self.count, WARP)

    def lanes(self, table: NDArray[np.generic]) -> NDArray[np.generic]:
        """The elements of a table for the active lanes."""
        flat = table.reshape(-1)
        return flat if self.whole else flat[self.position]


def collect(
    m: Machine, warps: Warps, registers: Sequence[Fetch], kind: ElementKind, where: FragmentLayout
) -> NDArray[np.unsignedinteger]:
    """The matrices whose fragments the warps hold, as bits: shape (warps, rows, columns)."""
    words = np.stack([warps.table(fetch(m, m.active)) for fetch in registers], axis=-1)
    elements = words.view(kind.bits).reshape(warps.count, -1)
    return elements.take(where.slots, axis=1).reshape(warps.count, where.rows, where.columns)


def hand_out(
    m: Machine,
    warps: Warps,
    registers: Sequence[int],
    bits: NDArray[Any],
    kind: ElementKind,
    where: FragmentLayout,
) -> None:
    """Write the fragments of matrices, given as bits of shape (warps, rows, columns), to registers."""
    elements = bits.reshape(warps.count, -1).take(where.element_of, axis=1)
    words = elements.view(kind.word).reshape(warps.count, WARP, len(registers))
    for column, register in enumerate(registers):
        m.write_active(register, warps.lanes(words[:, :, column]))


_WIDEST = 16
"""Bytes of the widest access of a lane."""
_WORD = 4
"""Bytes that a lane reads or writes at a time, of narrower elements as well."""


class Pieces(NamedTuple):
    """Distribution of a matrix of ``runs`` contiguous runs of ``length`` elements over 32 lanes."""

    runs: int
    length: int
    kind: ElementKind

    @property
    def size(self) -> int:
        """Bytes of a piece."""
        return min(_WIDEST, self.runs * self.length * self.kind.size // WARP)

    @property
    def word(self) -> np.dtype[np.unsignedinteger]:
        """Type of the word that one access reads or writes."""
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
    """Meaning of the words after `wmma.load` or `wmma.store`."""

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
        return lambda _m, _lanes: scalar(np.int64(default))
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
