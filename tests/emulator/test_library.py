"""Ordinary course kernels, compiled by nvcc both ways, give what NumPy gives, and nothing is reported."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.emulator.launch import run
from grader.model import Argument, Dim3, Launch, Run
from tests.emulator.nvcc import HAZARDS, compile_all, entries

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.ptx import Module

LIBRARY = Path(__file__).parent / "library"

Array = "NDArray[Any]"


@dataclass(frozen=True)
class Example:
    """A launch: arrays and scalars in the kernel's order, and what the outputs should be.

    Outputs are empty arrays marked by ``out``; ``within`` is the relative error that sums in another order
    and approximations may have.
    """

    arguments: tuple[Any, ...]
    out: tuple[int, ...]
    expected: tuple[NDArray[Any], ...]
    grid: Dim3
    block: Dim3
    shared: int = 0
    within: float = 0.0


def _draw(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def _floats(count: int, seed: int = 7) -> NDArray[np.float32]:
    return _draw(seed).uniform(-2, 2, count).astype(np.float32)


def _zeros(like: NDArray[Any]) -> NDArray[Any]:
    return np.zeros_like(like)


def vector_add() -> Example:
    """The first kernel of every course."""
    a, b = _floats(1000), _floats(1000, 8)
    return Example((a, b, _zeros(a), np.int32(1000)), (2,), (a + b,), (8, 1, 1), (128, 1, 1))


def saxpy_grid_stride() -> Example:
    """More elements than threads."""
    x, y, alpha = _floats(1000), _floats(1000, 8), np.float32(2.5)
    exact = (np.float64(alpha) * x + y).astype(np.float32)
    return Example((alpha, x, y, np.uint64(1000)), (2,), (exact,), (2, 1, 1), (96, 1, 1))


def reduce_shared() -> Example:
    """A tree: the order of the sums is fixed, so the bits are."""
    values = _floats(1000)
    level = np.zeros((8, 128), np.float32)
    level.reshape(-1)[:1000] = values
    while level.shape[1] > 1:
        half = level.shape[1] // 2
        level = level[:, :half] + level[:, half:]
    out = level[:, 0].copy()
    return Example((values, _zeros(out), np.int32(1000)), (1,), (out,), (8, 1, 1), (128, 1, 1))


def reduce_shuffle() -> Example:
    """Integers: any order gives the same sum."""
    values = _draw().integers(-1000, 1000, 5000).astype(np.int32)
    total = np.array([values.sum()], np.int32)
    return Example((values, _zeros(total), np.int32(5000)), (1,), (total,), (4, 1, 1), (128, 1, 1))


def scan_blelloch() -> Example:
    """Dynamic shared memory."""
    values = _draw().integers(-50, 50, 512).astype(np.int32)
    sums = np.cumsum(values.reshape(4, 128), axis=1) - values.reshape(4, 128)
    out = sums.astype(np.int32).reshape(-1)
    return Example((values, _zeros(out)), (1,), (out,), (4, 1, 1), (64, 1, 1), shared=512)


def scan_warp() -> Example:
    """Shuffles up."""
    values = _draw().integers(0, 1 << 30, 512).astype(np.uint32)
    out = np.cumsum(values.reshape(4, 128), axis=1, dtype=np.uint32).reshape(-1)
    return Example((values, _zeros(out)), (1,), (out,), (4, 1, 1), (128, 1, 1))


def histogram_global() -> Example:
    """Bytes and global atomics."""
    data = _draw().integers(0, 256, 3000).astype(np.uint8)
    bins = np.bincount(data, minlength=256).astype(np.uint32)
    return Example((data, _zeros(bins), np.int32(3000)), (1,), (bins,), (12, 1, 1), (256, 1, 1))


def histogram_shared() -> Example:
    """Shared atomics, then global ones."""
    data = _draw().integers(0, 10000, 3000).astype(np.int32)
    bins = np.bincount(data % 64, minlength=64).astype(np.int32)
    return Example((data, _zeros(bins), np.int32(3000)), (1,), (bins,), (3, 1, 1), (128, 1, 1))


def transpose_naive() -> Example:
    """Doubles."""
    matrix = _draw().normal(size=(37, 50))
    out = matrix.T.copy()
    return Example((matrix, _zeros(out), np.int32(37), np.int32(50)), (1,), (out,), (4, 3, 1), (16, 16, 1))


def transpose_padded() -> Example:
    """A template and a padded tile."""
    matrix = _floats(70 * 45).reshape(70, 45)
    out = matrix.T.copy()
    return Example((matrix, _zeros(out), np.int32(70), np.int32(45)), (1,), (out,), (2, 3, 1), (32, 8, 1))


def stencil_1d() -> Example:
    """A halo."""
    values = _draw().integers(-100, 100, 300).astype(np.int32)
    out = np.convolve(values, np.ones(7, np.int32), "same").astype(np.int32)
    return Example((values, _zeros(out), np.int32(300)), (1,), (out,), (5, 1, 1), (64, 1, 1))


def heat_2d() -> Example:
    """Early returns."""
    now = _floats(40 * 33).reshape(33, 40)
    out = now.copy()
    inner = now.astype(np.float64)
    around = inner[1:-1, :-2] + inner[1:-1, 2:] + inner[:-2, 1:-1] + inner[2:, 1:-1]
    out[1:-1, 1:-1] = inner[1:-1, 1:-1] + 0.2 * (around - 4 * inner[1:-1, 1:-1])
    arguments = (now, _zeros(out), np.int32(40), np.int32(33), np.float32(0.2))
    return Example(arguments, (1,), (out,), (3, 5, 1), (16, 8, 1), within=1e-5)


def convolution_constant() -> Example:
    """Constant memory with an initialiser."""
    image = _floats(30 * 20).reshape(20, 30)
    row = np.array([1, 4, 6, 4, 1])
    padded = np.pad(image.astype(np.float64), 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5))
    out = (np.einsum("rcij,ij->rc", windows, np.outer(row, row)) / 256).astype(np.float32)
    return Example(
        (image, _zeros(out), np.int32(30), np.int32(20)), (1,), (out,), (2, 3, 1), (16, 8, 1), within=1e-5
    )


def matrix_vector() -> Example:
    """A warp per row."""
    matrix, x = _floats(21 * 75).reshape(21, 75), _floats(75, 8)
    out = (matrix.astype(np.float64) @ x).astype(np.float32)
    arguments = (matrix, x, _zeros(out), np.int32(21), np.int32(75))
    return Example(arguments, (2,), (out,), (6, 1, 1), (32, 4, 1), within=1e-4)


def dot_double() -> Example:
    """Double atomics."""
    a, b = _draw().normal(size=2000), _draw(8).normal(size=2000)
    out = np.array([a @ b])
    return Example((a, b, _zeros(out), np.int32(2000)), (2,), (out,), (3, 1, 1), (256, 1, 1), within=1e-11)


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
        word(mixed),
    ]


def integer_puzzles() -> Example:
    """Division, remainders and bits."""
    draw = _draw()
    a = draw.integers(-(2**31) + 1, 2**31, 150).astype(np.int32)
    b = (draw.integers(-(2**31) + 1, 2**31, 150) >> draw.integers(0, 31, 150)).astype(np.int32)
    out = np.array([_puzzles(i, int(x), int(y)) for i, (x, y) in enumerate(zip(a, b, strict=True))], np.int64)
    return Example((a, b, _zeros(out), np.int32(150)), (2,), (out,), (3, 1, 1), (64, 1, 1))


def grey_image() -> Example:
    """Bytes, signed and not."""
    rgb = _draw().integers(0, 256, (500, 3)).astype(np.uint8)
    wide = rgb.astype(np.float64)
    grey = np.floor(wide @ np.array([0.299, 0.587, 0.114]) + 0.5).astype(np.uint8)
    contrast = np.clip(rgb[:, 0].astype(int) - rgb[:, 2], -128, 127).astype(np.int8)
    arguments = (rgb, _zeros(grey), _zeros(contrast), np.int32(500))
    return Example(arguments, (1, 2), (grey, contrast), (4, 1, 1), (128, 1, 1))


def recursion() -> Example:
    """Real calls, also at the default optimisation."""
    values = (np.arange(40) % 9).astype(np.int32)
    table = [0, 1, 1, 2, 3, 5, 8, 13, 21]
    out = np.array([table[n] * 2 + (n % 2 == 0) for n in values], np.uint64)
    return Example((values, _zeros(out), np.int32(40)), (1,), (out,), (1, 1, 1), (64, 1, 1))


def local_sort() -> Example:
    """Local arrays with indices that are known only at run time."""
    values = _floats(100 * 8).reshape(100, 8)
    ordered = np.sort(values, axis=1)
    out = np.stack([ordered[:, 0], (ordered[:, 3] + ordered[:, 4]) / np.float32(2), ordered[:, 7]], axis=1)
    return Example((values, _zeros(out), np.int32(100)), (1,), (out,), (2, 1, 1), (64, 1, 1))


def bodies() -> Example:
    """float4, dynamic shared memory, a structure by value."""
    points = _floats(100 * 4).reshape(100, 4)
    wide = points.astype(np.float64)
    delta = wide[None, :, :3] - wide[:, None, :3]
    factor = wide[:, 3] / ((delta**2).sum(axis=2) + 0.5) ** 1.5
    out = points.copy()
    out[:, :3] = (factor[:, :, None] * delta).sum(axis=1) * 3
    fields = np.dtype([("softening", "f4"), ("bodies", "i4"), ("strength", "f8"), ("unused", "i2")], align=True)
    settings = np.array((0.5, 100, 3.0, 0), fields)[()]
    arguments = (points, _zeros(out), settings)
    return Example(arguments, (1,), (out,), (4, 1, 1), (32, 1, 1), shared=512, within=1e-4)


def _choice(operation: int, a: np.float32, b: np.float32) -> np.float32:
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
    operations = _draw().integers(0, 40, 200).astype(np.int32)
    a, b = _floats(200), _floats(200, 8)
    out = np.array([_choice(*each) for each in zip(operations, a, b, strict=True)], np.float32)
    steps = np.array([_collatz(int(operation) + 1) for operation in operations], np.int32)
    arguments = (operations, a, b, _zeros(out), _zeros(steps), np.int32(200))
    return Example(arguments, (3, 4), (out, steps), (4, 1, 1), (64, 1, 1))


def votes() -> Example:
    """The blocks and warps take turns in their order here, so the kept values are in order."""
    values = _draw().integers(-100, 110, 500).astype(np.int32)
    kept = np.zeros(512, np.int32)
    positive = values[values > 0]
    kept[: len(positive)] = positive
    blocks = np.zeros((4, 128), np.int32)
    blocks.reshape(-1)[:500] = values
    summary = ((blocks > 0).sum(axis=1) * 4 + (blocks > 90).any(axis=1) * 2 + (blocks < 100).all(axis=1)).astype(
        np.int32
    )
    count = np.array([len(positive)], np.int32)
    arguments = (values, _zeros(kept), _zeros(count), _zeros(summary), np.int32(500))
    return Example(arguments, (1, 2, 3), (kept, count, summary), (4, 1, 1), (128, 1, 1))


def _bfloats(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def halves() -> Example:
    """f16, f16x2 and bf16."""
    a, b = _floats(200), _floats(200, 8)
    x, y = a.astype(np.float16), b.astype(np.float16)
    sums = (x + x * y).astype(np.float32)
    pairs = np.stack([x, y], axis=1).astype(np.float64) ** 2 + y.astype(np.float64)[:, None]
    rough = _bfloats(np.where(x > y, a, b))
    out = (sums, pairs.astype(np.float16), rough)
    arguments = (a, b, *(_zeros(each) for each in out), np.int32(200))
    return Example(arguments, (2, 3, 4), out, (4, 1, 1), (64, 1, 1))


def functions() -> Example:
    """What the mathematical library is made of."""
    x, y = _floats(200), _draw(9).uniform(-3, 3, 200)
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
    arguments = (x, _zeros(out[0]), y, _zeros(out[1]), np.int32(200))
    return Example(arguments, (1, 3), out, (4, 1, 1), (64, 1, 1), within=2e-6)


EXAMPLES: tuple[Callable[[], Example], ...] = (
    vector_add,
    saxpy_grid_stride,
    reduce_shared,
    reduce_shuffle,
    scan_blelloch,
    scan_warp,
    histogram_global,
    histogram_shared,
    transpose_naive,
    transpose_padded,
    stencil_1d,
    heat_2d,
    convolution_constant,
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
IN_OUT = {"saxpy_grid_stride", "reduce_shuffle", "histogram_global", "histogram_shared", "dot_double", "votes"}
"""Kernels that add to what their outputs hold before."""


def _sources() -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(LIBRARY.glob("*.cu"))}


@pytest.fixture(scope="session")
def default_builds() -> dict[str, Module]:
    """Every kernel at nvcc's own optimisation."""
    return compile_all(_sources(), ())


