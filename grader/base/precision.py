"""Numeric limits of the types of array elements: for oracles, and wherever NumPy has no such type.

NumPy has no bfloat16. Here an array of that type has elements of `BFLOAT16`, which hold the sixteen bits as
they are; `encoded` makes them of numbers, `numbers` makes float32 of them, which holds each exactly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike

Array: TypeAlias = NDArray[Any]

BFLOAT16 = np.dtype([("bfloat16", np.uint16)])
"""The upper half of a float32 (CUDA Math API, "Bfloat16 Precision Intrinsics")."""

_STEPS = 16
"""Whole numbers between 0 and 1 where a fraction is needed in a type that has none."""


def numpy_type(name: str) -> np.dtype[Any]:
    """The NumPy type of elements that an assignment calls ``name``."""
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def type_name(dtype: np.dtype[Any]) -> str:
    """Name of a type of NumPy's, or `BFLOAT16`, in an assignment."""
    return "bfloat16" if dtype == BFLOAT16 else dtype.name


def encoded(values: ArrayLike, name: str) -> Array:
    """Numbers as an array of the type ``name``; to bfloat16 they are rounded to nearest, ties to even."""
    if name != "bfloat16":
        return np.ascontiguousarray(values, dtype=name)
    single = np.ascontiguousarray(values, np.float32)
    bits = single.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    upper = np.where(np.isnan(single), (bits >> np.uint32(16)) | np.uint32(0x40), rounded)
    return np.ascontiguousarray(upper.astype(np.uint16)).view(BFLOAT16).reshape(single.shape)


def numbers(array: Array) -> Array:
    """The array as numbers that NumPy knows: bfloat16 as float32, others as they are."""
    if array.dtype != BFLOAT16:
        return array
    bits = np.ascontiguousarray(array).view(np.uint16).reshape(array.shape)
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def bits(value: np.generic) -> np.generic:
    """A scalar as `struct_type` stores it: a bfloat16 as its sixteen bits."""
    return np.uint16(int.from_bytes(value.tobytes(), "little")) if value.dtype == BFLOAT16 else value


def struct_type(fields: Iterable[tuple[str, str, bool]]) -> np.dtype[Any]:
    """A struct of fields with a name, a type, and whether they are pointers, laid out as C lays it out.

    Each field lies at a multiple of its size, and the struct's size is a multiple of its largest field's
    (Itanium C++ ABI, section 2.1, for plain structs; CUDA C++ Programming Guide, "Built-in Vector Types").
    """
    stored = {"bfloat16": "uint16"}
    return np.dtype(
        [(name, "u8" if pointer else stored.get(dtype, dtype)) for name, dtype, pointer in fields],
        align=True,
    )


@frozen
class Precision:
    """Range and precision of a type.

    ``unit`` is the largest relative error of one rounding, ``tiny`` the largest absolute one of a result
    that underflows; both are 0 for integers. All whole numbers from ``-exact`` to ``exact`` are held,
    nothing beyond ``largest`` is.
    """

    name: str
    unit: float
    tiny: float
    exact: float
    largest: float

    @property
    def whole(self) -> bool:
        """True if it is a type of integers."""
        return self.unit == 0

    def gamma(self, roundings: float | Array) -> Any:  # noqa: ANN401 - a number for one, an array for many
        """The relative error after n ``roundings``: n·u / (1 - n·u), infinite where n·u reaches 1.

        N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, lemma 3.1.
        """
        error = np.multiply(roundings, self.unit)
        with np.errstate(divide="ignore"):
            result = np.where(error < 1, error / np.maximum(1 - error, 0), np.inf)
        return result if result.ndim else float(result)

    def fit(self, values: Array, most: float = math.inf) -> Array:
        """Inputs in this type, none beyond ``most`` in size, as like the given ones as can be.

        Whole numbers stay whole, and those of integer types become whole. Where all fit already they are
        only rounded to the type; the result has a type of NumPy's, float32 for bfloat16.
        """
        scaled = np.asarray(values, np.float64)
        are_whole = bool((scaled == np.rint(scaled)).all())
        limit = min(most, self.exact if are_whole else self.largest)
        if self.whole and not are_whole:
            scaled = scaled * _STEPS
        top = float(np.abs(scaled).max(initial=0.0))
        if top > limit:
            scaled = np.fmod(scaled, math.floor(limit) + 1) if are_whole else scaled * (limit / top)
        if self.whole:
            scaled = np.rint(np.abs(scaled) if self.name.startswith("u") else scaled)
        return numbers(encoded(scaled, self.name))


def _of_integers(name: str) -> Precision:
    largest = float(np.iinfo(name).max)
    return Precision(name, 0.0, 0.0, min(largest, 2.0**53), largest)


_FLOATS = (
    Precision("float16", 2.0**-11, 2.0**-25, 2.0**11, 65504.0),
    Precision("bfloat16", 2.0**-8, 2.0**-126, 2.0**8, 255.0 * 2.0**120),
    Precision("float32", 2.0**-24, 2.0**-126, 2.0**24, float(np.finfo(np.float32).max)),
    Precision("float64", 2.0**-53, 2.0**-1022, 2.0**53, float(np.finfo(np.float64).max)),
)
_INTEGERS = tuple(_of_integers(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64))
_KNOWN = {precision.name: precision for precision in (*_FLOATS, *_INTEGERS)}


def precision_of(types: Mapping[str, str] | None, array: str) -> Precision:
    """The precision of an array by the assignment's types; float32 where it says nothing of the array.

    Raises KeyError for a type of which nothing is known.
    """
    return _KNOWN[(types or {}).get(array, "float32")]
