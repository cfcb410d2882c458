"""Comparison and selection (PTX ISA section 9.7.6): `set`, `setp`, `selp`, `slct`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.emulator.instructions.floating import flushed
from grader.simulation.emulator.machine.values import DTYPES, FALSE, Value
from grader.simulation.ptx import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.emulator.linking.link import Fetch, Link, Step
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.ptx import Instruction


def _unordered(compare: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    return lambda a, b: compare(a, b) | np.isnan(a) | np.isnan(b)


def _ordered_not_equal(a: Value, b: Value) -> Value:
    return (a < b) | (a > b)


COMPARISONS: dict[str, Callable[[Value, Value], Value]] = {
    "eq": np.equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
    "equ": _unordered(np.equal),
    "neu": np.not_equal,
    "ltu": _unordered(np.less),
    "leu": _unordered(np.less_equal),
    "gtu": _unordered(np.greater),
    "geu": _unordered(np.greater_equal),
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}
"""The ordered comparisons are false for a NaN, those ending in ``u`` true (section 9.3.1.2)."""

LOGIC: dict[str, Callable[[Value, Value], Value]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def _relation(words: tuple[str, ...], kind: str, link: Link) -> tuple[Callable[[Value, Value], Value], str]:
    """The comparison that ``.CmpOp[.BoolOp][.ftz]`` names, and the Boolean operation, if any."""
    name, rest = words[0], set(words[1:]) - {"ftz"}
    if kind not in DTYPES or name not in (*COMPARISONS, "ne") or len(rest) > 1 or not rest <= set(LOGIC):
        raise link.unsupported()
    compare = COMPARISONS.get(name) or (_ordered_not_equal if kind[0] == "f" else np.not_equal)
    if "ftz" not in words:
        return compare, "".join(rest)
    return lambda a, b: compare(flushed(a), flushed(b)), "".join(rest)


def setp(ins: Instruction, link: Link) -> Step:
    """`setp.CmpOp[.BoolOp].type p[|q], a, b[, [!]c]` (section 9.7.6.2)."""
    kind = ins.modifiers[-1]
    compare, logic = _relation(ins.modifiers[:-1], kind, link)
    destination = ins.operands[0]
    if isinstance(destination, Pair) or logic:
        first, second = (link.fetch(operand, kind) for operand in ins.operands[1:3])
        third = link.fetch(ins.operands[3], "pred") if logic else None
        return _setp_general(destination, link, compare, (first, second, third), LOGIC.get(logic))
    return link.pure(compare, kind, kind)


def set_(ins: Instruction, link: Link) -> Step:
    """`set.CmpOp[.BoolOp].dtype.stype d, a, b[, [!]c]`: all ones, or 1.0, where it holds (9.7.6.1)."""
    *words, to, kind = ins.modifiers
    if to not in ("u32", "s32", "f32"):
        raise link.unsupported()
    compare, logic = _relation(tuple(words), kind, link)
    yes = np.float32(1) if to == "f32" else np.uint32(0xFFFFFFFF)
    no = yes.dtype.type(0)

    def choose(a: Value, b: Value, c: Value = FALSE) -> Value:
        holds = compare(a, b)
        return np.where(LOGIC[logic](holds, c) if logic else holds, yes, no)[()]

    return link.pure(choose, kind, kind, *["pred"] * bool(logic))


def _setp_general(
    destination: object,
    link: Link,
    compare: Callable[[Value, Value], Value],
    sources: tuple[Fetch, Fetch, Fetch | None],
    logic: Callable[[Value, Value], Value] | None,
) -> Step:
    """The forms with a second destination (the negation) or with a predicate to combine with."""
    both = destination if isinstance(destination, Pair) else None
    register = link.register(both.first if both else destination)  # type: ignore[arg-type]
    other = link.register(both.second) if both else -1
    first, second, third = sources

    def step(m: Machine) -> None:
        holds = compare(first(m, m.compute_mask), second(m, m.compute_mask))
        negation = np.logical_not(holds)
        if logic and third:
            predicate = third(m, m.compute_mask)
            holds, negation = logic(holds, predicate), logic(negation, predicate)
        if register >= 0:
            m.write(register, holds)
        if other >= 0:
            m.write(other, negation)

    return step


def _choose(condition: Value, a: Value, b: Value) -> Value:
    chosen: Value = np.where(condition, a, b)
    return chosen[()]


def selp(ins: Instruction, link: Link) -> Step:
    """`selp.type d, a, b, p`: a where p holds, else b (section 9.7.6.3)."""
    kind = ins.modifiers[-1]
    return link.pure(lambda a, b, p: _choose(p, a, b), kind, kind, "pred")


def slct(ins: Instruction, link: Link) -> Step:
    """`slct.dtype.ctype d, a, b, c`: a where c >= 0, else b (section 9.7.6.4)."""
    kind, test = ins.modifiers[-2:]
    if test not in ("s32", "f32"):
        raise link.unsupported()
    clean = flushed if "ftz" in ins.modifiers else lambda c: c
    return link.pure(lambda a, b, c: _choose(clean(c) >= 0, a, b), kind, kind, test)


TABLE = {"set": set_, "setp": setp, "selp": selp, "slct": slct}
