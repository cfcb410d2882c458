"""Numbers of cuBLAS in device memory: their types, and the precision that they are computed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.precision import BFLOAT16, encoded, numbers
from grader.running.device.library_requests import NumberType
from grader.running.device.protocol import ProtocolError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DTYPES: dict[int, np.dtype[Any]] = {
    NumberType.SINGLE: np.dtype(np.float32),
    NumberType.DOUBLE: np.dtype(np.float64),
    NumberType.HALF: np.dtype(np.float16),
    NumberType.BYTE: np.dtype(np.int8),
    NumberType.COMPLEX_SINGLE: np.dtype(np.complex64),
    NumberType.COMPLEX_DOUBLE: np.dtype(np.complex128),
    NumberType.WHOLE: np.dtype(np.int32),
    NumberType.BFLOAT: BFLOAT16,
}


def dtype_of(number: int) -> np.dtype[Any]:
    """NumPy's type for one of cuBLAS's; raises ProtocolError for a type that the stand-in never sends."""
    if number not in _DTYPES:
        raise ProtocolError(f"numbers of a type {number}")
    return _DTYPES[number]


def is_complex(dtype: np.dtype[Any]) -> bool:
    """True if numbers have an imaginary part."""
    return dtype.kind == "c"


def widened(stored: NDArray[Any]) -> NDArray[Any]:
    """Numbers in double precision, as all sums are made; complex ones stay complex."""
    return numbers(stored).astype(np.complex128 if is_complex(stored.dtype) else np.float64)


def store(target: NDArray[Any], values: NDArray[Any]) -> None:
    """Write numbers of double precision, rounded once to the type of their target."""
    if target.dtype == BFLOAT16:
        target[:] = encoded(values, "bfloat16")
    elif target.dtype.kind == "i":
        limits = np.iinfo(target.dtype)
        target[:] = np.clip(np.rint(np.nan_to_num(values)), limits.min, limits.max)
    else:
        target[:] = values
