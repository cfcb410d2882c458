"""The time of a function: its launches, copies and fills, one after the other.

Copies between host and device are from or to pageable memory of the host, as they are where functions are
timed: what the driver copies through memory of its own takes the host's time and the time of the bus.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from grader.model import KernelEstimate, LimitShare, ordered_limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.running.estimate.devices import GpuModel

_PER_MS = 1e6
"""Bytes in a millisecond, for each GB/s."""


def host_copy(size: int, device: GpuModel) -> KernelEstimate:
    """Time of a copy of ``size`` bytes between memory of the host and of the device."""
    milliseconds = size / _PER_MS * (1 / device.pcie_gbs + 1 / device.staging_gbs)
    return _transfer("host-copies", milliseconds, device)


def device_pass(size: int, device: GpuModel) -> KernelEstimate:
    """Time in which ``size`` bytes of device memory are read or written without a kernel."""
    gigabytes_a_second = device.dram_bandwidth * device.multiprocessors * device.clock_ghz
    return _transfer("dram", size / _PER_MS / gigabytes_a_second, device)


def _transfer(limit: str, milliseconds: float, device: GpuModel) -> KernelEstimate:
    total_ms = milliseconds + device.launch_us / 1000
    shares = LimitShare(limit, milliseconds / total_ms), LimitShare("launch", 1 - milliseconds / total_ms)
    return KernelEstimate(total_ms, shares, launches=0)


def combined(parts: Sequence[tuple[int, KernelEstimate]]) -> KernelEstimate:
    """Sum of parts, each with its number of times: shares by their time, and the occupancy of launches."""
    total_ms = sum(times * part.milliseconds for times, part in parts)
    shares: defaultdict[str, float] = defaultdict(float)
    lines: defaultdict[str, dict[int, float]] = defaultdict(dict)
    launched = resident = 0.0
    for times, part in parts:
        weight = times * part.milliseconds / total_ms
        for limit in part.limits:
            shares[limit.limit] += weight * limit.share
            for line, share in limit.lines:
                of_limit = lines[limit.limit]
                of_limit[line] = of_limit.get(line, 0.0) + weight * share
        if part.occupancy:
            launched, resident = launched + weight, resident + weight * part.occupancy
    launches = sum(times * part.launches for times, part in parts)
    occupancy = resident / launched if launched else 0.0
    return KernelEstimate(total_ms, ordered_limits(shares, lines), occupancy, launches)
