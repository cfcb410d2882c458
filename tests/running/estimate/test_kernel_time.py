"""The time of a grid, as it follows from the part of it that is simulated."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from grader.running.estimate import kernel_time
from grader.running.estimate.devices import DEVICES, H100
from grader.running.estimate.kernel_time import time_of
from grader.running.estimate.warps import Changed
from tests.running.estimate.launches import SOURCE, floats, sampled
from tests.simulation.emulator.nvcc import line_of

if TYPE_CHECKING:
    from grader.model import Dim3
    from grader.running.estimate.sampling import SampledBlocks
    from tests.running.estimate.launches import Value

BLOCKS = 8 * H100.multiprocessors
"""As many blocks of 256 threads as are resident together."""


@cache
def blocks_of(name: str) -> SampledBlocks:
    """Launches that are too long to be simulated whole, and one that is not."""
    square = floats(256, 256)
    values = floats(BLOCKS * 256)
    square_and_size = (square, square.copy(), square.copy(), 256)
    launches: dict[str, tuple[str, Dim3, int, tuple[Value, ...]]] = {
        "product": ("product", (16, 16, 1), 16, square_and_size),
        "chain of one wave": ("chain", (BLOCKS, 1, 1), 1, (values, 200)),
        "chain of eight": ("chain", (8 * BLOCKS, 1, 1), 1, (values, 200)),
        "chain of one and a half": ("chain", (3 * BLOCKS // 2, 1, 1), 1, (values, 200)),
        "conflicts": ("conflicts", (BLOCKS, 1, 1), 1, (values, 500)),
        "phases": ("phases", (BLOCKS, 1, 1), 1, (values, 2000)),
        "scattered": ("scattered", (BLOCKS, 1, 1), 1, (floats(BLOCKS * 256 * 32), values, 32)),
        "copy": ("copy", (BLOCKS, 1, 1), 1, (values, values.copy())),
    }
    entry, grid, rows, arguments = launches[name]
    return sampled(entry, grid, (256 // rows, rows, 1), *arguments)


@pytest.mark.parametrize("name", ["product", "chain of one wave", "chain of eight", "conflicts", "phases"])
def test_what_goes_on_as_it_began_takes_as_long_as_if_all_was_simulated(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within 5 %, also where what takes the time comes after what is simulated of the beginning."""
    monkeypatch.setattr(kernel_time, "SIMULATED", 12_000)
    some = time_of(blocks_of(name))
    monkeypatch.setattr(kernel_time, "SIMULATED", 10**9)
    everything = time_of(blocks_of(name))
    assert some != everything
    assert some.cycles == pytest.approx(everything.cycles, rel=0.05)


def test_blocks_that_do_less_and_less_take_as_long_as_those_that_do_most() -> None:
    """Those that have ended early do not make the rest of the others any shorter."""
    n = 391 * 256
    blocks = sampled("to_the_end", (391, 1, 1), (256, 1, 1), floats(n), n)
    time = time_of(blocks)
    assert time.cycles > time.busy["cycles"]
    turns = (n - min(blocks.blocks) * 256) / 256
    assert time.cycles == pytest.approx(turns * 800, rel=0.4)


def test_eight_waves_take_eight_times_as_long_as_one() -> None:
    """And the half of a wave at the end less than a whole one, for its blocks have more room."""
    one, more, eight = (
        time_of(blocks_of(f"chain of {name}")).cycles for name in ("one wave", "one and a half", "eight")
    )
    assert eight == pytest.approx(8 * one, rel=0.1)
    assert 1.2 * one < more < 2 * one


def test_a_launch_takes_what_every_launch_takes_and_blocks_are_given_out_one_by_one() -> None:
    """However little they do."""
    few = time_of(sampled("uneven", (1, 1, 1), (32, 1, 1), floats(32), 2))
    many = time_of(sampled("uneven", (200_000, 1, 1), (32, 1, 1), floats(32), 400_000))
    assert H100.launch_us < few.microseconds < H100.launch_us + 2
    assert many.microseconds >= H100.launch_us + 200_000 * H100.block_ns / 1000


def test_shares_add_up_and_belong_to_lines_of_the_file() -> None:
    """The line with the loads is that of a product which waits for them."""
    time = time_of(blocks_of("product"))
    assert sum(time.shares.values()) == pytest.approx(1)
    by_line: dict[int, float] = {}
    for (_, line), share in time.shares.items():
        by_line[line] = by_line.get(line, 0) + share
    assert max(by_line, key=lambda line: by_line[line]) == line_of(SOURCE, "sum += a[row")


def test_conflicts_are_seen_as_time_of_shared_memory_and_gone_without_them() -> None:
    """32 lanes in one bank take 32 passes."""
    blocks = blocks_of("conflicts")
    as_is, without = time_of(blocks), time_of(blocks, Changed(no_conflicts=True))
    line = line_of(SOURCE, "sum += tile")
    assert max(as_is.shares, key=lambda key: as_is.shares[key]) == ("shared", line)
    assert as_is.busy["shared"] > 0.9 * as_is.busy["cycles"]
    assert without.cycles < as_is.cycles / 10
    half = time_of(blocks, Changed(shared_loads=0.5))
    assert half.cycles == pytest.approx(as_is.cycles / 2, rel=0.1)


def test_loads_that_are_far_apart_are_seen_as_time_of_memory() -> None:
    """Neighbours would take a fraction of it; a copy of neighbours is as it is."""
    scattered, copy = blocks_of("scattered"), blocks_of("copy")
    coalesced = Changed(coalesced=True)
    assert time_of(scattered, coalesced).cycles < time_of(scattered).cycles / 3
    assert time_of(copy, coalesced) == time_of(copy)
    (cause, _), _ = max(time_of(scattered).shares.items(), key=lambda item: item[1])
    assert cause in {"dram", "l2", "l1", "memory-latency"}


def test_barriers_that_are_imagined_away_are_not_waited_for() -> None:
    """The rest stays."""
    blocks = blocks_of("conflicts")
    as_is, without = time_of(blocks), time_of(blocks, Changed(no_barriers=True))
    assert any(cause == "barrier" for cause, _ in as_is.shares)
    assert not any(cause == "barrier" for cause, _ in without.shares)
    assert without.cycles <= 1.02 * as_is.cycles


def test_the_same_blocks_take_the_same_time() -> None:
    """To the last digit."""
    assert time_of(blocks_of("product")) == time_of(blocks_of("product"))


@pytest.mark.parametrize("device", DEVICES)
def test_every_device_has_a_time(device: str) -> None:
    """A copy of 64 MiB is not faster than the data sheet's bandwidth allows, nor four times as slow."""
    n = 1 << 23
    values = floats(n)
    model = DEVICES[device]
    blocks = sampled("copy", (n // 256, 1, 1), (256, 1, 1), values, values, device=model)
    seconds = time_of(blocks).cycles / model.clock_ghz / 1e9
    moved = 2 * 4 * n / seconds / 1e9
    most = model.dram_bandwidth * model.multiprocessors * model.clock_ghz
    at_least_from_l2 = model.l2_bytes / (2 * 4 * n)
    assert most / 4 < moved < most * (1 + at_least_from_l2) * 1.5
