"""Reading and writing memory at an address per lane, in whatever state spaces the addresses lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.emulator.machine.values import ALL_ONES, Value, merge, select
from grader.emulator.memory.locating import at_a_glance, locate, spaces_of
from grader.emulator.memory.memory import WINDOW
from grader.emulator.memory.place import Place, What

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine

__all__ = ["Place", "What", "load", "locate", "spaces_of", "store", "update"]


def load(
    m: Machine,
    site: int,
    address: Value,
    dtype: np.dtype[Any],
    space: str,
    request: int | None = None,
    offset: int = 0,
) -> Value:
    """What the active lanes read; lanes whose address is bad get all ones, and a finding says so.

    ``address`` may be folded, and then so may be what it gives.
    """

    def read(place: Place) -> Value:
        m.observer.loaded(m, site, place, dtype.itemsize)
        return place.region.read(place.bytes, dtype)

    what = What(dtype, space, "read", dtype.itemsize if request is None else request, offset)
    return _everywhere(m, site, address, what, read)


def inspect(
    m: Machine,
    site: int,
    address: Value,
    dtype: np.dtype[Any],
    space: str,
    look: Callable[[Place], Value],
) -> Value:
    """What ``look`` makes of a place, which tells observers itself; of bad addresses all ones."""
    return _everywhere(m, site, address, What(dtype, space, "update", dtype.itemsize), look)


def store(
    m: Machine,
    site: int,
    address: Value,
    value: Value,
    space: str,
    request: int | None = None,
    offset: int = 0,
) -> None:
    """Write ``value`` (over the active lanes); lanes whose address is bad write nothing."""

    def write(place: Place) -> Value:
        part = value if place.good is None else select(value, np.flatnonzero(place.good))
        m.observer.stored(m, site, place, part)
        place.region.write(place.index, part)
        if place.space != "local":
            m.changes += 1
        return part

    what = What(value.dtype, space, "write", value.dtype.itemsize if request is None else request, offset)
    _everywhere(m, site, address, what, write)


def update(
    m: Machine,
    site: int,
    address: Value,
    dtype: np.dtype[Any],
    space: str,
    change: Callable[[Place], Value],
) -> Value:
    """Read and write as one; ``change`` does both and gives what the lanes read."""

    def act(place: Place) -> Value:
        if place.space != "local":
            m.observer.atomic(m, site, place, dtype.itemsize)
        return change(place)

    return _everywhere(m, site, address, What(dtype, space, "update", dtype.itemsize), act)


def _everywhere(
    m: Machine,
    site: int,
    address: Value,
    what: What,
    act: Callable[[Place], Value],
) -> Value:
    """Do ``act`` in the state space of the address; in each in turn where lanes differ."""
    dtype, space = what.dtype, what.space
    place = at_a_glance(m, site, address, what)
    if place is not None:
        return act(place)
    address = m.unfold(address)
    if what.offset:
        address, what = address + np.int64(what.offset), what._replace(offset=0)
    if not space:
        spaces = spaces_of(m.memory.space, address)
        if len(spaces) > 1:
            return _split(m, site, address, what, act)
        space, window = spaces[0]
        address = address - np.int64(window) if window else address
    place = locate(m, site, address, what._replace(space=space))
    value = act(place) if place.good is None or place.good.any() else ALL_ONES[dtype.itemsize].view(dtype)
    if place.good is None:
        return value
    missing = ALL_ONES[dtype.itemsize].view(dtype)
    return merge(np.full(m.count, missing), value, np.flatnonzero(place.good), m.count)


def _split(
    m: Machine,
    site: int,
    address: Value,
    what: What,
    act: Callable[[Place], Value],
) -> Value:
    """Lanes whose generic addresses lie in different state spaces, a space at a time."""
    dtype, active, count = what.dtype, m.active, m.count
    result: NDArray[Any] = np.full(count, ALL_ONES[dtype.itemsize].view(dtype))
    left = np.ones(count, np.bool_)
    for space, base in [*m.memory.space.windows.items(), ("global", 0)]:
        here = left & (np.abs(address - np.int64(base)) < WINDOW) if base else left
        left = left & ~here
        if here.any():
            where = np.flatnonzero(here)
            m.active = where if active is None else active[where]
            within = _within(act, where, count)
            result[where] = _everywhere(
                m, site, address[where] - np.int64(base), what._replace(space=space), within
            )
    m.active = active
    return result


def _within(act: Callable[[Place], Value], where: NDArray[np.intp], count: int) -> Callable[[Place], Value]:
    """``act`` for some of the active lanes: what it is told of `good` is about all of them."""

    def act_there(place: Place) -> Value:
        good = np.zeros(count, np.bool_)
        good[where if place.good is None else where[place.good]] = True
        return act(place._replace(good=good))

    return act_there
