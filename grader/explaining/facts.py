"""Facts that a diagnosis starts from, and agreement of a prediction with an output.

Reductions, histograms and scans share how a vector is dealt out to blocks and threads, and what of it counts
where something is left out. Blocks are as long as the launch says, or else as the constants say, or twice
that: threads may load two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from grader.base.records import frozen
from grader.explaining.mistake import predicts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from grader.model import Launch, Named

Reals: TypeAlias = "NDArray[np.float64]"
Mask: TypeAlias = "NDArray[np.bool_]"
Prediction: TypeAlias = "tuple[str, Reals, Mask | None]"
"""A mistake, what it makes of the inputs, and where that is known (None: everywhere); see `agrees`."""

Tests: TypeAlias = "tuple[tuple[str, Callable[[WrongOutput], bool]], ...]"
"""Mistakes, each with what an output must show."""

WARP = 32

MOST_AXES = 2
"""Axes of what has rows and columns, and no matrices besides."""

RELATIVE_SLACK = 1e-5
BOUND_SLACK = 4.0
"""A prediction is computed in float64; the kernel worked in float32, on other sums than the bound is for."""

WHOLE = 0.5
"""Largest distance of two whole numbers that count as the same one."""

ROUNDED = 1e-11
"""Error of a prediction in float64 where the right number is nearly 0, as a share of the largest."""

ENOUGH = 4
"""Elements that must share a pattern before it counts as one: any one number is a multiple of any other."""

MOST_ELEMENTS = 2**20
"""Elements up to which hypotheses are tried that take a second and more beyond."""

LEAST_SHARE = 8
"""Inverse of the least share of elements that must be foreseen, the rest being beyond the prediction."""

CLOSER = 8
"""Divisor of the bound for the largest error of an element, and its number of roundings besides."""

MANY_OTHERS = 1e4
"""Least number of values that the wrong elements could have that are as far from the right ones."""


@frozen
class Diagnosis:
    """A mistake that was recognised: its id in `MISTAKES`, and its texts with the names filled in.

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
        """Advice what to try, and where to read on."""
        return f"{self.hint} {self.read}" if self.read else self.hint


