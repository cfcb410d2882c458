"""The cost of a sandbox: an empty job, a stage with four jobs, a build, and a class, next to no sandbox.

    python -m tests.bench.sandbox_cost [--class] [--gpu]

Wall time, the median of some runs. With ``--class`` twelve distinct submissions are graded, eight at a time
on a machine with as many processors; with ``--gpu`` on a GPU, and the stage has the GPU in it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from grader.base.errors import GraderError
from grader.cli import setup
from grader.grading.assignment import find_assignment, load_assignment
from grader.model import Submission
from grader.toolchain import sandbox_choice
from grader.toolchain.nvcc import build
from grader.toolchain.sandbox import Job, Stage
from tests.mistakes import mistake_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.toolchain.nvcc import Tools

ROOT = Path(__file__).resolve().parents[2]
SOLUTION = ROOT / "reference/matmul/solution.cu"
MISTAKES = mistake_files(ROOT / "reference/matmul/mistakes")
CHOICES = ("local", "bubblewrap", "docker")
RUNS, STUDENTS = 7, 12


def median(action: Callable[[], object]) -> float:
    """Median wall time in seconds, after a run that does not count."""
    action()
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def rows(tools: Tools, gpu: str) -> Iterator[tuple[str, float]]:
    """The figures of one sandbox."""
    python = tools.sandbox.equipment.python or sys.executable
    empty = Job((python, "-I", "-S", "-c", ""), gpu=gpu)

    def stage(jobs: int) -> None:
        with tools.sandbox.stage(Stage(gpu=gpu)) as inside:
            for _ in range(jobs):
                inside.run(empty)

    yield "stage with one empty job", median(lambda: stage(1))
    yield "stage with four", median(lambda: stage(4))
    assignment = load_assignment(find_assignment("tiled-matmul"))
    submission = Submission("ada", "ada.cu", SOLUTION.read_bytes(), "")
    yield (
        "build of the solution",
        median(
            lambda: build(
                submission,
                assignment.kernel,
                sandbox=tools.sandbox,
                toolchain=tools.toolchain,
                cache=None,
            )
        ),
    )


def graded(choice: str, *, gpu: bool) -> float:
    """Seconds that each submission of a class takes, all of them at once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "class"
        folder.mkdir()
        for number, mistake in enumerate(MISTAKES[:STUDENTS]):
            shutil.copy(mistake, folder / f"s{number}.cu")
        command = [sys.executable, "-m", "grader", "grade", "tiled-matmul", str(folder), "-o", f"{name}/out"]
        options = [
            "--sandbox",
            choice,
            "--backend",
            "gpu" if gpu else "emulator",
            "--no-cache",
            "--seed",
            "1",
        ]
        began = time.perf_counter()
        jobs = str(min(8, os.cpu_count() or 1))
        environment = os.environ | {"GRADER_TRUST": "1"}
        subprocess.run(
            [*command, *options, "-j", jobs],
            cwd=ROOT,
            check=False,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        return (time.perf_counter() - began) / STUDENTS


def main() -> None:
    """Print a table with a column for each sandbox that works here."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--class", dest="whole", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    asked = parser.parse_args()
    options = argparse.Namespace(backend="gpu" if asked.gpu else "emulator")
    gpus = setup.gpus(options)
    table: dict[str, dict[str, float]] = {}
    for choice in CHOICES:
        with suppress(GraderError):
            tools = sandbox_choice.tools(choice, None, "80", None, strangers=True, gpu=asked.gpu)
            for what, seconds in rows(tools, gpus[0].uuid if gpus else ""):
                table.setdefault(what, {})[choice] = seconds
            if asked.whole:
                table.setdefault("each of a class", {})[choice] = graded(choice, gpu=asked.gpu)
    lines = [f"{'seconds':<26}" + "".join(f"{choice:>20}" for choice in CHOICES)]
    for what, by_choice in table.items():
        base = by_choice["local"]
        cells = (
            f"{seconds:>11.3f} ({seconds - base:+.3f})" if seconds is not None else f"{'–':>20}"
            for seconds in map(by_choice.get, CHOICES)
        )
        lines.append(f"{what:<26}" + "".join(cells))
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
