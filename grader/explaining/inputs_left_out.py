"""Inputs of which some elements count for nothing, or several times, as they are dealt out to threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.explaining.facts import ENOUGH, WARP, Dealt, parts, repeated
from grader.explaining.mistake import Mistake, Rank, Says, predicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.explaining.facts import WrongOutput

    Arrays = dict[str, NDArray[Any]]
    Changed = Iterator[tuple[str, NDArray[Any]]]

MATRIX = 2
"""Axes from which on an array has rows."""

AGAIN = "counted-more-than-once"


@predicts("one-block-of-sum", "last-of-tiles-left-out", "first-round-of-row")
@predicts(Mistake("not-accumulated", Rank.PREDICTED, Says.HOW))
def ignored_elements(array: NDArray[Any], output: WrongOutput) -> Changed:
    """Elements along the last axis that count for nothing, where they are dealt out to threads."""
    length = array.shape[-1]
    index = np.arange(length)
    masks = [("not-accumulated", index == length - 1)]
    for blocks, threads in _deals(output, array.ndim):
        dealt = Dealt(index // threads % blocks, index % threads, threads, blocks * threads)
        named = [(_of_row(mistake) if blocks == 1 else mistake, kept) for mistake, kept in parts(dealt)]
        masks += sorted(named, key=lambda part: part[0] != "tail-not-counted")
        if blocks > 1:
            masks.append(("one-block-of-sum", dealt.block == dealt.block.max()))
            masks.append(("tail-not-counted", dealt.block < dealt.block.max()))
        masks.append(("last-of-tiles-left-out", index % threads < threads - 1))
        masks.append(("not-accumulated", index >= (length - 1) // threads * threads))
    for mistake, kept in masks:
        if not kept.all() and (kept.any() or mistake == "tail-not-counted"):
            yield mistake, np.where(kept, array, 0)


def added_again(array: NDArray[Any], output: WrongOutput) -> Changed:
    """Elements of a vector that are added several times: that is as if they were larger.

    Where each thread passes on what a tree has left it with, an element counts once for each step after which
    its part is still in another thread's hands.
    """
    if array.ndim == 1 and output.got.size < ENOUGH:
        for blocks, threads in _deals(output, array.ndim):
            index = np.arange(array.size)
            dealt = Dealt(index // threads % blocks, index % threads, threads, blocks * threads)
            ones = [dealt.thread >> bit & 1 for bit in range(threads.bit_length())]
            yield AGAIN, array * (1 + np.sum(ones, axis=0))
            yield AGAIN, array * 2
            yield from ((mistake, array * times) for mistake, times in repeated(dealt))


def _of_row(mistake: str) -> str:
    """Name of a mistake where one block has the whole row."""
    return "first-round-of-row" if mistake == "first-round-only" else mistake


def _deals(output: WrongOutput, axes: int) -> Iterator[tuple[int, int]]:
    """Numbers of blocks, and of threads in each, that share the elements along the last axis."""
    launch = output.launch
    lengths = dict.fromkeys((*output.tiles, *(launch.block[:1] if launch else ())))
    for threads in (length for length in lengths if length > 1):
        if launch is not None and axes < MATRIX:
            yield launch.grid[0], threads
        yield 1, threads


def counted_otherwise(arrays: Arrays, output: WrongOutput) -> Iterator[tuple[str, Arrays]]:
    """Vectors of one length whose elements are counted, without some of them, or with some several times."""
    vectors = {name: array for name, array in arrays.items() if array.ndim == 1 and name != output.array}
    counted = output.wanted.sum()
    alike = {name: array for name, array in vectors.items() if array.size == counted}
    if not alike or output.got.dtype.kind not in "iu":
        return
    index = np.arange(int(counted))
    for blocks, threads in _deals(output, axes=1):
        dealt = Dealt(index // threads % blocks, index % threads, threads, blocks * threads)
        for mistake, kept in parts(dealt):
            yield mistake, {name: array[kept] for name, array in alike.items()}
        for mistake, times in repeated(dealt):
            if times.max() <= WARP:
                yield mistake, {name: np.repeat(array, times) for name, array in alike.items()}
