"""The record of an example of the kernel library, and functions that make its arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.model import Dim3


@dataclass(frozen=True)
class Example:
    """A launch: arrays and scalars in the kernel's order, and what the outputs should be.

    ``out`` are the places of the outputs among the arguments, ``updated`` those of them that the kernel also
    reads or adds to, and ``unordered`` those whose elements come in the order in which threads happen to run.
    ``within`` is the error, relative and absolute, that sums in another order and approximations may have.
    ``apart`` is how far a device may be from the emulator in the same way, ``because`` of something that PTX
    leaves open; where it is 0, every bit is the same.
    """

    arguments: tuple[Any, ...]
    out: tuple[int, ...]
    expected: tuple[NDArray[Any], ...]
    grid: Dim3
    block: Dim3
    shared: int = 0
    within: float = 0.0
    updated: tuple[int, ...] = ()
    unordered: tuple[int, ...] = ()
    apart: float = 0.0
    because: str = ""


def draw(seed: int = 7) -> np.random.Generator:
    """Random numbers, always the same."""
    return np.random.default_rng(seed)


def floats(count: int, seed: int = 7) -> NDArray[np.float32]:
    """Numbers between -2 and 2."""
    return draw(seed).uniform(-2, 2, count).astype(np.float32)


def integers(low: int, high: int, count: int, seed: int = 7) -> NDArray[np.int32]:
    """Whole numbers from ``low`` up to, but not including, ``high``."""
    return draw(seed).integers(low, high, count).astype(np.int32)


def zeros(like: NDArray[Any]) -> NDArray[Any]:
    """An empty output."""
    return np.zeros_like(like)
