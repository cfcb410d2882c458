"""Reading and writing memory at an address per lane (PTX ISA sections 5.1 and 6.4.1.1).

An address is resolved to a target, with its state space, bounds and alignment checked; then an effect is
carried out there, in each state space in turn where lanes differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.emulator.machine.geometry import RESERVED
from grader.simulation.emulator.machine.values import (
    ALL_ONES,
    Value,
    extremes,
    from_shape,
    in_shape,
    merge,
    select,
)
from grader.simulation.emulator.memory.memory import WINDOW, AccessRequest, Resolved, StrayAccess, Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.memory.memory import AddressSpace, Region


WINDOWS = ("shared", "local")
"""The state spaces that have a window of generic addresses."""


def resolve_fast(m: Machine, site: int, address: Value, access: AccessRequest) -> Target | None:
    """Fast path: resolve an access from the range of its addresses; None if lanes must be checked one by one.

    It must accept nothing that `resolve_checked` would report. In shared memory, where neither bounds nor
    windows change, an access is where it was if the address is the same, and moves with the address. So does
    one of local memory at an address that all lanes have in common.
    """
    last = m.memo.targets.get((site, access.offset))
    if last is not None and last.target.lanes is m.active:
        if last.target.base is address and last.target.space == "shared":
            return last.target
        resolved = _with_common_offset(m, site, address, access, last)
    else:
        resolved = None
    if resolved is None:
        resolved = _resolve_by_range(m, site, address, access)
    if resolved is None:
        return None
    space = resolved.target.space
    if (space == "shared" and resolved.target.bytes.ndim != 1) or (space == "local" and address.ndim == 0):
        m.memo.targets[site, access.offset] = resolved
    return resolved.target


def _with_common_offset(
    m: Machine, site: int, address: Value, access: AccessRequest, last: Resolved
) -> Resolved | None:
    """The target of an access whose addresses are the last ones plus one offset, the same for all lanes."""
    target = last.target
    if target.base is None or address.shape != target.base.shape:
        return None
    distance = address.item(0) - target.base.item(0)
    if distance % max(access.dtype.itemsize, access.request):
        return None
    shift = np.int64(distance)
    if (address - shift).tobytes() != target.base.tobytes():
        return None
    low, high = last.low + distance, last.high + distance
    if (low >= RESERVED) != (last.low >= RESERVED) and target.space == "shared":
        return None
    if not _in_bounds(m, site, access.verb, low, high + access.dtype.itemsize, target.space):
        return None
    where = target.bytes + shift if distance else target.bytes
    return Resolved(target._replace(bytes=where, base=address), low, high)


def _resolve_by_range(m: Machine, site: int, address: Value, access: AccessRequest) -> Resolved | None:
    """The target of an access if all of its lanes lie in one state space, aligned and in bounds."""
    low, high, bits = m.memo.extent(address)
    offset, space, size = access.offset, access.space, access.dtype.itemsize
    if (bits | offset) & (max(size, access.request) - 1):
        return None
    low, high = low + offset, high + offset
    if space not in WINDOWS:
        space = "global"
    if not access.space:
        for name, base in m.memory.space.windows.items():
            if low >= base - WINDOW and high < base + WINDOW:
                space, low, high, offset = name, low - base, high - base, offset - base
    if not _in_bounds(m, site, access.verb, low, high + size, space):
        return None
    lanes = m.active
    region: Region = m.memory
    index: Value
    if space == "global":
        index = address + np.int64(offset - m.memory.base)
    elif space == "local":
        region = m.local
        index = m.memo.pick(m.local_start, lanes) + (m.memo.unfold(address) + np.int64(offset))
    else:
        region = m.shared
        index = _in_shared(m, address, offset - RESERVED + m.reserved_start if low >= RESERVED else offset)
    target = Target(space, region, index, lanes, None, access.request, m.shape, site, address, address)
    return Resolved(target, low, high)


def _in_shared(m: Machine, address: Value, offset: int) -> Value:
    """The bytes that the active lanes access, of all shared memory of the chunk."""
    if m.active is None:
        return from_shape((m.shared_step + np.int64(offset)) + in_shape(address, m.shape), m.size)
    return m.shared_start[m.active] + (address + np.int64(offset))


def _in_bounds(m: Machine, site: int, verb: str, low: int, end: int, space: str) -> bool:
    """True if accesses to bytes ``low`` up to ``end`` are all in bounds, for certain.

    The bounds are the bounds of the variable that the address stems from, as far as it is known.
    """
    bound = m.bounds[site]
    if bound is not None:
        frame = m.frame.local if space == "local" else 0
        return bound.space == space and bound.low + frame <= low and end <= bound.high + frame
    if space == "shared" and low >= RESERVED:
        return end <= RESERVED + m.reserved_bytes
    if space in WINDOWS:
        return low >= 0 and end <= (m.shared_bytes if space == "shared" else m.local_bytes)
    holder = m.memory.holding(low - m.memory.base, end - m.memory.base)
    return holder is not None and (verb == "read" or not holder.constant)


def spaces_of(space: AddressSpace, address: Value) -> list[tuple[str, int]]:
    """The state spaces that generic addresses lie in, each with where its window begins."""
    low, high = extremes(address)
    windows = space.windows.items()
    met = [(name, base) for name, base in windows if high >= base - WINDOW and low < base + WINDOW]
    if len(met) == 1 and low >= met[0][1] - WINDOW and high < met[0][1] + WINDOW:
        return met
    return [*met, ("global", 0)]


def resolve_checked(m: Machine, site: int, address: Value, access: AccessRequest) -> Target:
    """Check alignment and bounds of an access lane by lane, report the bad ones, resolve the others."""
    size, space, verb, request = access.dtype.itemsize, access.space, access.verb, access.request
    good, width = None, max(size, request)
    if width > 1 and _unaligned(address, width):
        good = np.broadcast_to(np.atleast_1d((address & np.int64(width - 1)) == 0), m.count)
        m.reporter.misaligned(m, site, space, verb, address, ~good, width)
        if space == "local" and not _unaligned(address, size):  # its elements are where the program put them
            good = None
    inside = _inside(m, site, address, access)
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
    region: Region = m.memory
    if space == "shared":
        region, index = m.shared, select(m.shared_start, lanes) + _with_reserved(m, address)
    elif space == "local":
        region, index = m.local, select(m.local_start, lanes) + address
    else:
        space, index = "global", address - np.int64(m.memory.base)
    return Target(space, region, index, lanes, good, request, shape=m.shape, site=site)


def _with_reserved(m: Machine, address: Value) -> Value:
    """Addresses in a block's shared memory as they are kept: the reserved bytes follow the arrays."""
    return np.where(address >= RESERVED, address - np.int64(RESERVED - m.reserved_start), address)


