"""Matrices of cuBLAS on the memory of a device: products and triangular systems (levels 2 and 3).

No kernel of the program's computes them, and none counts as launched for them. Sums are made in double
precision and rounded once.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.running.device.blas_numbers import dtype_of, is_complex, store, widened
from grader.running.device.copies import DONE, Reply
from grader.running.device.library_operands import (
    NO_MORE,
    LibraryCall,
    Operand,
    finish,
    is_affordable,
    located,
    note_limit,
)
from grader.running.device.library_requests import Activation
from grader.running.device.protocol import ProtocolError
from grader.running.device.streams import Use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.running.device.device import Device
    from grader.running.device.library_requests import MultiplyMatrices, SolveTriangle

_BLOCK = 2048
"""Rows and columns of a matrix that are in double precision at once."""

MOST_PRODUCTS = 1 << 16
"""Products of one call."""

_POINTER_BYTES = 8
_CONJUGATED = 2


def multiply(device: Device, message: MultiplyMatrices, caller: int) -> Reply:
    """``cublas<t>gemm``, ``cublasLtMatmul``; of one row ``gemv``, of one column and one row ``ger``."""
    matrices = _matrices(message)
    call = LibraryCall("cuBLAS", "gemm", message.stream, caller)
    if message.count > MOST_PRODUCTS:
        note_limit(device, call, f"more than {MOST_PRODUCTS:,} products of matrices in one call of cuBLAS")
        return NO_MORE
    pointers = _pointers(device, call, matrices, message.count) if message.by_pointers else []
    if not isinstance(pointers, list):
        return pointers
    of_each = pointers or [_strided(matrix, stride, message.count) for matrix, stride in matrices]
    operands = [operand for several in of_each for operand in several]
    contents = located(device, call, operands)
    if not isinstance(contents, list):
        return contents
    multiplications = message.m * message.n * message.k * message.count
    elements = message.count * sum(matrix.height * matrix.columns for matrix, _ in matrices)
    if not is_affordable(device, call, multiplications, elements):
        return NO_MORE
    began = time.monotonic()
    views = _views(operands, contents, message)
    arrays = {several[0].name: [next(views) for _ in several] for several in of_each}
    with np.errstate(all="ignore"):
        for number in range(message.count):
            places = {name: several[number if len(several) > 1 else 0] for name, several in arrays.items()}
            _multiply(places, message)
    finish(device, call, operands, multiplications)
    device.library_seconds += time.monotonic() - began
    return DONE


def _matrices(message: MultiplyMatrices) -> list[tuple[Operand, int]]:
    """Operands that are read and written, the first of many each, with the stride to the next.

    A and B are left out where nothing is asked of them, and D where it is C. Raises ProtocolError for what
    the stand-in never sends.
    """
    m, n, k = message.m, message.n, message.k
    if not (m and n and message.count) or max(message.of_a, message.of_b) > _CONJUGATED:
        raise ProtocolError("a product of matrices without a size")
    factors, result = dtype_of(message.type_of_factors), dtype_of(message.type_of_result)
    if is_complex(factors) is not is_complex(result) or message.activation not in set(Activation):
        raise ProtocolError("a product of complex and other numbers, or of an activation that there is not")
    shape_a = (k, m) if message.of_a else (m, k)
    shape_b = (n, k) if message.of_b else (k, n)
    a = Operand("A", message.a, *shape_a, message.a_leading, factors.itemsize, Use.READS)
    b = Operand("B", message.b, *shape_b, message.b_leading, factors.itemsize, Use.READS)
    c = Operand("C", message.c, m, n, message.c_leading, result.itemsize, Use.READS)
    d = Operand("D", message.d, m, n, message.d_leading, result.itemsize, Use.WRITES)
    _require_columns(a, b, c, d)
    matrices = [(d, message.d_stride)]
    if message.c == message.d:
        matrices = [(d._replace(name="C"), message.d_stride)]
    elif message.beta or message.beta_imaginary:
        matrices.append((c, message.c_stride))
    if k and (message.alpha or message.alpha_imaginary):
        matrices = [(a, message.a_stride), (b, message.b_stride), *matrices]
    if message.bias:
        width = dtype_of(message.type_of_bias).itemsize
        matrices.append((Operand("bias", message.bias, m, 1, m, width, Use.READS), 0))
    return matrices


def _require_columns(*operands: Operand) -> None:
    """Raise ProtocolError where columns would overlap."""
    for operand in operands:
        if operand.leading < max(1, operand.height):
            raise ProtocolError(f"columns of {operand.height} numbers, {operand.leading} apart")


def _pointers(
    device: Device, call: LibraryCall, matrices: list[tuple[Operand, int]], count: int
) -> list[list[Operand]] | Reply:
    """The operands of all products, which arrays of pointers name; or what the call gives without them."""
    arrays = [
        Operand(f"{matrix.name}array", matrix.address, count, 1, count, _POINTER_BYTES, Use.READS)
        for matrix, _ in matrices
    ]
    contents = located(device, call, arrays)
    if not isinstance(contents, list):
        return contents
    return [
        [matrix._replace(address=int(address)) for address in content.view("<u8")[0]]
        for (matrix, _), content in zip(matrices, contents, strict=True)
    ]


def _strided(matrix: Operand, stride: int, count: int) -> list[Operand]:
    """The operands of all products; one for all, where they share it."""
    step = stride * matrix.width
    if count == 1 or (not step and matrix.use is Use.READS):
        return [matrix]
    return [matrix._replace(address=matrix.address + number * step) for number in range(count)]


def _views(
    operands: list[Operand], contents: list[NDArray[np.uint8]], message: MultiplyMatrices
) -> Iterator[NDArray[Any]]:
    """Each operand as a matrix of numbers, of which A and B are as they are multiplied."""
    operations = {"A": message.of_a, "B": message.of_b}
    types = dict.fromkeys(operations, message.type_of_factors) | {"bias": message.type_of_bias}
    for operand, content in zip(operands, contents, strict=True):
        matrix = content.view(dtype_of(types.get(operand.name, message.type_of_result))).T
        yield matrix.T if operations.get(operand.name) else matrix


def _multiply(places: dict[str, NDArray[Any]], message: MultiplyMatrices) -> None:
    """Write D block by block; where beta is 0 C is not read, as its elements may be no numbers."""
    d = places["D" if "D" in places else "C"]
    alpha = _scalar(d.dtype, message.alpha, message.alpha_imaginary)
    beta = _scalar(d.dtype, message.beta, message.beta_imaginary)
    for part in _blocks(*d.shape):
        total: NDArray[Any] = np.zeros(d[part].shape, alpha.dtype)
        if "A" in places:
            for inner in range(0, message.k, _BLOCK):
                depth = slice(inner, inner + _BLOCK)
                a, b = places["A"][part[0], depth], places["B"][depth, part[1]]
                total += _factor(a, message.of_a) @ _factor(b, message.of_b)
            total *= alpha
        if beta:
            total += beta * widened(places["C"][part])
        if "bias" in places:
            total += widened(places["bias"][part[0]])
        store(d[part], _activated(total, message.activation))


def _activated(values: NDArray[Any], activation: int) -> NDArray[Any]:
    """The result of an activation; of complex numbers there is none."""
    x: NDArray[Any] = values.real
    if activation == Activation.RELU:
        x = np.maximum(x, 0)
    elif activation == Activation.GELU:
        x = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x if activation else values


def _scalar(dtype: np.dtype[Any], real: float, imaginary: float) -> np.generic:
    """A factor in the precision of the sums for results of a type."""
    return np.complex128(complex(real, imaginary)) if is_complex(dtype) else np.float64(real)


def _factor(part: NDArray[Any], operation: int) -> NDArray[Any]:
    values = widened(part)
    return values.conj() if operation == _CONJUGATED else values


def _blocks(height: int, width: int) -> Iterator[tuple[slice, slice]]:
    for row in range(0, height, _BLOCK):
        for column in range(0, width, _BLOCK):
            yield slice(row, row + _BLOCK), slice(column, column + _BLOCK)


def solve(device: Device, message: SolveTriangle, caller: int) -> Reply:
    """``cublas<t>trsm``, by substitution."""
    order, dtype = message.n if message.right else message.m, dtype_of(message.type)
    a = Operand("A", message.a, order, order, message.a_leading, dtype.itemsize, Use.READS)
    b = Operand("B", message.b, message.m, message.n, message.b_leading, dtype.itemsize, Use.WRITES)
    if not (message.m and message.n) or is_complex(dtype):
        raise ProtocolError("a triangular system without a size")
    _require_columns(a, b)
    call = LibraryCall("cuBLAS", "trsm", message.stream, caller)
    contents = located(device, call, (a, b))
    if not isinstance(contents, list):
        return contents
    multiplications = order * message.m * message.n
    if not is_affordable(device, call, multiplications, order * order + message.m * message.n):
        return NO_MORE
    began = time.monotonic()
    matrix, unknown = (content.view(dtype).T for content in contents)
    with np.errstate(all="ignore"):
        _solve(matrix, unknown, message)
    finish(device, call, (a, b), multiplications)
    device.library_seconds += time.monotonic() - began
    return DONE


def _solve(matrix: NDArray[Any], unknown: NDArray[Any], message: SolveTriangle) -> None:
    """Replace B by X. X · op(A) = B is op(A)ᵀ · Xᵀ = Bᵀ."""
    triangle = widened(matrix)
    flipped = bool(message.transposed) is not bool(message.right)
    is_upper = bool(message.upper) is not flipped
    triangle = triangle.T if flipped else triangle
    b = message.alpha * widened(unknown.T if message.right else unknown)
    rows = range(len(b) - 1, -1, -1) if is_upper else range(len(b))
    for row in rows:
        others = slice(row + 1, None) if is_upper else slice(0, row)
        b[row] -= triangle[row, others] @ b[others]
        if not message.unit:
            b[row] /= triangle[row, row]
    store(unknown, b.T if message.right else b)
