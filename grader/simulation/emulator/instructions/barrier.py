"""Barriers and fences (PTX ISA section 9.7.13), and barriers in shared memory (9.7.13.15, `mbarrier`).

`cuda::barrier` is made of `mbarrier`. Such a barrier is a word of 64 bits: the number of arrivals its phase
still waits for, the number each phase waits for, and the number of its phase. The arrival that is the last
one begins the next phase. The operations of threads before they arrived in a phase precede the operations
after a wait that observes that phase complete; a wait that observes it under way orders nothing. Counts of
bytes (`expect_tx`, `complete_tx`) belong to sm_90 and are refused.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.emulator.instructions.atomic import Operation, serially
from grader.simulation.emulator.machine import copies
from grader.simulation.emulator.machine.geometry import BARRIERS
from grader.simulation.emulator.machine.state import Group, WarpOperation
from grader.simulation.emulator.machine.synchronisation import arrive
from grader.simulation.emulator.machine.values import Value, scalar, select, spread
from grader.simulation.emulator.memory import access
from grader.simulation.emulator.races.events import AWAIT, COPIED, POST
from grader.simulation.ptx import Immediate
from grader.simulation.ptx.facts import MBARRIER_WAITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.simulation.emulator.linking.link import ControlStep, Fetch, Link, Step
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.memory.memory import Target
    from grader.simulation.ptx import Instruction

MOST_ARRIVALS = (1 << 20) - 1
"""Maximum number of arrivals that a phase may wait for."""

_WORD = np.dtype(np.uint64)

_WHOLE_BLOCK = scalar(np.uint32(0))
"""Number of threads of a barrier that names none: the whole block."""

_FORM = {"noComplete", "release", "acquire", "relaxed", "cta", "cluster", "shared", "shared::cta", "b64"}


def bar(ins: Instruction, link: Link) -> ControlStep:
    """`bar.sync a[, b]` and `barrier.sync`: wait until all threads of the block (or b of them) are there.

    `bar.arrive a, b` is counted and goes on. `bar.warp.sync` orders the memory accesses of the lanes of a
    warp (section 9.7.13.2).
    """
    if "warp" in ins.modifiers:
        operation = WarpOperation(link.site(), ins.name, link.fetch(ins.operands[0], "u32"), orders=True)
        return lambda m, group: arrive(m, group, operation)
    if "red" in ins.modifiers:
        return _reducing(ins, link)
    arrives = "arrive" in ins.modifiers
    if not arrives and "sync" not in ins.modifiers:
        raise link.unsupported()
    number = link.fetch(ins.operands[0], "u32")
    expected = link.fetch(ins.operands[1], "u32") if len(ins.operands) > 1 else None
    site, after = link.site(), link.pc + 1

    def step(m: Machine, group: Group) -> list[Group]:
        group.pc = after
        count = expected(m, m.active) if expected else _WHOLE_BLOCK
        which = number(m, m.active)
        if arrives:
            m.observer.announced(m, (m.lanes(), _keys(m, which)))
        m.wait(group, site, which, count, goes_on=arrives)
        return []

    return step


def fence(ins: Instruction, _link: Link) -> Step:
    """`membar` and `fence`: earlier operations of a lane may be published by its next ones (9.7.13.4).

    A `fence.proxy` or the like orders memory that this machine does not have.
    """
    if "proxy" in ins.name:
        return lambda _m: None
    wide = "cta" not in ins.modifiers
    return lambda m: m.observer.fenced(m, wide=wide)


def _reducing(ins: Instruction, link: Link) -> ControlStep:
    """`bar.red.popc|and|or d, a[, b], [!]c`: a barrier that also counts votes.

    Lanes come here twice: first they wait, then, let go together, they count.
    """
    way = next((word for word in ins.modifiers if word in ("popc", "and", "or")), "")
    if not way:
        raise link.unsupported()
    register, number = link.register(ins.operands[0]), link.fetch(ins.operands[1], "u32")
    expected = link.fetch(ins.operands[2], "u32") if len(ins.operands) > 3 else None  # noqa: PLR2004
    vote, site, after = link.fetch(ins.operands[-1], "pred"), link.site(), link.pc + 1

    def step(m: Machine, group: Group) -> list[Group] | None:
        counting, arriving = m.split(group, m.voted[m.lanes()])
        if arriving is not None:
            m.active = arriving.lanes
            m.voted[m.lanes()] = True
            count = expected(m, m.active) if expected else _WHOLE_BLOCK
            m.wait(arriving, site, number(m, m.active), count)
        if counting is None:
            return []
        m.active = counting.lanes
        m.voted[m.lanes()] = False
        m.write_active(register, _count(m, way, vote(m, m.active), number(m, m.active)))
        counting.pc = after
        return [counting]

    return step


def _keys(m: Machine, number: Value) -> NDArray[np.intp]:
    """The barrier of each active lane, counted over all blocks."""
    which: NDArray[np.intp] = m.block_of[m.lanes()] * BARRIERS + number.astype(np.intp) % BARRIERS
    return which


def _count(m: Machine, way: str, vote: Value, number: Value) -> Value:
    """The votes of the lanes that passed a barrier of a block together, for each of the active lanes."""
    which = _keys(m, number)
    votes = np.broadcast_to(vote, which.shape)
    yes = np.bincount(which, weights=votes)[which]
    if way == "popc":
        return yes.astype(np.uint32)
    return yes > 0 if way == "or" else yes == np.bincount(which)[which]


_EXPECTED, _PHASE = 20, 40
"""The bits at which the expected count and the number of the phase begin; the pending count comes first."""


def arrived(word: int, count: int, dropped: int = 0) -> int:
    """A barrier's word after ``count`` arrivals, of which ``dropped`` do not come to later phases."""
    pending, expected = word & MOST_ARRIVALS, word >> _EXPECTED & MOST_ARRIVALS
    phase = word >> _PHASE
    expected, pending = expected - dropped & MOST_ARRIVALS, pending - count & MOST_ARRIVALS
    if not pending:
        phase, pending = phase + 1, expected
    return (phase << _PHASE | expected << _EXPECTED | pending) % (1 << 64)


