"""Time `grader check` and `grader grade` on 40 different submissions, beside nvcc at one of them.

    python -m tests.bench.class_speed [--kind kernel|program|function] [--stages]

The submissions are correct ones and mistakes of a bundled assignment, each with a comment of its own, so that
none is in the cache. nvcc makes PTX of a kernel (`-ptx`), and an object file of a program or a function
(`-c`). With ``--stages`` some of them are graded in this process instead, and the processor time of each
stage is printed, less that of stages within it.

Processor time is that of all processes that a command starts, the fork server and what a sandbox leaves
behind among them: they become our children when their parents end (prctl(2), PR_SET_CHILD_SUBREAPER). What
runs in containers is not among them, so that the class is graded in bubblewraps, or else without a sandbox.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import importlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.grading.assignment import find_assignment, load_assignment
from grader.kinds import pipeline
from grader.model import Submission
from grader.toolchain import sandbox_choice
from grader.toolchain.nvcc import find_toolchain
from grader.toolchain.sandbox import Job, LocalSandbox, Stage, bubblewrap
from grader.toolchain.sandbox.bubblewrap import BubblewrapSandbox
from tests.mistakes import mistake_files

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
GRADER = (sys.executable, "-m", "grader")
STUDENTS = 40
STEP = 5
"""With ``--stages`` every fifth of them is graded."""

ATTEMPTS = 3
PR_SET_CHILD_SUBREAPER = 36


class Cost(NamedTuple):
    """Seconds of wall time and of processor time."""

    wall: float
    cpu: float


def cost(command: tuple[str, ...], cache: Path, folder: Path = ROOT) -> Cost:
    """Return the wall and processor time of a command with this cache folder; its output is discarded."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed grader has its bytecode
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


