"""Requests of a program to its device through a library (cuBLAS, cuRAND): a record for each message.

See `grader.running.device.requests` for their layout in a payload. Matrices are column-major, as cuBLAS has
them: a ``leading`` is the elements from one column to the next.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from grader.base.records import frozen


@frozen
class MultiplyMatrices:
    """``cublas<t>gemm``: C = alpha · op(A) · op(B) + beta · C, of numbers of ``width`` bytes.

    C is m × n, op(A) m × k and op(B) k × n.
    """

    LAYOUT: ClassVar = "IIIIIIddQIQIQIQ"
    width: int
    transposed_a: int
    transposed_b: int
    m: int
    n: int
    k: int
    alpha: float
    beta: float
    a: int
    a_leading: int
    b: int
    b_leading: int
    c: int
    c_leading: int
    stream: int


class VectorOperation(IntEnum):
    """Operations on vectors."""

    SCALE = 0
    """x = factor · x."""
    ADD = 1
    """y = factor · x + y."""
    DOT = 2
    NORM = 3
    ABSOLUTE_SUM = 4


@frozen
class CombineVectors:
    """``cublas<t>axpy`` and its kin, of vectors of ``count`` elements that are ``step`` elements apart.

    The answer is a number, where the operation has one.
    """

    LAYOUT: ClassVar = "IIIdQIQIQ"
    operation: int
    width: int
    count: int
    factor: float
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
