"""What a multiprocessor holds, by compute capability.

From the table of technical specifications in the CUDA C++ programming guide (appendix "Compute
capabilities"); the granularities are those of the occupancy calculation that comes with the CUDA toolkit.
"""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MOST_THREADS = 1024
"""Threads in a block, on every device since compute capability 2.0."""

MOST_REGISTERS = 255
"""Registers that a thread can address, since compute capability 3.5."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A multiprocessor's limits; bytes, registers and threads.

    Registers are given to warps in multiples of ``register_unit``, out of ``partitions`` files of equal size;
    shared memory to blocks in multiples of ``shared_unit``, of which the system takes ``reserved_bytes``.
    """

    threads: int
    blocks: int
    shared_bytes: int
    block_shared_bytes: int
    registers: int = 64 * KIB
    register_unit: int = 256
    partitions: int = 4
    shared_unit: int = 128
    reserved_bytes: int = KIB


def _older(threads: int, blocks: int, shared: int, of_block: int) -> Limits:
    return Limits(threads, blocks, shared * KIB, of_block * KIB, shared_unit=256, reserved_bytes=0)


def _newer(threads: int, blocks: int, shared: int) -> Limits:
    return Limits(threads, blocks, shared * KIB, (shared - 1) * KIB)


LIMITS = {
    61: _older(2048, 32, 96, 48),
    70: _older(2048, 32, 96, 96),
    75: _older(1024, 16, 64, 64),
    80: _newer(2048, 32, 164),
    86: _newer(1536, 16, 100),
    87: _newer(1536, 16, 164),
    89: _newer(1536, 24, 100),
    90: _newer(2048, 32, 228),
    100: _newer(2048, 32, 228),
    120: _newer(1536, 24, 100),
}
"""By compute capability times ten: 80 is 8.0."""
