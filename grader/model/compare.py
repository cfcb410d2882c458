"""One output array against the oracle: how many elements are wrong, by how much, and where.

An element is right where ``|got - expected| <= bound``, asked so that NaN can never pass. An infinity is
right only where exactly that infinity is expected, and only there a bound may be infinite: elsewhere it would
make every number right. An oracle that expects NaN accepts nothing. What it expects as a masked array is not
compared where the mask is true: there anything is right, including NaN and unwritten elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.base.errors import OurError
from grader.base.precision import numbers
from grader.model import Comparison, HeatMap, HeatSample, WrongElement

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from grader.model import Dim3, Launch

Reals: TypeAlias = "NDArray[np.float64]"
Mask: TypeAlias = "NDArray[np.bool_]"

MAP_ROWS = 12
MAP_COLUMNS = 48
MAP_CHARACTERS = ".?nx"
"""Right; never written; NaN; wrong. A cell of several elements shows the rightmost that it holds."""

HEAT = " .?n123"
"""Beyond the array; right; never written; NaN; wrong by little, by more, by much."""
HEAT_ROWS = 64
HEAT_COLUMNS = 64
MOST_SAMPLES = 120
"""Maximum number of cells of a heat map for which an element is reported with its numbers."""
_LITTLE, _MORE = 0.01, 0.25
"""Shares of the largest number that is expected: an error up to the first is little."""


def compare(
    array_name: str,
    output: NDArray[Any],
    expected: NDArray[Any],
    bound: ArrayLike,
    *,
    poison: Mask | None = None,
) -> Comparison:
    """Judge ``output`` (any real dtype, any shape) element by element.

    ``expected`` has the shape of ``output``; ``bound`` is an absolute error, one for all or one for each.
    ``poison`` is true where the buffer still holds what it held before the launch (see `untouched`). The
    error is taken in float64; integers that differ are distinguished beyond 2⁵³, too, if ``expected`` holds
    integers. A masked element of ``expected`` counts as neither right nor wrong.

    Raises:
        OurError: the oracle expects another shape, or gives no bound. No output of a student's can cause
            either.

    """
    if output.shape != expected.shape:
        raise OurError(
            f"the oracle expects {array_name} in shape {expected.shape}, the assignment says {output.shape}"
        )
    output, masked, expected = numbers(output), mask_of(expected), data_of(expected)
    values, target = np.asarray(output, np.float64), np.asarray(expected, np.float64)
    bounds = np.broadcast_to(np.asarray(data_of(bound), np.float64), output.shape)
    bounds = np.where(masked, 0.0, bounds)
    flaw = bound_flaw(target, bounds)
    if flaw:
        raise OurError(f"the oracle's error bound for {array_name} is {flaw}")
    error = np.where(masked, 0.0, _absolute_error(values, target))
    if output.dtype.kind in "iu" and expected.dtype.kind in "iu":
        error = np.maximum(error, (output != expected) & ~masked)
    right = (error <= bounds) & np.isfinite(error)
    unwritten = np.zeros_like(right) if poison is None else ~right & poison
    worst = int(np.argmax(error)) if error.size else None
    picture, cell = wrong_map(_states(values, right, unwritten))
    return Comparison(
        array=array_name,
        total=output.size - int(np.count_nonzero(masked)),
        wrong=int(np.count_nonzero(~right)),
        unwritten=int(np.count_nonzero(unwritten)),
        max_error=0.0 if worst is None else float(error.flat[worst]),
        error_bound=0.0 if worst is None else float(bounds.flat[worst]),
        first=_first_wrong(values, target, bounds, right, unwritten),
        wrong_map=picture,
        map_cell=cell,
        max_relative_error=_largest_relative_error(error, np.where(masked, 0.0, target)),
    )


def bound_flaw(target: Reals, bounds: Reals) -> str:
    """Flaw that makes bounds of an element's error unusable, as a predicate; empty where there is none."""
    if not (bounds >= 0).all():
        return "negative or NaN"
    if np.isinf(bounds[np.isfinite(target)]).any():
        return "infinite: every number would be right; give a finite one, or mask what may be anything"
    return ""


def mask_of(values: NDArray[Any]) -> Mask:
    """Mask of values; all false for a plain array, for which NumPy's masked arrays are not loaded."""
    return np.zeros(values.shape, np.bool_) if type(values) is np.ndarray else np.ma.getmaskarray(values)


def data_of(values: ArrayLike) -> NDArray[Any]:
    """Values without their mask."""
    return values if type(values) is np.ndarray else np.ma.getdata(values)


CHUNK = 1 << 17
"""Elements that are judged at once, as numbers that stay in a processor's cache."""


