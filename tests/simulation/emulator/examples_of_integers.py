"""Examples of the kernel library: whole numbers - hashes, games, random numbers, recursion."""

from __future__ import annotations

import zlib

import numpy as np

from tests.simulation.emulator.examples import Example, draw, integers, zeros

_FULL = 0xFFFFFFFF


def monte_carlo_pi() -> Example:
    """Every thread draws its own numbers."""
    state = (np.uint32(12345) + np.uint32(747796405) * np.arange(192, dtype=np.uint32)).astype(np.uint32)
    inside = 0
    for _ in range(40):
        pair = []
        for _ in range(2):
            state = state * np.uint32(1664525) + np.uint32(1013904223)
            pair.append((state >> np.uint32(8)).astype(np.float32) / np.float32(16777216))
        inside += int((pair[0] * pair[0] + pair[1] * pair[1] < 1).sum())
    hits = np.array([inside], np.uint64)
    return Example(
        (zeros(hits), np.uint32(12345), np.int32(40)), (0,), (hits,), (3, 1, 1), (64, 1, 1), updated=(0,)
    )


def _completions(rows: list[int]) -> int:
    if len(rows) == 8:
        return 1
    free = (
        column
        for column in range(8)
        if all(column != old and abs(column - old) != len(rows) - at for at, old in enumerate(rows))
    )
    return sum(_completions([*rows, column]) for column in free)


def queens() -> Example:
    """Arrays that are stacks."""
    ways = np.zeros(64, np.int32)
    for thread in range(64):
        first, second = thread % 8, thread // 8
        ways[thread] = _completions([first, second]) if abs(first - second) > 1 else 0
    return Example((zeros(ways),), (0,), (ways,), (1, 1, 1), (64, 1, 1))


def _mixed(word: int, place: int) -> tuple[int, int]:
    h = word
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ h >> shift) * factor & _FULL
    h ^= h >> 16
    eight = word.to_bytes(4, "little") + h.to_bytes(4, "little")
    permuted = int.from_bytes(bytes(eight[selector] for selector in (0, 4, 6, 1)), "little")
    funnel = ((h << 32 | word) << (place & 31) >> 32) & _FULL
    return h, permuted ^ int(f"{word:032b}"[::-1], 2) ^ funnel


def hash_and_bits() -> Example:
    """Sixteen bytes at a time go out."""
    records = draw().integers(0, 256, (70, 9)).astype(np.uint8)
    words = draw(8).integers(0, 1 << 32, 70).astype(np.uint32)
    out = np.zeros((70, 4), np.uint32)
    for i, (record, word) in enumerate(zip(records, words, strict=True)):
        h, turned = _mixed(int(word), i)
        morton = sum((h >> bit & 1) << 2 * bit | (h >> 16 + bit & 1) << 2 * bit + 1 for bit in range(16))
        lowest = (turned & -turned).bit_length()
        bits = lowest + 100 * (32 - turned.bit_length()) + 10000 * turned.bit_count()
        out[i] = (zlib.crc32(record.tobytes()), morton, turned, bits)
    arguments = (records, np.int32(9), words, zeros(out), np.int32(70))
    return Example(arguments, (3,), (out,), (2, 1, 1), (64, 1, 1))


def wide_integers() -> Example:
    """128 bits."""
    a, b = (draw(seed).integers(0, 1 << 64, (90, 2), np.uint64) for seed in (1, 2))
    x, y = ([int(low) | int(high) << 64 for low, high in each] for each in (a, b))

    def halves(values: list[int]) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
        return np.array([(v & (1 << 64) - 1, v >> 64 & (1 << 64) - 1) for v in values], np.uint64)

    sums = halves([p + q for p, q in zip(x, y, strict=True)])
    products = halves([p * q for p, q in zip(x, y, strict=True)])
    rests = np.array([int(low) ** 2 % (2**64 - 59) for low, _ in a], np.uint64)
    out = (sums, products, rests)
    arguments = (a, b, *(zeros(each) for each in out), np.int32(90))
    return Example(arguments, (2, 3, 4), out, (2, 1, 1), (64, 1, 1))


def quicksort_recursive() -> Example:
    """Two calls of itself each time."""
    rows = integers(-99, 99, 40 * 17).reshape(40, 17)
    arguments = (rows, np.int32(17), np.int32(40))
    return Example(arguments, (0,), (np.sort(rows, axis=1),), (2, 1, 1), (32, 1, 1), updated=(0,))


def lattice_walk() -> Example:
    """A switch in a loop, and 64-bit atomics in shared memory."""
    seeds = draw().integers(1, 1 << 62, 64).astype(np.uint64)
    visits = np.zeros(256, np.uint64)
    state, x, y = seeds.copy(), np.full(64, 8), np.full(64, 8)
    for step in range(20):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        way = (state * np.uint64(0x2545F4914F6CDD1D) >> np.uint64(62)).astype(int)
        x, y = (x + np.array([1, 15, 0, 0])[way]) % 16, (y + np.array([0, 0, 1, 15])[way]) % 16
        np.add.at(visits, y * 16 + x, np.uint64(1 << step % 3 * 20))
    arguments = (seeds, zeros(visits), np.int32(20))
    return Example(arguments, (1,), (visits,), (2, 1, 1), (32, 1, 1), updated=(1,))


EXAMPLES = (
    monte_carlo_pi,
    queens,
    hash_and_bits,
    wide_integers,
    quicksort_recursive,
    lattice_walk,
)
