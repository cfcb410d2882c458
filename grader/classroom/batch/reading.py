"""The stored grades of a class as its reports need them: read by several processes where there are many.

Each grade is read from its whole record, which is checked value by value: four milliseconds of a processor.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from grader.base import processors
from grader.base.errors import UsageError
from grader.classroom.batch.folder import load_without_evidence
from grader.classroom.batch.smaller_grades import Slimming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.classroom.batch.folder import OutFolder
    from grader.model import Grade

_WORTH_PROCESSES = 1000
"""Minimum number of grades for which the second in which processes start is worth it."""

_MOST_PROCESSES = 8
"""More of them read no faster than one process takes the grades from them."""

_SHARE = 50
"""Grades that a process reads before it hands them over: what they have alike travels once."""


def load_class(out: OutFolder, ids: Sequence[str]) -> list[Grade]:
    """The stored grades of a class, without evidence; raises as `load_grade` where one cannot be read."""
    grades = readable_grades(out, ids)
    return [grades[name] if name in grades else load_without_evidence(out, name) for name in ids]


def must_be_of_one_version(out: OutFolder, grades: Iterable[Grade]) -> None:
    """Raise UsageError where some grades are by another version of the assignment than others.

    A rescoring that was killed leaves them so; one table of both would compare what cannot be compared.
    """
    versions = Counter(grade.assignment_digest for grade in grades)
    if len(versions) > 1:
        fewer, number = min(versions.values()), versions.total()
        raise UsageError(
            f"{out.path}: {fewer} of {number} grades are by another version of the assignment than others,"
            " as when rescoring is stopped; run `grader rescore` or `grader grade` on it to its end"
        )


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Have Python look for no cycles: records are trees, and finding none takes up to a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_no_search_for_cycles()
def readable_grades(out: OutFolder, ids: Iterable[str], jobs: int | None = None) -> dict[str, Grade]:
    """The grades that can be read, as `load_class` gives them, by id and in this order.

    What a power cut damaged is left out, so that it is graded again. ``jobs`` processes may be used, by
    default as many as there are processors.
    """
    names = list(ids)
    jobs = min(jobs or processors.available(), _MOST_PROCESSES)
    shares = [names[first : first + _SHARE] for first in range(0, len(names), _SHARE)]
    slim, read = Slimming(), 0
    grades: dict[str, Grade] = {}
    if jobs > 1 and len(names) >= _WORTH_PROCESSES:
        with suppress(BrokenProcessPool, OSError):  # killed, or not to be had: what is left is read here
            for part in _by_processes(out, shares, jobs):
                grades |= {name: slim(grade) for name, grade in part}
                read += 1
    for share in shares[read:]:
        grades |= {name: slim(grade) for name, grade in _readable(out, share)}
    return grades


def _by_processes(
    out: OutFolder, shares: Sequence[list[str]], jobs: int
) -> Iterator[list[tuple[str, Grade]]]:
    """Results of `_slim_share` for each share, in their order."""
    context = multiprocessing.get_context("spawn")  # the fork server is that of the processes that grade
    pool = ProcessPoolExecutor(jobs, context, signal.signal, (signal.SIGINT, signal.SIG_IGN))
    try:
        yield from pool.map(partial(_slim_share, out), shares)
    finally:
        pool.shutdown(cancel_futures=True)


@_no_search_for_cycles()
def _slim_share(out: OutFolder, names: Sequence[str]) -> list[tuple[str, Grade]]:
    """The readable ones of a share, made small to travel."""
    slim = Slimming()
    return [(name, slim(grade)) for name, grade in _readable(out, names)]


def _readable(out: OutFolder, names: Sequence[str]) -> Iterator[tuple[str, Grade]]:
    for name in names:
        with suppress(UsageError):
            yield name, load_without_evidence(out, name)
