"""Memo of facts about immutable arrays (extent, unfolded form, 64-bit form), keyed by ``id()``.

It holds a reference to each array, so that an id is never one of another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.emulator.machine.values import FOLDED, Lanes, Shape, Value, unfold

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.emulator.memory.place import Place

REMEMBERED = 16
"""Values of which each kind of fact is kept: enough for a loop, few enough for the cache."""


class Extent(NamedTuple):
    """The lowest and the highest of the addresses in a value, and the bits that any of them has."""

    low: int
    high: int
    bits: int


class Request(NamedTuple):
    """What an instruction's request was counted as."""

    base: Value | None
    bytes: Value
    lanes: Lanes
    size: int
    found: int


@dataclass(eq=False, slots=True, kw_only=True)
class ValueMemo:
    """Facts about values over a chunk of blocks of a ``shape``."""

    shape: Shape = (0, 0, 0)
    places: dict[tuple[int, int], Place] = field(default_factory=dict)
    """By instruction and offset: where in shared memory it went last."""
    requests: dict[tuple[int, int], Request] = field(default_factory=dict)
    """By instruction and grain: the request that was counted last."""
    _extents: dict[int, tuple[Value, Extent]] = field(default_factory=dict)
    _widened: dict[int, tuple[Value, Value]] = field(default_factory=dict)
    _unfolded: dict[int, tuple[Value, Value]] = field(default_factory=dict)

    def unfold(self, value: Value) -> Value:
        """A value with one element per lane, or a scalar."""
        if value.ndim != FOLDED:
            return value
        return _recall(self._unfolded, value, lambda folded: unfold(folded, self.shape))

    def extent(self, address: Value) -> Extent:
        """How far the addresses in a value (folded or not) reach."""
        if address.ndim == 0:
            only = int(address)
            return Extent(only, only, only)
        extent: Extent = _recall(self._extents, address, _extent)
        return extent

    def widened(self, address: Value) -> Value:
        """A signed 32-bit address as a 64-bit one; the same object for the same address."""
        if address.ndim == 0:
            return address.astype(np.int64)
        return _recall(self._widened, address, _widen)

    def pick(self, value: Value, lanes: Lanes) -> Value:
        """The elements of some lanes; for all of them a scalar or folded value stays as it is."""
        return value if lanes is None or value.ndim == 0 else self.unfold(value)[lanes]


def _recall(memo: dict[int, tuple[Value, Value]], value: Value, find: Callable[[Value], Value]) -> Value:
    """A fact about a value, found if it is not known; the oldest is forgotten."""
    fact = memo.get(id(value))
    if fact is None:
        if len(memo) >= REMEMBERED:
            memo.pop(next(iter(memo)))
        fact = memo[id(value)] = (value, find(value))
    return fact[1]


def _extent(address: Value) -> Extent:
    bits = np.bitwise_or.reduce(address, axis=None)
    return Extent(int(address.min()), int(address.max()), int(bits))


def _widen(address: Value) -> Value:
    return address.astype(np.int64)
