"""Mistakes that show by where an output is wrong: at its edge or border, or in whole tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.explaining.facts import ENOUGH, MOST_AXES
from grader.explaining.mistake import Rank, Says, Shows, another_test, named
from grader.explaining.threads_in_range import marked, only_reached

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.explaining.facts import Mask, WrongOutput


@named("zeros-not-stored", Rank.LIKELY)
def zeros_not_stored(output: WrongOutput) -> bool:
    """All that was stored is right, and 0 belongs in all other places; no accident, and not the end."""
    wrong, zeros = output.wrong, output.wanted == 0
    if not output.completed or wrong.all() or not wrong.any() or not output.only_unwritten:
        return False
    others = int(np.count_nonzero(zeros & ~wrong))
    accident = (np.count_nonzero(zeros) / zeros.size) ** np.count_nonzero(wrong)
    first = int(np.argmax(wrong))
    scattered = not wrong.reshape(-1)[first:].all()
    return scattered and not (wrong & ~zeros).any() and (not others or accident < BY_ACCIDENT)


BY_ACCIDENT = 1e-6
"""Largest probability that elements chosen without a look at the numbers all have one property."""


@named("store-unguarded", Rank.LIKELY, at_accesses="store-into-next-row")
def overwritten_by_the_edge(output: WrongOutput) -> bool:
    """Only the first columns are wrong, below the first row: what is stored beyond a row lands there."""
    wrong = output.wrong
    if wrong.ndim != 2 or (output.empty & wrong).any():  # noqa: PLR2004 - rows and columns
        return False
    for tile in output.tiles:
        beyond = -wrong.shape[1] % tile
        near = np.zeros(wrong.shape, np.bool_)
        near[1:, :beyond] = True
        if beyond < wrong.shape[1] and _are_all_near(wrong, near):
            return True
    return False


@named("end-not-stored", Rank.LIKELY, Says.HOW)
def end_not_stored(output: WrongOutput) -> bool:
    """Right up to an element inside a row, and from there on nothing was stored."""
    wrong = output.wrong.reshape(-1)
    if output.got.ndim < MOST_AXES or not output.completed or not output.only_unwritten:
        return False
    stored = int(np.argmax(wrong))
    return bool(stored % output.got.shape[-1] and wrong[stored:].all())


@named("edge-not-written", Rank.LIKELY, in_vectors="tail-not-written")
def edge_not_written(output: WrongOutput) -> bool:
    """The edge was left out, all of it, and the rest is right; a small array may be nothing but edge."""
    wrong = output.wrong
    if not output.completed or not output.only_unwritten:
        return False
    return _only_edge_wrong(output) or any(np.array_equal(wrong, edge) for edge in _edges(output))


@named("border-not-written", Rank.LIKELY)
def border_not_written(output: WrongOutput) -> bool:
    """The border was left out, on all sides of a matrix, and all inside is right."""
    sides = [side for axis in range(output.wrong.ndim) for side in (0, -1) if _side(output, axis, side).all()]
    return (
        output.completed and len(sides) == 2 * MOST_AXES and _only_near_ends(output) and output.only_unwritten
    )


@named("border-wrong", Rank.APPEARANCE, Says.HOW)
def border_wrong(output: WrongOutput) -> bool:
    """Only elements near the ends are wrong, and not just the last tile, or most of it.

    Of a vector these are its last elements, where the last block has more, and the first ones beside them:
    those are wrong for many other reasons where they are alone.
    """
    wrong = output.wrong
    count = int(np.count_nonzero(wrong[-MOST_NEIGHBOURS:] if wrong.ndim == 1 else wrong))
    if not _only_near_ends(output) or (wrong.ndim > 1 and count < ENOUGH // 2):
        return False
    edges = list(_edges(output))
    if wrong.ndim == 1:
        beside = [bool((wrong & ~edge).any()) for edge in edges]
        few = [2 * count < np.count_nonzero(edge) for edge in edges]
        return bool(edges) and all(one or other for one, other in zip(few, beside, strict=True))
    of_edge = [2 * count < np.count_nonzero(edge) and not edge.all() for edge in edges]
    beside = [int(np.count_nonzero(wrong & ~edge)) >= ENOUGH // 2 for edge in edges]
    return all(few or some for few, some in zip(of_edge, beside, strict=True))


@named("edge-wrong", Rank.APPEARANCE, Says.WHERE, Shows.AT_EDGES, in_vectors="tail-wrong")
def edge_wrong(output: WrongOutput) -> bool:
    """The edge is wrong, the rest is right."""
    return _only_edge_wrong(output)


@named("partial-blocks-wrong", Rank.APPEARANCE, Says.WHERE, Shows.IN_PARTIAL_BLOCKS)
def partial_blocks_wrong(output: WrongOutput) -> bool:
    """Only the edge is wrong, or the array is a part of one tile, and all of it is edge.

    That threads have an element each is known where there is an input of this shape, or where numbers only
    change places.
    """
    others = (array.shape for name, array in output.inputs if name != output.array)
    if output.launch is None or (output.got.shape not in others and output.rearranged is None):
        return False
    if output.never_stored[output.wrong].all():  # who stores nothing there does so for other reasons
        return False
    edges = list(_edges(output))
    is_part = bool(edges) and all(bool(edge.all()) for edge in edges)
    return is_part or edge_wrong(output)


@named("block-borders-wrong", Rank.APPEARANCE, Says.HOW)
def block_borders_wrong(output: WrongOutput) -> bool:
    """Only elements are wrong that lie near the first or the last one of a block, also inside the array."""
    wrong, launch = output.wrong, output.launch
    if launch is None or not 0 < wrong.ndim <= MOST_AXES or (wrong.ndim == 1) is not output.in_a_line:
        return False
    if np.count_nonzero(wrong) < ENOUGH // 2 or (wrong & output.unwritten).any():
        return False
    return any(_only_near_blocks_ends(wrong, launch.block, reach) for reach in REACHES)


def _only_near_blocks_ends(wrong: Mask, block: tuple[int, ...], reach: int) -> bool:
    near = np.zeros(wrong.shape, np.bool_)
    for axis, index in enumerate(np.indices(wrong.shape)):
        threads = block[wrong.ndim - 1 - axis]
        if threads < 4 * reach:
            return False
        near |= (index % threads < reach) | (index % threads >= threads - reach)
        near |= index >= wrong.shape[axis] - reach
    return bool(wrong[(slice(reach, -reach),) * wrong.ndim].any()) and _are_all_near(wrong, near)


@named("first-row-only", Rank.LIKELY, shows=Shows.OF_ANY_SHAPE)
def first_row_only(output: WrongOutput) -> bool:
    """The first row is right, and no other was ever written."""
    wrong = output.wrong
    if wrong.ndim != 2 or min(wrong.shape) < 2 or wrong.shape[1] < ENOUGH:  # noqa: PLR2004 - rows and columns
        return False
    return _stopped_after_the_first(output)


@named("first-matrix-only", Rank.LIKELY)
def first_matrix_only(output: WrongOutput) -> bool:
    """The first of several matrices is right, and no other was ever written."""
    wrong = output.wrong
    if wrong.ndim <= MOST_AXES or len(wrong) == 1 or wrong[0].size < ENOUGH:
        return False
    return _stopped_after_the_first(output)


def _stopped_after_the_first(output: WrongOutput) -> bool:
    """Along the first axis only what comes first was written, and it is right."""
    return output.completed and not output.wrong[0].any() and bool(output.unwritten[1:].all())


@named("first-block-only", Rank.LIKELY, in_vectors="first-block-of-vector")
def first_block_only(output: WrongOutput) -> bool:
    """The first tile is right and nothing else is."""
    wrong = output.wrong
    numbers = (_tile_numbers(wrong.shape, tile) for tile in output.tiles)
    return output.completed and any(np.array_equal(wrong, number > 0) for number in numbers if number.any())


@another_test("index-formula")
def index_along_one_axis(output: WrongOutput) -> bool:
    """All that was stored is right; along one axis the block's part is missing or of the other axis."""
    launch, shape = output.launch, output.got.shape
    if launch is None or not output.completed or len(shape) != MOST_AXES:
        return False
    for at, extent in enumerate(shape):
        axis = 1 - at
        block, thread = np.indices((launch.grid[axis], launch.block[axis]))
        right = marked(block * launch.block[axis] + thread, extent)
        for index in (thread, block * launch.block[at] + thread):
            reached = np.expand_dims(marked(index, extent), axis)
            if not np.array_equal(reached.reshape(-1), right) and only_reached(output, reached):
                return True
    return False


