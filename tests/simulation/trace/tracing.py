"""Tracing a kernel written in a test, or one of the reference's files with another tile."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.model import Argument, Launch
from grader.model.trace import TraceScene
from grader.simulation.emulator.launch import STEPS, Kernel
from grader.simulation.emulator.trace.trace import trace
from tests.simulation.emulator import nvcc

if TYPE_CHECKING:
    from grader.model import Dim3, Named
    from grader.model.trace import Trace, TracedEvent, TracedInterval
    from grader.simulation.ptx import Module

Given: TypeAlias = "dict[str, np.ndarray[Any, Any] | np.generic]"
"""The arguments of a kernel by name, in its order."""

MATMUL = Path(__file__).resolve().parents[3] / "reference/matmul"
TILED = (MATMUL / "solution.cu").read_text()


@cache
def _compiled(source: str) -> Module:
    return nvcc.compile_one(source, nvcc.HAZARDS)


def traced(
    source: str,
    kernel: str,
    grid: Dim3,
    block: Dim3,
    arguments: Given,
    at: Dim3 = (0, 0, 0),
    *,
    shapes: Named[tuple[int, ...]] = (),
    out: tuple[str, ...] = ("C",),
    shared: int = 0,
    steps: int = STEPS,
) -> Trace:
    """Trace one block of a kernel (``extern "C"``); arrays that are not in ``out`` are inputs."""
    made = tuple(
        Argument(
            name,
            "value" if not isinstance(value, np.ndarray) else "out" if name in out else "in",
            value,
        )
        for name, value in arguments.items()
    )
    text = tuple(source.split("\n"))
    kernel_ = Kernel(_compiled(source), kernel, "kernel.cu", "kernel.cu", shapes)
    return trace(kernel_, Launch(grid, block, shared), made, at, text, steps=steps)


def tiles(size: int, edge: int) -> np.ndarray[Any, Any]:
    """1, 2, 3 … tile by tile: each of ``edge`` by ``edge`` is numbered row by row before the next one."""
    row, column = np.indices((size, size))
    tile = row // edge * -(-size // edge) + column // edge
    numbered = tile * edge**2 + row % edge * edge + column % edge + 1
    return numbered.astype(np.float32)


def product(
    source: str,
    a: np.ndarray[Any, Any],
    b: np.ndarray[Any, Any],
    tile: int,
    at: Dim3 = (0, 0, 0),
    steps: int = STEPS,
) -> Trace:
    """Trace a kernel `tiledMatMul` with square tiles on C = A B."""
    source = source.replace("TILE_SIZE 16", f"TILE_SIZE {tile}").replace(
        "TILE_WIDTH 16", f"TILE_WIDTH {tile}"
    )
    source = source.replace("__global__", 'extern "C" __global__')
    (m, k), n = a.shape, b.shape[1]
    given: Given = {"A": a, "B": b, "C": np.full((m, n), np.nan, np.float32)}
    given |= {"M": np.int32(m), "K": np.int32(k), "N": np.int32(n)}
    shapes = tuple((name, (tile, tile)) for name in _TILE_NAMES)
    grid = (-(-n // tile), -(-m // tile), 1)
    return traced(source, "tiledMatMul", grid, (tile, tile, 1), given, at, shapes=shapes, steps=steps)


_TILE_NAMES = ("tileA", "tileB", "ds_A", "ds_B", "subTileM", "subTileN", "A_tile", "B_tile")


def scene(trace_: Trace, source: str, **changed: Any) -> TraceScene:  # noqa: ANN401 - any of its fields
    """A trace as the renderers get it."""
    fields: dict[str, Any] = {
        "assignment": "tiled-matmul",
        "title": "Tiled matrix multiplication",
        "file": "kernel.cu",
        "kernel": "tiledMatMul",
        "case": "by-hand",
        "shape": (("M", 8), ("K", 8), ("N", 8)),
        "inputs": "counting",
        "seed": 1,
        "constants": (("TILE_SIZE", 4),),
        "source": tuple(source.split("\n")),
    }
    return TraceScene(trace_, **(fields | changed))


def shared(trace_: Trace, interval: TracedInterval, name: str) -> list[list[float]]:
    """A shared array at the end of an interval, row by row."""
    index = next(number for number, each in enumerate(trace_.arrays) if each.name == name)
    values = dict(interval.shared)[index]
    rows: list[list[float]] = np.array(values, float).reshape(trace_.arrays[index].shape).tolist()
    return rows


def sums(trace_: Trace, interval: TracedInterval, name: str = "sum") -> list[list[float]]:
    """An accumulator at the end of an interval, by rows of threads."""
    index = next(number for number, each in enumerate(trace_.accumulators) if each.name == name)
    x, y, z = trace_.launch.block
    rows: list[list[float]] = np.array(dict(interval.sums)[index], float).reshape(y * z, x).tolist()
    return rows


def events(trace_: Trace, kind: str, name: str) -> list[TracedEvent]:
    """All events of a kind that concern an array or an accumulator."""
    names: Any = trace_.accumulators if kind == "add" else trace_.arrays
    return [
        event
        for interval in trace_.intervals
        for step in interval.steps
        for event in step.events
        if event.kind == kind and event.target >= 0 and names[event.target].name == name
    ]
