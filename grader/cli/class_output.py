"""What is printed of a graded class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.cli import setup
from grader.reports import class_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grader.model import Grade


def print_class(grades: Sequence[Grade], *, resumed: int, out: Path, width: int | None = None) -> None:
    """Print the table of the class and where its reports are."""
    console = setup.console(width=width)
    console.print(
        class_table.render_class(grades, width=console.width, ascii_only=setup.ascii_only()), end=""
    )
    if resumed:
        console.print(f"{resumed} of {len(grades)} were graded before and are unchanged.")
    if grades:
        seed = grades[0].seed
        console.print(f"seed {seed}: with --seed {seed} another folder is graded on the same cases")
    console.print(f"\nper submission  {out}/grades/<submission>/junit.xml, results.json, report.html;")
    console.print("                record.json and grade.json name hidden cases: for staff only")
    console.print(f"for the class   {out}/gradebook.csv, junit.xml, index.html: for staff only")
