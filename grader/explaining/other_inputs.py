"""Hypotheses about what a kernel reads, whatever the operation: the oracle says what other inputs would give.

A kernel that never uses an input, exchanges two of them, leaves some elements out or takes rows to be of
another length computes the right thing of other inputs than it was given. `WrongOutput.answer` computes what
that is, and `agrees` decides. An element that is left out counts as 0, which is true of sums.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.explaining.facts import ENOUGH, is_no_accident
from grader.explaining.formulas.sums import OWN_PART
from grader.explaining.inputs_left_out import MATRIX, added_again, counted_otherwise, ignored_elements
from grader.explaining.mistake import predicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.explaining.facts import Mask, Prediction, Reals, WrongOutput

    Arrays = dict[str, NDArray[Any]]
    Changed = Iterator[tuple[str, NDArray[Any]]]

MOST_NUMBERS = 2**14
"""Elements of all arrays together up to which the oracle is asked, a hundred times or so for each case."""

ONE_BLOCK = frozenset({"one-block-of-sum", "first-block-of-sum"})
"""Mistakes that leave a result where each block stores its own part."""

MOST_NEIGHBOURS = 8
"""Largest distance from either end of a row at which elements shifted in from there have an effect."""

MANY = 8
"""Wrong elements of two or three numbers that no other formula gets wrong by accident in the same way."""

LONG_ENOUGH = 4 * MOST_NEIGHBOURS
"""Elements of a row half of which are further from its ends."""


def other_inputs(output: WrongOutput) -> Iterator[Prediction]:
    """Values that the oracle expects for other inputs than the kernel was given, of each just once.

    Of two or three numbers, as where something is only compared, too much looks like any mistake.
    """
    inputs = dict(output.inputs)
    if output.answer is None or not _is_small(output):
        return
    if np.unique(output.wanted).size < min(ENOUGH, output.got.size):
        return
    few = np.count_nonzero(output.wrong) < ENOUGH
    answers: dict[tuple[tuple[str, bytes], ...], NDArray[Any] | None] = {}
    for mistake, arrays in _mistaken(output, inputs):
        if all(np.array_equal(array, inputs[name]) for name, array in arrays.items()):
            continue
        question = tuple((name, array.tobytes()) for name, array in arrays.items())
        if question not in answers:
            answers[question] = output.answer(inputs | arrays)
        answer = answers[question]
        if answer is None or answer.shape != output.got.shape:
            continue
        if few and not is_no_accident(output, answer):
            continue
        if not _has_its_own_name(mistake, answer, output.wanted):
            yield mistake, answer, _away_from_ends(answer.shape) if mistake == "input-shifted" else None


def other_formulas(output: WrongOutput) -> Iterator[Prediction]:
    """Values that the oracle expects with one change of its formula; one number everywhere is no formula's.

    Nothing is asked where NaN was read beyond an array: no formula made that.
    """
    nan_from_outside = output.reads_outside and np.isnan(output.values).any()
    if nan_from_outside or not _is_small(output):
        return
    various = np.unique(output.wanted).size >= ENOUGH
    enough = np.count_nonzero(output.wrong) >= (ENOUGH if various else MANY)
    for mistake, answer in output.mutants:
        same = answer.size > 1 and mistake != OWN_PART and (answer == answer.flat[0]).all()
        if answer.shape != output.got.shape or same:
            continue
        if enough or is_no_accident(output, answer):
            yield mistake, answer, None


def _is_small(output: WrongOutput) -> bool:
    return sum(array.size for array in (output.got, *dict(output.inputs).values())) <= MOST_NUMBERS


def _has_its_own_name(mistake: str, answer: NDArray[Any], right_values: Reals) -> bool:
    """True if the answer is a known function of the right numbers, whatever was read."""
    known_functions = {"sign-of-input": np.negative, "integer-inputs": np.trunc}
    return mistake in known_functions and np.array_equal(answer, known_functions[mistake](right_values))


@predicts("inputs-exchanged", "operand-twice")
def _mistaken(output: WrongOutput, inputs: Arrays) -> Iterator[tuple[str, Arrays]]:
    """Mistakes, and the inputs in place of which a kernel that makes them has others."""
    arrays = {name: array for name, array in inputs.items() if array.size > 1}
    single = {name: np.zeros_like(array) for name, array in inputs.items() if array.size == 1 == array.ndim}
    for (first, a), (second, b) in combinations(arrays.items(), 2):
        if a.shape == b.shape and a.dtype == b.dtype:
            yield "inputs-exchanged", {first: b, second: a}
            if (first, second) == tuple(inputs)[:2]:  # its text names these
                yield from (("operand-twice", {name: one}) for name, one in ((second, a), (first, b)))
    yield from counted_otherwise(arrays, output)
    for name, array in arrays.items():
        for mistake, changed in (
            *_in_another_order(array, output),
            *_not_used(array),
            *ignored_elements(array, output),
            *added_again(array, output),
            *_shifted(array, output),
            *_backwards(array),
            *_in_smaller_types(array),
        ):
            yield mistake, {name: np.ascontiguousarray(changed, array.dtype)}
            if mistake in ONE_BLOCK:  # and what the block stores takes the place of what was there
                yield mistake, {name: np.ascontiguousarray(changed, array.dtype), **single}
    yield from (("input-not-used", {name: zero}) for name, zero in single.items())


@predicts("input-backwards", "first-element-for-all")
def _backwards(array: NDArray[Any]) -> Changed:
    """A vector that is read from its end, or of which only the first element is ever read."""
    if array.ndim == 1:
        yield "input-backwards", array[::-1]
        yield "first-element-for-all", np.full_like(array, array[0])


@predicts("input-in-smaller-type")
def _in_smaller_types(array: NDArray[Any]) -> Changed:
    """Whole numbers cut off to a type of fewer bits."""
    if array.dtype.kind in "iu":
        for kind in (np.int8, np.uint8, np.int16, np.uint16):
            if np.dtype(kind).itemsize < array.dtype.itemsize:
                yield "input-in-smaller-type", array.astype(kind)


@predicts("input-not-used", "sign-of-input", "integer-inputs")
def _not_used(array: NDArray[Any]) -> Changed:
    """Whole inputs that have no effect, the wrong sign, or no fractions."""
    yield "input-not-used", np.zeros_like(array)
    yield "input-not-used", np.ones_like(array)
    if array.dtype.kind in "if":
        yield "sign-of-input", -array
    if array.dtype.kind == "f":
        yield "integer-inputs", np.trunc(array)


@predicts("input-transposed", "first-of-input", "tiles-of-input-turned", "input-row-length")
def _in_another_order(array: NDArray[Any], output: WrongOutput) -> Changed:
    """Elements read where others lie: columns for rows, rows of another length, the first for all."""
    if array.ndim < MATRIX:
        return
    *outer, rows, columns = array.shape
    yield "input-transposed", np.swapaxes(array.reshape(*outer, columns, rows), -1, -2)
    yield "first-of-input", np.broadcast_to(array[:1], array.shape)
    for tile in output.tiles:
        yield "tiles-of-input-turned", _turned(array, tile)
    extents = {1, *output.got.shape, *(extent for _, one in output.inputs for extent in one.shape)}
    index = np.arange(array.size)
    for width in sorted(extents - {columns}):
        read = index // columns * width + index % columns
        inside = read < array.size
        yield (
            "input-row-length",
            np.where(inside, array.flat[np.where(inside, read, 0)], 0).reshape(array.shape),
        )


def _turned(array: NDArray[Any], tile: int) -> NDArray[Any]:
    """Rows and columns exchanged inside each tile of the last two axes, with zeros beyond the edge."""
    *outer, rows, columns = array.shape
    padded = np.pad(array, [(0, 0)] * len(outer) + [(0, -rows % tile), (0, -columns % tile)])
    tiles = padded.reshape(*outer, padded.shape[-2] // tile, tile, padded.shape[-1] // tile, tile)
    return np.swapaxes(tiles, -3, -1).reshape(padded.shape)[..., :rows, :columns]


@predicts("input-shifted")
def _shifted(array: NDArray[Any], output: WrongOutput) -> Changed:
    """Inputs as long as the output that are read a few elements further on, or before."""
    if array.shape != output.got.shape or array.shape[-1] < LONG_ENOUGH:
        return
    for step in (1, -1, 2, -2, 3, -3):
        yield "input-shifted", np.roll(array, step, -1)


def _away_from_ends(shape: tuple[int, ...]) -> Mask:
    """Mask of elements that what is shifted in does not influence, if neighbours are few."""
    column = np.arange(shape[-1])
    return np.broadcast_to((column >= MOST_NEIGHBOURS) & (column < shape[-1] - MOST_NEIGHBOURS), shape)
