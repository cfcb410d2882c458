"""What examples of the kernel library are made of."""

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

    ``out`` are the places of the outputs among the arguments; ``within`` is the error, relative and absolute,
    that sums in another order and approximations may have.
    """

    arguments: tuple[Any, ...]
    out: tuple[int, ...]
    expected: tuple[NDArray[Any], ...]
    grid: Dim3
    block: Dim3
    shared: int = 0
    within: float = 0.0


def draw(seed: int = 7) -> np.random.Generator:
    """Random numbers, always the same."""
    return np.random.default_rng(seed)


def floats(count: int, seed: int = 7) -> NDArray[np.float32]:
    """Numbers between -2 and 2."""
    return draw(seed).uniform(-2, 2, count).astype(np.float32)


def zeros(like: NDArray[Any]) -> NDArray[Any]:
    """An empty output."""
    return np.zeros_like(like)
