"""Kernels of a speedup that is known: the model solution with as much extra work as it takes.

Every thread goes through a loop of dependent multiply-adds after its sum. The time of a launch grows
with the length of the loop, so 1 / speedup does, and a straight line through measured points shows which
length gives which speedup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tests.bench.gpu.grading import MATMUL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_STORE = "    if (row < M && col < N) {\n        C[row * N + col] = sum;"
_PAD = """    if (M >= 512) {{  // only where it is timed
        float pad = sum;
#pragma unroll 1
        for (int i = 0; i < {rounds}; ++i) pad = fmaf(pad, 0.9990234f, 0.5f);
        if (pad == 123.456f) sum = pad;  // never, but the compiler does not know
    }}
"""


def padded(rounds: int) -> str:
    """The model solution with a loop of a number of rounds; raises ValueError if it is not what we know."""
    source = (MATMUL / "solution.cu").read_text("utf-8")
    before, found, after = source.partition(_STORE)
    if not found:
        raise ValueError("reference/matmul/solution.cu does not end with the store that is known here")
    return before + _PAD.format(rounds=rounds) + found + after


@dataclass(frozen=True, slots=True)
class Line:
    """1 / speedup = ``start`` + ``slope`` · rounds."""

    start: float
    slope: float

    def rounds(self, speedup: float) -> int:
        """The length of the loop for a speedup; raises ValueError where none is that fast."""
        rounds = round((1 / speedup - self.start) / self.slope)
        if rounds < 0:
            raise ValueError(
                f"the kernel without any padding is {1 / self.start:.3f} times as fast, not {speedup}"
            )
        return rounds


def fitted(measured: Mapping[int, Sequence[float]]) -> Line:
    """The line through speedups by rounds (several of each); raises ValueError for fewer than two lengths."""
    points = [(rounds, 1 / speedup) for rounds, speedups in measured.items() for speedup in speedups]
    rounds, inverse = np.array(points).T
    if len(set(rounds)) < 2:
        raise ValueError("a line needs two lengths at least")
    slope, start = np.polyfit(rounds, inverse, 1)
    return Line(float(start), float(slope))
