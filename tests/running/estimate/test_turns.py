"""Turns of a loop that ask for more than those that are simulated first cost more, whatever it is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from grader.running.estimate import kernel_time
from grader.running.estimate.devices import H100
from grader.running.estimate.kernel_time import time_of
from tests.running.estimate.launches import floats, sampled

if TYPE_CHECKING:
    from grader.running.estimate.sampling import SampledBlocks

SMALL = replace(H100, multiprocessors=4)
BLOCKS = 8 * SMALL.multiprocessors
EARLY, LATE = 20, 40


@cache
def _blocks(entry: str, early: int, late: int) -> SampledBlocks:
    values, few = floats(2 * BLOCKS * 256 * LATE + 64), floats(BLOCKS * 256)
    return sampled(entry, (BLOCKS, 1, 1), (256, 1, 1), values, few, early + late, early, device=SMALL)


@pytest.mark.parametrize(
    "entry",
    [
        *("one_lane_first", "one_place_first", "one_array_first", "one_line_first", "one_warp_first"),
        *("no_conflicts_first", "own_words_first"),
    ],
)
def test_turns_that_begin_cheaply_take_as_long_as_if_all_was_simulated(
    entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though their instructions are the same; and no less than without those that come first."""
    monkeypatch.setattr(kernel_time, "SIMULATED", 12_000)
    some, without = time_of(_blocks(entry, EARLY, LATE)), time_of(_blocks(entry, 0, LATE))
    monkeypatch.setattr(kernel_time, "SIMULATED", 10**9)
    everything = time_of(_blocks(entry, EARLY, LATE))
    assert some.cycles == pytest.approx(everything.cycles, rel=0.2)
    assert some.cycles > 0.9 * without.cycles


def test_a_loop_that_comes_after_much_code_takes_as_long_as_if_all_was_simulated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Though what is simulated of new code is spent before that."""
    values, out = floats(2 * BLOCKS * 256 * LATE), floats(BLOCKS * 256)
    blocks = sampled("dear_at_the_end", (BLOCKS, 1, 1), (256, 1, 1), values, out, 200, LATE, device=SMALL)
    monkeypatch.setattr(kernel_time, "SIMULATED", 12_000)
    some = time_of(blocks).cycles
    monkeypatch.setattr(kernel_time, "SIMULATED", 10**9)
    assert some == pytest.approx(time_of(blocks).cycles, rel=0.2)
