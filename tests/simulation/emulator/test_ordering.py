"""The clocks order exactly the accesses that chains of events order."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.simulation.emulator.machine.state import Allowance, TooMuchHeldError
from grader.simulation.emulator.races import events as events_of
from grader.simulation.emulator.races import ordering
from grader.simulation.emulator.races.events import Event, Scope
from grader.simulation.emulator.races.ordering import unordered
from grader.simulation.emulator.races.pairs import compared_pairs
from grader.simulation.emulator.races.rows import READ, WRITE, Rows

THREADS, BLOCKS = 3, 2
LANES = THREADS * BLOCKS
WHOLE_LAUNCH = Scope(THREADS, LANES)


class Act(NamedTuple):
    """One step of a random history: an access (``what`` -1) or an event, by a lane.

    ``flag``: it acquires and releases by itself; ``wide``: its scope holds other blocks.
    """

    what: int
    lane: int
    key: int
    flag: bool
    wide: bool = True


ACTS = st.builds(
    Act,
    st.sampled_from(
        [
            -1,
            -1,
            events_of.MEET,
            events_of.FENCE,
            events_of.PUBLISH,
            events_of.UPDATE,
            events_of.OBSERVE,
            events_of.BARRIER,
        ]
    ),
    st.integers(0, LANES - 1),
    st.integers(0, 1),
    st.booleans(),
    st.booleans(),
)

ACCESSES = st.builds(
    Act, st.just(-1), st.integers(THREADS - 1, THREADS), st.just(0), st.booleans(), st.just(value=True)
)
"""Accesses of two lanes in different blocks, from one place in the code."""


class Sets:
    """Happens-before spelt out: each lane has the set of the accesses that it knows.

    What is fenced, pending or left is kept twice: for the lanes of the block, and for those of all blocks.
    """

    def __init__(self) -> None:
        self.known: dict[int, set[int]] = defaultdict(set)
        self.fence: dict[tuple[bool, int], set[int]] = defaultdict(set)
        self.pending: dict[tuple[bool, int], set[int]] = defaultdict(set)
        self.left: dict[tuple[int, int | None], set[int]] = defaultdict(set)

    def apply(self, act: Act) -> None:
        """Apply an event to the sets."""
        lane = act.lane
        if act.what == events_of.MEET:
            both = self.known[lane] | self.known[_partner(lane)]
            self.known[lane], self.known[_partner(lane)] = set(both), set(both)
        elif act.what == events_of.FENCE:
            scopes = (False, True) if act.wide else (False,)
            self.known[lane] |= set().union(*(self.pending[scope, lane] for scope in scopes))
            for scope in scopes:
                self.fence[scope, lane] = set(self.known[lane])
        elif act.what == events_of.BARRIER:
            self.barrier(range(lane // THREADS * THREADS, lane // THREADS * THREADS + THREADS))
        else:
            self.touch(act)

    def barrier(self, block: range) -> None:
        """All lanes of a block wait for each other."""
        pending = (self.pending[scope, lane] for scope in (False, True) for lane in block)
        everything = set().union(*pending, *(self.known[lane] for lane in block))
        for lane in block:
            self.known[lane] = set(everything)
        for scope in (False, True):
            fenced = set().union(*(self.fence[scope, lane] for lane in block))
            for lane in block:
                self.fence[scope, lane] = set(fenced)

    def touch(self, act: Act) -> None:
        """A strong access to a location: near within the block, far between blocks."""
        lane, block = act.lane, act.lane // THREADS
        places: list[tuple[bool, int | None]] = [(False, block), *([(True, None)] if act.wide else [])]
        if act.what != events_of.PUBLISH:
            for scope, place in places:
                self.pending[scope, lane] |= self.left[act.key, place]
                if act.flag:
                    self.known[lane] |= self.left[act.key, place]
                    self.pending[scope, lane] -= self.left[act.key, place]
        if act.what == events_of.OBSERVE:
            return
        if act.what == events_of.PUBLISH:
            for place in (None, *range(BLOCKS)):
                self.left[act.key, place] = set()
        for scope, place in places:
            self.left[act.key, place] |= self.known[lane] if act.flag else self.fence[scope, lane]


def _partner(lane: int) -> int:
    """The lane next to a lane in its block, whom it meets."""
    return lane // THREADS * THREADS + (lane + 1) % THREADS


def _event(act: Act, when: int) -> Event:
    lanes, keys = [act.lane], [act.key]
    if act.what == events_of.MEET:
        lanes, keys = sorted((act.lane, _partner(act.lane))), [7, 7]
    if act.what == events_of.BARRIER:
        lanes, keys = [act.lane // THREADS * THREADS], [0]
    what, flag = act.what, act.flag
    return Event(when, what, np.array(lanes), np.array(keys), acquires=flag, releases=flag, wide=act.wide)


def _rows(lanes: list[int], when: list[int]) -> Rows:
    lane = np.array(lanes, np.int64)
    nothing = np.zeros(len(lanes), np.int64)
    return Rows(
        nothing, lane, lane // THREADS, lane, nothing, nothing + WRITE, np.array(when, np.int64), nothing,
        nothing, nothing.astype(np.uint64),
    )  # fmt: skip


def _ordered_by_sets(history: list[Act]) -> tuple[list[int], list[int], set[tuple[int, int]]]:
    """The lane and the moment of each access, and which pairs of accesses are ordered."""
    sets, lanes, moments = Sets(), list[int](), list[int]()
    ordered = set()
    for when, act in enumerate(history, 1):
        if act.what != -1:
            sets.apply(act)
            continue
        ordered |= {(before, len(lanes)) for before in sets.known[act.lane]}
        sets.known[act.lane].add(len(lanes))
        lanes.append(act.lane)
        moments.append(when)
    return lanes, moments, ordered


def _check(history: list[Act]) -> None:
    lanes, moments, ordered = _ordered_by_sets(history)
    pairs = [
        (one, other) for other in range(len(lanes)) for one in range(other) if lanes[one] != lanes[other]
    ]
    if not pairs:
        return
    events = [_event(act, when) for when, act in enumerate(history, 1) if act.what != -1]
    earlier, later = (np.array(column, np.intp) for column in zip(*pairs, strict=True))
    racing = unordered(_rows(lanes, moments), earlier, later, events, WHOLE_LAUNCH, Allowance())
    assert {pair for pair, open_ in zip(pairs, racing.tolist(), strict=True) if not open_} == {
        pair for pair in pairs if pair in ordered
    }


def test_accesses_are_not_compared_once_no_one_waits_for_it() -> None:
    """The time of the launch is over, however little work it has taken."""
    rows, pair = _rows([0, 1], [1, 3]), (np.array([0]), np.array([1]))
    events = [_event(Act(events_of.FENCE, 0, 0, flag=False), 2)]
    with pytest.raises(TooMuchHeldError, match="no-time-to-order"):
        unordered(rows, *pair, events, WHOLE_LAUNCH, Allowance(time_is_up=lambda: True))


@given(st.lists(ACTS, max_size=40))
@settings(max_examples=300, deadline=None)
def test_clocks_know_what_sets_of_accesses_know(history: list[Act]) -> None:
    """For any history, the pairs that the clocks order are those that the definition orders."""
    _check(history)


def test_clocks_that_do_not_fit_are_done_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column at a time gives the same."""
    monkeypatch.setattr(ordering, "MOST_CELLS", LANES)
    history = [
        Act(-1, lane, 0, flag=False) if lane >= 0 else Act(events_of.BARRIER, 0, 0, flag=False)
        for lane in (0, 1, 2, 4, -1, 1, 0, 5, 2)
    ]
    _check(history)


