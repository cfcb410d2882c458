"""Vectors of cuBLAS on the memory of a device: sums, norms, copies, rotations (level 1).

No kernel of the program's computes them, and none counts as launched for them. Sums are made in double
precision and rounded once.
"""

from __future__ import annotations

import math
import struct
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
)
from grader.running.device.library_requests import VectorOperation
from grader.running.device.protocol import ProtocolError
from grader.running.device.streams import Use

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.running.device.device import Device
    from grader.running.device.library_requests import CombineVectors

_BLOCK = 1 << 22
"""Elements of a vector that are in double precision at once."""

_NUMBER = struct.Struct("<d")
_USES: dict[VectorOperation, tuple[Use, ...]] = {
    VectorOperation.SCALE: (Use.WRITES,),
    VectorOperation.ADD: (Use.READS, Use.WRITES),
    VectorOperation.DOT: (Use.READS, Use.READS),
    VectorOperation.COPY: (Use.READS, Use.WRITES),
    VectorOperation.EXCHANGE: (Use.WRITES, Use.WRITES),
    VectorOperation.ROTATE: (Use.WRITES, Use.WRITES),
}
"""Uses of x and of y; what is not here reads x alone."""

_EXTREMES = {VectorOperation.LARGEST: np.argmax, VectorOperation.SMALLEST: np.argmin}


def combine(device: Device, message: CombineVectors, caller: int) -> Reply:
    """``cublas<t>axpy``, ``scal``, ``copy``, ``swap``, ``rot``, ``dot``, ``nrm2``, ``asum``, ``I<t>amax``."""
    steps = message.x_step, message.y_step
    if message.operation not in set(VectorOperation) or message.count < 1 or not all(steps):
        raise ProtocolError(f"an operation {message.operation} on vectors without a size")
    dtype = dtype_of(message.type)
    if is_complex(dtype):
        raise ProtocolError("vectors of complex numbers")
    operation, count = VectorOperation(message.operation), message.count
    uses = _USES.get(operation, (Use.READS,))
    places = zip(("x", "y"), (message.x, message.y), steps, uses, strict=False)
    used = [Operand(name, at, 1, count, abs(step), dtype.itemsize, use) for name, at, step, use in places]
    call = LibraryCall("cuBLAS", operation.name.lower(), message.stream, caller)
    contents = located(device, call, used)
    if not isinstance(contents, list):
        return contents
    if not is_affordable(device, call, count, len(used) * count):
        return NO_MORE
    began = time.monotonic()
    vectors = [content.view(dtype)[:, 0] for content in contents]
    forward = [v[::-1] if step < 0 else v for v, step in zip(vectors, steps, strict=False)]
    with np.errstate(all="ignore"):
        number = _combined(operation, message, forward)
    finish(device, call, used, count)
    device.library_seconds += time.monotonic() - began
    if number is None:
        return DONE
    device.came_back()
    device.order.host_waits(stream=message.stream)
    return device.settle(), _NUMBER.pack(number)


def _combined(
    operation: VectorOperation, message: CombineVectors, vectors: list[NDArray[Any]]
) -> float | None:
    """The number that comes of it; None where vectors are changed instead."""
    parts = [slice(at, at + _BLOCK) for at in range(0, message.count, _BLOCK)]
    if operation in _EXTREMES:
        return float(_index_of_extreme(operation, vectors[0]) + 1)
    if len(vectors) == 1 and operation is not VectorOperation.SCALE:
        total = sum(_summed(operation, widened(vectors[0][part])) for part in parts)
        return math.sqrt(total) if operation is VectorOperation.NORM else total
    if operation is VectorOperation.DOT:
        x, y = vectors
        return sum(float(np.sum(widened(x[part]) * widened(y[part]))) for part in parts)
    for part in parts:
        _change(operation, message, [vector[part] for vector in vectors])
    return None


def _summed(operation: VectorOperation, x: NDArray[Any]) -> float:
    return float(np.sum(np.abs(x) if operation is VectorOperation.ABSOLUTE_SUM else x * x))


def _index_of_extreme(operation: VectorOperation, x: NDArray[Any]) -> int:
    """The first of several; numbers that are none count as the largest."""
    sizes = np.nan_to_num(np.abs(widened(x)), nan=np.inf, posinf=np.inf)
    return int(_EXTREMES[operation](sizes))


def _change(operation: VectorOperation, message: CombineVectors, vectors: list[NDArray[Any]]) -> None:
    if operation is VectorOperation.COPY:
        vectors[1][:] = vectors[0]
        return
    if operation is VectorOperation.EXCHANGE:
        before = vectors[0].copy()
        vectors[0][:], vectors[1][:] = vectors[1], before
        return
    x = widened(vectors[0])
    if operation is VectorOperation.SCALE:
        store(vectors[0], message.a * x)
        return
    y = widened(vectors[1])
    if operation is VectorOperation.ADD:
        store(vectors[1], message.a * x + y)
        return
    store(vectors[0], message.a * x + message.b * y)
    store(vectors[1], message.c * x + message.d * y)
