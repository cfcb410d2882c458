"""The gradebook: a spreadsheet reads it, and is not made to act by it."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.reports import class_table
from tests.reports.sample_grades import full_marks, hostile, our_error, partial_credit

if TYPE_CHECKING:
    from grader.model import Grade


def _rows(*grades: Grade) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(class_table.gradebook(grades))))


@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\x1b[m=1", "＝1", "|calc"]
)
def test_no_cell_is_a_formula(name: str) -> None:
    """A name that a spreadsheet would evaluate has an apostrophe in front."""
    grade = replace(full_marks(), submission_id=name, submission_file=name, error=name)
    row = _rows(grade)[0]
    assert {row["submission"][0], row["file"][0], row["error"][0]} == {"'"}


@pytest.mark.parametrize("name", ['quote"d', "comma, name", "Jürgen ✓", "semi;colon"])
def test_names_survive_the_quoting(name: str) -> None:
    """A harmless name is kept as it is."""
    assert _rows(replace(full_marks(), submission_id=name))[0]["submission"] == name


def test_a_row_is_a_line_even_where_names_have_line_feeds() -> None:
    """Programs that read by lines count submissions."""
    broken = replace(full_marks(), submission_id="a\nb\r\nc", error="x\ny")
    assert class_table.gradebook([broken, hostile()]).count("\n") == 3


def test_what_was_not_judged_is_empty_and_not_zero() -> None:
    """A skipped item and an error of ours leave their cells empty."""
    skipped, ours = _rows(full_marks(), our_error())
    assert (skipped["speedup"], skipped["score"], skipped["skipped_points"]) == ("", "75", "10")
    assert (ours["barriers"], ours["score"], ours["verdict"]) == ("", "", "error")


def test_grades_of_different_rubrics_share_one_table() -> None:
    """A column per item that any grade has; where a grade lacks it the cell is empty."""
    shorter = replace(partial_credit(), items=partial_credit().items[2:3])
    first, second = _rows(shorter, full_marks())
    assert (first["edges"], first["compiles"]) == ("8.33", "")
    assert second["compiles"] == "10"


def test_an_item_named_like_a_column_keeps_its_own() -> None:
    """An item with the id ``score`` does not hide the score."""
    item = full_marks().items[0]
    rubric = replace(item.result.item, id="score")
    grade = replace(full_marks(), items=(replace(item, result=replace(item.result, item=rubric)),))
    row = _rows(grade)[0]
    assert (row["score"], row["score (item)"]) == ("75", "10")


def test_an_empty_class_has_a_heading() -> None:
    """No grades, no rows, and still a table."""
    assert class_table.gradebook([]) == "submission,file,score,max_score,skipped_points,verdict,error\n"
