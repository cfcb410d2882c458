"""The initial contents of the arrays of a launch, by the kind of their content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tests.bench.estimate.records import Array, Scalar, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from tests.bench.estimate.records import Kernel, Shape

    Values: TypeAlias = NDArray[Any]

SEED = 20


def _random(count: int, rng: np.random.Generator) -> Values:
    """Numbers from 0 up to 1."""
    return rng.random(count, np.float32)


def _zeros(count: int, rng: np.random.Generator) -> Values:  # noqa: ARG001 - contents are made alike
    return np.zeros(count)


def _bytes(count: int, rng: np.random.Generator) -> Values:
    """Values from 0 to 255, each as likely as any other."""
    return rng.integers(0, 256, count)


def _skewed(count: int, rng: np.random.Generator) -> Values:
    """The same, but nine of ten values are 7."""
    return np.where(rng.random(count, np.float32) < 0.9, 7, _bytes(count, rng))


def _places(count: int, rng: np.random.Generator) -> Values:
    """All indices in a random order."""
    return rng.permutation(count)


def _row_starts(count: int, rng: np.random.Generator) -> Values:
    """The starts of the rows of a sparse matrix: 8 to 24 entries each; an even number of rows."""
    shift = np.zeros(count, np.int64)
    shift[1:-1:2] = rng.integers(-8, 9, len(shift[1:-1:2]))
    return 16 * np.arange(count) + shift


def _columns(count: int, rng: np.random.Generator) -> Values:
    """The columns of a sparse square's entries, 16 to a row."""
    return rng.integers(0, count // 16, count)


def _integers(count: int, rng: np.random.Generator) -> Values:
    """Values from 0 to 2^31 - 1."""
    return rng.integers(0, 2**31, count)


def _frequent(count: int, rng: np.random.Generator) -> Values:
    """Bytes of which few are frequent, as are words of a text."""
    return rng.zipf(1.2, count) % 256


def _smooth(count: int, rng: np.random.Generator) -> Values:
    """Bytes as of the rows of an image: from one to the next they stay or change by one."""
    steps = rng.integers(-1, 2, count) * (rng.random(count, np.float32) < 0.4)
    return np.abs(np.cumsum(steps) % 511 - 255)


def _text(count: int, rng: np.random.Generator) -> Values:
    """Small letters, some of them large, and a space in six."""
    letters = rng.integers(97, 123, count)
    letters[rng.random(count, np.float32) < 0.05] -= 32
    letters[rng.random(count, np.float32) < 1 / 6] = 32
    return letters


def _near_places(count: int, rng: np.random.Generator) -> Values:
    """All indices, in a random order within each 256."""
    return np.argsort(np.arange(count) // 256 + rng.random(count), kind="stable")


def _uneven_starts(count: int, rng: np.random.Generator) -> Values:
    """The starts of rows of a sparse matrix: sixteen entries each on the whole, most fewer, some hundreds."""
    lengths = rng.lognormal(0, 1, count - 1)
    ends = np.cumsum(lengths)
    return np.concatenate([[0], np.rint(ends * (16 * (count - 1) / ends[-1]))])


def _near_columns(count: int, rng: np.random.Generator) -> Values:
    """Columns near the diagonal, where each row has about sixteen."""
    columns: Values = np.clip(np.arange(count) // 16 + rng.integers(-50, 51, count), 0, count // 16 - 1)
    return columns


def _mask(count: int, rng: np.random.Generator) -> Values:  # noqa: ARG001 - contents are made alike
    """The weights of a convolution: what some kernels have in constant memory, too."""
    return (np.arange(count) * 7 % 25 + 1) / 64


CONTENTS: Mapping[str, Callable[[int, np.random.Generator], Values]] = {
    "random": _random,
    "zeros": _zeros,
    "bytes": _bytes,
    "bins": _bytes,
    "skewed bins": _skewed,
    "places": _places,
    "row starts": _row_starts,
    "columns": _columns,
    "mask": _mask,
    "integers": _integers,
    "frequent bytes": _frequent,
    "smooth bytes": _smooth,
    "text": _text,
    "near places": _near_places,
    "uneven row starts": _uneven_starts,
    "near columns": _near_columns,
}


def arrays_of(kernel: Kernel, shape: Shape) -> dict[str, Values]:
    """The arrays of a launch by name, the same each time, in the types that the kernel has them."""
    rng = np.random.default_rng(SEED)
    return {
        each.name: CONTENTS[each.content](value_of(each.elements, shape), rng).astype(each.type)
        for each in kernel.parameters
        if isinstance(each, Array)
    }


def number_of(scalar: Scalar, shape: Shape) -> np.generic:
    """A scalar's value in the type that the kernel has it."""
    if scalar.type == "float32":
        return np.float32(scalar.value)
    return np.int32(value_of(scalar.value, shape))
