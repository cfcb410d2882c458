"""What a register holds: an immutable array with one element per lane, or one scalar for all lanes.

A register written by all lanes is rebound; one written by some lanes becomes a new array. No array is
ever changed in place, so registers may share them freely (a `mov` costs nothing), and a value that is
the same for all lanes (a loop counter, a kernel argument) stays a scalar and costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Value: TypeAlias = Any
"""``NDArray`` of shape (lanes,) or a NumPy scalar; typed loosely because NumPy mixes the two at will."""

Lanes: TypeAlias = "NDArray[np.intp] | None"
"""Which lanes: increasing indices, or None for all of the chunk."""

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
"""What a load from nowhere gives: NaN as a float, -1 as an integer."""


def select(value: Value, lanes: Lanes) -> Value:
    """The elements of ``lanes``; a scalar stays one."""
    return value if lanes is None or value.ndim == 0 else value[lanes]


def spread(value: Value, count: int) -> NDArray[Any]:
    """``value`` with one element for each of ``count`` lanes."""
    return np.full(count, value) if value.ndim == 0 else value


def merge(old: Value | None, new: Value, lanes: NDArray[np.intp], count: int) -> NDArray[Any]:
    """``old`` with ``new`` in ``lanes``, as a fresh array of ``count`` lanes."""
    if old is None:
        merged = np.zeros(count, new.dtype)
    elif old.ndim == 0:
        merged = np.full(count, old.view(new.dtype) if old.dtype.itemsize == new.dtype.itemsize else old)
    else:
        merged = old.copy()
        if merged.dtype.itemsize == new.dtype.itemsize:
            merged = merged.view(new.dtype)
    merged[lanes] = new
    return merged
