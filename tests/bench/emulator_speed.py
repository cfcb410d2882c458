"""The emulator's speed on the tiled matrix product: plain, and looking for hazards, side by side.

The last line shows how much of the largest product NumPy needs for the fused multiply-adds alone, which have
to be exact: no emulator that makes one NumPy call per operation could be faster than that.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from grader.simulation.emulator.instructions.rounding import nearest_fused32
from tests.bench.measuring import matmul_launch, tiled_matmul

SHAPES = ((55, 48, 43), (142, 110, 146), (256, 256, 256))
REPEATS = 9
ROW = "{:>13}{:>14}{:>12}{:>15}{:>12}{:>14}\n"


def seconds_per_fma() -> float:
    """The time of one lane's fused multiply-add where NumPy does 64 blocks at once, as a chunk has them."""
    rng = np.random.default_rng(1)
    a, b, c = (
        rng.standard_normal(shape).astype(np.float32) for shape in ((64, 16, 1), (64, 1, 16), (64, 16, 16))
    )
    shortest = float("inf")
    for _ in range(50):
        began = time.process_time()
        for _ in range(20):
            nearest_fused32(a, b, c)
        shortest = min(shortest, (time.process_time() - began) / 20)
    return shortest / c.size


def main() -> None:
    """Print a row per shape."""
    kernel = tiled_matmul()
    sys.stdout.write(
        ROW.format("shape", "instructions", "plain ms", "M lane-ins/s", "detect ms", "detect/plain")
    )
    for shape in SHAPES:
        launch, arguments = matmul_launch(*shape)
        plain = kernel.measure(launch, arguments, detect=False, repeats=REPEATS)
        detect = kernel.measure(launch, arguments, detect=True, repeats=REPEATS)
        instructions = plain.run.counters.instructions
        figures = (
            f"{plain.seconds * 1e3:.1f}",
            f"{instructions / plain.seconds / 1e6:.0f}",
            f"{detect.seconds * 1e3:.1f}",
            f"{detect.seconds / plain.seconds:.2f}",
        )
        sys.stdout.write(ROW.format("·".join(map(str, shape)), f"{instructions:,}", *figures))
    alone = float(np.prod(SHAPES[-1])) * seconds_per_fma()
    share = alone / plain.seconds
    sys.stdout.write(
        f"fused multiply-adds of the last row alone: {alone * 1e3:.1f} ms, {share:.0%} of plain\n"
    )


if __name__ == "__main__":
    main()
