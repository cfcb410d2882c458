"""What `grader check` and `grader grade` on 40 different submissions take, beside one default build by nvcc.

Processor time is that of all processes that a command starts, the fork server and what a sandbox leaves
behind among them: they become our children when their parents end (prctl(2), PR_SET_CHILD_SUBREAPER). What
runs in containers is not among them, so that the class is graded in bubblewraps, or else without a sandbox.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from grader.nvcc import find_toolchain
from grader.sandbox import bubblewrap

ROOT = Path(__file__).resolve().parents[2]
GRADER = (sys.executable, "-m", "grader")
STUDENTS = 40
ATTEMPTS = 3
PR_SET_CHILD_SUBREAPER = 36


class Cost(NamedTuple):
    """Seconds of wall time and of processor time."""

    wall: float
    cpu: float


def cost(command: tuple[str, ...], cache: Path, folder: Path = ROOT) -> Cost:
    """What a command takes with this cache folder; its output goes nowhere."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    subprocess.run(
        command,
        cwd=folder,
        env=environment,
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wall = time.perf_counter() - began
    while _reaped():
        pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _reaped() -> bool:
    """Wait for one of the processes that a command left to us; false where there is none."""
    try:
        os.wait()
    except ChildProcessError:
        return False
    return True


def make_class(folder: Path) -> None:
    """40 different files: correct kernels and mistakes, each with a comment of its own."""
    sources = sorted((ROOT / "tests/kernels/correct").glob("*.cu")) + sorted(
        (ROOT / "reference/matmul/mistakes").glob("*.cu")
    )
    step = max(1, len(sources) // STUDENTS)
    for number, source in enumerate(sources[::step][:STUDENTS]):
        text = source.read_bytes()
        (folder / f"student{number:02}.cu").write_bytes(text + f"\n// student {number}\n".encode())


def new_file(folder: Path) -> Path:
    """The model solution as a file that nobody has compiled yet."""
    mine = folder / "mine.cu"
    solution = (ROOT / "reference/matmul/solution.cu").read_bytes()
    mine.write_bytes(solution + f"\n// {time.time_ns()}\n".encode())
    return mine


def main() -> None:
    """Print the table; each row but the classes is the cheapest of some runs."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    toolchain = find_toolchain()
    sandbox = ("local", "--i-trust-these-files") if bubblewrap.trouble() else ("bubblewrap",)
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        students, cache = temporary / "class", temporary / "cache"
        students.mkdir()
        make_class(students)

        def best(*command: str) -> Cost:
            runs = [cost((*command, str(new_file(temporary))), cache, temporary) for _ in range(ATTEMPTS)]
            return min(runs, key=lambda run: run.cpu)

        check = (*GRADER, "check", str(ROOT / "assignments/tiled-matmul"))
        grade = (*GRADER, "grade", "tiled-matmul", str(students), "-o", str(temporary / "out"))
        nvcc = best(str(toolchain.nvcc), "-ccbin", toolchain.host_compiler, "-ptx", "-arch=compute_80")
        rows = [
            ("nvcc, one default build", nvcc),
            ("check, first file of all", cost((*check, str(new_file(temporary))), cache)),
            ("check, new file", best(*check)),
            ("check, unchanged file", cost((*check, str(temporary / "mine.cu")), cache)),
            (f"grade, {STUDENTS} new files: each", _each(cost((*grade, "--sandbox", *sandbox), cache))),
            ("grade again: each", _each(cost((*grade, "--sandbox", *sandbox), cache))),
        ]
    for label, row in rows:
        sys.stdout.write(
            f"{label:<32}{row.wall:7.2f} s wall {row.cpu:7.2f} s CPU {row.cpu / nvcc.cpu:7.2f} of nvcc's\n"
        )


def _each(total: Cost) -> Cost:
    return Cost(total.wall / STUDENTS, total.cpu / STUDENTS)


if __name__ == "__main__":
    main()
