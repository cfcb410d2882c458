"""That each access of an instruction counts, whichever memory its lanes go to and when they do."""

from __future__ import annotations

from functools import cache

import pytest

from grader.running.estimate.devices import H100
from grader.running.estimate.kernel_time import time_of
from grader.running.estimate.warps import AS_IS, WarpTraces
from tests.running.estimate.launches import floats, sampled

ELEMENTS = 1 << 23
BLOCKS = H100.multiprocessors
ROUNDS = 8


@cache
def _cycles(entry: str, few: int) -> float:
    values = floats(BLOCKS * 256 * 32 * ROUNDS)
    return time_of(sampled(entry, (BLOCKS, 1, 1), (256, 1, 1), values, ROUNDS, few)).cycles


@pytest.mark.parametrize("few", [1, 8])
@pytest.mark.parametrize(
    "entry",
    [
        *("loads_beside_shared", "stores_beside_shared", "updates_beside_shared"),
        *("loads_beside_local", "stores_beside_local"),
    ],
)
def test_lanes_that_go_elsewhere_make_those_of_others_no_cheaper(entry: str, few: int) -> None:
    """A warp's lines of global memory cost what they do, beside lanes that access shared or local memory."""
    assert _cycles(entry, few) > 0.93 * (32 - few) / 32 * _cycles(entry, 0)


@pytest.mark.parametrize("lane", [0, 5])
def test_a_lane_that_reads_another_array_makes_those_of_others_no_cheaper(lane: int) -> None:
    """The other array is in L2, and the rest of the warp's comes from DRAM all the same."""
    values, grid = floats(ELEMENTS), (ELEMENTS // 256, 1, 1)
    alone, beside = (
        time_of(sampled("copy_beside_one", grid, (256, 1, 1), floats(32), values, values.copy(), at)).cycles
        for at in (32, lane)
    )
    assert beside > 0.95 * alone


def test_what_an_instruction_loads_belongs_to_the_turn_in_which_it_does() -> None:
    """Early turns in which it loads nothing do not ask for what later ones load."""
    rounds, first = 12, 5
    blocks = sampled("loads_from", (1, 1, 1), (32, 1, 1), floats(1024 * rounds), floats(32), rounds, first)
    traces = WarpTraces(blocks)
    (warp,) = traces.of_runs([True] * len(blocks.trace.runs), AS_IS)
    *loads, store = [request.lines for request in warp.requests]
    assert store
    assert [bool(lines) for lines in loads] == [False] * 2 * first + [True] * 2 * (rounds - first)
