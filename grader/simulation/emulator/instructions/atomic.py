"""Atomic operations (PTX ISA sections 9.7.13.6 `atom` and 9.7.13.8 `red`).

Lanes that name one address take turns in the order of their numbers (or backwards, see `Machine`): one of the
orders that a device may choose, and always the same. Where few lanes share an address, all addresses take a
turn at once; where many do, each address runs through its lanes in one NumPy call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from grader.simulation.emulator.instructions import half
from grader.simulation.emulator.instructions.floating import flushed
from grader.simulation.emulator.machine.values import DTYPES, Value, select, spread
from grader.simulation.emulator.memory import access
from grader.simulation.ptx import Operand, Vector
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.simulation.emulator.linking.link import Link, Step
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.memory.memory import Target
    from grader.simulation.ptx import Instruction

_SPACES = ("global", "shared")
_VECTORS = ("v2", "v4", "v8")
_ORDERS = {"relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys", "noftz"}

Turn: TypeAlias = Callable[..., Value]
"""The new value of one lane from the old value and its operands, for many addresses at once."""

RunThrough: TypeAlias = "Callable[..., NDArray[np.generic]]"
"""The values that an address holds before each of its lanes, and after the last: old value, operands."""


class Operation(NamedTuple):
    """An atomic operation."""

    turn: Turn
    run_through: RunThrough | None = None


def _folding(function: np.ufunc) -> Operation:
    """An operation that is a NumPy function of the old value and the operand."""

    def run_through(old: Value, operands: NDArray[np.generic]) -> NDArray[np.generic]:
        return function.accumulate(np.concatenate(([old], operands)))

    return Operation(function, run_through)


def _exchanged(old: Value, operands: NDArray[np.generic]) -> NDArray[np.generic]:
    return np.concatenate(([old], operands))


def _swapped_if_equal(old: Value, expected: NDArray[np.generic], new: NDArray[np.generic]) -> Value:
    """`cas` from lane to lane: only the lanes that read the expected value change anything."""
    values = np.full(len(expected) + 1, old)
    lane = 0
    while True:
        waiting = np.flatnonzero(expected[lane:] == values[lane])
        if not waiting.size:
            return values
        lane += int(waiting[0]) + 1
        values[lane:] = new[lane - 1]


def _increment(old: Value, limit: Value) -> Value:
    return np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1))


def _decrement(old: Value, limit: Value) -> Value:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _add_flushed(old: Value, operand: Value) -> Value:
    """float32 addition in global memory flushes subnormal numbers (section 9.7.13.6)."""
    return flushed(flushed(old) + flushed(operand))


def _run_through_flushed(old: Value, operands: NDArray[np.float32]) -> Value:
    values = np.add.accumulate(np.concatenate(([old], operands)))
    everything = np.concatenate((values, operands))
    if np.array_equal(flushed(everything), everything, equal_nan=True):
        return values
    for lane, operand in enumerate(operands):
        values[lane + 1] = _add_flushed(values[lane], operand)
    return values


def _swapped(old: Value, expected: Value, new: Value) -> Value:
    return np.where(old == expected, new, old)


def _half_sum(old: Value, operand: Value, kind: str) -> Value:
    """Packed or single 16-bit additions."""
    lanes = [np.ascontiguousarray(part).view(np.uint16) for part in (old, operand)]
    numbers = [half.decoded(lane, kind) for lane in lanes]
    return half.encoded(half.sum_to_odd(*numbers), kind).view(old.dtype)


_OPERATIONS = {
    "add": _folding(np.add),
    "and": _folding(np.bitwise_and),
    "or": _folding(np.bitwise_or),
    "xor": _folding(np.bitwise_xor),
    "min": _folding(np.minimum),
    "max": _folding(np.maximum),
    "exch": Operation(lambda _old, new: new, _exchanged),
    "cas": Operation(_swapped, _swapped_if_equal),
    "inc": Operation(_increment),
    "dec": Operation(_decrement),
}
_TYPES = {
    "add": {"u32", "s32", "u64", "f32", "f64", *half.TYPES},
    **{name: {"b32", "b64"} for name in ("and", "or", "xor")},
    **{name: {"b16", "b32", "b64", "u32", "s32", "u64", "s64"} for name in ("exch", "cas")},
    **{name: {"u32", "s32", "u64", "s64"} for name in ("min", "max")},
    **{name: {"u32"} for name in ("inc", "dec")},
}


def _form(link: Link) -> tuple[str, str, str]:
    """State space (empty: generic), operation, type."""
    kind, space, words = link.form(DTYPES.keys() | half.TYPES, {*_OPERATIONS, *_ORDERS, *_VECTORS}, _SPACES)
    name, vector = "".join(words & _OPERATIONS.keys()), words & set(_VECTORS)
    if (
        kind not in _TYPES.get(name, ())
        or len(vector) > 1
        or (vector and (name != "add" or space == "shared"))
    ):
        raise link.unsupported()
    return space, name, kind


def atom(ins: Instruction, link: Link) -> Step:
    """`atom[.sem][.scope][.space].op[.vec].type d, [a], b[, c]`: d is the old value."""
    first, *operands = ins.operands
    elements = first.elements if isinstance(first, Vector) else (first,)
    return _atomic(link, [link.register(element) for element in elements], operands)


def red(ins: Instruction, link: Link) -> Step:
    """`red`: an `atom` without a result."""
    value = ins.operands[1]
    count = len(value.elements) if isinstance(value, Vector) else 1
    return _atomic(link, [-1] * count, list(ins.operands))


def _atomic(link: Link, registers: list[int], operands: list[Operand]) -> Step:
    """Each element of a vector is an atomic of its own: the ISA promises no more (section 9.7.13.6)."""
    space, name, kind = _form(link)
    dtype = DTYPES[kind] if kind in DTYPES and kind != "f16" else np.dtype(f"u{TYPE_BYTES[kind]}")
    operation, site, where = _operation(name, kind), link.site(), link.address(operands[0])
    lists = [operand.elements if isinstance(operand, Vector) else (operand,) for operand in operands[1:]]
    fetches = [[link.fetch(operand, kind) for operand in row] for row in zip(*lists, strict=True)]
    if len(fetches) != len(registers):
        raise link.unsupported()
    change = _changing(name, kind, dtype, operation)
    size = TYPE_BYTES[kind]

    def step(m: Machine) -> None:
        address = where(m, m.active)
        elements = [[fetch(m, m.active) for fetch in row] for row in fetches]
        for position, (register, values) in enumerate(zip(registers, elements, strict=True)):
            at = address + np.int64(position * size) if position else address
            before = access.update(m, site, at, dtype, space, partial(change, m, values))
            if register >= 0:
                m.write_active(register, before)

    return step


def _changing(
    name: str, kind: str, dtype: np.dtype[np.generic], operation: Operation
) -> Callable[[Machine, list[Value], Target], Value]:
    in_global = Operation(_add_flushed, _run_through_flushed)

    def change(m: Machine, values: list[Value], target: Target) -> Value:
        flushes = name == "add" and kind == "f32" and target.space == "global"
        good = None if target.good is None else np.flatnonzero(target.good)
        count = m.size if target.lanes is None else len(target.lanes)
        columns = [spread(select(value, good), count) for value in values]
        index = np.broadcast_to(target.index, count)
        chosen = in_global if flushes else operation
        if m.priority is None:
            return serially(m, target, index, dtype, chosen, columns)
        return serially(m, target, index[::-1], dtype, chosen, [column[::-1] for column in columns])[::-1]

    return change


def _operation(name: str, kind: str) -> Operation:
    if kind in half.TYPES:
        return Operation(partial(_half_sum, kind=kind))
    return _OPERATIONS[name]


def serially(
    m: Machine,
    target: Target,
    index: NDArray[np.int64],
    dtype: np.dtype[np.generic],
    operation: Operation,
    columns: list[NDArray[np.generic]],
) -> NDArray[np.generic]:
    """Let the lanes take turns, lowest first; gives the old value of each. ``index`` is the byte of each."""
    order = np.argsort(index, kind="stable")
    address = index[order]
    columns = [column[order] for column in columns]
    starts = np.flatnonzero(np.concatenate(([True], address[1:] != address[:-1])))
    lengths = np.diff(np.append(starts, len(address)))
    before = target.region.read(address[starts], dtype)
    current = np.array(before)
    results = np.empty(len(address), dtype)
    if operation.run_through and len(starts) < int(lengths.max()):
        for which, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
            part = slice(start, start + length)
            values = operation.run_through(current[which], *(column[part] for column in columns))
            results[part], current[which] = values[:-1], values[-1]
    else:
        for turn in range(int(lengths.max())):
            remaining = np.flatnonzero(lengths > turn)
            lanes = starts[remaining] + turn
            results[lanes] = current[remaining]
            current[remaining] = operation.turn(current[remaining], *(column[lanes] for column in columns))
    target.region.write(address[starts], current)
    if target.space != "local" and before.tobytes() != current.tobytes():
        m.changes += 1
    result = np.empty_like(results)
    result[order] = results
    return result


TABLE = {"atom": atom, "red": red}
