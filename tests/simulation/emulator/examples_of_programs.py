"""Examples of the kernel library: graphs, text, prices, structures, the language itself."""

from __future__ import annotations

import math

import numpy as np

from tests.simulation.emulator.examples import Example, draw, floats, integers, zeros

ATOMIC_ORDER = "atomics on floats add up in whatever order the threads come"


def bfs_frontier() -> Example:
    """The next level comes in any order."""
    edges = draw().integers(0, 120, (400, 2))
    edges = edges[np.argsort(edges[:, 0], kind="stable")]
    starts = np.searchsorted(edges[:, 0], np.arange(121)).astype(np.int32)
    targets = edges[:, 1].astype(np.int32)
    frontier = np.array([3, 17, 44, 90, 91], np.int32)
    levels = np.full(120, -1, np.int32)
    levels[frontier] = 0
    reached = {int(t) for node in frontier for t in targets[starts[node] : starts[node + 1]] if levels[t] < 0}
    after, following = levels.copy(), np.zeros(120, np.int32)
    after[sorted(reached)] = 1
    following[: len(reached)] = sorted(reached)
    size = np.array([len(reached)], np.int32)
    arguments = (starts, targets, frontier, np.int32(5), levels, np.int32(1), zeros(following), zeros(size))
    expected = (after, following, size)
    return Example(arguments, (4, 6, 7), expected, (2, 1, 1), (64, 1, 1), updated=(4, 7), unordered=(6,))


def kmeans_step() -> Example:
    """Atomics on members of structures in shared and global memory."""
    points, centres = floats(600).reshape(300, 2), floats(10, 8).reshape(5, 2)
    distances = ((points[:, None].astype(np.float64) - centres) ** 2).sum(axis=2)
    nearest = distances.argmin(axis=1).astype(np.int32)
    fields = np.dtype([("x", "f4"), ("y", "f4"), ("count", "u4")])
    sums = np.zeros(5, fields)
    for k in range(5):
        mine = points[nearest == k].astype(np.float64).sum(axis=0)
        sums[k] = (*mine, (nearest == k).sum())
    arguments = (points, centres, zeros(nearest), zeros(sums), np.int32(300))
    return Example(
        arguments,
        (2, 3),
        (nearest, sums),
        (3, 1, 1),
        (128, 1, 1),
        within=1e-4,
        updated=(3,),
        apart=1e-4,
        because=ATOMIC_ORDER,
    )


def words_of_text() -> Example:
    """Characters."""
    text = np.frombuffer(b"The quick brown fox, jumps over 12 lazy dogs; and runs-away! " * 6, np.int8)[:300]
    letter = (text | 0x20 >= ord("a")) & (text | 0x20 <= ord("z")) & (text >= 65)
    begins = letter & ~np.concatenate(([False], letter[:-1]))
    words = np.add.reduceat(begins, [0, 128, 256]).astype(np.int32)
    swapped = np.where(letter, text ^ 0x20, text).astype(np.int8)
    arguments = (text.copy(), zeros(swapped), zeros(words), np.int32(300))
    return Example(arguments, (1, 2), (swapped, words), (3, 1, 1), (128, 1, 1))


def _edit_distance(a: bytes, b: bytes) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def edit_distance() -> Example:
    """Diagonals, and an empty string."""
    pairs = [(b"kitten", b"sitting"), (b"", b"abc"), (b"intention" * 7, b"execution" * 6), (b"same", b"same")]
    left, right = (np.zeros((4, 64), np.int8) for _ in range(2))
    for row, (a, b) in enumerate(pairs):
        left[row, : len(a)] = np.frombuffer(a, np.int8)
        right[row, : len(b)] = np.frombuffer(b, np.int8)
    lengths = np.array([(len(a), len(b)) for a, b in pairs], np.int32)
    out = np.array([_edit_distance(a, b) for a, b in pairs], np.int32)
    return Example((left, right, lengths, zeros(out)), (3,), (out,), (4, 1, 1), (65, 1, 1))


