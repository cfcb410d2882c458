"""Overhead of `grade --cluster local` over processes: a class of 20 both ways, in turn, nothing cached."""

from __future__ import annotations

import ctypes
import statistics
import sys
import tempfile
from pathlib import Path

from grader.toolchain.sandbox import bubblewrap
from tests.bench.class_speed import GRADER, PR_SET_CHILD_SUBREAPER, Cost, cost
from tests.bench.many import make_class

STUDENTS = 20
JOBS = 2
PAIRS = 5


def main() -> None:
    """Print a line for each pair, and the median of the ratios."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    sandbox = ("local", "--i-trust-these-files") if bubblewrap.trouble() else ("bubblewrap",)
    ratios: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_class(folder / "class", STUDENTS)

        def graded(run: str, *options: str) -> Cost:
            given = ("tiled-matmul", str(folder / "class"), "-o", str(folder / run), "-j", str(JOBS))
            command = (*GRADER, "grade", *given, "--seed", "1", "--sandbox", *sandbox, *options)
            return cost(command, folder / f"cache-{run}")

        for pair in range(pairs):
            first = pair % 2
            runs = {}
            for clustered in (first, 1 - first):
                options = ("--cluster", "local") if clustered else ()
                runs[clustered] = graded(f"{pair}-{clustered}", *options)
            processes, cluster = runs[0], runs[1]
            ratios.append((cluster.wall / processes.wall, cluster.cpu / processes.cpu))
            sys.stdout.write(
                f"processes {processes.wall:6.2f} s wall {processes.cpu:6.2f} s CPU, "
                f"cluster {cluster.wall:6.2f} s wall {cluster.cpu:6.2f} s CPU: "
                f"{ratios[-1][0]:.3f}, {ratios[-1][1]:.3f}\n"
            )
            sys.stdout.flush()
    wall, cpu = (statistics.median(column) for column in zip(*ratios, strict=True))
    sys.stdout.write(f"median of {pairs} ratios, cluster to processes: {wall:.3f} wall, {cpu:.3f} CPU\n")


if __name__ == "__main__":
    main()
