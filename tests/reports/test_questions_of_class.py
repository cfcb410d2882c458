"""A class's table names grades that are questions to staff."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.reports.class_table import render_class
from tests.reports.sample_grades import missing_barrier, our_error

if TYPE_CHECKING:
    from grader.model import Grade


def question() -> Grade:
    """A grade with an item that is not judged because of what the program asks for."""
    grade = our_error()
    items = tuple(
        replace(item, result=replace(item.result, is_question=item.result.verdict.value == "error"))
        for item in grade.items
    )
    return replace(grade, submission_id="quentin", items=items, error="not supported here: `cuInit`")


def test_a_question_is_no_error_of_ours_in_the_table() -> None:
    """Staff look at the submission, and not at the grader."""
    shown = render_class([question(), our_error(), missing_barrier()], width=140).plain
    assert "a question to you: not supported here: `cuInit`" in shown
    assert "1 not graded, through no fault of theirs, 1 not graded yet, a question to you" in shown
