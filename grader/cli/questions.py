"""`grader questions`: a student's sheet, with the very numbers that the answers are graded by."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.base.text import count
from grader.classroom.course.roster import key_of, read_roster
from grader.cli import setup
from grader.grading.submission.items import ids, safe
from grader.kinds.answers.sheets import model_answers, sheet_as_json, sheet_as_text, sheet_template
from grader.model.messages import sentences_of, speaking

if TYPE_CHECKING:
    import argparse

    from grader.model import Assignment


def run(options: argparse.Namespace) -> int:
    """Print the questions with this student's numbers, and the file to be filled in; 0, 2 for a wrong use."""
    assignment = setup.assignment(options)
    if not assignment.interface.asks_questions:
        raise UsageError(f"the assignment {assignment.id} asks no questions; expected one of kind `answers`")
    seed = setup.seed(options, assignment)
    seed = assignment.answers.seed if seed is None else seed
    if options.roster is not None:
        return _for_everybody(options, assignment, seed)
    student = safe((options.student or "").strip())
    if not (options.student or "").strip():
        raise UsageError("expected --student ID, or --roster FILE with -o FOLDER for everybody's sheet")
    sys.stdout.write(_sheet(options, assignment, student, seed))
    return 0


def _for_everybody(options: argparse.Namespace, assignment: Assignment, seed: int) -> int:
    """A sheet for each student of the roster, in a file called as the roster calls them."""
    if options.out is None or options.student is not None:
        raise UsageError("--roster writes everybody's sheet: expected -o FOLDER with it, and no --student")
    setup.require_folder(options.out)
    roster = read_roster(options.roster)
    names = ids({str(number): key_of(student) for number, student in enumerate(roster.students)})
    kind = "json" if options.json else "yaml" if options.template or options.answers else "txt"
    for number, student in enumerate(roster.students):
        setup.write_into(
            options.out / f"{names[str(number)]}.{kind}", _sheet(options, assignment, key_of(student), seed)
        )
    setup.console().print(
        f"{count(len(roster.students), 'sheet')} in {options.out}; grade with the same --roster",
        soft_wrap=True,
    )
    return 0


def _sheet(options: argparse.Namespace, assignment: Assignment, student: str, seed: int) -> str:
    """Sheet of a student, in the words of the course."""
    with speaking(sentences_of(assignment.feedback)):
        if options.json:
            return json.dumps(sheet_as_json(assignment, student, seed), indent=2, ensure_ascii=False) + "\n"
        if options.answers:
            return model_answers(assignment, student, seed)
        if options.template:
            return sheet_template(assignment, student)
        return sheet_as_text(assignment, student, seed)