@named("some-blocks", Rank.APPEARANCE, Says.HOW, in_vectors="some-blocks-of-vector")
def some_blocks(output: WrongOutput) -> bool:
    """Every tile is all right or all wrong, and there are both."""
    wrong = output.wrong
    if wrong.all() or not output.completed:
        return False
    for tile in output.tiles:
        numbers = _tile_numbers(wrong.shape, tile).reshape(-1)
        sizes = np.bincount(numbers)
        bad = np.bincount(numbers, weights=wrong.reshape(-1))
        if sizes.max() >= ENOUGH and ((bad == 0) | (bad == sizes)).all():
            return True
    return False


def _tile_numbers(shape: tuple[int, ...], tile: int) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
    """Number of each element's tile: a square of the last two axes, or a line of the only one."""
    numbers = np.zeros(shape, np.intp)
    for axis, extent in enumerate(shape):
        along = np.arange(extent) // (tile if axis >= len(shape) - 2 else 1)
        others = [i for i in range(len(shape)) if i != axis]
        numbers = numbers * (int(along[-1]) + 1) + np.expand_dims(along, others)
    return numbers


@another_test("border-wrong")
def ends_wrong(output: WrongOutput) -> bool:
    """All that is wrong of a vector are its first and its last elements, none of them right in between.

    What is wrong at a border spreads with each step: two are wrong at either end, in all a quarter at most.
    """
    wrong = output.wrong
    if (
        wrong.ndim != 1
        or not (wrong[:2].all() and wrong[-2:].all())
        or 4 * np.count_nonzero(wrong) > wrong.size
    ):
        return False
    return int(np.count_nonzero(np.diff(wrong.astype(np.int8)))) == 2  # noqa: PLR2004 - one run of right ones