@dataclass(frozen=True)
class WrongOutput:
    """One wrong output array of one case, with all that may explain it.

    ``got``, ``expected`` and ``unwritten`` have the shape of the array; ``bound`` is one number or one for
    each. ``inputs`` are the kernel's ``in`` arrays in the order of its parameters. ``before`` is what the
    array held before the launch. ``store_bytes`` counts what the kernel stored to global memory, None where
    nothing was counted. ``reads_unset`` says that it read what had not been set, None where that was not
    checked, ``reads_outside`` that it read beyond its arrays, where it may have met NaN, and ``raced`` that
    its threads raced. After a run that was cut short (``completed`` false) unwritten elements prove nothing.
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
    reads_unset: bool | None = None
    reads_outside: bool = False
    raced: bool = False
    launch: Launch | None = None
    """Launch configuration of the kernel, None where it is unknown."""
    answer: Callable[[Mapping[str, NDArray[Any]]], NDArray[Any] | None] | None = None
    """Right values for other inputs, None where the oracle fails; None where there is no oracle."""
    anything: Mask | None = None
    """Mask of elements where anything is right, None where there are none: ``expected`` is ``got`` there."""
    others: tuple[NDArray[Any], ...] = ()
    """Right values of the other outputs."""
    mutants: Iterable[tuple[str, NDArray[Any]]] = ()
    """Mistakes in the formula, and what is right where the staff's formula has them."""

    @cached_property
    def rearranged(self) -> Reals | None:
        """Right numbers in their order, where they are those of an input; None where they are not.

        They must be various: of a few different numbers any output holds the right ones.
        """
        wanted = self.wanted
        if wanted.size < WARP:
            return None
        extremes = (wanted.min(), wanted.max())
        inputs = (array for _, array in self.inputs if array.size == wanted.size)
        alike = [array for array in inputs if (array.min(), array.max()) == extremes]
        if not alike:  # to sort millions of numbers takes long
            return None
        ordered = np.sort(wanted, axis=None)
        if 2 * (1 + np.count_nonzero(np.diff(ordered))) < ordered.size:
            return None
        sorted_inputs = (np.sort(array, axis=None).astype(np.float64) for array in alike)
        return ordered if any(np.array_equal(array, ordered) for array in sorted_inputs) else None

    @cached_property
    def from_input(self) -> Mask:
        """Mask of elements with a number of the input that the output should hold in another order."""
        return (
            np.zeros(self.got.shape, np.bool_)
            if self.rearranged is None
            else np.isin(self.values, self.rearranged)
        )

    @cached_property
    def values(self) -> Reals:
        """Actual values, in float64."""
        return np.asarray(self.got, np.float64)

    @cached_property
    def wanted(self) -> Reals:
        """Expected values, in float64."""
        return np.asarray(self.expected, np.float64)

    @cached_property
    def bounds(self) -> Reals:
        """The bound of each element."""
        return np.broadcast_to(np.asarray(self.bound, np.float64), self.got.shape)

    @cached_property
    def wrong(self) -> Mask:
        """Mask of the wrong elements."""
        with np.errstate(invalid="ignore"):
            near = np.abs(self.values - self.wanted) <= self.bounds
        right: Mask = near | (self.values == self.wanted)
        return ~right

    @cached_property
    def empty(self) -> Mask:
        """Mask of elements that hold no number: never written, or NaN."""
        missing: Mask = self.unwritten | np.isnan(self.values)
        return missing

    @cached_property
    def never_stored(self) -> Mask:
        """Mask of elements that were never stored; none in an input, where a number may belong."""
        in_place = any(name == self.array for name, _ in self.inputs)
        return np.zeros(self.got.shape, np.bool_) if in_place else self.unwritten

    @cached_property
    def only_unwritten(self) -> bool:
        """True if all that is wrong was never written."""
        return bool(self.unwritten[self.wrong].all())

    @property
    def tiles(self) -> tuple[int, ...]:
        """Tile sizes to consider: the constants' values, without those that tile nothing.

        Without constants, as where a function launches what it likes, a square block gives its tiles, and of
        a vector a block in a line does.
        """
        values = dict.fromkeys(value for _, value in self.constants if value > 1)
        if values or self.launch is None or self.launch.block[0] == 1:
            return tuple(values)
        square = self.launch.block[0] == self.launch.block[1]
        return self.launch.block[:1] if square or (self.got.ndim == 1 and self.in_a_line) else ()

    @property
    def in_a_line(self) -> bool:
        """True if blocks and threads lie in one line: no rows of blocks can be mistaken for columns."""
        launch = self.launch
        return launch is not None and launch.grid[1:] == (1, 1) and launch.block[1:] == (1, 1)

    @cached_property
    def is_exact(self) -> bool:
        """True if all is counted in whole numbers: a prediction fits to the last digit, or not at all."""
        return self.got.dtype.kind in "iu" and not self.bounds.any()

    def tolerance(self, predicted: Reals) -> Reals:
        """Largest distances from a prediction of a kernel that makes exactly the predicted mistake."""
        if self.is_exact:
            return np.full(predicted.shape, WHOLE)
        return self._slack + RELATIVE_SLACK * np.abs(np.nan_to_num(predicted))

    @cached_property
    def _slack(self) -> float:
        """The part of `tolerance` that does not depend on what is predicted."""
        bounds = self.bounds[np.isfinite(self.bounds)]
        finite = np.abs(self.wanted[np.isfinite(self.wanted)])
        return BOUND_SLACK * float(bounds.max(initial=0.0)) + ROUNDED * float(finite.max(initial=0.0))


def agrees(output: WrongOutput, predicted: NDArray[Any], mask: Mask | None = None) -> bool:
    """True if a prediction fits every element that it knows, and knows enough of them.

    ``predicted`` has the shape of the array, or one axis more in front for alternatives, any of which may
    hold at an element. NaN predicts that nothing (or NaN) is stored there, infinity fits nothing. Enough is a
    share of the numbers that are there, and of the wrong elements.
    """
    alternatives = np.asarray(predicted, np.float64).reshape(-1, *output.got.shape)
    judged = np.ones(output.got.shape, np.bool_) if mask is None else mask
    if output.anything is not None:
        judged = judged & ~output.anything
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


