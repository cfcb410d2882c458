"""Helpers of the benchmarks: kernels linked once, and the shortest of several runs in process time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from grader.model import Argument, Launch
from grader.simulation.emulator.launch import Kernel
from tests.simulation.emulator.nvcc import HAZARDS, compile_one, entries

if TYPE_CHECKING:
    from grader.model import Run

ROOT = Path(__file__).resolve().parents[2]
TILE = 16


@dataclass(frozen=True)
class Measured:
    """The shortest of some runs: seconds of this process, and what the last run gave."""

    seconds: float
    run: Run

    def nanoseconds(self, instructions: int) -> float:
        """Per lane-instruction of the plain build, whichever build ran."""
        return self.seconds / instructions * 1e9


@dataclass(frozen=True)
class Benchmark:
    """A kernel in both builds, linked when it is first launched."""

    plain: Kernel
    hazard: Kernel

    def measure(
        self, launch: Launch, arguments: tuple[Argument, ...], *, detect: bool, repeats: int
    ) -> Measured:
        """The shortest of ``repeats`` launches, after one that does not count."""
        kernel = self.hazard if detect else self.plain
        shortest, run = float("inf"), kernel.run(launch, arguments, detect=detect)
        for _ in range(repeats):
            began = time.process_time()
            run = kernel.run(launch, arguments, detect=detect)
            shortest = min(shortest, time.process_time() - began)
        return Measured(shortest, run)


def compiled(source: str, kernel: str = "") -> Benchmark:
    """A kernel of a source by its name, or the only one."""
    plain, hazard = compile_one(source, ()), compile_one(source, HAZARDS)
    return Benchmark(*(Kernel(module, kernel or entries(module)[0]) for module in (plain, hazard)))


def tiled_matmul() -> Benchmark:
    """The model solution of the matrix product, with tiles of 16 × 16."""
    return compiled((ROOT / "reference" / "matmul" / "solution.cu").read_text())


def matmul_launch(rows: int, inner: int, columns: int) -> tuple[Launch, tuple[Argument, ...]]:
    """The launch of a product rows·inner · inner·columns of random matrices."""
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(extents).astype(np.float32) for extents in ((rows, inner), (inner, columns)))
    arrays = (
        Argument("A", "in", a),
        Argument("B", "in", b),
        Argument("C", "out", np.full((rows, columns), np.nan, np.float32)),
    )
    sizes = zip("MKN", (rows, inner, columns), strict=True)
    values = tuple(Argument(name, "value", np.int32(size)) for name, size in sizes)
    return Launch((-(-columns // TILE), -(-rows // TILE), 1), (TILE, TILE, 1)), (*arrays, *values)
