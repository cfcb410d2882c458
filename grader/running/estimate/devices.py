"""Devices as the model knows them: constants with their sources.

A device's pipes are in cycles that an instruction of a warp keeps one of the four partitions of a
multiprocessor busy, its memory in cycles and bytes per cycle of one multiprocessor. The constants of an H100
were measured with `tests/bench/gpu/microbenchmarks`; `docs/estimate.md` has the table. Others share what
their architecture shares; what is published of them (multiprocessors, clocks, bandwidths, caches) is from
NVIDIA's whitepapers of the architectures and data sheets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

KIB = 1024
MIB = 1024 * KIB


@frozen
class Pipes:
    """Cycles that an instruction of a warp keeps a pipe of its partition busy."""

    fma: float = 1.0
    """float32 sums and products."""
    fma_heavy: float = 2.0
    """Products of integers, which the other half of that pipe does."""
    wide: float = 4.0
    """Products of integers with 64 bits."""
    alu: float = 2.0
    """Integer sums, logic, comparisons, selections."""
    half: float = 1.25
    double: float = 2.0
    special: float = 8.0
    """Reciprocals, roots, exponentials, and counting bits."""
    convert: float = 4.0
    uniform: float = 2.0
    """The pipe of values that all lanes of a warp share."""


@frozen
class GpuModel:
    """A GPU: its multiprocessors, and what moves data to them.

    Latencies are in cycles, bandwidths in bytes per cycle of one multiprocessor when all are busy.
    """

    name: str
    architecture: int
    """The compute capability times ten, for which ptxas makes the code."""
    multiprocessors: int
    clock_ghz: float
    l2_bytes: int
    l2_bandwidth: float
    """Bytes per cycle of one multiprocessor, when all read."""
    l2_alone: float
    """Bytes per cycle of a multiprocessor that reads while no other does."""
    dram_bandwidth: float
    l1_bytes: int
    """L1 and shared memory together."""
    carve_outs: tuple[int, ...]
    """Sizes that shared memory can have of them, in KiB."""
    pipes: Pipes = Pipes()
    shared_latency: float = 23.0
    l1_latency: float = 32.0
    l2_latency: float = 284.0
    dram_latency: float = 687.0
    l2_crowd: float = 21.0
    """Cycles that a request waits in L2 for each that by chance wants the same part of it, and in DRAM."""
    dram_crowd: float = 60.0
    shuffle_latency: float = 24.0
    special_latency: float = 17.0
    atomic_sector_ns: float = 0.46
    """Time in which one part of L2 updates a sector, for any requester."""
    atomic_integer_ns: float = 0.78
    """The time between two updates of one address, of an integer and of a real number."""
    atomic_real_ns: float = 1.77
    atomic_lines: float = 8.0
    """Neighbouring lines that are in one part of L2."""
    dirty: float = 0.36
    """The share of L2 that must be written to DRAM before a launch can use it."""
    tag_cycles: float = 0.27
    """Cycles that L1 takes to look a line up, where there are many; up to four take one."""
    fill_sector: float = 0.5
    """Cycles of the unit of loads that a sector takes which comes from L2."""
    store_sector: float = 1.0
    """Cycles of the unit of stores that a sector takes."""
    store_line: float = 1.0
    """Additional cycles of a line of which some sector is written in part."""
    written_sector: float = 2.07
    """Cycles of one multiprocessor that L2 takes to write a sector when all write; a line takes at least
    `written_line`."""
    written_line: float = 4.7
    write_backlog: float = 1500.0
    """Cycles of writing that may wait for L2 or DRAM before stores wait."""
    dram_write: float = 1.3
    """Ratio of the time that DRAM takes to write a sector to the time to read one."""
    dram_apart: float = 1.74
    """Ratio of the time that it takes for sectors that are far apart to the time for neighbours."""
    queue: float = 24.0
    """Cycles of work that may wait for the unit of loads and stores before warps wait to hand theirs in."""
    exchange_turn: float = 83.0
    """Cycles between two exchanges that succeed at one word of shared memory, each of which must load it."""
    barrier_base: float = 10.0
    barrier_per_warp: float = 2.0
    barrier_arrival: float = 0.7
    """Cycles between two arrivals at barriers of one multiprocessor."""
    launch_us: float = 3.5
    """Time of a launch beside the work of its blocks, as events measure it."""
    pcie_gbs: float = 64.0
    """GB/s of the bus to the host in one direction."""
    staging_gbs: float = 12.3
    """GB/s with which the host copies between its pageable memory and what the bus reads."""
    block_gap: float = 450.0
    """Cycles from the end of a block to the first instruction of the next."""
    block_ns: float = 0.6
    """The time between two blocks that are given out, over the whole GPU."""
    branch: float = 8.0
    """Cycles that a branch that is taken keeps its warp from issuing."""


H100 = GpuModel(
    name="NVIDIA H100",
    architecture=90,
    multiprocessors=132,
    clock_ghz=1.98,
    l2_bytes=50 * MIB,
    l2_bandwidth=28.0,
    l2_alone=64.0,
    dram_bandwidth=11.8,
    l1_bytes=256 * KIB,
    carve_outs=(0, 8, 16, 32, 64, 100, 132, 164, 196, 228),
)
"""Most of it was measured (`docs/estimate.md` names what was chosen); the others differ from it by what is
published of them. PCIe 5.0 with 16 lanes moves 128 GB/s in both directions together (data sheet)."""

_H200 = replace(H100, name="NVIDIA H200", dram_bandwidth=16.9)
"""The same chip with memory of 4.8 instead of 3.35 TB/s (data sheet)."""

_A100 = replace(
    H100,
    name="NVIDIA A100",
    architecture=80,
    multiprocessors=108,
    clock_ghz=1.41,
    l2_bytes=40 * MIB,
    l2_bandwidth=30.0,
    dram_bandwidth=12.3,
    l1_bytes=192 * KIB,
    carve_outs=(0, 8, 16, 32, 64, 100, 132, 164),
    pipes=Pipes(fma=2.0),
    l1_latency=33.0,
    l2_latency=200.0,
    dram_latency=470.0,
    pcie_gbs=32.0,
)
"""64 float32 units a multiprocessor, 40 MB of L2 that moves 5120 bytes a cycle, memory of 2.04 TB/s
(whitepaper of the A100), PCIe 4.0 of 64 GB/s in both directions (data sheet); latencies as Chips and Cheese
measured them."""

_RTX4090 = replace(
    H100,
    name="NVIDIA GeForce RTX 4090",
    architecture=89,
    multiprocessors=128,
    clock_ghz=2.52,
    l2_bytes=72 * MIB,
    l2_bandwidth=15.5,
    dram_bandwidth=2.9,
    l1_bytes=128 * KIB,
    carve_outs=(0, 8, 16, 32, 64, 100),
    pipes=Pipes(double=64.0),
    l1_latency=33.0,
    l2_latency=273.0,
    dram_latency=600.0,
    pcie_gbs=32.0,
)
"""128 multiprocessors at 2.52 GHz, 72 MB of L2, memory of 1008 GB/s, a 64th of the double units, PCIe 4.0
with 16 lanes (whitepaper of Ada); L2's bandwidth and the latencies as Chips and Cheese measured them."""

_T4 = replace(
    H100,
    name="NVIDIA T4",
    architecture=75,
    multiprocessors=40,
    clock_ghz=1.35,
    l2_bytes=4 * MIB,
    l2_bandwidth=20.0,
    dram_bandwidth=5.0,
    l1_bytes=96 * KIB,
    carve_outs=(32, 64),
    pipes=Pipes(fma=2.0, double=64.0),
    l2_latency=188.0,
    dram_latency=440.0,
    pcie_gbs=16.0,
)
"""40 multiprocessors of 64 float32 units, memory of 320 GB/s (whitepaper of Turing), PCIe 3.0 of 32 GB/s in
both directions (data sheet of the T4); the clock under load, L2 and the latencies as Jia et al. measured them
("Dissecting the NVidia Turing T4 GPU via microbenchmarking", 2019)."""

DEVICES: Mapping[str, GpuModel] = {"h200": _H200, "h100": H100, "a100": _A100, "rtx4090": _RTX4090, "t4": _T4}
"""The devices by the keys of `grader.model.DEVICES`."""
