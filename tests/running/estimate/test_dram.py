"""The traffic that comes from DRAM, seen from how the blocks of a grid share arrays."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.running.estimate.devices import H100, MIB
from grader.running.estimate.dram import DramShares
from grader.running.estimate.memory_system import NOTHING, WarpRequest
from tests.running.estimate.launches import floats, sampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.running.estimate.sampling import SampledBlocks


@cache
def product(n: int) -> SampledBlocks:
    """A product of matrices of n × n, a thread for each element, in blocks of 16 × 16."""
    square = floats(n, n)
    return sampled("product", (n // 16, n // 16, 1), (16, 16, 1), square, square.copy(), square.copy(), n)


def request_in(blocks: SampledBlocks, array: int, *, written: float = 0.0) -> WarpRequest:
    """A request for the first line of an array, with what is known of that array."""
    start, _ = blocks.launch.arrays[array]
    return DramShares(blocks).with_share(WarpRequest(1.0, ((start >> 7, 0b1111),), written=written))


def test_blocks_of_a_product_share_rows_and_columns() -> None:
    """Of 256 × 256 a block needs 16 rows and 16 columns, and so do the 15 others of its row or column."""
    blocks = product(256)
    assert request_in(blocks, 0).dram == pytest.approx(1 / 16)
    assert request_in(blocks, 1).dram == pytest.approx(1 / 16)
    assert request_in(blocks, 2).dram == 1.0


def test_blocks_of_a_copy_share_nothing() -> None:
    """Each sector comes from DRAM once, and as late as that."""
    n = 1 << 20
    blocks = sampled("copy", (n // 256, 1, 1), (256, 1, 1), floats(n), floats(n))
    for array in (0, 1):
        one = request_in(blocks, array)
        assert (one.dram, one.late) == (1.0, 1.0)


def test_what_an_earlier_wave_has_fetched_is_not_late() -> None:
    """Of 1024 × 1024 a wave needs all columns of the right factor, and new rows of the left."""
    blocks = product(1024)
    waves = blocks.launch.blocks / (H100.multiprocessors * blocks.resident)
    assert waves > 3
    left, right = request_in(blocks, 0), request_in(blocks, 1)
    assert right.late == pytest.approx(1 / waves, rel=0.05)
    assert left.late > 0.8
    assert request_in(product(256), 1).late == 1.0


def test_what_l2_cannot_hold_is_fetched_by_every_wave() -> None:
    """With an L2 as small as the right factor, that comes once for each wave of blocks."""
    blocks = replace(product(1024), device=replace(H100, l2_bytes=4 * MIB))
    waves = blocks.launch.blocks / (H100.multiprocessors * blocks.resident)
    assert request_in(blocks, 1).dram == pytest.approx(waves / 64, rel=0.05)
    assert request_in(blocks, 1).late == 1.0


def test_what_is_fetched_makes_l2_write_what_it_held() -> None:
    """A part of L2 where all fits; where not, all that is written has to go to DRAM."""
    small, n = product(256), 1 << 24
    large = sampled("copy", (n // 256, 1, 1), (256, 1, 1), floats(n), floats(n))
    assert request_in(small, 0).evicts == pytest.approx(H100.dirty)
    assert request_in(small, 2, written=1.0).evicts == pytest.approx(H100.dirty)
    assert request_in(small, 2, written=1.0).leaves == 0.0
    assert request_in(large, 0).evicts < H100.dirty
    assert request_in(large, 0).leaves == 0.0
    assert request_in(large, 1, written=1.0).leaves > 0.5


def random_places(n: int) -> NDArray[np.int32]:
    """Each place of an array once, in no order."""
    return np.random.default_rng(2).permutation(n).astype(np.int32)


def test_blocks_of_one_wave_wait_together_for_what_they_share() -> None:
    """Those of later waves begin one by one."""
    assert request_in(product(256), 0).together
    assert not request_in(product(256), 2).together
    assert not request_in(product(1024), 0).together


def test_what_is_read_in_no_order_is_in_l2_as_far_as_that_holds_the_array() -> None:
    """All of it but what is read first; a half, or nearly none, for which DRAM opens a row each."""
    n = 1 << 20
    reads = sampled("gather", (n // 256, 1, 1), (256, 1, 1), floats(n), random_places(n), floats(n))
    all_of_it, half, none = (
        request_in(replace(reads, device=replace(H100, l2_bytes=size)), 0)
        for size in (50 * MIB, 25 * MIB // 8, MIB // 8)
    )
    assert all_of_it.dram == pytest.approx(1 / 8, rel=0.02)
    assert 0.4 < half.dram < 0.7
    assert none.dram > 0.95
    assert none.slower == pytest.approx(H100.dram_apart, rel=0.05)
    assert request_in(reads, 1).slower == 1.0


def test_sectors_that_are_written_in_part_are_read_before() -> None:
    """Scattered writes need the rest of each sector; blocks that write neighbours fill whole sectors."""
    n = 1 << 20
    scattered = sampled("scatter", (n // 256, 1, 1), (256, 1, 1), floats(n), random_places(n), floats(n))
    assert request_in(scattered, 2, written=1.0).filled > 0.9
    copied = sampled("copy", (n // 256, 1, 1), (256, 1, 1), floats(n), floats(n))
    assert request_in(copied, 1, written=1.0).filled == 0.0


def test_blocks_that_go_through_an_array_again_and_again_share_nothing() -> None:
    """They begin where others began, but in another column, when L2 holds nothing of that any more."""
    n = 1 << 22
    columns = sampled("columns", (n // 256, 1, 1), (256, 1, 1), floats(n), floats(n), n // 32)
    small = replace(columns, device=replace(H100, l2_bytes=4 * MIB))
    assert request_in(small, 0).dram == 1.0


def test_a_request_for_nothing_stays_as_it_is() -> None:
    """Of shared memory there is no line."""
    assert DramShares(product(256)).with_share(NOTHING) is NOTHING