class Subject(NamedTuple):
    """A bundled assignment, what its submissions are made from, and nvcc's options for one of them."""

    assignment: str
    solution: str
    correct: str
    mistakes: str
    nvcc: tuple[str, ...]

    def make_class(self, folder: Path) -> None:
        """40 different files: correct ones and mistakes, each with a comment of its own."""
        sources = sorted(ROOT.glob(self.correct)) + mistake_files(ROOT / self.mistakes)
        step = max(1, len(sources) // STUDENTS)
        for number, source in enumerate((sources * STUDENTS)[: STUDENTS * step : step]):
            text = source.read_bytes()
            (folder / f"student{number:02}.cu").write_bytes(text + f"\n// student {number}\n".encode())

    def new_file(self, folder: Path) -> Path:
        """The model solution as a file that has not been compiled yet."""
        mine = folder / "mine.cu"
        solution = (ROOT / self.solution).read_bytes()
        mine.write_bytes(solution + f"\n// {time.time_ns()}\n".encode())
        return mine


_MATMUL = "reference/matmul"
SUBJECTS = {
    "kernel": Subject(
        "tiled-matmul",
        f"{_MATMUL}/solution.cu",
        "tests/kernels/correct/*.cu",
        f"{_MATMUL}/mistakes",
        ("-ptx", "-arch=compute_80"),
    ),
    "program": Subject(
        "matmul-program",
        f"{_MATMUL}/matmul-program/solution.cu",
        f"{_MATMUL}/matmul-program/solution.cu",
        f"{_MATMUL}/matmul-program/mistakes",
        ("-c", "-arch=sm_80", "-I", str(ROOT / "assignments/matmul-program")),
    ),
    "function": Subject(
        "matmul-function",
        f"{_MATMUL}/matmul-function/solution.cu",
        f"{_MATMUL}/matmul-function/solution.cu",
        f"{_MATMUL}/matmul-function/mistakes",
        ("-c", "-arch=sm_80", "-I", str(ROOT / "assignments/matmul-function")),
    ),
}


STAGES = {
    "grader.toolchain.nvcc.compiler:headers.pruned": "leaving headers out",
    "grader.toolchain.nvcc.stage:parse": "parsing PTX for the build",
    "grader.toolchain.nvcc:build": "the rest of the build",
    "grader.running.backends.emulated_kernel:parse": "parsing PTX for the emulator",
    "grader.simulation.emulator.linking.program:Program.link": "linking",
    "grader.running.backends.emulated_kernel:EmulatedKernel.launch": "emulator, all cases",
    "grader.running.backends.emulated_kernel:EmulatedKernel.advice": "emulator, advice",
    "grader.running.backends.emulated_kernel:EmulatedKernel.repaired": "emulator, repairs",
    "grader.kinds.kernel.stages:with_smallest": "emulator, smaller shapes",
    "grader.kinds.pipeline:with_trace": "emulator, trace",
    "grader.kinds.kernel.stages:arguments": "drawing inputs",
    "grader.kinds.comparing.outputs:expected_of": "oracle",
    "grader.kinds.kernel.stages:compared": "comparing outputs",
    "grader.kinds.pipeline:judge": "checks and score",
    "grader.kinds.pipeline:grade": "all else",
}
"""The functions that are timed, and their names."""


class Stopwatch:
    """Processor seconds by stage, those of ended children among them."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._within: list[float] = []

    def timed(self, function: Callable[..., Any], label: Callable[..., str]) -> Callable[..., Any]:
        """The function, its seconds counted for the label that ``label`` gives its arguments."""

        @functools.wraps(function)
        def counted(*arguments: object, **options: object) -> object:
            began = _used()
            self._within.append(0.0)
            try:
                return function(*arguments, **options)
            finally:
                taken = _used() - began
                name = label(*arguments)
                self.seconds[name] = self.seconds.get(name, 0.0) + taken - self._within.pop()
                if self._within:
                    self._within[-1] += taken

        return counted

    def watch(self, path: str, label: Callable[..., str]) -> None:
        """Count the function at a path like ``package.module:Class.method``."""
        module, _, names = path.partition(":")
        *holders, name = names.split(".")
        holder = functools.reduce(getattr, holders, importlib.import_module(module))
        setattr(holder, name, self.timed(getattr(holder, name), label))


def _used() -> float:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _kind_of_job(_: object, job: Job) -> str:
    if "-E" in job.argv:
        return "preprocessing"
    return "ptxas" if job.argv[0].endswith("ptxas") else "compiling, both builds"


def stages(subject: Subject) -> None:
    """Print the processor time by stage of a submission, the mean of some."""
    stopwatch = Stopwatch()
    stopwatch.watch("grader.toolchain.sandbox.local:LocalSandbox.run", _kind_of_job)
    for path, name in STAGES.items():
        stopwatch.watch(path, lambda *_, name=name: name)
    assignment = load_assignment(find_assignment(subject.assignment))
    with tempfile.TemporaryDirectory() as folder:
        subject.make_class(Path(folder))
        tools = sandbox_choice.tools("local", None, "80", Path(folder) / "cache", strangers=False, gpu=False)
        plan = pipeline.make_plan(assignment, 1, tools, visible_only=False)
        sources = [path.read_bytes() for path in sorted(Path(folder).glob("*.cu"))[::STEP]]
        for number, source in enumerate((sources[0] + b"// once more", *sources)):
            if number == 1:  # what came before made what is kept for all
                stopwatch.seconds.clear()
            pipeline.grade(plan, Submission("student", "student.cu", source, ""), tools)
    if not bubblewrap.trouble():
        stopwatch.seconds["a bubblewrap for three jobs"] = len(sources) * _bubblewrap()
    for name, seconds in sorted(stopwatch.seconds.items(), key=lambda pair: -pair[1]):
        sys.stdout.write(f"{name:<32}{1000 * seconds / len(sources):8.1f} ms CPU\n")
    total = sum(stopwatch.seconds.values())
    sys.stdout.write(f"{'all, each':<32}{1000 * total / len(sources):8.1f} ms CPU\n")


def _bubblewrap() -> float:
    """Return the extra time of a stage of three jobs in a bubblewrap; the least of several runs."""

    def least(sandbox: BubblewrapSandbox | LocalSandbox) -> float:
        costs = []
        for _ in range(ATTEMPTS):
            began = _used()
            with sandbox.stage(Stage()) as inside:
                for _ in range(3):
                    inside.run(Job(("true",)))
            while _reaped():
                pass
            costs.append(_used() - began)
        return min(costs)

    return least(BubblewrapSandbox()) - least(LocalSandbox())


def main() -> None:
    """Print the table; each row but the classes is the cheapest of some runs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("--kind", choices=SUBJECTS, default="kernel")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    options = parser.parse_args()
    subject = SUBJECTS[options.kind]
    if options.stages:
        stages(subject)
        return
    toolchain = find_toolchain()
    sandbox = ("local", "--i-trust-these-files") if bubblewrap.trouble() else ("bubblewrap",)
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        students, cache = temporary / "class", temporary / "cache"
        students.mkdir()
        subject.make_class(students)

        def best(*command: str) -> Cost:
            runs = [
                cost((*command, str(subject.new_file(temporary))), cache, temporary) for _ in range(ATTEMPTS)
            ]
            return min(runs, key=lambda run: run.cpu)

        check = (*GRADER, "check", str(ROOT / "assignments" / subject.assignment))
        grade = (*GRADER, "grade", subject.assignment, str(students), "-o", str(temporary / "out"))
        nvcc = best(str(toolchain.nvcc), "-ccbin", toolchain.host_compiler, *subject.nvcc)
        rows = [
            (f"nvcc {subject.nvcc[0]}", nvcc),
            ("check, first file of all", cost((*check, str(subject.new_file(temporary))), cache)),
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
