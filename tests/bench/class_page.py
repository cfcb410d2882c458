"""The page of a class of 2,000 in Chromium: its size, and how long it takes to be written and opened."""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.model import Cause, Grade, HandIn, Student
from grader.reports import class_page
from tests.browser import page_value
from tests.reports.sample_grades import SOURCE, sample_class

STUDENTS = 2000
MISTAKES = 60
"""Different causes, of which each has as many students as the others."""
RUNS = 5

OPENED = """const [entry] = performance.getEntriesByType("navigation");
document.body.getBoundingClientRect();
return { usable: entry.domContentLoadedEventEnd, loaded: performance.now(),
  elements: document.getElementsByTagName("*").length };"""
"""Milliseconds from the start of the navigation until the script has run, and until all is laid out."""


def grades() -> list[Grade]:
    """A class with names and sections, in which everything happens."""
    kinds = sample_class()
    return [_student(kinds[number % len(kinds)], number) for number in range(STUDENTS)]


def _student(kind: Grade, number: int) -> Grade:
    name = f"student{number:04}"
    person = Student(
        name=f"Ada Maria Lovelace {number}", email=f"{name}@example.edu", section=f"S{number % 8}"
    )
    cause = Cause(f"mistake-{number % MISTAKES}", "nothing orders two accesses to `A_tile`", "add a barrier")
    loses = kind.score < kind.max_score
    return replace(
        kind, submission_id=name, hand_in=HandIn(name, students=(person,)), cause=cause if loses else None
    )


def opened(page: str, folder: Path) -> list[dict[str, Any]]:
    """Return the measurements that the page takes of itself, from several openings."""
    return [page_value(page, OPENED, folder) for _ in range(RUNS)]


def main() -> None:
    """Print the figures."""
    whole = grades()
    began = time.perf_counter()
    page = class_page.render(whole, source_of=lambda _: SOURCE)
    written = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        runs = opened(page, Path(folder))
    best = {key: min(run[key] for run in runs) for key in runs[0]}
    sys.stdout.write(
        f"{STUDENTS} submissions: written in {written:.2f} s, {len(page.encode()) / 1e6:.2f} MB; "
        f"usable after {best['usable'] / 1000:.2f} s, loaded after {best['loaded'] / 1000:.2f} s, "
        f"{best['elements']} elements then; median loaded "
        f"{sorted(run['loaded'] for run in runs)[RUNS // 2] / 1000:.2f} s\n"
    )


if __name__ == "__main__":
    main()
