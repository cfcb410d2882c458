"""The waiting times of accesses, one after the other, without warps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.running.estimate.devices import H100
from grader.running.estimate.memory_system import Asker, MemorySystem, WarpRequest

LINES = 64
"""Of the small L1 of these tests."""
FULL = 0b1111


def asker(number: int, block: int = 0) -> Asker:
    """The first warp of a block with its how many-th request."""
    return Asker(block, 0, number, 0)


def request(line: int, bits: int = FULL) -> WarpRequest:
    """A request for sectors of one line, which no warp has fetched."""
    return WarpRequest(1.0, ((line, bits),), dram=1.0, late=1.0)


def memory() -> MemorySystem:
    """One of all multiprocessors, with a small L1."""
    return MemorySystem(H100, LINES * 128, H100.multiprocessors)


def test_what_l1_has_lost_comes_from_l2() -> None:
    """DRAM sends a sector once; that is as much work as the 64 bytes around it, which L2 does not keep."""
    system = memory()
    for number in range(2 * LINES):
        system.access(1000.0 * number, "load", 0.0, request(number, 0b0001), asker(number))
    sent = system.busy["dram"]
    assert sent == pytest.approx(2 * LINES * 2 * 32 / H100.dram_bandwidth)
    done, _, _ = system.access(1e6, "load", 0.0, request(0, 0b0001), asker(0))
    assert H100.l2_latency < done - 1e6 < H100.l2_latency + 60
    assert system.busy["dram"] == sent
    done, _, _ = system.access(2e6, "load", 0.0, request(0, 0b0010), asker(0))
    assert done - 2e6 > H100.dram_latency


def test_l2_gathers_what_is_written_to_a_sector() -> None:
    """And DRAM gets it once, however many stores it took."""
    once, often, store = memory(), memory(), replace(request(0), evicts=1.0, written=8.0)
    for system, stores in ((once, 1), (often, 8)):
        for number in range(stores):
            system.access(1000.0 * number, "store", 0.0, store, asker(number))
    assert once.busy["dram"] == often.busy["dram"] > 0


def test_what_several_blocks_fetch_arrives_for_all_as_soon_as_for_the_first() -> None:
    """Blocks that began together get it at the same time; else each waits as long as DRAM takes."""
    for together in (True, False):
        system = memory()
        done = [
            system.access(
                time, "load", 0.0, replace(request(line), dram=0.1, together=together), asker(0, block)
            )[0]
            for block, (time, line) in enumerate(((0.0, 0), (200.0, 500)))
        ]
        assert done[1] - done[0] == pytest.approx(0.0 if together else 200.0, abs=20)


def test_the_more_is_asked_for_the_longer_each_waits() -> None:
    """Long before all that DRAM can send is asked for: measured, 180 cycles at three quarters of that."""
    waits = []
    for share in (0.01, 0.44, 0.74):
        system, cycles = memory(), 128 / H100.dram_bandwidth / share
        for number in range(400):
            done, _, _ = system.access(cycles * number, "load", 0.0, request(number), asker(number))
        waits.append(done - cycles * number - H100.dram_latency)
    assert waits[0] < 20
    assert waits[1] - waits[0] == pytest.approx(41, abs=15)
    assert waits[2] - waits[0] == pytest.approx(180, abs=30)
