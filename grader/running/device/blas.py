"""cuBLAS on the memory of a device: products of matrices, sums and norms of vectors.

No kernel of the program's computes them, and none counts as launched for them. Sums are made in double
precision and rounded once.
"""

from __future__ import annotations

import math
import struct
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.running.device.copies import DONE, Reply
from grader.running.device.library_operands import (
    NO_MORE,
    LibraryCall,
    Operand,
    finish,
    is_affordable,
    located,
)
from grader.running.device.library_requests import CombineVectors, MultiplyMatrices, VectorOperation
from grader.running.device.protocol import ProtocolError
from grader.running.device.streams import Use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.running.device.device import Device

_BLOCK = 2048
"""Rows and columns of a matrix that are in double precision at once."""

_TYPES: dict[int, np.dtype[Any]] = {4: np.dtype(np.float32), 8: np.dtype(np.float64)}
_NUMBER = struct.Struct("<d")


def multiply(device: Device, message: MultiplyMatrices, caller: int) -> Reply:
    """``cublas<t>gemm`` and, of one row, ``cublas<t>gemv``."""
    m, n, k = message.m, message.n, message.k
    if min(message.a_leading, message.b_leading, message.c_leading) < 1 or not (m and n):
        raise ProtocolError("a product of matrices without a size")
    shape_a, shape_b = (
        ((k, m) if message.transposed_a else (m, k)),
        ((n, k) if message.transposed_b else (k, n)),
    )
    operands = (
        Operand("A", message.a, *shape_a, message.a_leading, Use.READS),
        Operand("B", message.b, *shape_b, message.b_leading, Use.READS),
        Operand("C", message.c, m, n, message.c_leading, Use.WRITES),
    )
    used = operands if k and message.alpha else operands[2:]
    call = LibraryCall("cuBLAS", "gemm", message.stream, caller)
    matrices = _located(device, call, used, message.width)
    if not isinstance(matrices, dict):
        return matrices
    if not is_affordable(device, call, m * n * k, sum(o.height * o.columns for o in used)):
        return NO_MORE
    began = time.monotonic()
    with np.errstate(all="ignore"):
        a, b = matrices.get("A"), matrices.get("B")
        a = a.T if a is not None and message.transposed_a else a
        b = b.T if b is not None and message.transposed_b else b
        _multiplied(a, b, matrices["C"], message)
    finish(device, call, used, message.width, m * n * k)
    device.library_seconds += time.monotonic() - began
    return DONE


def combine(device: Device, message: CombineVectors, caller: int) -> Reply:
    """``cublas<t>axpy``, ``scal``, ``dot``, ``nrm2`` and ``asum``."""
    if (
        message.operation not in set(VectorOperation)
        or min(message.x_step, message.y_step, message.count) < 1
    ):
        raise ProtocolError(f"an operation {message.operation} on vectors without a size")
    operation, count = VectorOperation(message.operation), message.count
    x = Operand("x", message.x, 1, count, message.x_step, Use.READS)
    y = Operand("y", message.y, 1, count, message.y_step, Use.READS)
    used = {
        VectorOperation.SCALE: (x._replace(use=Use.WRITES),),
        VectorOperation.ADD: (x, y._replace(use=Use.WRITES)),
        VectorOperation.DOT: (x, y),
    }.get(operation, (x,))
    call = LibraryCall("cuBLAS", operation.name.lower(), message.stream, caller)
    vectors = _located(device, call, used, message.width)
    if not isinstance(vectors, dict):
        return vectors
    if not is_affordable(device, call, count, len(used) * count):
        return NO_MORE
    began = time.monotonic()
    with np.errstate(all="ignore"):
        number = _combined(operation, message.factor, vectors)
    finish(device, call, used, message.width, count)
    device.library_seconds += time.monotonic() - began
    if number is None:
        return DONE
    device.came_back()
    device.order.host_waits(stream=message.stream)
    return device.settle(), _NUMBER.pack(number)


def _located(
    device: Device, call: LibraryCall, operands: tuple[Operand, ...], width: int
) -> dict[str, NDArray[Any]] | Reply:
    """The operands as matrices by their names; what the call gives where they are not all there."""
    if width not in _TYPES:
        raise ProtocolError(f"numbers of {width} bytes")
    for operand in operands:
        if operand.leading < operand.height:
            raise ProtocolError(f"columns of {operand.height} numbers, {operand.leading} apart")
    contents = located(device, call, operands, width)
    if not isinstance(contents, dict):
        return contents
    return {name: content.view(_TYPES[width]).T for name, content in contents.items()}


def _multiplied(
    a: NDArray[Any] | None, b: NDArray[Any] | None, c: NDArray[Any], message: MultiplyMatrices
) -> None:
    """Write C block by block; where beta is 0 its former values are not read, as they may be no numbers."""
    for part in _blocks(*c.shape):
        total = np.zeros(c[part].shape)
        for inner in range(0, message.k if a is not None and b is not None else 0, _BLOCK):
            depth = slice(inner, inner + _BLOCK)
            total += a[part[0], depth].astype(float) @ b[depth, part[1]].astype(float)  # type: ignore[index]
        total *= message.alpha if a is not None else 0.0
        if message.beta:
            total += message.beta * c[part]
        c[part] = total


def _blocks(height: int, width: int) -> Iterator[tuple[slice, slice]]:
    for row in range(0, height, _BLOCK):
        for column in range(0, width, _BLOCK):
            yield slice(row, row + _BLOCK), slice(column, column + _BLOCK)


def _combined(operation: VectorOperation, factor: float, vectors: dict[str, NDArray[Any]]) -> float | None:
    """The number that comes of it; None where a vector is changed instead."""
    parts = range(0, vectors["x"].shape[1], _BLOCK**2)
    pieces = ({name: v[:, at : at + _BLOCK**2] for name, v in vectors.items()} for at in parts)
    if operation is VectorOperation.SCALE:
        for piece in pieces:
            piece["x"][:] = factor * piece["x"].astype(float)
        return None
    if operation is VectorOperation.ADD:
        for piece in pieces:
            piece["y"][:] = factor * piece["x"].astype(float) + piece["y"]
        return None
    total = sum(_summed(operation, piece) for piece in pieces)
    return math.sqrt(total) if operation is VectorOperation.NORM else total


def _summed(operation: VectorOperation, vectors: dict[str, NDArray[Any]]) -> float:
    x = vectors["x"].astype(float)
    if operation is VectorOperation.ABSOLUTE_SUM:
        return float(np.sum(np.abs(x)))
    return float(np.sum(x * (vectors["y"] if operation is VectorOperation.DOT else x)))
