"""How fast the emulator runs the model solution: plain, and with hazard detection, side by side."""

from __future__ import annotations

import sys
import time

import numpy as np

from grader.build import build, find_toolchain
from grader.build.launch import plan_launch
from grader.emulator.backend import Emulated
from grader.emulator.launch import run
from grader.model import Argument, Finding, Launch, Submission
from grader.ptx import parse
from grader.sandbox import LocalSandbox
from grader.spec import find_assignment, load_assignment, reference_folder

SHAPES = ((55, 48, 43), (142, 110, 146), (256, 256, 256))


def arguments(m: int, k: int, n: int) -> tuple[Argument, ...]:
    """Random matrices of a product m·k · k·n."""
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(extents).astype(np.float32) for extents in ((m, k), (k, n)))
    arrays = (
        Argument("A", "in", a),
        Argument("B", "in", b),
        Argument("C", "out", np.full((m, n), np.nan, "f4")),
    )
    return (
        *arrays,
        *(Argument(name, "value", np.int32(value)) for name, value in zip("MKN", (m, k, n), strict=True)),
    )


def main() -> None:
    """Print a row per shape."""
    assignment = load_assignment(find_assignment("tiled-matmul"))
    source = (reference_folder(assignment) / "solution.cu").read_bytes()
    submission = Submission("solution", "solution.cu", source, "")
    built = build(
        submission, assignment.interface, sandbox=LocalSandbox(), toolchain=find_toolchain(), cache=None
    )
    plain, hazard = parse(built.ptx), parse(built.hazard_ptx)
    row = "{:>13}{:>14}{:>12}{:>14}{:>12}{:>14}\n"
    sys.stdout.write(
        row.format("shape", "instructions", "plain s", "M lane-ins/s", "detect s", "detect/plain")
    )
    for m, k, n in SHAPES:
        launch = plan_launch(assignment.interface, built, {"M": m, "K": k, "N": n})
        if isinstance(launch, Finding):
            raise SystemExit(launch.message)
        result = Emulated(built, "", "").launch(launch, arguments(m, k, n), count_only=True)
        times = [
            best(module, built.entry, launch, (m, k, n), detect=detect)
            for module, detect in ((plain, False), (hazard, True))
        ]
        rate = result.counters.instructions / times[0] / 1e6
        shown = (f"{times[0]:.3f}", f"{rate:.0f}", f"{times[1]:.3f}", f"{times[1] / times[0]:.2f}")
        sys.stdout.write(row.format(f"{m}·{k}·{n}", f"{result.counters.instructions:,}", *shown))


def best(module: object, entry: str, launch: Launch, shape: tuple[int, int, int], *, detect: bool) -> float:
    """The shortest of three runs, in seconds."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        run(module, entry, launch, arguments(*shape), detect=detect)  # type: ignore[arg-type]
        times.append(time.perf_counter() - began)
    return min(times)


if __name__ == "__main__":
    main()
