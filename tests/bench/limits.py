"""The limits of a class of 100,000 on 200 nodes: each part measured alone on this machine, then combined.

The parts are Dask's scheduler, fed with tasks as large as ours (a source there, a grade back), the parent,
which writes the files of each submission, and the end of a class, from a folder OUT that has been graded. How
long a submission takes on a node is given: `class_speed` measures it.
"""

from __future__ import annotations

import argparse
import itertools
import pickle
import queue
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from distributed import Client, Future, LocalCluster

from grader.classroom.batch import OutFolder
from grader.classroom.batch.executor import Graded
from grader.classroom.batch.folder import load_grade
from grader.classroom.batch.reading import load_class
from grader.classroom.batch.resume import store
from grader.model import Submission
from grader.reports import files
from tests.bench.many import class_costs

if TYPE_CHECKING:
    from grader.model import Grade

NODES = (1, 4, 25, 200)
CLASS = 100_000
_SHOWN = 200
"""Submissions of OUT that are measured, at most."""


class Part(NamedTuple):
    """A part that limits a class: the number of submissions a second that it lets through."""

    name: str
    rate: float


def echo(source: bytes, size: int) -> tuple[bytes, int]:
    """A task that does nothing but take a source and give as many bytes as a grade has."""
    return bytes(size), len(source)


def dask_rate(tasks: int, size: int, ahead: int) -> float:
    """Tasks a second through a scheduler and one worker of its own process, ``ahead`` of them under way."""
    done: queue.Queue[Future] = queue.Queue()
    with (
        LocalCluster(n_workers=1, threads_per_worker=8, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        among = list(client.scheduler_info()["workers"])
        waiting = iter(range(tasks))
        running: set[Future] = set()
        began = time.perf_counter()
        for count in itertools.count():
            for _ in itertools.islice(waiting, ahead - len(running)):
                future = client.submit(echo, bytes(4096), size, workers=among, pure=False)
                future.add_done_callback(done.put)
                running.add(future)
            if not running:
                return count / (time.perf_counter() - began)
            future = done.get()
            future.result()
            running.discard(future)
    raise AssertionError("the loop above returns")


def parent_rate(out: OutFolder, grades: list[Grade]) -> float:
    """Submissions a second whose files one parent writes, each vouched for in the journal."""
    session = out.graded_session()
    with tempfile.TemporaryDirectory(dir=out.path.parent) as folder:
        copy = OutFolder(Path(folder))
        copy.begin(session)
        graded = [Graded(grade, files=tuple(files.of_submission(grade).items())) for grade in grades]
        began = time.perf_counter()
        for one, grade in zip(graded, grades, strict=True):
            source = out.source(grade)
            store(copy, one, Submission(grade.submission_id, grade.submission_file, source, ""))
        return len(grades) / (time.perf_counter() - began)


def end(out: OutFolder, names: tuple[str, ...]) -> None:
    """Print what each submission adds to the end of a class."""
    began = time.perf_counter()
    grades = load_class(out, names)
    _say(f"  {'reading a grade, to go on':<28}{1000 * (time.perf_counter() - began) / len(grades):8.2f} ms")
    for name, seconds, size in class_costs(out, grades):
        each = seconds / len(grades)
        _say(
            f"  {name:<28}{1000 * each:8.2f} ms, {size / len(grades) / 1000:8.2f} kB; of {CLASS}: "
            f"{CLASS * each:.0f} s, {CLASS * size / len(grades) / 1e6:.0f} MB"
        )


def main() -> None:
    """Print the rates, and which of them bounds how many nodes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tasks", type=int, default=CLASS)
    parser.add_argument("--slots", type=int, default=8, help="submissions that a node grades at a time")
    parser.add_argument("--seconds", type=float, default=2.2, help="what a submission takes on a core")
    options = parser.parse_args()
    out = OutFolder(options.out)
    names = out.submissions()[:_SHOWN]
    grades = [load_grade(out, name) for name in names]
    size = sum(len(pickle.dumps(grade)) for grade in grades) // len(grades)
    _say(f"a grade travels as {size / 1000:.0f} kB")
    ahead = NODES[-1] * options.slots
    shared = [
        Part("Dask", dask_rate(options.tasks, size, ahead)),
        Part("the parent", parent_rate(out, grades)),
    ]
    for part in shared:
        _say(f"{part.name}: {part.rate:.1f} submissions a second")
    _say("the end of a class, each submission:")
    end(out, names)
    for nodes in NODES:
        rates = [Part("the nodes", nodes * options.slots / options.seconds), *shared]
        least = min(rates, key=lambda part: part.rate)
        _say(
            f"{nodes:>4} nodes: {least.rate:8.1f} a second, {CLASS / least.rate / 3600:6.1f} h for {CLASS}, "
            f"bounded by {least.name}"
        )


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
