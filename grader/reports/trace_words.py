"""Words for threads and elements of a trace: `threads (0, 0)–(3, 3)`, `A[0..3][4..7]`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model import Dim3
    from grader.model.trace import TracedArray

MOST_NAMED = 3
"""Threads or elements that are named one by one."""


def extent(dimensions: Dim3) -> str:
    """`4 × 4`; dimensions of one at the end are left out."""
    x, y, z = dimensions
    return f"{x} × {y} × {z}" if z > 1 else f"{x} × {y}" if y > 1 else str(x)


def thread(number: int, block: Dim3) -> str:
    """`(3, 1)` for ``threadIdx``, with as many places as the block has dimensions."""
    x, y, z = block
    index = (number % x, number // x % y, number // (x * y))
    if y == z == 1:
        return str(index[0])
    return f"({', '.join(map(str, index if z > 1 else index[:2]))})"


def threads_in_words(threads: Sequence[int], block: Dim3) -> str:
    """All of the block, a box of threads, or how many there are and the first of them."""
    count = math.prod(block)
    if len(threads) == count:
        return "all threads" if count > 1 else "the thread"
    if len(threads) == 1:
        return f"thread {thread(threads[0], block)}"
    if _box(threads, block[0]) is not None:
        return f"threads {thread(threads[0], block)}–{thread(threads[-1], block)}"
    named = ", ".join(thread(each, block) for each in threads[:MOST_NAMED])
    return f"{len(threads)} threads ({named}{', …' if len(threads) > MOST_NAMED else ''})"


def _box(numbers: Sequence[int], columns: int) -> tuple[int, int, int, int] | None:
    """First and last row and column of numbers that fill a rectangle of a grid; None if they do not."""
    if not numbers:
        return None
    columns = max(1, columns)
    rows = [number // columns for number in numbers]
    places = [number % columns for number in numbers]
    top, bottom, left, right = min(rows), max(rows), min(places), max(places)
    if (bottom - top + 1) * (right - left + 1) != len(set(numbers)):
        return None
    return top, bottom, left, right


def at_element(array: TracedArray, elements: Sequence[int]) -> str:
    """`A[0..3][4..7]` where they fill a rectangle, else how many of which array."""
    name = one_line(array.name)
    flat = len(array.shape) < 2  # noqa: PLR2004 - dimensions
    columns = 1 << 62 if flat else array.shape[-1]
    box = _box(elements, columns)
    if box is None or len(array.shape) > 2:  # noqa: PLR2004 - dimensions
        return f"{len(elements):,} elements of {name}"
    top, bottom, left, right = box
    return (
        f"{name}[{_range(left, right)}]" if flat else f"{name}[{_range(top, bottom)}][{_range(left, right)}]"
    )


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}..{last}"
