"""Examples of the kernel library: images, planes, volumes, transposes."""

from __future__ import annotations

import numpy as np

from tests.simulation.emulator.examples import Example, draw, floats, integers, zeros


def transpose_float4() -> Example:
    """Vectors of four in both directions."""
    matrix = floats(36 * 52).reshape(36, 52)
    out = matrix.T.copy()
    return Example((matrix, zeros(out), np.int32(36), np.int32(52)), (1,), (out,), (2, 2, 1), (8, 8, 1))


def transpose_diagonal() -> Example:
    """Block indices that are not what they seem."""
    matrix = integers(-1000, 1000, 41 * 41).reshape(41, 41)
    out = matrix.T.copy()
    return Example((matrix, zeros(out), np.int32(41)), (1,), (out,), (3, 3, 1), (16, 16, 1))


def convolution_halo() -> Example:
    """The image goes on at its border."""
    image = floats(37 * 29).reshape(29, 37)
    rows = np.array(
        [[0.5, -1, 2, -1, 0.5], [1, 2, -3, 2, 1], [0, 3, 4, 3, 0], [1, 2, -3, 2, 1], [0.5, -1, 2, -1, 0.5]]
    )
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(image.astype(np.float64), 2, mode="edge"), (5, 5)
    )
    out = np.einsum("rcij,ij->rc", windows, rows).astype(np.float32)
    arguments = (image, zeros(out), np.int32(37), np.int32(29))
    return Example(arguments, (1,), (out,), (3, 2, 1), (16, 16, 1), within=1e-4)


def convolution_separable() -> Example:
    """Two passes, whole numbers."""
    image = draw().integers(-500, 500, (21, 45)).astype(np.int16)
    weights = np.array([1, 6, 15, 20, 15, 6, 1])
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image.astype(np.int64), 3), (7, 7))
    sums = np.einsum("rcij,ij->rc", windows, np.outer(weights, weights))
    out = (sums + 2048 >> 12).astype(np.int32)
    arguments = (image, zeros(out), np.int32(45), np.int32(21))
    return Example(arguments, (1,), (out,), (2, 3, 1), (32, 8, 1))


def stencil_3d() -> Example:
    """Whole numbers as doubles: exact in any order."""
    volume = draw().integers(-50, 50, (6, 11, 19)).astype(np.float64)
    wide = np.pad(volume, 1)
    sides = wide[1:-1, 1:-1, :-2] + wide[1:-1, 1:-1, 2:] + wide[1:-1, :-2, 1:-1] + wide[1:-1, 2:, 1:-1]
    out = sides + wide[:-2, 1:-1, 1:-1] + wide[2:, 1:-1, 1:-1] - 6 * volume
    arguments = (volume, zeros(out), np.int32(19), np.int32(11), np.int32(6))
    return Example(arguments, (1,), (out,), (3, 3, 1), (8, 4, 1), shared=8 * 10 * 6)


def volume_projection() -> Example:
    """Three dimensions everywhere, and three numbers by value."""
    volume = draw().integers(0, 5000, (7, 9, 13)).astype(np.uint16)
    greatest = volume.max(axis=0).astype(np.uint32)
    above = np.array([(volume > 2500).sum()], np.uint32)
    size = np.array((13, 9, 7), [(axis, "u4") for axis in "xyz"])[()]
    arguments = (volume, zeros(greatest), zeros(above), size, np.uint32(2500))
    return Example(arguments, (1, 2), (greatest, above), (4, 3, 2), (4, 4, 4), updated=(1, 2))


def game_of_life() -> Example:
    """Two worlds that change places."""
    world = draw().integers(0, 2, (32, 32)).astype(np.uint8)
    now = world
    for _ in range(5):
        shifts = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx]
        alive = np.sum([np.roll(now, shift, (0, 1)) for shift in shifts], axis=0)
        now = ((alive == 3) | ((alive == 2) & (now == 1))).astype(np.uint8)
    return Example((world, zeros(world), np.int32(5)), (1,), (now,), (1, 1, 1), (32, 8, 1))


def sobel_edges() -> Example:
    """The square root of a whole number is exact."""
    image = draw().integers(0, 256, (23, 31)).astype(np.uint8)
    wide = np.pad(image.astype(int), 1, mode="edge")
    smooth = wide[:-2] + 2 * wide[1:-1] + wide[2:]
    across = smooth[:, 2:] - smooth[:, :-2]
    smooth = wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]
    down = smooth[2:] - smooth[:-2]
    out = np.minimum(np.sqrt((across**2 + down**2).astype(np.float32)), 255).astype(np.uint8)
    arguments = (image, zeros(out), np.int32(31), np.int32(23))
    return Example(arguments, (1,), (out,), (2, 3, 1), (16, 8, 1))


def median_filter() -> Example:
    """Loops that the compiler unrolls into registers, or an array in local memory."""
    image = draw().integers(0, 256, (20, 27)).astype(np.uint8)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3)).reshape(18, 25, 9)
    out = np.median(windows, axis=2).astype(np.uint8)
    arguments = (image, zeros(out), np.int32(27), np.int32(20))
    return Example(arguments, (1,), (out,), (4, 3, 1), (8, 8, 1))


def brighten_vectors() -> Example:
    """char, short, int and double vectors; the fourth byte stays."""
    pixels = draw().integers(0, 256, (100, 4)).astype(np.uint8)
    steps = draw(1).integers(-300, 300, (100, 2)).astype(np.int16)
    sums = integers(-1000, 1000, 400, 2).reshape(100, 4)
    pairs = draw(3).normal(size=(100, 2))
    bright = pixels.copy()
    bright[:, :3] = np.minimum(pixels[:, :3].astype(int) + 40, 255)
    x, y = steps[:, 0].astype(np.int32), steps[:, 1].astype(np.int32)
    added = np.stack((sums[:, 0] + x, sums[:, 1] - y, np.maximum(sums[:, 2], x), sums[:, 3] ^ y), axis=1)
    swapped = np.stack((pairs[:, 1], pairs[:, 0] * 0.5), axis=1)
    arguments = (pixels, steps, sums, pairs, np.int32(40), np.int32(100))
    expected = (bright, added.astype(np.int32), swapped)
    return Example(arguments, (0, 2, 3), expected, (2, 1, 1), (64, 1, 1), updated=(0, 2, 3))


def mandelbrot() -> Example:
    """Every lane loops as often as it wants; Python's floats round like the kernel."""
    width, height, most = 40, 24, 60
    counts = np.zeros((height, width), np.uint16)
    for y in range(height):
        for x in range(width):
            cr, ci = -2.2 + 0.075 * x, -0.9 + 0.075 * y
            zr = zi = rr = ii = 0.0
            count = 0
            while count < most and rr + ii <= 4.0:
                zi = 2.0 * zr * zi + ci
                zr = rr - ii + cr
                rr, ii, count = zr * zr, zi * zi, count + 1
            counts[y, x] = count
    corner = np.array((-2.2, -0.9), [("x", "f8"), ("y", "f8")])[()]
    arguments = (zeros(counts), np.int32(width), np.int32(height), corner, np.float64(0.075), np.int32(most))
    return Example(arguments, (0,), (counts,), (3, 3, 1), (16, 8, 1))


EXAMPLES = (
    transpose_float4,
    transpose_diagonal,
    convolution_halo,
    convolution_separable,
    stencil_3d,
    volume_projection,
    game_of_life,
    sobel_edges,
    median_filter,
    brighten_vectors,
    mandelbrot,
)