def mbarrier(ins: Instruction, link: Link) -> Step | ControlStep:
    """`mbarrier.init|inval|arrive|arrive_drop|test_wait|try_wait|pending_count`."""
    operation, *form = ins.modifiers
    if not set(form) <= _FORM | ({"parity"} if operation in MBARRIER_WAITS else set()):
        raise link.unsupported()
    if operation == "init":
        return _set(ins, link, link.fetch(ins.operands[1], "u32"))
    if operation == "inval":
        return _set(ins, link, link.fetch(Immediate(0), "u32"))
    if operation in ("arrive", "arrive_drop"):
        return _arrive(ins, link, drops=operation == "arrive_drop")
    if operation in MBARRIER_WAITS:
        return _wait(ins, link)
    if operation == "pending_count":
        mask = np.uint64(MOST_ARRIVALS)
        return link.pure(lambda state: (state & mask).astype(np.uint32), "u64")
    raise link.unsupported()


def arrives_for_copies(ins: Instruction, link: Link) -> Step:
    """`cp.async.mbarrier.arrive[.noinc] [addr]`: the copies that a thread began so far arrive when complete.

    The bytes are there at once, for threads that wait for the phase. Without `.noinc` the arrival is counted
    in addition, so that it leaves the pending count as it was.
    """
    site, where, space = link.site(), link.address(ins.operands[0]), _space(ins)
    counted = scalar(np.uint32("noinc" in ins.modifiers))

    def step(m: Machine) -> None:
        change = partial(_arrivals, m, site, counted, dropped=False, kind=COPIED)
        access.inspect(m, site, where(m, m.active), _WORD, space, change)

    return step


def _space(ins: Instruction) -> str:
    return "shared" if any(word.startswith("shared") for word in ins.modifiers) else ""


def _set(ins: Instruction, link: Link, count: Fetch) -> Step:
    """A barrier in its first phase, which waits for ``count`` arrivals: a plain store."""
    site, where, space = link.site(), link.address(ins.operands[0]), _space(ins)

    def step(m: Machine) -> None:
        number = (count(m, m.active) & np.uint32(MOST_ARRIVALS)).astype(np.uint64)
        access.store(m, site, where(m, m.active), number << np.uint64(_EXPECTED) | number, space)

    return step


def _arrive(ins: Instruction, link: Link, *, drops: bool) -> Step:
    """The state that it gives is the word as it was: its phase is the one that was arrived in."""
    register, (_, address, *counts) = link.register(ins.operands[0]), ins.operands
    count = link.fetch(counts[0] if counts else Immediate(1), "u32")
    site, where, space = link.site(), link.address(address), _space(ins)

    def step(m: Machine) -> None:
        change = partial(_arrivals, m, site, count(m, m.active), dropped=drops)
        before = access.inspect(m, site, where(m, m.active), _WORD, space, change)
        if register >= 0:
            m.write_active(register, before)

    return step


