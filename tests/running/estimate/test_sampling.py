"""The blocks that stand for a grid, and the number of them that a multiprocessor holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.running.estimate.devices import DEVICES, H100, KIB
from grader.running.estimate.sampling import MachineCodeLaunch, l1_bytes, resident_blocks, sample
from grader.simulation.sass.listing import Listing
from tests.bench.estimate import measured
from tests.bench.estimate.corpus import CALIBRATION, CORPUS, ROOT
from tests.bench.estimate.records import FOLDER
from tests.running.estimate.launches import coded, floats, sampled

if TYPE_CHECKING:
    from grader.model import Dim3

MEASURED = measured.read((ROOT / FOLDER).parent / "measured-h100.txt")


def launch(
    block: Dim3 = (256, 1, 1), grid: Dim3 = (1, 1, 1), registers: int = 32, shared: int = 0
) -> MachineCodeLaunch:
    """A launch of no code."""
    nothing = np.zeros(0, np.uint8)
    return MachineCodeLaunch(Listing("k", ()), block, grid, {}, nothing, 0, (), registers, shared)


def test_as_many_blocks_are_resident_as_cuda_reports() -> None:
    """The number is the one that the driver of an H100 reported, for each launch of the corpus."""
    kernels = {kernel.name: kernel for kernel in (*CORPUS, *CALIBRATION)}
    rows = [
        (kernels[name], row)
        for part in ("corpus", "calibration")
        for name in MEASURED[part]
        for row in MEASURED[part][name]
    ]
    assert len(rows) > 200
    for kernel, row in rows:
        mine = launch(kernel.block, registers=row["registers"], shared=row["shared_bytes"] + kernel.shared)
        assert resident_blocks(mine, H100) == row["blocks_per_multiprocessor"], kernel.name


@pytest.mark.parametrize(
    ("device", "block", "registers", "shared", "blocks"),
    [
        ("h100", 1024, 32, 0, 2),
        ("h100", 32, 32, 0, 32),
        ("h100", 256, 128, 0, 2),
        ("h100", 256, 32, 100 * KIB, 2),
        ("rtx4090", 1024, 32, 0, 1),
        ("rtx4090", 32, 32, 0, 24),
        ("t4", 256, 32, 0, 4),
        ("t4", 128, 32, 48 * KIB, 1),
    ],
)
def test_threads_blocks_registers_and_shared_memory_each_limit_them(
    device: str, block: int, registers: int, shared: int, blocks: int
) -> None:
    """By the limits of the device's architecture."""
    assert resident_blocks(launch((block, 1, 1), (1, 1, 1), registers, shared), DEVICES[device]) == blocks


def test_l1_is_what_resident_blocks_leave_of_it() -> None:
    """The driver carves out the least that they need: measured as the capacity of L1 beside blocks."""
    assert l1_bytes(launch(), H100, 8) == (256 - 8) * KIB
    assert l1_bytes(launch(shared=8 * KIB), H100, 8) == (256 - 100) * KIB
    assert l1_bytes(launch(shared=227 * KIB), H100, 1) == (256 - 228) * KIB


@pytest.mark.parametrize(
    "grid", [(9, 1, 1), (4, 2, 1), (2, 4, 1), (3, 3, 3), (64, 64, 1), (1024, 2, 1), (1, 7, 2)]
)
def test_blocks_are_spread_over_the_grid_and_none_is_taken_twice(grid: Dim3) -> None:
    """As many as one multiprocessor gets; one of every quarter of the grid where there are four."""
    values = floats(64)
    for multiprocessors in (1, 2, 8, 100):
        few = replace(H100, multiprocessors=multiprocessors)
        result = sample(coded("endless", grid, (32, 1, 1), values + 1), few)
        total = grid[0] * grid[1] * grid[2]
        assert len(set(result.blocks)) == len(result.blocks) == min(32, -(-total // multiprocessors))
        assert all(0 <= block < total for block in result.blocks)
        if len(result.blocks) >= 8:
            assert {4 * block // total for block in result.blocks} == {0, 1, 2, 3}


def test_blocks_of_a_long_grid_are_at_different_places_of_its_parts() -> None:
    """A pattern that repeats itself from part to part would else be taken for the same everywhere."""
    result = sampled(
        "endless", (8000, 1, 1), (32, 1, 1), floats(64) + 1, device=replace(H100, multiprocessors=1000)
    )
    assert len(result.blocks) == 8
    assert len({block % 1000 // 50 for block in result.blocks}) > 5


def test_blocks_of_a_wide_grid_are_not_all_of_one_column() -> None:
    """Blocks at an edge may have less to do."""
    result = sampled("endless", (64, 64, 1), (32, 1, 1), floats(64) + 1)
    assert len({block % 64 for block in result.blocks}) == len(result.blocks)


def test_blocks_that_do_different_things_are_all_run() -> None:
    """Half of them end at once, and what they access is what the others do."""
    values = floats(64 * 1000)
    result = sampled("uneven", (1000, 1, 1), (64, 1, 1), values, 1000)
    stores = [access for access in result.trace.accesses if access.space == "global"]
    assert stores
    busy = {block for block in result.blocks if block >= 500}
    assert 0 < len(busy) < len(result.blocks)
    for access in stores:
        assert access.mask is not None
        assert access.mask.sum() == 64 * len(busy)


def test_what_the_blocks_compute_is_computed() -> None:
    """The model runs the launch's own data; warps that lack threads are whole all the same."""
    before = floats(40 * 50)
    result = sampled("copy", (50, 1, 1), (40, 1, 1), before, np.zeros_like(before))
    assert result.warps_per_block == 2
    assert result.threads.sum() == 40 * len(result.blocks)
    start, size = result.launch.arrays[1]
    after = result.launch.memory[start : start + size].view(np.float32)
    for block in result.blocks:
        part = slice(40 * block, 40 * block + 40)
        assert (after[part] == before[part]).all()


def test_occupancy_is_the_share_of_warps() -> None:
    """Of those that a multiprocessor could hold."""
    assert sampled("copy", (1000, 1, 1), (256, 1, 1), floats(256000), floats(256000)).occupancy == 1.0
    assert sampled("endless", (1000, 1, 1), (32, 1, 1), floats(64) + 1).occupancy == 0.5
