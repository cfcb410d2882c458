"""Requests of a program to its device through a library (cuBLAS, cuRAND): a record for each message.

See `grader.running.device.requests` for their layout in a payload. Matrices are column-major, as cuBLAS has
them: a ``leading`` is the elements from one column to the next.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from grader.base.records import frozen


class NumberType(IntEnum):
    """Types of numbers, as CUDA's libraries number them (``library_types.h``, ``cudaDataType``)."""

    SINGLE = 0
    DOUBLE = 1
    HALF = 2
    BYTE = 3
    COMPLEX_SINGLE = 4
    COMPLEX_DOUBLE = 5
    WHOLE = 10
    BFLOAT = 14


class Activation(IntEnum):
    """Functions of each element of a product (cuBLASLt, ``cublasLtEpilogue_t``)."""

    NONE = 0
    RELU = 1
    GELU = 2
    """By its approximation with a hyperbolic tangent."""


@frozen
class MultiplyMatrices:
    """``cublas<t>gemm`` and its kin, ``count`` times: D = f(alpha · op(A) · op(B) + beta · C + bias).

    C and D are m × n, op(A) m × k and op(B) k × n; D may be C. A ``bias`` has a number for each row; its
    address is 0 where there is none. An operation is 0 for the matrix as it is, 1 for its transpose, 2 for
    the conjugate of that. Of many products each matrix lies ``stride`` elements behind the one before; or an
    array of pointers lies in device memory (``by_pointers``).
    """

    LAYOUT: ClassVar = "IIIIIIIddddQIqQIqQIqQIqIIQIIQ"
    type_of_factors: int
    type_of_result: int
    of_a: int
    of_b: int
    m: int
    n: int
    k: int
    alpha: float
    alpha_imaginary: float
    beta: float
    beta_imaginary: float
    a: int
    a_leading: int
    a_stride: int
    b: int
    b_leading: int
    b_stride: int
    c: int
    c_leading: int
    c_stride: int
    d: int
    d_leading: int
    d_stride: int
    count: int
    by_pointers: int
    bias: int
    type_of_bias: int
    activation: int
    stream: int


@frozen
class SolveTriangle:
    """``cublas<t>trsm``: op(A) · X = alpha · B, or X · op(A) = alpha · B (``right``); X takes B's place.

    Of A, a square, only the ``upper`` or the lower triangle counts; its diagonal is all 1 if it is ``unit``.
    """

    LAYOUT: ClassVar = "IIIIIIIdQIQIQ"
    type: int
    right: int
    upper: int
    transposed: int
    unit: int
    m: int
    n: int
    alpha: float
    a: int
    a_leading: int
    b: int
    b_leading: int
    stream: int


class VectorOperation(IntEnum):
    """Operations on vectors."""

    SCALE = 0
    """x = a · x."""
    ADD = 1
    """y = a · x + y."""
    DOT = 2
    NORM = 3
    ABSOLUTE_SUM = 4
    COPY = 5
    """y = x."""
    EXCHANGE = 6
    LARGEST = 7
    """Index from 1 of the first element whose absolute value is the largest."""
    SMALLEST = 8
    ROTATE = 9
    """x = a · x + b · y and y = c · x + d · y."""


@frozen
class CombineVectors:
    """``cublas<t>axpy`` and its kin, of vectors of ``count`` elements that are ``step`` elements apart.

    A step below 0 goes backwards, from the last place in memory. The answer is a number, where the operation
    has one.
    """

    LAYOUT: ClassVar = "IIIddddQiQiQ"
    operation: int
    type: int
    count: int
    a: float
    b: float
    c: float
    d: float
    x: int
    x_step: int
    y: int
    y_step: int
    stream: int


class Distribution(IntEnum):
    """Distributions of random numbers."""

    BITS = 0
    """Integers, each of their bits as likely as the other."""
    UNIFORM = 1
    """Uniform distribution above 0, up to 1."""
    NORMAL = 2
    """Normal distribution with a mean (``first``) and a standard deviation (``second``)."""
    LOG_NORMAL = 3
    """Numbers whose logarithms are normal."""
    POISSON = 4
    """Integers with a mean (``first``)."""


@frozen
class DrawNumbers:
    """``curandGenerate`` and its kin of a generator of the device: ``count`` numbers of ``width`` bytes.

    A seed and a kind of generator determine them; they start with the number ``position``.
    """

    LAYOUT: ClassVar = "IIIQQQddQQ"
    distribution: int
    width: int
    generator: int
    seed: int
    position: int
    count: int
    first: float
    second: float
    address: int
    stream: int


class DrawOnHost(DrawNumbers):
    """The same of a generator of the host, by pieces: answered by the numbers, and stored by the program."""
