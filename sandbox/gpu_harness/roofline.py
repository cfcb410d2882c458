"""Highest rates of the device, as measured here: memory bandwidth and float32 operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from buffers import THREADS

if TYPE_CHECKING:
    from buffers import Helpers
    from device import Device

REPEATS = 6
"""The fastest counts: anything that disturbs makes it slower."""

BLOCKS = 8192
"""For the peak: many waves of blocks on any device, so that the last one matters little."""

MULTIPLY_ADDS = 384
OPERATIONS = 16
"""Operations of `fma_peak` in each of its rounds, a multiply-add counting as two."""


def bandwidth_gb_s(device: Device, helpers: Helpers, space: int, size: int) -> float:
    """The larger one of the rates of copying and of reading, in 10⁹ bytes a second.

    ``space`` has ``size`` bytes, a multiple of 32 and several times what L2 holds.
    """
    half = size // 2
    copying = (np.uintp(space + half), np.uintp(space), np.uint64(half // 16))
    reading = (np.uintp(space), np.uint64(size // 16), np.uintp(space))
    fastest = min(
        _fastest_ms(device, helpers.functions["copy_words"], 2048, copying),
        _fastest_ms(device, helpers.functions["read_words"], 2048, reading),
    )
    return size / fastest / 1e6


def fp32_gflop_s(device: Device, helpers: Helpers, space: int) -> float:
    """Float32 operations, in 10⁹ a second; nothing is written to ``space``."""
    arguments = (np.uintp(space), np.int32(MULTIPLY_ADDS), np.float32(1), np.float32(0))
    fastest = _fastest_ms(device, helpers.functions["fma_peak"], BLOCKS, arguments)
    return BLOCKS * THREADS * MULTIPLY_ADDS * OPERATIONS / fastest / 1e6


def _fastest_ms(device: Device, function: int, blocks: int, arguments: tuple[np.generic, ...]) -> float:
    """The fastest of some launches, each behind another one, so that the device never waits for the host."""
    start, stop = device.events()
    shape = function, (blocks, 1, 1), (THREADS, 1, 1), 0, arguments
    times = []
    for _ in range(REPEATS):
        device.launch(*shape)
        times.append(device.elapsed_of_ms(start, stop, device.prepared(*shape)))
    return min(times)