def _edge(shape: tuple[int, ...], tile: int, first_axis: int = 0) -> Mask:
    """Mask of the last tile along each axis if it is a partial one, or else of the last row or column."""
    edge = np.zeros(shape, np.bool_)
    for axis, extent in enumerate(shape):
        if axis < first_axis:
            continue
        start = min(extent // tile * tile, extent - 1)
        edge |= np.expand_dims(np.arange(extent) >= start, [i for i in range(len(shape)) if i != axis])
    return edge


def _edges(output: WrongOutput) -> Iterator[Mask]:
    """The edge for each tile: along the last axis alone where blocks lie in one line."""
    first_axis = output.wrong.ndim - 1 if output.in_a_line else 0
    return (_edge(output.wrong.shape, tile, first_axis) for tile in output.tiles)


def _only_edge_wrong(output: WrongOutput) -> bool:
    """Something is right, and all that is wrong lies at the edge, where that is not the whole array."""
    wrong = output.wrong
    edges = _edges(output)
    return not wrong.all() and any(not edge.all() and not (wrong & ~edge).any() for edge in edges)


def _side(output: WrongOutput, axis: int, side: int) -> Mask:
    """Mask of the wrong elements in the first, or in the last, row (or column, or element)."""
    return np.asarray(np.take(output.wrong, [side], axis))


def _only_near_ends(output: WrongOutput) -> bool:
    wrong = output.wrong
    if not 0 < wrong.ndim <= MOST_AXES or min(wrong.shape) <= 2 * MOST_NEIGHBOURS:
        return False
    near = np.ones(wrong.shape, np.bool_)
    near[(slice(MOST_NEIGHBOURS, -MOST_NEIGHBOURS),) * wrong.ndim] = False
    if wrong.ndim == 1:
        near[:MOST_NEIGHBOURS] = wrong[:MOST_NEIGHBOURS].any() and wrong[-MOST_NEIGHBOURS:].any()
    return _are_all_near(wrong, near)


MOST_NEIGHBOURS = 3
"""Largest distance from a border of elements whose neighbours are beyond it."""


def _are_all_near(wrong: Mask, near: Mask) -> bool:
    """True if all wrong elements are among these, and enough of them that it is no accident."""
    chance = float(near.mean()) ** int(np.count_nonzero(wrong))
    return chance < MOST_CHANCE and not (wrong & ~near).any()


MOST_CHANCE = 0.02
"""Largest probability that as many elements lie there by chance."""


REACHES = (MOST_NEIGHBOURS, 8)
"""Distances from the ends of a block: a filter has a halo of three elements, or reads it on one side."""