def plainly_right(output: NDArray[Any], expected: NDArray[Any], bound: ArrayLike) -> bool:
    """True if a large floating-point output is right in every element: a fast path of `compare`.

    Only if it is certain: where an element is wrong, not finite or masked, where numbers are integers, or
    where something does not fit, the answer is no, and `compare` has to decide.
    """
    output = numbers(output)
    if output.dtype.kind != "f" or output.shape != expected.shape or mask_of(expected).any():
        return False
    values, target = output.reshape(-1), data_of(expected).reshape(-1)
    bounds = np.broadcast_to(data_of(bound), output.shape).reshape(-1)
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, values.size, CHUNK):
            part = slice(start, start + CHUNK)
            error = np.abs(values[part] - np.asarray(target[part], np.float64))
            if not ((error <= bounds[part]) & (bounds[part] < np.inf)).all():
                return False
    return True


def states(output: NDArray[Any], expected: NDArray[Any], bound: ArrayLike, *, poison: Mask) -> str:
    """Write a character of `MAP_CHARACTERS` for each element, in C order; as in `compare`."""
    masked = mask_of(expected)
    values, target = np.asarray(numbers(output), np.float64), np.asarray(data_of(expected), np.float64)
    error = np.where(masked, 0.0, _absolute_error(values, target))
    right = (error <= np.where(masked, 0.0, data_of(bound))) & np.isfinite(error)
    return _line(_states(values, right, ~right & poison).reshape(-1))


def heat_map(
    output: NDArray[Any],
    expected: NDArray[Any],
    bound: ArrayLike,
    *,
    poison: Mask,
    launch: Launch | None = None,
) -> HeatMap:
    """Draw how far an output is off, and where; as in `compare`, without masks.

    Two dimensions keep their form, more are flattened to rows of the last axis, a vector is folded. At most
    `HEAT_ROWS` lines of `HEAT_COLUMNS`: a cell of several elements shows the worst of them.
    """
    values, target = np.asarray(output, np.float64), np.asarray(expected, np.float64)
    bounds = np.broadcast_to(np.asarray(bound, np.float64), output.shape)
    error = _absolute_error(values, target)
    right = (error <= bounds) & np.isfinite(error)
    largest = float(np.max(np.abs(target[np.isfinite(target)]), initial=0.0)) or 1.0
    size = 4 + (error > _LITTLE * largest).astype(np.uint8) + (error > _MORE * largest)
    states = np.where(right, 1, np.where(poison, 2, np.where(np.isnan(values), 3, size))).astype(np.uint8)
    table, cell = _as_table(states)
    cells = _worst(table, *cell)
    arrays = (values, target, bounds, poison & ~right)
    samples = tuple(
        HeatSample(row, column, _element(flat, arrays)) for row, column, flat in _first_of_cells(table, cell)
    )
    rows = tuple("".join(HEAT[state] for state in line) for line in cells)
    return HeatMap(rows, cell, samples, _block(output.shape, launch) if launch else (0, 0))