def _arrivals(
    m: Machine, site: int, counts: Value, target: Target, *, dropped: bool, kind: int = POST
) -> NDArray[np.uint64]:
    """Lanes, or their copies, arrive one after the other; gives the word before each arrival."""
    lanes, index, column = _spelt_out(m, target, counts, np.dtype(np.uint32))
    if _is_new(target.region.read(index, _WORD) >> np.uint64(_PHASE)):
        m.observer.atomic(m, site, target, _WORD.itemsize)
    turn = _turn(drops=dropped)
    step = 1 if m.priority is None else -1
    words: NDArray[np.uint64] = serially(m, target, index[::step], _WORD, turn, [column[::step]]).astype(
        _WORD
    )[::step]
    phase = words >> np.uint64(_PHASE)
    m.observer.at_phase(m, kind, lanes, index, phase)
    if kind == COPIED:
        copies.leave_to(m, lanes, np.stack((index, phase.astype(np.int64)), axis=1))
    return words


def _turn(*, drops: bool) -> Operation:
    def one(word: int, count: int) -> int:
        return arrived(word, count, count if drops else 0)

    def turn(words: NDArray[np.uint64], counts: NDArray[np.uint32]) -> NDArray[np.uint64]:
        return np.array([one(*pair) for pair in zip(words.tolist(), counts.tolist(), strict=True)], _WORD)

    def run_through(word: Value, counts: NDArray[np.uint32]) -> NDArray[np.uint64]:
        words = [int(word)]
        for count in counts.tolist():
            words.append(one(words[-1], count))
        return np.array(words, _WORD)

    return Operation(turn, run_through)


def _wait(ins: Instruction, link: Link) -> ControlStep:
    """`test_wait` and `try_wait`, which may wait for a while and need not: is the phase complete?"""
    register, (_, address, asked, *_hint) = link.register(ins.operands[0]), ins.operands
    parity = "parity" in ins.modifiers
    state = link.fetch(asked, "u32" if parity else "u64")
    site, where, space = link.site(), link.address(address), _space(ins)

    after = link.pc + 1

    def step(m: Machine, group: Group) -> list[Group] | None:
        look = _looking(m, site, state(m, m.active), parity=parity)
        complete = access.inspect(m, site, where(m, m.active), _WORD, space, look) != 0
        m.write_active(register, complete)
        group.pc = after
        return _put_back(m, group, np.broadcast_to(complete, m.count))

    return step


def _put_back(m: Machine, group: Group, complete: NDArray[np.bool_]) -> list[Group] | None:
    """Put lanes that wait in vain behind other groups, for no thread of a device polls in their place."""
    if complete.all():
        return None
    lanes, turn = m.lanes(), group.turn
    parts = ((complete, turn), (~complete, turn + 1))
    return [Group(group.frame, group.pc, lanes[part], when) for part, when in parts if part.any()]


def _looking(m: Machine, site: int, states: Value, *, parity: bool) -> Callable[[Target], Value]:
    one = np.uint64(1)

    def look(target: Target) -> Value:
        lanes, index, asked = _spelt_out(m, target, states, _WORD)
        phase = target.region.read(index, _WORD) >> np.uint64(_PHASE)
        wanted = phase - one if parity else asked >> np.uint64(_PHASE)
        complete = phase & one != asked & one if parity else phase != wanted
        if complete.any():
            if _is_new(wanted[complete]):
                m.observer.loaded(m, site, target, _WORD.itemsize)
            m.observer.at_phase(m, AWAIT, lanes[complete], index[complete], wanted[complete])
            if m.copies.under_way:
                phases = np.stack((index, wanted.astype(np.int64)), axis=1)[complete]
                copies.complete(m, np.unique(phases, axis=0))
        return complete.astype(_WORD)

    return look


def _is_new(phases: NDArray[np.uint64]) -> bool:
    """True if a barrier is in its first phase, or was never set up.

    Only then its word is reported to observers, as an access that may race with setting it up: all threads
    access it in every phase, and the detector need not check pair by pair that none of these accesses races
    with another.
    """
    return bool(((phases == 0) | (phases == (1 << (64 - _PHASE)) - 1)).any())


def _spelt_out(
    m: Machine, target: Target, values: Value, dtype: np.dtype[Any]
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[Any]]:
    """The lanes of a target, the byte of each, and its value."""
    lanes = np.arange(m.size) if target.lanes is None else target.lanes
    good = None if target.good is None else np.flatnonzero(target.good)
    count = len(lanes)
    return lanes, np.broadcast_to(target.index, count), spread(select(values, good), count).astype(dtype)


TABLE = {
    "bar": bar,
    "barrier": bar,
    "membar": fence,
    "fence": fence,
    "mbarrier": mbarrier,
}