@pytest.fixture(scope="session")
def hazard_builds() -> dict[str, Module]:
    """Every kernel as hazards are looked for in."""
    return compile_all(_sources(), HAZARDS)


def _launch(module: Module, name: str, example: Example, *, detect: bool) -> Run:
    arguments = []
    for place, value in enumerate(example.arguments):
        direction = "in"
        if place in example.out:
            direction = "inout" if name in IN_OUT else "out"
        arguments.append(Argument(f"p{place}", direction if isinstance(value, np.ndarray) else "value", value))
    launch = Launch(example.grid, example.block, example.shared)
    (entry,) = entries(module)
    return run(module, entry, launch, tuple(arguments), detect=detect, source=f"{name}.cu", file=f"{name}.cu")


@pytest.mark.parametrize("make", EXAMPLES, ids=lambda make: make.__name__)
def test_a_course_kernel_gives_what_numpy_gives(
    make: Callable[[], Example],
    default_builds: dict[str, Module],
    hazard_builds: dict[str, Module],
) -> None:
    """In both builds and both modes, and no finding in either."""
    example, name = make(), make.__name__
    for builds, detect in ((default_builds, False), (hazard_builds, True)):
        done = _launch(builds[f"{name}.cu"], name, example, detect=detect)
        assert not done.findings, done.findings[0].message
        assert done.completed
        assert not done.changed_inputs
        for (_, got), wanted in zip(done.outputs, example.expected, strict=True):
            if example.within:
                np.testing.assert_allclose(got, wanted, rtol=example.within, atol=example.within)
            else:
                np.testing.assert_array_equal(got, wanted)


def test_every_kernel_of_the_library_is_run() -> None:
    """No file without an example."""
    assert {make.__name__ for make in EXAMPLES} == {path.stem for path in LIBRARY.glob("*.cu")}