def _as_table(states: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """States in rows and columns, and how many of them a cell of a heat map stands for."""
    if states.ndim > 1:
        table = states.reshape(-1, states.shape[-1])
        return table, (-(-table.shape[0] // HEAT_ROWS), -(-table.shape[1] // HEAT_COLUMNS))
    width = max(1, -(-states.size // (HEAT_ROWS * HEAT_COLUMNS)))
    columns = min(states.size, HEAT_COLUMNS * width) or 1
    table = np.zeros((-(-states.size // columns), columns), np.uint8)
    table.reshape(-1)[: states.size] = states
    return table, (1, width)


def _worst(table: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """The largest number in each cell of ``height`` rows and ``width`` columns."""
    by_rows = np.maximum.reduceat(table, np.arange(0, table.shape[0], height), axis=0)
    return np.maximum.reduceat(by_rows, np.arange(0, table.shape[1], width), axis=1)


def _first_of_cells(table: NDArray[np.uint8], cell: tuple[int, int]) -> list[tuple[int, int, int]]:
    """Row and column of cells that hold something wrong, spread over all; each with its first element."""
    flat = np.flatnonzero(table > 1)
    rows, columns = flat // table.shape[1] // cell[0], flat % table.shape[1] // cell[1]
    across = -(-table.shape[1] // cell[1])
    _, first = np.unique(rows * across + columns, return_index=True)
    chosen = first[:: -(-first.size // MOST_SAMPLES)] if first.size else first
    return [(int(rows[i]), int(columns[i]), int(flat[i])) for i in chosen]


def _block(shape: tuple[int, ...], launch: Launch) -> tuple[int, int]:
    """Rows and columns that a block computes, if the grid just covers the output, one thread an element."""
    rows, columns = (1, *shape)[-2:] if len(shape) < 3 else (0, 0)  # noqa: PLR2004 - a vector or a matrix
    width, height = launch.block[0], launch.block[1]
    if _covers(launch.grid, 0, columns, width) and _covers(launch.grid, 1, rows, height):
        return (height, width)
    return (0, 0)


def _covers(grid: Dim3, axis: int, size: int, side: int) -> bool:
    return size > 0 and grid[axis] == -(-size // side)


def untouched(after: NDArray[Any], before: NDArray[Any]) -> Mask:
    """Mask of the elements that hold, bit for bit, what they held before (NaN poison included)."""
    if after.shape != before.shape or after.dtype != before.dtype:
        raise ValueError("an array has changed its shape or type during a launch")
    size = (after.size, after.dtype.itemsize)
    bytes_after = np.ascontiguousarray(after).view(np.uint8).reshape(size)
    bytes_before = np.ascontiguousarray(before).view(np.uint8).reshape(size)
    same: Mask = (bytes_after == bytes_before).all(axis=1).reshape(after.shape)
    return same


def all_ones(array: NDArray[Any]) -> Mask:
    """Mask of the floats with every bit set: a NaN that hardly any arithmetic gives."""
    if array.dtype.kind != "f":
        return np.zeros(array.shape, np.bool_)
    raw = np.ascontiguousarray(array).view(np.uint8).reshape(array.size, array.dtype.itemsize)
    mask: Mask = (~raw == 0).all(axis=1).reshape(array.shape)
    return mask


def wrong_map(states: NDArray[np.uint8]) -> tuple[tuple[str, ...], tuple[int, int]]:
    """Draw an array of indices into `MAP_CHARACTERS`; also the rows and columns behind one character.

    Two dimensions keep their form, more are flattened to rows of the last axis, a vector is folded into
    lines. At most `MAP_ROWS` lines of `MAP_COLUMNS`: a larger array is drawn in cells, and a cell shows
    the worst that it holds. Empty where nothing is wrong.
    """
    if not states.any():
        return (), (1, 1)
    if states.ndim <= 1:
        return _folded(states.reshape(-1))
    table = states.reshape(-1, states.shape[-1])
    height, width = -(-table.shape[0] // MAP_ROWS), -(-table.shape[1] // MAP_COLUMNS)
    return tuple(_line(row) for row in _worst(table, height, width)), (height, width)


def _folded(vector: NDArray[np.uint8]) -> tuple[tuple[str, ...], tuple[int, int]]:
    """A vector as lines of `MAP_COLUMNS` characters."""
    width = -(-vector.size // (MAP_ROWS * MAP_COLUMNS))
    line = _line(np.maximum.reduceat(vector, np.arange(0, vector.size, width)))
    return tuple(line[start : start + MAP_COLUMNS] for start in range(0, len(line), MAP_COLUMNS)), (1, width)


def _line(states: NDArray[np.uint8]) -> str:
    return "".join(MAP_CHARACTERS[state] for state in states)


def _absolute_error(values: Reals, target: Reals) -> Reals:
    """|got - expected|: 0 for equal infinities, infinity wherever there is no number."""
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(values - target)
    error = np.where(values == target, 0.0, error)
    return np.where(np.isnan(error), np.inf, error)


def _largest_relative_error(error: Reals, target: Reals) -> float:
    """The largest share of an expected value that its error is; what should be 0 has none."""
    measurable = np.isfinite(target) & (target != 0)
    with np.errstate(over="ignore"):
        return float(np.max(error[measurable] / np.abs(target[measurable]), initial=0.0))


def _states(values: Reals, right: Mask, unwritten: Mask) -> NDArray[np.uint8]:
    """Index of each element into `MAP_CHARACTERS`."""
    wrong = np.where(np.isnan(values), 2, 3)
    return np.where(right, 0, np.where(unwritten, 1, wrong)).astype(np.uint8)


def _first_wrong(
    values: Reals, target: Reals, bounds: Reals, right: Mask, unwritten: Mask
) -> WrongElement | None:
    """The first wrong element in C order."""
    if right.all():
        return None
    return _element(int(np.argmax(~right)), (values, target, bounds, unwritten))


def _element(flat: int, arrays: tuple[Reals, Reals, Reals, Mask]) -> WrongElement:
    """The element at a place in C order: of what is there, what is expected, the bound, what is unwritten."""
    values, target, bounds, unwritten = arrays
    return WrongElement(
        index=tuple(int(i) for i in np.unravel_index(flat, values.shape)),
        expected=float(target.flat[flat]),
        got=float(values.flat[flat]),
        bound=float(bounds.flat[flat]),
        unwritten=bool(unwritten.flat[flat]),
    )