def _unaligned(address: Value, size: int) -> bool:
    bits = address if address.ndim == 0 else np.bitwise_or.reduce(address)
    return bool(int(bits) & (size - 1))


def _inside(m: Machine, site: int, address: Value, access: AccessRequest) -> NDArray[np.bool_] | None:
    """Mask of the lanes that stay in bounds; None if all do."""
    size, space = access.dtype.itemsize, access.space if access.space in WINDOWS else "global"
    low, high = extremes(address)
    if _in_bounds(m, site, access.verb, low, high + size, space):
        return None
    bound = m.bounds[site]
    if bound is not None and bound.space != space:
        return np.zeros(1, np.bool_)
    if bound is not None or space in WINDOWS:
        limit = m.shared_bytes if space == "shared" else m.local_bytes
        frame = m.frame.local if space == "local" else 0
        first, end = (bound.low + frame, bound.high + frame) if bound else (0, limit)
        inside = np.atleast_1d((address >= first) & (address + np.int64(size) <= end))
        if bound is None and space == "shared" and high >= RESERVED:
            inside |= (address >= RESERVED) & (address + np.int64(size) <= RESERVED + m.reserved_bytes)
        return inside
    index = np.atleast_1d(address - np.int64(m.memory.base))
    inside = m.memory.inside(index, size, written=access.verb != "read")
    return None if inside.all() else inside


def load(
    m: Machine,
    site: int,
    address: Value,
    dtype: np.dtype[Any],
    space: str,
    request: int | None = None,
    offset: int = 0,
) -> Value:
    """Values that the active lanes read; lanes with a bad address get all ones, and a finding is reported.

    ``address`` may be folded, and then the result may be folded, too.
    """
    access = AccessRequest(dtype, space, "read", dtype.itemsize if request is None else request, offset)
    return load_requested(m, site, address, access)


def load_requested(m: Machine, site: int, address: Value, access: AccessRequest) -> Value:
    """As `load`, for a request that was put together before."""
    target = resolve_fast(m, site, address, access)
    if target is not None:  # nearly always
        m.observer.loaded(m, site, target, access.dtype.itemsize)
        return target.region.read(target.bytes, access.dtype)

    def read(target: Target) -> Value:
        m.observer.loaded(m, site, target, access.dtype.itemsize)
        return target.region.read(target.bytes, access.dtype)

    return _dispatch_slowly(m, site, address, access, read)


