"""Hypotheses about the edge of an output, its border, and where blocks meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.diagnosis.facts import ENOUGH, MOST_AXES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.diagnosis.facts import Mask, WrongOutput


def _edge(shape: tuple[int, ...], tile: int, first_axis: int = 0) -> Mask:
    """Where the last tile along an axis is a partial one, or the last row or column of a full one."""
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


def edge_not_written(output: WrongOutput) -> bool:
    """The edge was left out, all of it, and the rest is right; a small array may be nothing but edge."""
    wrong = output.wrong
    if not output.completed or not output.only_unwritten:
        return False
    return _only_edge_wrong(output) or any(np.array_equal(wrong, edge) for edge in _edges(output))


def edge_wrong(output: WrongOutput) -> bool:
    """The edge is wrong, the rest is right."""
    return _only_edge_wrong(output)


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


MOST_NEIGHBOURS = 3
"""How far from a border the elements lie whose neighbours are beyond it."""


def border_not_written(output: WrongOutput) -> bool:
    """The border was left out, on all sides of a matrix, and all inside is right."""
    sides = [side for axis in range(output.wrong.ndim) for side in (0, -1) if _side(output, axis, side).all()]
    return (
        output.completed and len(sides) == 2 * MOST_AXES and _only_near_ends(output) and output.only_unwritten
    )


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


def _side(output: WrongOutput, axis: int, side: int) -> Mask:
    """Which elements of the first, or of the last, row (or column, or element) are wrong."""
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


MOST_CHANCE = 0.02
"""How likely it may be that as many elements lie there by chance."""


def _are_all_near(wrong: Mask, near: Mask) -> bool:
    """Whether all wrong elements are among these, and so many that it is no accident."""
    chance = float(near.mean()) ** int(np.count_nonzero(wrong))
    return chance < MOST_CHANCE and not (wrong & ~near).any()


REACHES = (MOST_NEIGHBOURS, 8)
"""How far from the ends of a block, where a filter has a halo of three elements, or reads it on one side."""


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
