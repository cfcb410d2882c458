"""From an address per lane to a place: windows, bounds, alignment (PTX ISA sections 5.1, 6.4.1.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.machine.machine import StrayAccess
from grader.emulator.machine.values import Value, from_shape, in_shape, select
from grader.emulator.memory.memory import WINDOW
from grader.emulator.memory.place import Place, What

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.memory.memory import AddressSpace

WINDOWS = ("shared", "local")
"""The state spaces that have a window of generic addresses."""


def at_a_glance(m: Machine, site: int, address: Value, what: What) -> Place | None:
    """Where an access goes that is beyond doubt good, by its lowest and highest address alone.

    What `locate` would find fault with must not pass here. In shared memory, where neither bounds nor
    windows change, it is where it was if the address is the same.
    """
    known = m.places.get((site, what.offset))
    if known is not None and known.base is address and known.lanes is m.active:
        return known
    place = _unless_doubtful(m, site, address, what)
    if place is not None and place.space == "shared" and place.bytes.ndim != 1:
        m.places[site, what.offset] = place
    return place


def _unless_doubtful(m: Machine, site: int, address: Value, what: What) -> Place | None:
    low, high, bits = m.extent(address)
    offset, space, size = what.offset, what.space, what.dtype.itemsize
    if (bits | offset) & (max(size, what.request) - 1):
        return None
    low, high = low + offset, high + offset
    if space not in WINDOWS:
        space = "global"
    if not what.space:
        for name, base in m.memory.space.windows.items():
            if low >= base - WINDOW and high < base + WINDOW:
                space, low, high, offset = name, low - base, high - base, offset - base
    if not _holds(m, site, what.verb, low, high + size, space):
        return None
    lanes = m.active
    if space == "global":
        return Place(
            space,
            m.memory,
            address + np.int64(offset - m.memory.base),
            lanes,
            None,
            what.request,
            m.shape,
            site,
            address,
        )
    if space == "local":
        index = m.pick(m.local_start, lanes) + (m.unfold(address) + np.int64(offset))
        return Place(space, m.local, index, lanes, None, what.request, m.shape, site, address)
    if lanes is None:
        index = from_shape((m.shared_step + np.int64(offset)) + in_shape(address, m.shape), m.size)
    else:
        index = m.shared_start[lanes] + (address + np.int64(offset))
    return Place(space, m.shared, index, lanes, None, what.request, m.shape, site, address)


def _holds(m: Machine, site: int, verb: str, low: int, end: int, space: str) -> bool:
    """Whether accesses to bytes ``low`` up to ``end`` are all in bounds, for certain.

    The bounds are those of the variable that the address stems from, as far as that is known.
    """
    own = m.bounds[site]
    if own is not None:
        frame = m.frame.local if space == "local" else 0
        return own.space == space and own.low + frame <= low and end <= own.high + frame
    if space in WINDOWS:
        return low >= 0 and end <= (m.shared_bytes if space == "shared" else m.local_bytes)
    holder = m.memory.holding(low - m.memory.base, end - m.memory.base)
    return holder is not None and (verb == "read" or not holder.constant)


def spaces_of(space: AddressSpace, address: Value) -> list[tuple[str, int]]:
    """The state spaces that generic addresses lie in, each with where its window begins."""
    low, high = extremes(address)
    windows = space.windows.items()
    found = [(name, base) for name, base in windows if high >= base - WINDOW and low < base + WINDOW]
    if len(found) == 1 and low >= found[0][1] - WINDOW and high < found[0][1] + WINDOW:
        return found
    return [*found, ("global", 0)] if found else [("global", 0)]


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
    inside = _inside(m, site, address, what)
    if inside is not None:
        inside = np.broadcast_to(inside, m.count)
        m.reporter.out_of_bounds(m, site, space, verb, address, ~inside, size)
        m.observer.out_of_bounds(m, site, StrayAccess(space, verb, size), address, ~inside)
        good = inside if good is None else good & inside
    lanes = m.active
    if good is not None:
        kept = np.flatnonzero(good)
        lanes = kept if lanes is None else lanes[kept]
        address = select(address, kept)
    if space == "shared":
        index = select(m.shared_start, lanes) + address
        return Place(space, m.shared, index, lanes, good, request, m.shape, site)
    if space == "local":
        index = select(m.local_start, lanes) + address
        return Place(space, m.local, index, lanes, good, request, m.shape, site)
    index = address - np.int64(m.memory.base)
    return Place("global", m.memory, index, lanes, good, request, m.shape, site)


def _unaligned(address: Value, size: int) -> bool:
    bits = address if address.ndim == 0 else np.bitwise_or.reduce(address)
    return bool(int(bits) & (size - 1))


def _inside(m: Machine, site: int, address: Value, what: What) -> NDArray[np.bool_] | None:
    """Which lanes stay in bounds; None if all do."""
    size, space = what.dtype.itemsize, what.space if what.space in WINDOWS else "global"
    low, high = extremes(address)
    if _holds(m, site, what.verb, low, high + size, space):
        return None
    own = m.bounds[site]
    if own is not None and own.space != space:
        return np.zeros(1, np.bool_)
    if own is not None or space in WINDOWS:
        limit = m.shared_bytes if space == "shared" else m.local_bytes
        frame = m.frame.local if space == "local" else 0
        first, end = (own.low + frame, own.high + frame) if own else (0, limit)
        return np.atleast_1d((address >= first) & (address + np.int64(size) <= end))
    index = np.atleast_1d(address - np.int64(m.memory.base))
    inside = m.memory.inside(index, size, written=what.verb != "read")
    return None if inside.all() else inside
