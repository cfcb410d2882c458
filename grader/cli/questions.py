"""`grader questions`: a student's sheet, with the very numbers that the answers are graded by."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from grader.answers import sheet
from grader.cli import setup
from grader.errors import UsageError
from grader.submission.names import safe

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    """Print the questions with this student's numbers, and the file to be filled in; 0, 2 for a wrong use."""
    assignment = setup.assignment(options)
    if not setup.asks_questions(assignment):
        raise UsageError(f"the assignment {assignment.id} asks no questions; expected one of kind `answers`")
    if not options.student.strip():
        raise UsageError("--student: expected the id of a submission, found nothing")
    student = safe(options.student.strip())
    seed = setup.seed(options, assignment)
    seed = assignment.answers.seed if seed is None else seed
    if options.json:
        text = json.dumps(sheet.as_json(assignment, student, seed), indent=2, ensure_ascii=False) + "\n"
    elif options.answers:
        text = sheet.model_answers(assignment, student, seed)
    elif options.template:
        text = sheet.template(assignment, student)
    else:
        text = sheet.as_text(assignment, student, seed)
    sys.stdout.write(text)
    return 0
