"""`grader gradebook`: scores into the staff's own export of a platform, one column of it and nothing else."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from grader.base.errors import StorageError, UsageError
from grader.base.text import count, escaped, listed
from grader.classroom.batch import OutFolder
from grader.classroom.batch.identities import load_identified
from grader.classroom.batch.reading import must_be_of_one_version
from grader.classroom.course.gradebooks import Score, fill
from grader.classroom.course.tables import MAX_BYTES
from grader.cli import setup, stored
from grader.model import Verdict
from grader.reports import class_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from grader.classroom.course.gradebooks import Filled
    from grader.model import Grade

_MOST_NAMES = 12


def run(options: argparse.Namespace) -> int:
    """Fill the column and say who is in one and not in the other; 2 where it is in doubt whose a row is."""
    out = OutFolder(options.out)
    with out.unchanging():
        stored.require_staff_course_file(out)
        stored.must_be_whole(out, options)
        grades, _ = load_identified(out)
    must_be_of_one_version(out, grades)
    title = grades[0].assignment_title if grades else ""
    scores = [score for grade in grades for score in _scores(grade)]
    try:
        filled = fill(_content(options.into), scores, title, options.column, scale=options.scale)
    except UsageError as problem:
        raise UsageError(f"{escaped(str(options.into))}: {problem}") from None
    target = options.output or options.into
    _replace(target, filled.content)
    _say(filled, grades, target)
    return setup.ASKS if filled.doubtful else 0


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: it may be the only copy of the staff's export."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as problem:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise StorageError(f"{path}: cannot be written: {problem.strerror}") from None


def _scores(grade: Grade) -> list[Score]:
    """Scores for the gradebook: none where we failed, or where nothing was judged."""
    if grade.verdict is Verdict.ERROR or (grade.skipped_points and not grade.max_score):
        return []
    hand_in = grade.hand_in
    names = (grade.submission_id, *((hand_in.name,) if hand_in else ()))
    students = hand_in.students if hand_in else ()
    score, most = grade.score, grade.max_score
    return [Score(grade.submission_id, students, names, score, grade.excused, most, _not_judged([grade]))]


def _not_judged(grades: Sequence[Grade]) -> str:
    """Points of items that were not judged: ``10 points of `speedup```; empty where all were."""
    points = {
        item.result.item.id: item.max_points
        for grade in grades
        for item in grade.items
        if item.result.item.counts and item.result.verdict in (Verdict.SKIP, Verdict.ERROR)
    }
    return listed([f"{float(most):g} points of `{escaped(item, 40)}`" for item, most in points.items()])


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or "not a usable path"
        raise UsageError(f"cannot be read: {why.lower()}") from None


def _say(filled: Filled, grades: Sequence[Grade], target: Path) -> None:
    screen = setup.console()
    screen.print(
        f"{target} ({filled.platform}), column `{escaped(filled.column, 80)}`: "
        f"{count(len(filled.changed), 'cell')} changed",
        soft_wrap=True,
    )
    in_error = [grade for grade in grades if grade.verdict is Verdict.ERROR]
    errors, questions = (
        tuple(grade.submission_id for grade in in_error if grade.is_question == is_question)
        for is_question in (False, True)
    )
    unjudged = tuple(grade.submission_id for grade in grades if grade.skipped_points)
    for names, reason in (
        (filled.doubtful, "in doubt, nothing written"),
        (filled.without_row, "graded, with no row"),
        (filled.without_score, "a row, with no grade"),
        (errors, "not graded, through no fault of theirs"),
        (questions, "not graded yet, a question to you"),
        (unjudged, f"with {_not_judged(grades)} not judged here, which the score leaves out"),
    ):
        if names:
            shown = [f"`{escaped(name, 60)}`" for name in names[:_MOST_NAMES]]
            rest = len(names) - _MOST_NAMES
            who = listed([*shown, f"{rest} more"] if rest > 0 else shown)
            screen.print(f"  {len(names)} {reason}: {who}", soft_wrap=True)
    for sentence in class_table.handed_in_anew(grades):
        screen.print(f"  {sentence}", soft_wrap=True)
