"""Growth of time and memory: the tiled matrix product from 10^5 to 10^9 lane-instructions, one row each."""

from __future__ import annotations

import resource
import sys

from tests.bench.measuring import matmul_launch, tiled_matmul

SIZES = (25, 58, 128, 176, 272, 400, 592)
ENOUGH = 100_000_000
"""Lane-instructions from which on two runs will do."""


def main() -> None:
    """Print a row per size; memory is the most that the process has held so far."""
    row = "{:>12}{:>16}{:>12}{:>10}{:>14}\n"
    sys.stdout.write(row.format("size", "instructions", "plain ms", "ns/ins", "peak MiB"))
    kernel = tiled_matmul()
    for size in SIZES:
        launch, arguments = matmul_launch(size, size, size)
        few = kernel.measure(launch, arguments, detect=False, repeats=2)
        instructions = few.run.counters.instructions
        best = few if instructions > ENOUGH else kernel.measure(launch, arguments, detect=False, repeats=9)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        figures = (f"{best.seconds * 1e3:.1f}", f"{best.nanoseconds(instructions):.2f}", f"{peak:.0f}")
        sys.stdout.write(row.format(f"{size}³", f"{instructions:,}", *figures))


if __name__ == "__main__":
    main()
