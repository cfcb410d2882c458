"""How many 32-byte sectors the requests of warps touch, counted warp by warp.

A warp is 32 threads that follow each other in the block, x first (CUDA programming guide, "Thread
hierarchy"); a request takes the distinct 32-byte sectors that its active threads ask for ("Device memory
accesses"). Arrays begin at multiples of 256 bytes, as cudaMalloc gives them, and hold floats in rows.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from grader.analysis.subject import AnalysisProblem

if TYPE_CHECKING:
    from collections.abc import Iterable

WARP = 32
FLOATS = 8
"""Floats in a sector."""

MOST_PIECES = 4_000_000
"""Beyond this many rows of warps nobody wants to wait."""

Piece: TypeAlias = tuple[int, int, int]
"""Neighbouring threads of a warp in a row of the block: row, first column, the column behind the last."""


def warps(width: int, height: int) -> list[list[Piece]]:
    """The warps of a block of ``width`` by ``height`` threads, each as pieces of rows."""
    total = width * height
    ranges = []
    for first in range(0, total, WARP):
        last = min(first + WARP, total) - 1
        ranges.append(
            [
                (
                    row,
                    first % width if row == first // width else 0,
                    last % width + 1 if row == last // width else width,
                )
                for row in range(first // width, last // width + 1)
            ]
        )
    return ranges


def of_tiles(rows: int, columns: int, tile: int) -> int:
    """Sectors of requests that cover a matrix once, tile by tile, a thread for each element inside."""
    threads = warps(tile, tile)
    _bounded((-(-rows // tile)) * (-(-columns // tile)) * sum(map(len, threads)))
    corners = product(range(0, rows, tile), range(0, columns, tile))
    return sum(
        _distinct(
            ((top + row) * columns + left + first, (top + row) * columns + min(left + end, columns))
            for row, first, end in warp
            if top + row < rows and left + first < columns
        )
        for top, left in corners
        for warp in threads
    )


def of_naive(m: int, k: int, n: int, tile: int) -> int:
    """Sectors that a naive product loads: at each step of K a thread loads one float of A and one of B."""
    threads = warps(tile, tile)
    _bounded((-(-m // tile)) * (-(-n // tile)) * sum(map(len, threads)) * k)
    total = 0
    for top, left, warp in product(range(0, m, tile), range(0, n, tile), threads):
        inside = [
            (top + row, left + first, min(left + end, n))
            for row, first, end in warp
            if top + row < m and left + first < n
        ]
        for step in range(k):
            total += len({(row * k + step) // FLOATS for row, _, _ in inside})
            columns = sorted((first, end) for _, first, end in inside)
            total += _distinct((step * n + first, step * n + end) for first, end in columns)
    return total


def _distinct(ranges: Iterable[tuple[int, int]]) -> int:
    """Sectors in ranges of elements, each given by its first and the one behind its last, in rising order."""
    count, highest = 0, -1
    for first, end in ranges:
        low, high = max(first // FLOATS, highest + 1), (end - 1) // FLOATS
        count += max(0, high - low + 1)
        highest = max(highest, high)
    return count


def _bounded(pieces: int) -> None:
    if pieces > MOST_PIECES:
        raise AnalysisProblem("the sectors of matrices this large are not counted; expected smaller ones")
