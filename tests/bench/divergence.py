"""The cost of divergence: time per lane-instruction where lanes diverge, against where they stay together."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from grader.model import Argument, Launch
from tests.bench.measuring import Benchmark, compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

REPEATS = 5
LANES = 1 << 15
BLOCK = 256
WARP = 32
SOURCE = r"""
extern "C" __global__ void trips(float* out, const int* kind, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = i;
    for (int t = 0; t < kind[i]; ++t) x = x * 0.5f + t;
    out[i] = x;
}
extern "C" __global__ void ways(float* out, const int* kind, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = i;
    for (int t = 0; t < 64; ++t) {
        switch (kind[i] % 8) {
        case 0: x = x * 0.5f + t; break;
        case 1: x = x - t * 3.0f; break;
        case 2: x = x * x + 1.0f; break;
        case 3: x = x / (t + 1.5f); break;
        case 4: x = fabsf(x) + 2.0f; break;
        case 5: x = fminf(x, 7.0f * t); break;
        case 6: x = -x * 1.25f + 0.5f; break;
        default: x = x + 1.0f;
        }
    }
    out[i] = x;
}
"""


Kinds: TypeAlias = "NDArray[np.int32]"


def divergent(most: int) -> dict[str, Kinds]:
    """Return a kind of work for each lane: drawn per lane, or once for all lanes of a warp."""
    rng = np.random.default_rng(1)
    per_warp = np.repeat(rng.integers(1, most, LANES // WARP), WARP)
    return {
        "per lane": rng.integers(1, most, LANES).astype(np.int32),
        "per warp": per_warp.astype(np.int32),
    }


def measure(kernel: Benchmark, launches: list[Kinds]) -> tuple[float, float]:
    """Nanoseconds per lane-instruction of the plain build, over some launches: plain, and with detection."""
    launch = Launch((LANES // BLOCK, 1, 1), (BLOCK, 1, 1))
    seconds, instructions = [0.0, 0.0], 0
    for kind in launches:
        arguments = (
            Argument("out", "out", np.zeros(LANES, np.float32)),
            Argument("kind", "in", kind),
            Argument("n", "value", np.int32(LANES)),
        )
        for way, detect in enumerate((False, True)):
            best = kernel.measure(launch, arguments, detect=detect, repeats=REPEATS)
            seconds[way] += best.seconds
            instructions += best.run.counters.instructions  # only the plain run counts them
    return seconds[0] / instructions * 1e9, seconds[1] / instructions * 1e9


def main() -> None:
    """Print a row per kernel and kind of divergence; uniform are launches in which all lanes do the same."""
    row = "{:>8}{:>10}{:>16}{:>10}{:>16}{:>10}\n"
    sys.stdout.write(row.format("kernel", "lanes", "plain ns/ins", "ratio", "detect ns/ins", "ratio"))
    for name, same, most in (("trips", (32,), 64), ("ways", range(1, 9), 9)):
        kernel = compiled(SOURCE, name)
        uniform = measure(kernel, [np.full(LANES, kind, np.int32) for kind in same])
        times = {"uniform": uniform} | {way: measure(kernel, [kind]) for way, kind in divergent(most).items()}
        for way, pair in times.items():
            pairs = zip(pair, uniform, strict=True)
            shown = [text for now, base in pairs for text in (f"{now:.2f}", f"{now / base:.1f}")]
            sys.stdout.write(row.format(name, way, *shown))


if __name__ == "__main__":
    main()
