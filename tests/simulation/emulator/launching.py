"""Launching a kernel written in a test: CUDA source and arrays in, a `Run` out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.model import Argument, Launch
from grader.simulation.emulator.launch import STEPS, run
from tests.simulation.emulator import nvcc

if TYPE_CHECKING:
    from grader.model import Dim3, Finding, Run
    from grader.simulation.ptx import Module


@dataclass(frozen=True)
class Compiled:
    """A file of kernels in one build; ``detect`` is how it is run."""

    source: str
    module: Module
    detect: bool
    file: str = "kernel.cu"

    def run(
        self,
        kernel: str,
        grid: Dim3,
        block: Dim3,
        *values: np.ndarray[Any, Any] | np.generic,
        directions: str = "",
        shared: int = 0,
        steps: int = STEPS,
        interpreted: bool = False,
    ) -> Run:
        """Launch it; arrays are A, B, C… and are ``inout`` unless ``directions`` has an i or an o for them.

        ``interpreted``: the native core does not take part.
        """
        arguments = []
        for place, value in enumerate(values):
            letter = directions[place : place + 1]
            direction = {"i": "in", "o": "out", "": "inout", "b": "inout"}[letter]
            kind = direction if isinstance(value, np.ndarray) else "value"
            arguments.append(Argument("ABCDEFGH"[place], kind, value))
        launch = Launch(grid, block, shared)
        return run(
            self.module,
            kernel,
            launch,
            tuple(arguments),
            detect=self.detect,
            source=self.file,
            file=self.file,
            steps=steps,
            interpreted=interpreted,
        )

    def line(self, text: str) -> int:
        """The number of the only line of the source with this text."""
        return nvcc.line_of(self.source, text)


def hazard_build(source: str) -> Compiled:
    """The build and the run that look for mistakes."""
    return Compiled(source, nvcc.compile_one(source, nvcc.HAZARDS), detect=True)


def default_build(source: str) -> Compiled:
    """The build and the run that count."""
    return Compiled(source, nvcc.compile_one(source, ()), detect=False)


def only(result: Run) -> Finding:
    """The only finding of a run."""
    assert len(result.findings) == 1, "\n".join(f"{f.kind}: {f.message}" for f in result.findings)
    return result.findings[0]


def zeros(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    """An array of zeros."""
    return np.zeros(shape, dtype)