def test_a_location_in_one_block_orders_nothing_in_another() -> None:
    """An event that one block publishes is not learnt by another where blocks have clocks of their own."""
    history = [
        Act(-1, 0, 0, flag=False),
        Act(events_of.PUBLISH, 0, 0, flag=True),
        Act(events_of.OBSERVE, 1, 0, flag=True),
        Act(-1, 1, 0, flag=False),
        Act(events_of.OBSERVE, 4, 0, flag=True),
        Act(-1, 4, 0, flag=False),
    ]
    lanes, moments, _ = _ordered_by_sets(history)
    events = [_event(act, when) for when, act in enumerate(history, 1) if act.what != -1]
    earlier, later = np.array([0, 0]), np.array([1, 2])
    racing = unordered(_rows(lanes, moments), earlier, later, events, Scope(THREADS, THREADS), Allowance())
    assert racing.tolist() == [False, True]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(ACCESSES, ACTS), min_size=20, max_size=60))
def test_the_pairs_that_are_left_out_add_no_race(history: list[Act]) -> None:
    """All pairs spelt out show each access to race with the same sites of the same lanes."""
    lanes, moments, ordered = _ordered_by_sets(history)
    accesses = [act for act in history if act.what == -1]
    if not accesses:
        return
    site = np.array([act.key for act in accesses])
    kind = np.array([WRITE if act.flag else READ for act in accesses])
    rows = _rows(lanes, moments)._replace(site=site, kind=kind)
    agent = np.stack((rows.lane, site, kind), axis=1).tolist()
    expected = {
        (later, *agent[earlier])
        for later in range(len(lanes))
        for earlier in range(later)
        if WRITE in (kind[earlier], kind[later])
        and lanes[earlier] != lanes[later]
        and (earlier, later) not in ordered
    }
    events = [_event(act, when) for when, act in enumerate(history, 1) if act.what != -1]
    races = set()
    for earlier, later in compared_pairs(rows, Allowance()):
        racing = unordered(rows, earlier, later, events, WHOLE_LAUNCH, Allowance())
        pairs = zip(earlier[racing].tolist(), later[racing].tolist(), strict=True)
        races |= {(second, *agent[first]) for first, second in pairs}
    assert races == expected