def inspect(
    m: Machine,
    site: int,
    address: Value,
    dtype: np.dtype[Any],
    space: str,
    look: Callable[[Target], Value],
) -> Value:
    """The result of ``look`` for a target; it reports to observers itself; bad addresses give all ones."""
    return _dispatch_by_space(m, site, address, AccessRequest(dtype, space, "update", dtype.itemsize), look)


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

    def write(target: Target) -> Value:
        part = value if target.good is None else select(value, np.flatnonzero(target.good))
        m.observer.stored(m, site, target, part)
        before = target.region.read(target.index, part.dtype).tobytes() if m.compares_stores else None
        target.region.write(target.index, part)
        if target.space != "local":
            m.changes += before is None or before != target.region.read(target.index, part.dtype).tobytes()
        return part

    access = AccessRequest(
        value.dtype, space, "write", value.dtype.itemsize if request is None else request, offset
    )
    _dispatch_by_space(m, site, address, access, write)


def update(
    m: Machine,
    site: int,
    address: Value,
    dtype: np.dtype[Any],
    space: str,
    change: Callable[[Target], Value],
) -> Value:
    """Read and write as one; ``change`` does both and gives the values that the lanes read."""

    def effect(target: Target) -> Value:
        if target.space != "local":
            m.observer.atomic(m, site, target, dtype.itemsize)
        return change(target)

    return _dispatch_by_space(m, site, address, AccessRequest(dtype, space, "update", dtype.itemsize), effect)


def _dispatch_by_space(
    m: Machine,
    site: int,
    address: Value,
    access: AccessRequest,
    effect: Callable[[Target], Value],
) -> Value:
    """Carry out ``effect`` in the state space of the address; in each in turn where lanes differ."""
    target = resolve_fast(m, site, address, access)
    return _dispatch_slowly(m, site, address, access, effect) if target is None else effect(target)


def _dispatch_slowly(
    m: Machine,
    site: int,
    address: Value,
    access: AccessRequest,
    effect: Callable[[Target], Value],
) -> Value:
    """As `_dispatch_by_space`, where the range of the addresses does not say where they go."""
    dtype, space = access.dtype, access.space
    address = m.memo.unfold(address)
    if access.offset:
        address, access = address + np.int64(access.offset), access._replace(offset=0)
    if not space:
        spaces = spaces_of(m.memory.space, address)
        if len(spaces) > 1:
            return _split(m, site, address, access, effect)
        space, window = spaces[0]
        address = address - np.int64(window) if window else address
    target = resolve_checked(m, site, address, access._replace(space=space))
    value = (
        effect(target) if target.good is None or target.good.any() else ALL_ONES[dtype.itemsize].view(dtype)
    )
    if target.good is None:
        return value
    missing = ALL_ONES[dtype.itemsize].view(dtype)
    return merge(np.full(m.count, missing), value, np.flatnonzero(target.good), m.count)


def _split(
    m: Machine,
    site: int,
    address: Value,
    access: AccessRequest,
    effect: Callable[[Target], Value],
) -> Value:
    """Lanes whose generic addresses lie in different state spaces, a space at a time."""
    dtype, active, count = access.dtype, m.active, m.count
    result: NDArray[Any] = np.full(count, ALL_ONES[dtype.itemsize].view(dtype))
    left = np.ones(count, np.bool_)
    for space, base in [*m.memory.space.windows.items(), ("global", 0)]:
        in_space = left & (np.abs(address - np.int64(base)) < WINDOW) if base else left
        left = left & ~in_space
        if in_space.any():
            where = np.flatnonzero(in_space)
            m.active = where if active is None else active[where]
            within = _within(effect, where, count)
            result[where] = _dispatch_by_space(
                m, site, address[where] - np.int64(base), access._replace(space=space), within
            )
    m.active = active
    return result


def _within(
    effect: Callable[[Target], Value], where: NDArray[np.intp], count: int
) -> Callable[[Target], Value]:
    """``effect`` for some of the active lanes: the `good` that it receives is about all of them."""

    def effect_within(target: Target) -> Value:
        good = np.zeros(count, np.bool_)
        good[where if target.good is None else where[target.good]] = True
        return effect(target._replace(good=good))

    return effect_within
