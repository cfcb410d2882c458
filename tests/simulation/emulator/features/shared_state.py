"""Expected results of the kernels beside this file: atomics, cooperative groups, libcu++."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.simulation.emulator.examples import Example
from tests.simulation.emulator.features.examples import MIXED, I, empty, one_block

if TYPE_CHECKING:
    from numpy.typing import NDArray


def several(arguments: tuple[Any, ...], expected: dict[int, Any]) -> Example:
    """A launch of 32 threads with several outputs, by their places."""
    wanted = tuple(np.asarray(each).astype(arguments[place].dtype) for place, each in expected.items())
    return Example(arguments, tuple(expected), wanted, (1, 1, 1), (32, 1, 1))


def _bfloats(*numbers: float) -> NDArray[np.uint16]:
    return (np.array(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def atomics() -> dict[str, Example]:
    """`atomics.cu`."""
    small = (I % 5).astype(np.uint16)
    integers = (
        small,
        np.array([100, 0, 0], np.uint64),
        np.array([-1000]),
        np.array([0, 0, 8, 4, 100, 0, 0xFFFF, 0], np.int32),
    )
    inc, dec = 8, 4
    for _ in range(32):
        inc, dec = (0 if inc >= 10 else inc + 1), (10 if dec == 0 or dec > 10 else dec - 1)
    after = {
        0: np.where(small == 3, I, small),
        1: [5, (1 << 32) - 1, 9],
        2: [-19],
        3: [32, 496, inc, dec, 36, 0xFFFF, 0xFF00, 5],
    }
    floats = (
        np.zeros(2, np.float32),
        np.zeros(1),
        np.zeros(2, np.float16),
        np.zeros(2, np.float16),
        _bfloats(0, 0),
        _bfloats(0, 0),
    )
    summed = {0: [48, 2.5], 1: [8], 2: [16, 0], 3: [32, 64], 4: _bfloats(64, 0), 5: _bfloats(32, 128)}
    vectors = (np.zeros(2, np.float32), np.zeros(4, np.float32), empty("f4"))
    return {
        "integers": several(integers, after),
        "floats": several(floats, summed),
        "vectors": several(vectors, {0: [32, 496], 1: [32, 64, 96, 128], 2: I}),
    }


def groups() -> dict[str, Example]:
    """`groups.cu`."""
    a, tile = MIXED, MIXED.reshape(4, 8)
    down = np.where(I % 8 < 7, a[np.minimum(I + 1, 31)], a)
    ballots = [sum(int(v & 1) << place for place, v in enumerate(row)) for row in tile]
    any_three = [int((row == 3).any()) for row in tile]
    tiles = [
        I * 0 + a.sum(),
        np.repeat(tile.max(1), 8),
        tile.cumsum(1).reshape(-1),
        a.cumsum() - a,
        down + I // 8 * 1000,
        np.repeat(np.add(ballots, any_three), 8),
        np.repeat(tile.min(1), 8),
        np.array([sum(int(w % 3 == v % 3) << p for p, w in enumerate(row)) for row in tile for v in row]),
    ]
    thirds = a % 3 == 0
    count = int(thirds.sum())
    scans = np.where(thirds, a[thirds].sum(), np.where(thirds, 0, a).cumsum())
    compacted = np.concatenate([a[thirds], np.zeros(32 - count, int), scans])
    return {
        "tiles": one_block(a, empty("i4", 256), expected=np.concatenate(tiles)),
        "coalesced": several((a, np.zeros(1, np.int32), empty("i4", 64)), {1: [count], 2: compacted}),
        "partitions": one_block(
            a, empty("i4", 64), expected=np.concatenate([_ranked(a & 1), _ranked(a % 3)])
        ),
        "ranks": _ranks(),
    }


def _ranked(labels: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each lane how many share its label, times 100, and how many of them come before it."""
    same = labels[:, None] == labels[None, :]
    ranked: NDArray[np.int64] = same.sum(1) * 100 + np.tril(same, -1).sum(1)
    return ranked


def _ranks() -> Example:
    thread, block = np.tile(I, 3), np.repeat(np.arange(3), 32)
    first = thread % 4 + 40 + block * 100
    expected = np.concatenate([first, thread + 3200, [5, 5, 5]]).astype(np.int32)
    return Example((empty("i4", 195),), (0,), (expected,), (3, 1, 1), (32, 1, 1))


def libcu() -> dict[str, Example]:
    """`libcu.cu`."""
    a = (np.array([5, 0, 0], np.int32), np.array([1], np.uint64), np.zeros(1, np.float32), empty("u4"))
    sums = list(itertools.accumulate(range(32), lambda total, i: total + i, initial=5))
    numbers = np.array([1, 2, 3, 4])[I & 3]
    library = numbers + (I * I - 1) + 2 * I + 2.5 + np.maximum(I, 3) + 1 + 3
    return {
        "references": several(a, {0: [sums[-1], 0xFF, 7], 1: [97], 2: [48], 3: I * 0 + 1}),
        "variables": one_block(empty("i4"), expected=I * 0 + 69 + 96 * 1000 + 32 * 100000),
        "library": one_block(empty("f4"), expected=library),
        "bytes": one_block(np.array([250, 7, 8, 9], np.uint8), expected=[(250 + 32) % 256, 7, 8, 9]),
    }
