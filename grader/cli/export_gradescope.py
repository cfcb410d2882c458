"""`grader export-gradescope`: an autograder for Gradescope, which grades there without a GPU."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from grader.base.text import listed
from grader.classroom.gradescope.archive import archive
from grader.cli import setup
from grader.grading.assignment import draw_seed

if TYPE_CHECKING:
    import argparse

    from grader.model import Assignment

RESERVE_SECONDS = 60
"""Seconds left of the time that Gradescope allows when grading is ended: results have to be fetched, too."""

MOST_MINUTES = 24 * 60


def run(options: argparse.Namespace) -> int:
    """Write the zip, and say what to do with it."""
    assignment = setup.staff_assignment(options)
    seed = draw_seed() if options.seed is None else options.seed
    minutes = min(options.minutes, MOST_MINUTES)
    content = archive(assignment, seed, max(RESERVE_SECONDS / 2, 60 * minutes - RESERVE_SECONDS))
    setup.write_bytes(options.out, content)
    console = setup.console()
    console.print(f"{options.out}: {len(content) / 2**20:.1f} MiB, seed {seed}", soft_wrap=True)
    console.print(
        "It holds hidden cases and solutions: for staff only. In Gradescope, upload it under Configure "
        "Autograder, choose a base image of Ubuntu and a container with 1 CPU or more."
    )
    points, left_out = _points_without_gpu(assignment)
    why = f": {listed(left_out)} cannot be judged there" if left_out else ""
    console.print(f"Set `Autograder points` of the assignment to {float(points):g}{why}.", soft_wrap=True)
    return 0


def _points_without_gpu(assignment: Assignment) -> tuple[Fraction, list[str]]:
    """Maximum points without a GPU, and the items that are left out of them."""
    measured = [
        item
        for item in assignment.rubric
        if item.check == "speedup" and not dict(item.options).get("estimate")
    ]
    counted = [item.points for item in assignment.rubric if item.counts and item not in measured]
    left_out = [f"{float(item.points):g} points of `{item.id}`" for item in measured if item.counts]
    return sum(counted, Fraction(0)), left_out