def black_scholes() -> Example:
    """Special functions, and several elements a thread."""
    stock, strike, years = (
        draw(seed).uniform(low, high, 400).astype(np.float32)
        for seed, low, high in ((1, 5, 30), (2, 1, 60), (3, 0.25, 10))
    )
    rate, volatility = float(np.float32(0.02)), float(np.float32(0.3))
    s, x, t = (each.astype(np.float64) for each in (stock, strike, years))
    d1 = (np.log(s / x) + (rate + volatility**2 / 2) * t) / (volatility * np.sqrt(t))
    d2, discounted = d1 - volatility * np.sqrt(t), x * np.exp(-rate * t)
    below = np.vectorize(lambda value: math.erfc(-value / math.sqrt(2)) / 2)
    call = s * below(d1) - discounted * below(d2)
    put = discounted * below(-d2) - s * below(-d1)
    out = (call.astype(np.float32), put.astype(np.float32))
    arguments = (
        stock,
        strike,
        years,
        zeros(out[0]),
        zeros(out[1]),
        np.int32(400),
        np.float32(0.02),
        np.float32(0.3),
    )
    return Example(
        arguments,
        (3, 4),
        out,
        (2, 1, 1),
        (128, 1, 1),
        within=3e-5,
        apart=2e-5,
        because="expf and erfcf are made of ex2.approx and rcp.approx",
    )


def module_variables() -> Example:
    """Initialised structures, and a pointer to the middle of an array."""
    values = integers(-200, 200, 150)
    i = np.arange(150)
    low, high = np.array([-3, 0, -100])[i % 3], np.array([3, 10, 100])[i % 3]
    weight = np.array([1.5, -2.0, 0.25])[i % 3]
    letter = np.array([[97, 98], [99, 100], [101, 102]])[i % 3, i % 2]
    value = np.clip(values, low, high) * weight * 0.5
    out = (value + np.array([2, 3, 5, 7, 11])[i % 5] + letter).astype(np.float32)
    sums = np.array([sum(range(40, 190))], np.uint32)
    arguments = (values, zeros(out), zeros(sums), np.int32(150))
    return Example(arguments, (1, 2), (out, sums), (3, 1, 1), (64, 1, 1), updated=(2,))


def templates() -> Example:
    """Functors, specialisations and sizes known when compiling."""
    narrow = draw().integers(-1000, 1000, (80, 4)).astype(np.int16)
    wide = integers(-1000, 1000, 480, 8).reshape(80, 6)
    turned = narrow.astype(np.int64)
    turned[:, 0] = 7 - turned[:, 0]
    first, second = (
        np.stack((v.sum(axis=1), v.max(axis=1), v[:, -1].astype(np.int64) ** 5), axis=1).astype(np.int64)
        for v in (turned, wide)
    )
    arguments = (narrow, wide, zeros(first), zeros(second), np.int32(80))
    return Example(arguments, (2, 3), (first, second), (2, 1, 1), (64, 1, 1))


def particles() -> Example:
    """Structures of 28 bytes, copied in and out, with bit fields."""
    fields = np.dtype(
        [
            ("place", "f4", 3),
            ("speed", "f4", 3),
            ("bounces", "u1"),
            ("alive", "u1"),
            ("bits", "u1"),
            ("rest", "u1"),
        ]
    )
    now = np.zeros(70, fields)
    now["place"], now["speed"] = draw().uniform(0, 4, (70, 3)), floats(210).reshape(70, 3)
    now["alive"], now["bits"] = draw(1).integers(0, 4, 70) > 0, draw(2).integers(0, 256, 70)
    after, box = now.copy(), np.array([4, 5, 6], np.float32)
    for p in after:
        colour, kind = int(p["bits"]) & 31, int(p["bits"]) >> 5
        for _ in range(12):
            if not p["alive"]:
                break
            p["place"] += p["speed"]
            hit = (p["place"] < 0) | (p["place"] > box)
            p["speed"][hit] *= -1
            p["bounces"] += hit.sum()
            colour = (colour + 7 * int(hit.sum())) & 31
            p["alive"] = p["bounces"] < 9
        p["bits"] = colour | (kind if p["alive"] else 7) << 5
    size = np.array((4, 5, 6), [(axis, "f4") for axis in "xyz"])[()]
    arguments = (now, size, np.int32(70), np.int32(12))
    return Example(arguments, (0,), (after,), (2, 1, 1), (64, 1, 1), updated=(0,))


def prints_and_asserts() -> Example:
    """Assertions that hold, and formats with every kind of value."""
    values = integers(0, 1000, 90)
    arguments = (values, zeros(values), np.int32(90))
    return Example(arguments, (1,), (values * values,), (3, 1, 1), (32, 1, 1))


EXAMPLES = (
    bfs_frontier,
    kmeans_step,
    words_of_text,
    edit_distance,
    black_scholes,
    module_variables,
    templates,
    particles,
    prints_and_asserts,
)
