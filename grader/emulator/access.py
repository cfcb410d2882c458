"""From an address per lane to bytes: state spaces, bounds, alignment (PTX ISA sections 5.1, 6.4.1.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.emulator.memory import GLOBAL_BASE, LOCAL_BASE, SHARED_BASE, WINDOW
from grader.emulator.values import ALL_ONES, Lanes, Value, merge, select, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.emulator.machine import Machine
    from grader.emulator.memory import Region

_WINDOWS = {"shared": SHARED_BASE, "local": LOCAL_BASE}


class Place(NamedTuple):
    """Where an access goes: ``index`` is the byte in ``region`` for each of ``lanes``.

    ``good`` says which of the active lanes those are; None if none was left out. ``request`` is how many
    bytes of a lane travel together: those of the whole vector with its first element, 0 with the others.
    """

    space: str
    region: Region
    index: Value
    lanes: Lanes
    good: NDArray[np.bool_] | None
    request: int


class What(NamedTuple):
    """What is done at an address: see `Place` for ``request``; an empty ``space`` is generic."""

    dtype: np.dtype[Any]
    space: str
    verb: str
    request: int


def load(
    m: Machine, site: int, address: Value, dtype: np.dtype[Any], space: str, request: int | None = None
) -> Value:
    """What the active lanes read; lanes whose address is bad get all ones, and a finding says so."""

    def read(place: Place) -> Value:
        m.observer.loaded(m, site, place, dtype.itemsize)
        return place.region.read(place.index, dtype)

    what = What(dtype, space, "read", dtype.itemsize if request is None else request)
    return _everywhere(m, site, address, what, read)


def store(
    m: Machine, site: int, address: Value, value: Value, space: str, request: int | None = None
) -> None:
    """Write ``value`` (over the active lanes); lanes whose address is bad write nothing."""

    def write(place: Place) -> Value:
        part = value if place.good is None else select(value, np.flatnonzero(place.good))
        m.observer.stored(m, site, place, part)
        place.region.write(place.index, part)
        return part

    what = What(value.dtype, space, "write", value.dtype.itemsize if request is None else request)
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
    if not space:
        spaces = spaces_of(address)
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


def spaces_of(address: Value) -> list[tuple[str, int]]:
    """The state spaces that generic addresses lie in, each with where its window begins."""
    low, high = extremes(address)
    found = [(name, base) for name, base in _WINDOWS.items() if high >= base - WINDOW and low < base + WINDOW]
    if len(found) == 1 and low >= found[0][1] - WINDOW and high < found[0][1] + WINDOW:
        return found
    return [*found, ("global", 0)] if found else [("global", 0)]


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
    for space, base in [*_WINDOWS.items(), ("global", 0)]:
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


def extremes(address: Value) -> tuple[int, int]:
    """The lowest and the highest of the addresses."""
    return (int(address), int(address)) if address.ndim == 0 else (int(address.min()), int(address.max()))


def locate(m: Machine, site: int, address: Value, what: What) -> Place:
    """Check alignment and bounds of an access by the active lanes, and report the lanes that fail."""
    size, space, verb, request = what.dtype.itemsize, what.space, what.verb, what.request
    good, width = None, max(size, request)
    if width > 1 and _unaligned(address, width):
        good = np.atleast_1d((address & np.int64(width - 1)) == 0)
        good = np.broadcast_to(good, m.count)
        m.reporter.misaligned(m, site, space, verb, address, ~good, width)
    inside = _inside(m, address, size, space)
    if inside is not None:
        inside = np.broadcast_to(inside, m.count)
        m.reporter.out_of_bounds(m, site, space, verb, address, ~inside, size)
        good = inside if good is None else good & inside
    lanes = m.active
    if good is not None:
        kept = np.flatnonzero(good)
        lanes = kept if lanes is None else lanes[kept]
        address = select(address, kept)
    if space == "shared":
        return Place(space, m.shared, select(m.shared_start, lanes) + address, lanes, good, request)
    if space == "local":
        return Place(space, m.local, select(m.local_start, lanes) + address, lanes, good, request)
    return Place("global", m.memory, address - np.int64(GLOBAL_BASE), lanes, good, request)


def _unaligned(address: Value, size: int) -> bool:
    bits = address if address.ndim == 0 else np.bitwise_or.reduce(address)
    return bool(int(bits) & (size - 1))


def _inside(m: Machine, address: Value, size: int, space: str) -> NDArray[np.bool_] | None:
    """Which lanes stay in bounds; None if all do."""
    low, high = extremes(address)
    if space in _WINDOWS:
        limit = m.shared_bytes if space == "shared" else m.local_bytes
        if low >= 0 and high + size <= limit:
            return None
        return np.atleast_1d((address >= 0) & (address + np.int64(size) <= limit))
    if m.memory.holding(low - GLOBAL_BASE, high - GLOBAL_BASE + size):
        return None
    inside = m.memory.inside(np.atleast_1d(address - np.int64(GLOBAL_BASE)), size)
    return None if inside.all() else inside


def broadcast(m: Machine, value: Value) -> NDArray[Any]:
    """A value over the active lanes with one element each."""
    return spread(value, m.count)
