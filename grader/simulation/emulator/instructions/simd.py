"""Packed integers: four bytes or two halves of a word at once.

There are the integer instructions of types u16x2 and s16x2 (PTX ISA section 9.7.1) and the SIMD video
instructions (section 9.7.18). Each of the latter operates on the pieces of its first two operands; with
``.add`` the sum of the results is added to a third. Pieces are taken in order: selectors (``a.b3210``) and
masks are not interpreted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.emulator.instructions.compare import COMPARISONS
from grader.simulation.emulator.machine.values import Value  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.emulator.linking.link import Link, Step
    from grader.simulation.ptx import Instruction

_OPERATIONS: dict[str, Callable[[Value, Value], Value]] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vavrg": lambda a, b: (a + b + np.where(a + b < 0, 0, 1)) >> 1,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
}


def _pieces(word: Value, count: int, kind: str) -> Value:
    """The pieces of a 32-bit word along a new axis, as 64-bit numbers."""
    bits = 32 // count
    parts = word[..., None] >> (np.arange(count) * bits).astype(np.uint32)
    return parts.astype(f"{'i' if kind == 's32' else 'u'}{bits // 8}").astype(np.int64)


def _word(pieces: Value, count: int) -> Value:
    bits = np.uint64(32 // count)
    parts = pieces.astype(np.uint64) & ((np.uint64(1) << bits) - np.uint64(1))
    return (parts << np.arange(count, dtype=np.uint64) * bits).sum(-1).astype(np.uint32)


def _piecewise(ins: Instruction, link: Link) -> Step:
    """`vop2|4.dtype.atype.btype[.sat|.add] d, a, b, c`."""
    name, count = ins.opcode[:-1], int(ins.opcode[-1])
    (kind, first, second), rest = ins.modifiers[:3], ins.modifiers[3:]
    if not {kind, first, second} <= {"u32", "s32"} or rest not in ((), ("sat",), ("add",)):
        raise link.unsupported()
    bits = 32 // count
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "s32" else (0, (1 << bits) - 1)

    def compute(a: Value, b: Value, c: Value) -> Value:
        result = _OPERATIONS[name](_pieces(a, count, first), _pieces(b, count, second))
        if rest == ("add",):
            return (result.sum(-1) + c).astype(np.uint32)
        return _word(np.clip(result, low, high) if rest else result, count)

    return link.pure(compute, "u32", "u32", "u32")


def _comparing(ins: Instruction, link: Link) -> Step:
    """`vset2|4.atype.btype.cmp[.add] d, a, b, c`: 1 in each piece where it holds."""
    count = int(ins.opcode[-1])
    (first, second, relation), rest = ins.modifiers[:3], ins.modifiers[3:]
    relations = {name: COMPARISONS[name] for name in ("eq", "lt", "le", "gt", "ge")} | {"ne": np.not_equal}
    if relation not in relations or rest not in ((), ("add",)):
        raise link.unsupported()

    def compute(a: Value, b: Value, c: Value) -> Value:
        holds = relations[relation](_pieces(a, count, first), _pieces(b, count, second)).astype(np.int64)
        return (holds.sum(-1) + c).astype(np.uint32) if rest else _word(holds, count)

    return link.pure(compute, "u32", "u32", "u32")


TYPES = frozenset({"u16x2", "s16x2"})
_PAIRWISE: dict[str, Callable[[Value, Value], Value]] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
}


def _pairwise(ins: Instruction, link: Link) -> Step:
    """`add`, `min[.relu]` and `max[.relu]` of two 16-bit integers in a word."""
    kind, _, words = link.form(TYPES, ("relu",))
    if words and (ins.opcode == "add" or kind != "s16x2"):
        raise link.unsupported()
    function, sign = _PAIRWISE[ins.opcode], "s32" if kind == "s16x2" else "u32"

    def compute(a: Value, b: Value) -> Value:
        result = function(_pieces(a, 2, sign), _pieces(b, 2, sign))
        return _word(np.maximum(result, 0) if words else result, 2)

    return link.pure(compute, "u32", "u32")


TABLE = {
    **dict.fromkeys(_PAIRWISE, _pairwise),
    **{f"{name}{count}": _piecewise for name in _OPERATIONS for count in (2, 4)},
    "vset2": _comparing,
    "vset4": _comparing,
}
