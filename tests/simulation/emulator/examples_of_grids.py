"""Examples of the kernel library: sums, scans, histograms, planes."""

from __future__ import annotations

import numpy as np

from tests.simulation.emulator.examples import Example, draw, floats, zeros


def vector_add() -> Example:
    """The first kernel of every course."""
    a, b = floats(1000), floats(1000, 8)
    return Example((a, b, zeros(a), np.int32(1000)), (2,), (a + b,), (8, 1, 1), (128, 1, 1))


def saxpy_grid_stride() -> Example:
    """More elements than threads; only one of the builds fuses the product and the sum."""
    x, y, alpha = floats(1000), floats(1000, 8), np.float32(2.5)
    exact = (np.float64(alpha) * x + y).astype(np.float32)
    return Example(
        (alpha, x, y, np.uint64(1000)), (2,), (exact,), (2, 1, 1), (96, 1, 1), within=1e-6, updated=(2,)
    )


def reduce_shared() -> Example:
    """A tree: the order of the sums is fixed, so the bits are."""
    values = floats(1000)
    level = np.zeros((8, 128), np.float32)
    level.reshape(-1)[:1000] = values
    while level.shape[1] > 1:
        half = level.shape[1] // 2
        level = level[:, :half] + level[:, half:]
    out = level[:, 0].copy()
    return Example((values, zeros(out), np.int32(1000)), (1,), (out,), (8, 1, 1), (128, 1, 1))


def reduce_shuffle() -> Example:
    """Integers: any order gives the same sum."""
    values = draw().integers(-1000, 1000, 5000).astype(np.int32)
    total = np.array([values.sum()], np.int32)
    return Example(
        (values, zeros(total), np.int32(5000)), (1,), (total,), (4, 1, 1), (128, 1, 1), updated=(1,)
    )


def scan_blelloch() -> Example:
    """Dynamic shared memory."""
    values = draw().integers(-50, 50, 512).astype(np.int32)
    sums = np.cumsum(values.reshape(4, 128), axis=1) - values.reshape(4, 128)
    out = sums.astype(np.int32).reshape(-1)
    return Example((values, zeros(out)), (1,), (out,), (4, 1, 1), (64, 1, 1), shared=512)


def scan_warp() -> Example:
    """Shuffles up."""
    values = draw().integers(0, 1 << 30, 512).astype(np.uint32)
    out = np.cumsum(values.reshape(4, 128), axis=1, dtype=np.uint32).reshape(-1)
    return Example((values, zeros(out)), (1,), (out,), (4, 1, 1), (128, 1, 1))


def histogram_global() -> Example:
    """Bytes and global atomics."""
    data = draw().integers(0, 256, 3000).astype(np.uint8)
    bins = np.bincount(data, minlength=256).astype(np.uint32)
    return Example((data, zeros(bins), np.int32(3000)), (1,), (bins,), (12, 1, 1), (256, 1, 1), updated=(1,))


def histogram_shared() -> Example:
    """Shared atomics, then global ones."""
    data = draw().integers(0, 10000, 3000).astype(np.int32)
    bins = np.bincount(data % 64, minlength=64).astype(np.int32)
    return Example((data, zeros(bins), np.int32(3000)), (1,), (bins,), (3, 1, 1), (128, 1, 1), updated=(1,))


def transpose_naive() -> Example:
    """Doubles."""
    matrix = draw().normal(size=(37, 50))
    out = matrix.T.copy()
    return Example((matrix, zeros(out), np.int32(37), np.int32(50)), (1,), (out,), (4, 3, 1), (16, 16, 1))


def transpose_padded() -> Example:
    """A template and a padded tile."""
    matrix = floats(70 * 45).reshape(70, 45)
    out = matrix.T.copy()
    return Example((matrix, zeros(out), np.int32(70), np.int32(45)), (1,), (out,), (2, 3, 1), (32, 8, 1))


def stencil_1d() -> Example:
    """A halo."""
    values = draw().integers(-100, 100, 300).astype(np.int32)
    out = np.convolve(values, np.ones(7, np.int32), "same").astype(np.int32)
    return Example((values, zeros(out), np.int32(300)), (1,), (out,), (5, 1, 1), (64, 1, 1))


def heat_2d() -> Example:
    """Early returns."""
    now = floats(40 * 33).reshape(33, 40)
    out = now.copy()
    inner = now.astype(np.float64)
    around = inner[1:-1, :-2] + inner[1:-1, 2:] + inner[:-2, 1:-1] + inner[2:, 1:-1]
    out[1:-1, 1:-1] = inner[1:-1, 1:-1] + 0.2 * (around - 4 * inner[1:-1, 1:-1])
    arguments = (now, zeros(out), np.int32(40), np.int32(33), np.float32(0.2))
    return Example(arguments, (1,), (out,), (3, 5, 1), (16, 8, 1), within=1e-5)


def convolution_constant() -> Example:
    """Constant memory with an initialiser."""
    image = floats(30 * 20).reshape(20, 30)
    row = np.array([1, 4, 6, 4, 1])
    padded = np.pad(image.astype(np.float64), 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5))
    out = (np.einsum("rcij,ij->rc", windows, np.outer(row, row)) / 256).astype(np.float32)
    return Example(
        (image, zeros(out), np.int32(30), np.int32(20)), (1,), (out,), (2, 3, 1), (16, 8, 1), within=1e-5
    )


EXAMPLES = (
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
)
