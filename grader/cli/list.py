"""`grader list`: the assignments that come with the grader, to be checked by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from grader.base.text import one_line
from grader.cli import setup
from grader.grading.assignment import bundled_ids, find_assignment, load_assignment
from grader.kinds import kind_of

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    """Print id, kind and title of each assignment; 0."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("assignment", "hand in", "title"):
        table.add_column(heading, overflow="fold")
    for name in bundled_ids():
        assignment = load_assignment(find_assignment(name), setup.assignment_cache(options))
        table.add_row(name, kind_of(assignment).name, Text(one_line(assignment.title)))
    setup.console().print(table)
    return 0
