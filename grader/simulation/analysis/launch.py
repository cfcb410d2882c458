"""A launch over any extent: enough blocks to cover x by y by z elements, a thread for each.

Optionally each element takes a number of ``reads`` and ``writes`` of ``element_bytes`` in global memory, and
a number of operations (``work``): enough for a vector addition, a transposition or a stencil without reuse.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.simulation.analysis.subject import (
    WARP,
    AnalysisProblem,
    Definition,
    Misconception,
    Subject,
    number_text,
    slip,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grader.simulation.analysis.subject import Steps

AXES = ("x", "y", "z")


@frozen
class Cover:
    """Extents, block and grid along x, y, z, and the reads, writes and operations of each element."""

    extent: tuple[int, ...]
    block: tuple[int, ...]
    grid: tuple[int, ...]
    reads: int = 0
    writes: int = 0
    work: int = 0
    element_bytes: int = 4

    @property
    def elements(self) -> int:
        """Elements that have a thread."""
        return prod(self.extent)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(self.grid)

    @property
    def size(self) -> int:
        """Threads of a block."""
        return prod(self.block)

    @property
    def threads(self) -> int:
        """Threads of the launch."""
        return self.blocks * self.size

    @property
    def whole(self) -> int:
        """Blocks of which every thread has an element."""
        return prod(extent // block for extent, block in zip(self.extent, self.block, strict=True))


def _situation(numbers: Mapping[str, int]) -> Cover:
    extent = tuple(numbers[axis] for axis in AXES)
    block = tuple(numbers[f"block_{axis}"] for axis in AXES)
    grid = tuple(-(-size // threads) for size, threads in zip(extent, block, strict=True))
    return Cover(
        extent, block, grid, numbers["reads"], numbers["writes"], numbers["work"], numbers["element_bytes"]
    )


def _grid(c: Cover) -> Steps:
    used = [axis for axis in range(3) if c.extent[axis] > 1 or c.block[axis] > 1] or [0]
    return tuple(
        step("along", axis=AXES[a], extent=c.extent[a], block=c.block[a], blocks=c.grid[a]) for a in used
    )


def _factors(numbers: Iterable[int]) -> str:
    return " · ".join(f"{number:,}" for number in numbers)


def _blocks(c: Cover) -> Steps:
    return *_grid(c), step("together", factors=_factors(c.grid), blocks=c.blocks)


def _threads(c: Cover) -> Steps:
    return *_blocks(c), step("block-threads", size=c.size, blocks=c.blocks, threads=c.threads)


def _elements(c: Cover) -> Steps:
    return (step("elements", factors=_factors(c.extent), elements=c.elements),)


def _idle(c: Cover) -> Steps:
    idle = step("idle", threads=c.threads, elements=c.elements, idle=c.threads - c.elements)
    return *_threads(c), *_elements(c), idle


def _boundary(c: Cover) -> Steps:
    return *_blocks(c), step("covered", whole=c.whole, blocks=c.blocks, rest=c.blocks - c.whole)


def _bytes(c: Cover, times: int, name: str) -> Steps:
    total = c.elements * times * c.element_bytes
    traffic = step(name, times=times, size=c.element_bytes, elements=c.elements, total=total)
    return *_elements(c), traffic


def _warps(c: Cover) -> Steps:
    return (step("warps", size=c.size, warps=-(-c.size // WARP)),)


def _bytes_moved(c: Cover) -> int:
    return c.elements * (c.reads + c.writes) * c.element_bytes


def _intensity(c: Cover) -> Fraction:
    if not c.reads + c.writes:
        raise AnalysisProblem("expected `reads` or `writes` where an intensity is asked for")
    return Fraction(c.elements * c.work, _bytes_moved(c))


def _intensity_steps(c: Cover) -> Steps:
    bytes_moved = (c.reads + c.writes) * c.element_bytes
    return (
        step(
            "work-of-each",
            work=c.work,
            reads=c.reads,
            writes=c.writes,
            size=c.element_bytes,
            moved=bytes_moved,
        ),
        step("intensity", work=c.work, moved=bytes_moved, value=number_text(_intensity(c))),
    )


def _misconceptions(c: Cover) -> Iterator[Misconception]:
    floor = tuple(size // threads for size, threads in zip(c.extent, c.block, strict=True))
    yield Misconception(slip("rounded-down"), replace(c, grid=floor))
    padded = tuple(blocks * threads for blocks, threads in zip(c.grid, c.block, strict=True))
    yield Misconception(slip("beyond-edge"), replace(c, extent=padded))
    x, y, z = c.block
    turned = tuple(-(-size // threads) for size, threads in zip(c.extent, (y, x, z), strict=True))
    yield Misconception(slip("x-and-y"), replace(c, block=(y, x, z), grid=turned))
    yield Misconception(
        slip("read-and-written"),
        instead={"global_load_bytes": "global_store_bytes", "global_store_bytes": "global_load_bytes"},
    )


def _operations(c: Cover) -> Steps:
    total = c.elements * c.work
    return *_elements(c), step("operations", elements=c.elements, work=c.work, total=total)


LAUNCH = Subject(
    parameters={
        "x": (1, None),
        "y": (1, 1),
        "z": (1, 1),
        "block_x": (1, None),
        "block_y": (1, 1),
        "block_z": (1, 1),
        "reads": (0, 0),
        "writes": (0, 0),
        "work": (0, 0),
        "element_bytes": (1, 4),
    },
    situation=_situation,
    quantities={
        "grid_x": Definition("blocks", lambda c: c.grid[0], _grid),
        "grid_y": Definition("blocks", lambda c: c.grid[1], _grid),
        "grid_z": Definition("blocks", lambda c: c.grid[2], _grid),
        "blocks": Definition("blocks", lambda c: c.blocks, _blocks),
        "boundary_blocks": Definition("blocks", lambda c: c.blocks - c.whole, _boundary),
        "threads_per_block": Definition(
            "threads", lambda c: c.size, lambda c: (step("threads-of-a-block", size=c.size),)
        ),
        "warps_per_block": Definition("warps", lambda c: -(-c.size // WARP), _warps),
        "threads": Definition("threads", lambda c: c.threads, _threads),
        "elements": Definition("elements", lambda c: c.elements, _elements),
        "idle_threads": Definition("threads", lambda c: c.threads - c.elements, _idle),
        "global_load_bytes": Definition(
            "bytes",
            lambda c: c.elements * c.reads * c.element_bytes,
            lambda c: _bytes(c, c.reads, "bytes-read"),
        ),
        "global_store_bytes": Definition(
            "bytes",
            lambda c: c.elements * c.writes * c.element_bytes,
            lambda c: _bytes(c, c.writes, "bytes-written"),
        ),
        "flops": Definition(
            "flop",
            lambda c: c.elements * c.work,
            _operations,
        ),
        "intensity": Definition("flop/byte", _intensity, _intensity_steps),
    },
    misconceptions=_misconceptions,
)