def is_no_accident(output: WrongOutput, predicted: NDArray[Any]) -> bool:
    """True if few wrong elements are so close to a prediction that no other would have come as close.

    Bounds are for the worst order of summation: a kernel with the predicted mistake is mostly far closer.
    """
    wrong = output.wrong
    got, foreseen = output.values[wrong], np.asarray(predicted, np.float64)[wrong]
    if output.is_exact:
        close = np.full(got.shape, WHOLE)
    else:
        unit = float(np.finfo(output.got.dtype).eps) if output.got.dtype.kind == "f" else 0.0
        close = output.bounds[wrong] / CLOSER + CLOSER * unit * np.abs(foreseen)
    with np.errstate(all="ignore"):
        away = np.abs(got - output.wanted[wrong]) / close
        return bool((np.abs(got - foreseen) <= close).all() and np.prod(away) >= MANY_OTHERS)


def expects_various(output: WrongOutput) -> bool:
    """True if different numbers are expected: of one number everywhere, any other is a multiple."""
    with np.errstate(invalid="ignore"):
        return float(np.ptp(output.wanted)) > float(output.tolerance(output.wanted).max())


Places: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.intp]]"
"""Whole numbers, one for each element."""


class Dealt(NamedTuple):
    """Block and thread of each element of a vector, where each thread takes every ``step``-th."""

    block: Places
    thread: Places
    threads: int
    step: int


def dealt_out(output: WrongOutput, size: int, threads: int) -> Dealt:
    """Blocks and threads of a vector dealt out to blocks of ``threads``, in steps of the whole grid."""
    blocks = output.launch.grid[0] if output.launch else max(1, -(-size // threads))
    index = np.arange(size)
    return Dealt(index // threads % blocks, index % threads, threads, blocks * threads)


@predicts(
    *("first-round-only", "first-block-of-sum", "first-warp-of-sum", "first-thread-of-sum"),
    *("tail-not-counted", "last-step-missing", "end-of-sum-left-out"),
)
def parts(dealt: Dealt) -> Iterator[tuple[str, Mask]]:
    """Masks of the elements that count where something is left out, each with its mistake."""
    block, thread, threads, step = dealt
    index = np.arange(block.size)
    yield "first-round-only", index < step
    yield "first-block-of-sum", block == 0
    yield "tail-not-counted", index < block.size // threads * threads
    yield "tail-not-counted", index < block.size // step * step
    yield "first-warp-of-sum", thread < WARP
    yield "first-thread-of-sum", thread == 0
    yield "last-step-missing", thread < threads // 2
    lane, warp = thread % WARP, thread // WARP
    for distance in (1, 2, 4, 8, 16):
        yield "last-step-missing", thread % (2 * distance) < distance
        yield "last-step-missing", lane % (2 * distance) < distance
        yield "last-step-missing", (lane % (2 * distance) < distance) & (warp % (2 * distance) < distance)
    yield "end-of-sum-left-out", index < block.size - 1
    yield "end-of-sum-left-out", index > 0


@predicts("stride-of-one-block", "shuffles-up")
def repeated(dealt: Dealt) -> Iterator[tuple[str, Places]]:
    """Multiplicities of the elements where some count more than once, each with its mistake."""
    index = np.arange(dealt.block.size)
    blocks = dealt.step // dealt.threads
    first_lane = dealt.thread == 0
    yield "stride-of-one-block", np.minimum(index // dealt.threads + 1, blocks)
    yield "shuffles-up", first_lane * WARP
    yield "shuffles-up", first_lane * WARP * WARP
    yield "counted-more-than-once", np.full(index.size, dealt.threads)
    if blocks > 1:
        yield "counted-more-than-once", np.full(index.size, blocks)


def blocks_of(output: WrongOutput, size: int) -> tuple[int, ...]:
    """The lengths that a block may work on: its threads where they are known, or else as constants say."""
    if output.launch is not None:
        return (output.launch.block[0],)
    return _blocks(output, size)


def _blocks(output: WrongOutput, size: int) -> tuple[int, ...]:
    """The lengths that a block may work on, those that divide an input of this size into several."""
    lengths = dict.fromkeys(length for block in output.tiles for length in (block, 2 * block))
    return tuple(length for length in lengths if length < size)


def vector(output: WrongOutput) -> Reals | None:
    """The first input with more than one element, flat."""
    arrays = (array for _, array in output.inputs if array.size > 1)
    array = next(arrays, None)
    return None if array is None else np.asarray(array, np.float64).reshape(-1)
