"""Examples of the kernel library: linear algebra, integers, functions, structures, warps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.simulation.emulator.examples import Example, draw, floats, zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray


def matrix_vector() -> Example:
    """A warp per row."""
    matrix, x = floats(21 * 75).reshape(21, 75), floats(75, 8)
    out = (matrix.astype(np.float64) @ x).astype(np.float32)
    arguments = (matrix, x, zeros(out), np.int32(21), np.int32(75))
    return Example(arguments, (2,), (out,), (6, 1, 1), (32, 4, 1), within=1e-4)


def dot_double() -> Example:
    """Double atomics."""
    a, b = draw().normal(size=2000), draw(8).normal(size=2000)
    out = np.array([a @ b])
    return Example(
        (a, b, zeros(out), np.int32(2000)),
        (2,),
        (out,),
        (3, 1, 1),
        (256, 1, 1),
        within=1e-11,
        updated=(2,),
        apart=1e-13,
        because="the blocks' sums are added up in whatever order they come",
    )


def _puzzles(i: int, x: int, y: int) -> list[int]:
    y = y or 1
    size = abs(x) // abs(y)
    quotient = size if (x < 0) == (y < 0) else -size

    def word(value: int) -> int:
        return (value + (1 << 31)) % (1 << 32) - (1 << 31)

    bits, low = x & 0xFFFFFFFF, y & -y
    mixed = (x >> 3) ^ word(y << 5) ^ word(x + y) ^ (x * y >> 32)
    return [
        math.gcd(x, y),
        sum(int(digit) for digit in str(abs(x))),
        pow(abs(x), i, 10**9 + 7),
        quotient,
        x - quotient * y,
        x * y,
        bits.bit_count() + 100 * (32 - bits.bit_length()) + 10000 * (low & 0xFFFFFFFF).bit_length(),
        mixed & 0xFFFFFFFF,
    ]


def integer_puzzles() -> Example:
    """Division, remainders and bits."""
    numbers = draw()
    a = numbers.integers(-(2**31) + 1, 2**31, 150).astype(np.int32)
    b = (numbers.integers(-(2**31) + 1, 2**31, 150) >> numbers.integers(0, 31, 150)).astype(np.int32)
    out = np.array([_puzzles(i, int(x), int(y)) for i, (x, y) in enumerate(zip(a, b, strict=True))], np.int64)
    return Example((a, b, zeros(out), np.int32(150)), (2,), (out,), (3, 1, 1), (64, 1, 1))


def grey_image() -> Example:
    """Bytes, signed and not."""
    rgb = draw().integers(0, 256, (500, 3)).astype(np.uint8)
    wide = rgb.astype(np.float64)
    grey = np.floor(wide @ np.array([0.299, 0.587, 0.114]) + 0.5).astype(np.uint8)
    contrast = np.clip(rgb[:, 0].astype(int) - rgb[:, 2], -128, 127).astype(np.int8)
    arguments = (rgb, zeros(grey), zeros(contrast), np.int32(500))
    return Example(arguments, (1, 2), (grey, contrast), (4, 1, 1), (128, 1, 1))


def recursion() -> Example:
    """Real calls, also at the default optimisation."""
    values = (np.arange(40) % 9).astype(np.int32)
    table = [0, 1, 1, 2, 3, 5, 8, 13, 21]
    out = np.array([table[n] * 2 + (n % 2 == 0) for n in values], np.uint64)
    return Example((values, zeros(out), np.int32(40)), (1,), (out,), (1, 1, 1), (64, 1, 1))


def local_sort() -> Example:
    """Local arrays with indices that are known only at run time."""
    values = floats(100 * 8).reshape(100, 8)
    ordered = np.sort(values, axis=1)
    out = np.stack([ordered[:, 0], (ordered[:, 3] + ordered[:, 4]) / np.float32(2), ordered[:, 7]], axis=1)
    return Example((values, zeros(out), np.int32(100)), (1,), (out,), (2, 1, 1), (64, 1, 1))


def bodies() -> Example:
    """float4, dynamic shared memory, a structure by value."""
    points = floats(100 * 4).reshape(100, 4)
    wide = points.astype(np.float64)
    delta = wide[None, :, :3] - wide[:, None, :3]
    factor = wide[:, 3] / ((delta**2).sum(axis=2) + 0.5) ** 1.5
    out = points.copy()
    out[:, :3] = (factor[:, :, None] * delta).sum(axis=1) * 3
    fields = np.dtype(
        [("softening", "f4"), ("bodies", "i4"), ("strength", "f8"), ("unused", "i2")], align=True
    )
    settings = np.array((0.5, 100, 3.0, 0), fields)[()]
    arguments = (points, zeros(out), settings)
    return Example(arguments, (1,), (out,), (4, 1, 1), (32, 1, 1), shared=512, within=1e-4)


def _choice(operation: int, a: np.float32, b: np.float32) -> Any:  # noqa: ANN401 - a NumPy scalar
    return [
        a + b,
        a - b,
        a * b,
        a / b,
        min(a, b),
        max(a, b),
        abs(a - b),
        np.sqrt(abs(a)),
        np.floor(a) + np.ceil(b),
        np.trunc(a) - np.rint(b),
        np.float32(-1),
    ][min(operation, 10)]


def _collatz(x: int) -> int:
    count = 0
    while x != 1 and count <= 100:
        x, count = (x // 2 if x % 2 == 0 else 3 * x + 1), count + 1
    return count


def choices() -> Example:
    """Divergence of every kind."""
    operations = draw().integers(0, 40, 200).astype(np.int32)
    a, b = floats(200), floats(200, 8)
    out = np.array([_choice(*each) for each in zip(operations, a, b, strict=True)], np.float32)
    steps = np.array([_collatz(int(operation) + 1) for operation in operations], np.int32)
    arguments = (operations, a, b, zeros(out), zeros(steps), np.int32(200))
    return Example(arguments, (3, 4), (out, steps), (4, 1, 1), (64, 1, 1))


def votes() -> Example:
    """The blocks and warps take turns in their order here, so the kept values are in order."""
    values = draw().integers(-100, 110, 500).astype(np.int32)
    kept = np.zeros(512, np.int32)
    positive = values[values > 0]
    kept[: len(positive)] = positive
    blocks = np.zeros((4, 128), np.int32)
    blocks.reshape(-1)[:500] = values
    summary = (
        (blocks > 0).sum(axis=1) * 4 + (blocks > 90).any(axis=1) * 2 + (blocks < 100).all(axis=1)
    ).astype(np.int32)
    count = np.array([len(positive)], np.int32)
    arguments = (values, zeros(kept), zeros(count), zeros(summary), np.int32(500))
    return Example(
        arguments, (1, 2, 3), (kept, count, summary), (4, 1, 1), (128, 1, 1), updated=(2,), unordered=(1,)
    )


def _bfloats(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def halves() -> Example:
    """f16, f16x2 and bf16."""
    a, b = floats(200), floats(200, 8)
    x, y = a.astype(np.float16), b.astype(np.float16)
    sums = (x + x * y).astype(np.float32)
    pairs = np.stack([x, y], axis=1).astype(np.float64) ** 2 + y.astype(np.float64)[:, None]
    rough = _bfloats(np.where(x > y, a, b))
    out = (sums, pairs.astype(np.float16), rough)
    arguments = (a, b, *(zeros(each) for each in out), np.int32(200))
    return Example(arguments, (2, 3, 4), out, (4, 1, 1), (64, 1, 1))


def functions() -> Example:
    """Functions of the mathematical library, in single and double precision."""
    x, y = floats(200), draw(9).uniform(-3, 3, 200)
    v = x.astype(np.float64)
    single = [
        np.exp(v),
        np.log(abs(v) + 1),
        np.sin(v),
        np.cos(v),
        np.tanh(v),
        (abs(v) + 0.5) ** float(np.float32(1.7)),
        (abs(v) + 0.1) ** -0.5,
        np.fmod(v, float(np.float32(0.7))),
    ]
    double = [np.exp(y), np.log(abs(y) + 1), np.sqrt(abs(y)) / (1 + y * y), np.sin(y) + np.cos(y)]
    out = (np.stack(single, axis=1).astype(np.float32), np.stack(double, axis=1))
    arguments = (x, zeros(out[0]), y, zeros(out[1]), np.int32(200))
    return Example(
        arguments,
        (1, 3),
        out,
        (4, 1, 1),
        (64, 1, 1),
        within=2e-6,
        apart=1e-6,
        because="ex2.approx, rcp.approx and rsqrt.approx leave their last bits to the device",
    )


EXAMPLES = (
    matrix_vector,
    dot_double,
    integer_puzzles,
    grey_image,
    recursion,
    local_sort,
    bodies,
    choices,
    votes,
    halves,
    functions,
)
