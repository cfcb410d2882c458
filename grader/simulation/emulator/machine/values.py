"""Values of registers: immutable arrays with one element per lane, one scalar for all, or less.

A register written by all lanes is rebound; one written by some lanes becomes a new array. No array that other
code may still read is ever changed in place, so registers share arrays freely (a `mov` costs nothing), and a
value that is the same for all lanes (a loop counter, a kernel argument) stays a scalar and costs next to
nothing.

In between are *folded* values: three-dimensional arrays over (block, row of threads, column), with extent one
along each axis on which the value does not depend, as ``threadIdx.x`` and the address of a row do. NumPy's
broadcasting computes with them as they are; only `over_folds` and `unfold` know of them. Only callers that
ask for them (`Link.operand`) ever see one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Value: TypeAlias = "NDArray[Any]"
"""An array of shape (lanes,), a folded one, or a NumPy scalar (see `scalar`)."""

Shape: TypeAlias = tuple[int, int, int]
"""Blocks of a chunk, rows of threads (y and z) in a block, threads in a row."""

FOLDED = 3
"""Dimensions of a folded value."""

Lanes: TypeAlias = "NDArray[np.intp] | None"
"""Indices of lanes: increasing, or None for all lanes of the chunk."""

DTYPES: dict[str, np.dtype[Any]] = {
    "pred": np.dtype(np.bool_),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    **{f"s{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"{kind}{bits}": np.dtype(f"uint{bits}") for kind in "bu" for bits in (8, 16, 32, 64)},
}
"""NumPy's type for each PTX type; untyped bits are unsigned. f16x2 and bf16 forms treat bits themselves."""

ALL_ONES = {size: np.dtype(f"uint{8 * size}").type(2 ** (8 * size) - 1) for size in (1, 2, 4, 8)}
"""Result of a load from an invalid address: NaN as a float, -1 as an integer."""

_UNSET, _FIRST_MARK, _MARKS = 0x7FF9, 0x7E01, 511
"""Content of each 16 bits that no thread has set, and the marks that stand in the lowest of several.

All are quiet NaNs as float16, so that a value made up of them is one in every format: as a pointer or an
index it is far outside of anything, and as a count and as a flag it is not the zero that a kernel may have
forgotten.
"""


def scalar(number: np.generic[Any]) -> Value:
    """A number that all lanes have in common; NumPy's types do not say that it has an array's methods."""
    return number  # type: ignore[return-value]


FALSE, TRUE = scalar(np.False_), scalar(np.True_)

ZERO = scalar(np.int64(0))


def select(value: Value, lanes: Lanes) -> Value:
    """The elements of ``lanes``; a scalar stays one."""
    return value if lanes is None or value.ndim == 0 else value[lanes]


def spread(value: Value, count: int) -> NDArray[Any]:
    """``value`` with one element for each of ``count`` lanes."""
    return np.full(count, value) if value.ndim == 0 else value


@lru_cache(maxsize=4096)
def unset(dtype: np.dtype[Any], register: int = 0) -> Value:
    """Value of a register in a thread that never set it; it has the mark of the register, given room.

    On a device that is the previous content of the register. A zero would be right by accident too often.
    """
    if dtype == np.bool_:
        return TRUE
    bits = sum(_UNSET << 16 * unit for unit in range(4))
    if dtype.itemsize > 2:  # noqa: PLR2004 - bytes
        bits += mark_of(register) - _UNSET
    return np.array(bits % 2 ** (8 * dtype.itemsize), f"u{dtype.itemsize}").view(dtype)[()]


def mark_of(register: int) -> int:
    """The mark of a register; some registers of a function that has very many share a mark."""
    return _FIRST_MARK + register % _MARKS


def marks_in(numbers: NDArray[Any]) -> list[int]:
    """Marks of registers in numbers of 32 or 64 bits, which hold values that no thread had set."""
    size = numbers.dtype.itemsize
    if numbers.dtype.kind != "f" or size <= 2:  # noqa: PLR2004 - bytes
        return []
    unlike_numbers = numbers[np.isnan(numbers)]
    if not unlike_numbers.size:  # hardly ever is there one, and `np.unique` loads masked arrays
        return []
    bits = np.unique(unlike_numbers.view(f"u{size}"))
    marks = (bits & bits.dtype.type(0xFFFF)).tolist()
    return [
        mark
        for mark, whole in zip(marks, bits.tolist(), strict=True)
        if mark >= _FIRST_MARK and whole == int(unset(np.dtype(f"u{size}"), mark - _FIRST_MARK))
    ]


def merge(old: Value, new: Value, lanes: NDArray[np.intp], count: int) -> NDArray[Any]:
    """``old`` with ``new`` in ``lanes``, as a fresh array of ``count`` lanes."""
    if old.ndim == 0:
        merged = np.full(count, old.view(new.dtype) if old.dtype.itemsize == new.dtype.itemsize else old)
    else:
        merged = (old.view(new.dtype) if old.dtype.itemsize == new.dtype.itemsize else old).copy()
    merged[lanes] = new
    return merged


def unfold(value: Value, shape: Shape) -> NDArray[Any]:
    """A folded value with one element per lane."""
    if value.shape == shape:
        return value.reshape(-1)
    unfolded = np.empty(shape, value.dtype)
    unfolded[...] = value
    return unfolded.reshape(-1)


def extremes(address: Value) -> tuple[int, int]:
    """The lowest and the highest of the addresses in a value, which may be folded."""
    if address.ndim == 0:
        return int(address), int(address)
    flat = address.reshape(-1)  # of one dimension, and without the methods, it takes half as long
    return int(np.minimum.reduce(flat)), int(np.maximum.reduce(flat))


def in_shape(value: Value, shape: Shape) -> Value:
    """Any value such that NumPy broadcasts it against folded ones; the inverse of `from_shape`."""
    return value.reshape(shape) if value.ndim == 1 else value


def from_shape(value: Value, size: int) -> Value:
    """The result of folded operands in the form that a register holds: one element per lane is flat."""
    return value.reshape(-1) if value.ndim and value.size == size else value


def broadcasts(function: Callable[..., Value]) -> Callable[..., Value]:
    """Mark a function whose operands may be of different shapes, as a ``ufunc``'s may."""
    function.broadcasts = True  # type: ignore[attr-defined]
    return function


def over_folds(function: Callable[..., Value], operands: tuple[Value, ...], shape: Shape) -> Value:
    """Apply a function that works lane by lane to operands of which some are folded.

    Where it does not say that it takes operands of different shapes it gets flat ones, all of one length,
    with an element for each combination of block, row and column that the operands distinguish.
    """
    size = shape[0] * shape[1] * shape[2]
    if len(operands) == 1:
        (only,) = operands
        return function(only.reshape(-1)).reshape(only.shape)
    shaped = [operand.reshape(shape) if operand.ndim == 1 else operand for operand in operands]
    if isinstance(function, np.ufunc) or hasattr(function, "broadcasts"):
        result = function(*shaped)
        return result.reshape(-1) if result.size == size else result
    arrays = [operand for operand in shaped if operand.ndim]
    joint = (
        max(array.shape[0] for array in arrays),
        max(array.shape[1] for array in arrays),
        max(array.shape[2] for array in arrays),
    )
    result = function(*(unfold(operand, joint) if operand.ndim else operand for operand in shaped))
    return from_shape(result.reshape(joint), size) if result.ndim else result
