"""`grader questions`: a student's sheet, with the very numbers that the answers are graded by."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from grader.cli import arguments, setup
from grader.errors import UsageError
from grader.kinds.answers.sheets import model_answers, sheet_as_json, sheet_as_text, sheet_template
from grader.submission.files import safe

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after the command."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument(
        "--student",
        metavar="ID",
        required=True,
        help="whose numbers: the id of the submission, which is what its file or folder is called",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=None,
        help="decides what is drawn (default: the assignment's; grade with the same)",
    )
    parser.add_argument("--json", action="store_true", help="print the sheet as JSON")
    parser.add_argument("--template", action="store_true", help="print only the file to fill in")
    parser.add_argument(
        "--answers", action="store_true", help="print that file with the right answers, for staff"
    )
    parser.set_defaults(no_cache=False)


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
        text = json.dumps(sheet_as_json(assignment, student, seed), indent=2, ensure_ascii=False) + "\n"
    elif options.answers:
        text = model_answers(assignment, student, seed)
    elif options.template:
        text = sheet_template(assignment, student)
    else:
        text = sheet_as_text(assignment, student, seed)
    sys.stdout.write(text)
    return 0
