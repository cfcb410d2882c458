"""What a diagnosis starts from, and when a prediction agrees with what was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from grader.model import Launch, Named

Reals: TypeAlias = "NDArray[np.float64]"
Mask: TypeAlias = "NDArray[np.bool_]"
Prediction: TypeAlias = "tuple[str, Reals, Mask | None]"
"""A mistake, what it makes of the inputs, and where that is known (None: everywhere); see `agrees`."""

Tests: TypeAlias = "tuple[tuple[str, Callable[[WrongOutput], bool]], ...]"
"""Mistakes, each with what an output must show."""

RELATIVE_SLACK = 1e-5
BOUND_SLACK = 4.0
"""A prediction is computed in float64; the kernel worked in float32, on other sums than the bound is for."""

ROUNDED = 1e-11
"""Of the largest number: what a prediction in float64 is off by where the right one is nearly 0."""

ENOUGH = 4
"""Elements that must share a pattern before it counts as one: any one number is a multiple of any other."""

LEAST_SHARE = 8
"""One element in so many must be foreseen, the others being out of the prediction's reach."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A mistake found: its id in `MISTAKES`, and its texts with the names filled in.

    ``read`` is a sentence that says where the concept is explained, empty where nothing is to be read.
    ``names_line`` says whether the explanation names the lines.
    """

    mistake: str
    title: str
    explanation: str
    hint: str
    concept: str
    read: str = ""
    names_line: bool = False

    @property
    def advice(self) -> str:
        """What to try, and where to read on."""
        return f"{self.hint} {self.read}" if self.read else self.hint


@dataclass(frozen=True, slots=True)
class WrongOutput:
    """One wrong output array of one case, with all that may explain it.

    ``got``, ``expected`` and ``unwritten`` have the shape of the array; ``bound`` is one number or one for
    each. ``inputs`` are the kernel's ``in`` arrays in the order of its parameters. ``before`` is what the
    array held before the launch. ``store_bytes`` counts what the kernel stored to global memory, None where
    nobody counted. ``reads_outside`` says that it read beyond its arrays, where it may have met NaN, and
    ``raced`` that its threads raced. After a run that was cut short (``completed`` false) unwritten elements
    prove nothing.
    """

    array: str
    got: NDArray[Any]
    expected: NDArray[Any]
    bound: ArrayLike
    unwritten: Mask
    inputs: Named[NDArray[Any]] = ()
    constants: Named[int] = ()
    before: NDArray[Any] | None = None
    store_bytes: int | None = None
    completed: bool = True
    reads_outside: bool = False
    raced: bool = False
    launch: Launch | None = None
    """How the kernel was launched, None where nobody knows."""

    @property
    def values(self) -> Reals:
        """What was got, in float64."""
        return np.asarray(self.got, np.float64)

    @property
    def wanted(self) -> Reals:
        """What was expected, in float64."""
        return np.asarray(self.expected, np.float64)

    @property
    def bounds(self) -> Reals:
        """The bound of each element."""
        return np.broadcast_to(np.asarray(self.bound, np.float64), self.got.shape)

    @property
    def wrong(self) -> Mask:
        """Where the array is wrong."""
        with np.errstate(invalid="ignore"):
            near = np.abs(self.values - self.wanted) <= self.bounds
        right: Mask = near | (self.values == self.wanted)
        return ~right

    @property
    def empty(self) -> Mask:
        """Where the array holds no number: never written, or NaN."""
        missing: Mask = self.unwritten | np.isnan(self.values)
        return missing

    @property
    def tiles(self) -> tuple[int, ...]:
        """The tile sizes to think of: the constants' values, without those that tile nothing.

        Without constants, as where a function launches what it likes, a square block tells its tiles.
        """
        values = dict.fromkeys(value for _, value in self.constants if value > 1)
        if not values and self.launch is not None and self.launch.block[0] == self.launch.block[1] > 1:
            return self.launch.block[:1]
        return tuple(values)

    @property
    def in_a_line(self) -> bool:
        """Whether blocks and threads lie in one line: then no rows of blocks can be mistaken for columns."""
        launch = self.launch
        return launch is not None and launch.grid[1:] == (1, 1) and launch.block[1:] == (1, 1)

    def tolerance(self, predicted: Reals) -> Reals:
        """How far from a prediction a kernel may be that makes exactly the predicted mistake."""
        bounds = self.bounds[np.isfinite(self.bounds)]
        absolute = BOUND_SLACK * float(bounds.max(initial=0.0))
        finite = np.abs(self.wanted[np.isfinite(self.wanted)])
        absolute += ROUNDED * float(finite.max(initial=0.0))
        return absolute + RELATIVE_SLACK * np.abs(np.nan_to_num(predicted))


def agrees(output: WrongOutput, predicted: NDArray[Any], mask: Mask | None = None) -> bool:
    """Whether a prediction fits every element that it knows, and knows enough of them.

    ``predicted`` has the shape of the array, or one axis more in front for alternatives, any of which may
    hold at an element. NaN predicts that nothing (or NaN) is stored there, infinity fits nothing. Enough is a
    share of the numbers that are there, and of the wrong elements.
    """
    alternatives = np.asarray(predicted, np.float64).reshape(-1, *output.got.shape)
    judged = np.ones(output.got.shape, np.bool_) if mask is None else mask
    if not output.completed:
        judged = judged & ~output.unwritten
    tolerance = output.tolerance(alternatives)
    with np.errstate(invalid="ignore"):
        close = np.abs(alternatives - output.values) <= tolerance
    contradicted = ~np.any(close | (np.isnan(alternatives) & output.empty), axis=0)
    if np.any(contradicted & judged):
        return False
    numbers = ~output.empty
    foreseen = int(np.count_nonzero(numbers & judged & np.any(close, axis=0)))
    if not foreseen or foreseen * LEAST_SHARE < int(np.count_nonzero(numbers)):
        return False
    with np.errstate(invalid="ignore"):
        harmless = np.abs(alternatives - output.wanted) <= tolerance
    wrong = output.wrong
    explained = int(np.count_nonzero(judged & wrong & ~np.any(harmless, axis=0)))
    return explained > 0 and explained * LEAST_SHARE >= int(np.count_nonzero(wrong))
