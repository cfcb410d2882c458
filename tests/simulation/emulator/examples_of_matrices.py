"""Examples of the kernel library: products of matrices, sparse and small ones, rows, transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.simulation.emulator.examples import Example, draw, floats, integers, zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray


def matmul_registers() -> Example:
    """Whole numbers: exact; the shape fits no tile."""
    a, b = (
        draw(seed).integers(-8, 9, shape).astype(np.float32) for seed, shape in ((1, (45, 19)), (2, (19, 50)))
    )
    out = a @ b
    arguments = (a, b, zeros(out), np.int32(45), np.int32(19), np.int32(50))
    return Example(arguments, (2,), (out,), (2, 2, 1), (8, 8, 1))


def _half(*shape: int, seed: int) -> NDArray[np.float16]:
    """Multiples of a quarter between -1 and 1: products and short sums of them are exact in halves."""
    return (draw(seed).integers(-4, 5, shape) / 4).astype(np.float16)


def matmul_half2() -> Example:
    """Pairs of columns; the partial sums stay exact."""
    a, b = _half(13, 22, seed=1), _half(22, 34, seed=2)
    out = a.astype(np.float32) @ b.astype(np.float32)
    arguments = (a, b, zeros(out), np.int32(13), np.int32(22), np.int32(17))
    return Example(arguments, (2,), (out,), (3, 4, 1), (8, 4, 1))


def _bfloats(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def matrix_vector_bfloat() -> Example:
    """bfloat16 in pairs; the sums are exact, the result is rounded."""
    a = (draw().integers(-16, 17, (11, 90)) / 8).astype(np.float32)
    x = (draw(8).integers(-16, 17, 90) / 8).astype(np.float32)
    exact = a @ x
    rough = (_bfloats(exact).astype(np.uint32) << 16).view(np.float32)
    y = _bfloats(np.where(rough > 0, rough, rough * np.float32(0.125)))
    arguments = (_bfloats(a), _bfloats(x), zeros(y), zeros(exact), np.int32(11), np.int32(45))
    return Example(arguments, (2, 3), (y, exact), (3, 1, 1), (32, 4, 1))


def _sparse(rows: int, columns: int) -> NDArray[np.bool_]:
    return draw(11).random((rows, columns)) < 0.2


def spmv_csr() -> Example:
    """Rows of every length, one of them empty."""
    there = _sparse(45, 60)
    there[7] = False
    dense = np.where(there, integers(-20, 20, 45 * 60).reshape(45, 60), 0).astype(np.float32)
    starts = np.concatenate(([0], np.cumsum(there.sum(axis=1)))).astype(np.int32)
    columns = np.nonzero(there)[1].astype(np.int32)
    x = integers(-10, 10, 60, 8).astype(np.float32)
    out = dense @ x
    arguments = (starts, columns, dense[there], x, zeros(out), np.int32(45))
    return Example(arguments, (4,), (out,), (3, 1, 1), (128, 1, 1))


def spmv_ell() -> Example:
    """Loops that end early."""
    there = _sparse(50, 40)
    longest = int(there.sum(axis=1).max())
    columns = np.full((longest, 50), -1, np.int32)
    values = np.zeros((longest, 50))
    dense = np.where(there, draw().normal(size=(50, 40)), 0)
    for row in range(50):
        found = np.flatnonzero(there[row])
        columns[: len(found), row] = found
        values[: len(found), row] = dense[row, found]
    x = draw(8).normal(size=40)
    out = dense @ x
    arguments = (columns, values, x, zeros(out), np.int32(50), np.int32(longest))
    return Example(arguments, (3,), (out,), (2, 1, 1), (32, 1, 1), within=1e-12)


def floyd_warshall() -> Example:
    """A barrier a node."""
    weights = integers(1, 100, 24 * 24).reshape(24, 24)
    weights[draw(8).random((24, 24)) < 0.7] = 1 << 20
    np.fill_diagonal(weights, 0)
    out, through = weights.copy(), np.full((24, 24), -1, np.int16)
    for k in range(24):
        detour = out[:, k : k + 1] + out[k]
        through[detour < out] = k
        out = np.minimum(out, detour)
    return Example((weights, zeros(out), zeros(through)), (1, 2), (out, through), (1, 1, 1), (24, 24, 1))


def gauss_jordan() -> Example:
    """Three matrices, one of which needs its rows exchanged."""
    matrices = draw().normal(size=(3, 12, 12))
    matrices[1, 0, 0] = 0.0
    out = np.linalg.inv(matrices)
    return Example((matrices, zeros(out)), (1,), (out,), (3, 1, 1), (24, 12, 1), within=1e-9)


def fft_shared() -> Example:
    """Complex numbers as float2, sines and cosines of multiples of pi."""
    signal = floats(3 * 128 * 2).reshape(3, 128, 2)
    found = np.fft.fft(signal[..., 0].astype(np.float64) + 1j * signal[..., 1])
    out = np.stack((found.real, found.imag), axis=-1).astype(np.float32)
    return Example((signal, zeros(out)), (1,), (out,), (3, 1, 1), (64, 1, 1), within=2e-5)


APPROXIMATE = "ex2.approx, rcp.approx, rsqrt.approx and lg2.approx leave their last bits to the device"


def softmax_rows() -> Example:
    """Lambdas, fast exponentials and a fast division."""
    rows = floats(3 * 150).reshape(3, 150) * 3
    powers = np.exp(rows.astype(np.float64) - rows.max(axis=1, keepdims=True))
    out = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    arguments = (rows, zeros(out), np.int32(150))
    return Example(
        arguments, (1,), (out,), (3, 1, 1), (128, 1, 1), within=2e-6, apart=2e-6, because=APPROXIMATE
    )


def layer_norm() -> Example:
    """Structures that functions take and give back."""
    rows, scale = floats(6 * 100).reshape(6, 100), floats(200, 8).reshape(100, 2)
    wide = rows.astype(np.float64)
    normal = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
    out = (normal * scale[:, 0] + scale[:, 1]).astype(np.float32)
    arguments = (rows, scale, zeros(out), np.int32(6), np.int32(100))
    return Example(
        arguments, (2,), (out,), (2, 1, 1), (128, 1, 1), within=1e-5, apart=2e-6, because=APPROXIMATE
    )


EXAMPLES = (
    matmul_registers,
    matmul_half2,
    matrix_vector_bfloat,
    spmv_csr,
    spmv_ell,
    floyd_warshall,
    gauss_jordan,
    fft_shared,
    softmax_rows,
    layer_norm,
)
