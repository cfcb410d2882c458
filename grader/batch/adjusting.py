"""What staff decided about grades, applied to a class: kept in ``OUT/``, so that no regrading forgets it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.batch.folder import load_grade
from grader.batch.resume import write
from grader.course.adjustments import (
    adjusted_class,
    must_be_certain,
    says_when,
    unknown_times,
    without_submission,
)
from grader.course.anonymous import identified
from grader.course.decisions import FILE_NAME, Adjustments, read_adjustments
from grader.errors import UsageError
from grader.text import escaped, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grader.batch.folder import OutFolder
    from grader.course.anonymous import Identities
    from grader.model import Assignment, Grade, HandIn


BESIDE = "adjustments-beside.yaml"
"""What stood beside the assignment the last time, for when it is no longer there."""


def adjustments_for(
    out: OutFolder, given: Path | None, assignment: Path, *, anew: bool = False
) -> Adjustments:
    """The decisions that count: those that are given, else those beside the assignment or kept in ``OUT/``.

    ``anew`` says that what is kept is about another assignment. Raises SpecError with every problem in the
    file, and UsageError where the file beside the assignment differs from one that was given before.
    """
    if given is not None:
        return read_adjustments(given)
    beside = (assignment if assignment.is_dir() else assignment.parent) / FILE_NAME
    paths = (beside, *(() if anew else (out.with_names / FILE_NAME, out.with_names / BESIDE)))
    files = {path: read_adjustments(path) for path in paths if path.is_file()}
    earlier = files.get(out.with_names / FILE_NAME)
    if beside in files and earlier is not None and files[beside].content != earlier.content:
        raise UsageError(f"{beside} and {earlier.path} differ; say with --adjustments which one counts")
    return next(iter(files.values()), Adjustments())


def keep(out: OutFolder, adjustments: Adjustments, *, given: bool, anew: bool) -> None:
    """Keep the file in ``OUT/``, where the next batch and `rescore` find it; ``anew``, what is there goes."""
    if anew:
        for name in (FILE_NAME, BESIDE):
            (out.with_names / name).unlink(missing_ok=True)
    if adjustments.content:
        kept = FILE_NAME if given or adjustments.path == out.with_names / FILE_NAME else BESIDE
        out.write_with_names({kept: adjustments.content.decode("utf-8-sig")})


def require_applicable(
    adjustments: Adjustments,
    hand_ins: Sequence[tuple[str, HandIn | None]],
    elsewhere: Sequence[tuple[str, HandIn | None]],
    assignment: Assignment,
) -> list[str]:
    """What staff should know about the decisions; raises UsageError for what they have to decide first.

    ``elsewhere`` are the submissions of the class's other shards.
    """
    must_be_certain(adjustments, hand_ins, [item.id for item in assignment.rubric])
    notes = []
    if strangers := without_submission(adjustments, (*hand_ins, *elsewhere)):
        notes.append(about_nobody(strangers, adjustments.name))
    unknown = unknown_times(adjustments, hand_ins)
    if unknown and any(says_when(hand_in) for _, hand_in in hand_ins):
        raise UsageError(
            f"{adjustments.name}: nobody says when {quoted(unknown)} came, though others' times are known; "
            "write `days_late` for each under `students`, 0 for who was in time"
        )
    if unknown:
        notes.append(f"{adjustments.name}: no time of any submission is known; only `days_late` counts")
    if adjustments.path and adjustments.path.name == BESIDE:
        notes.append(f"{adjustments.path} counts, for {FILE_NAME} beside the assignment is gone")
    return notes


def adjust_class(
    out: OutFolder, grades: Sequence[Grade], adjustments: Adjustments, identities: Identities | None
) -> list[Grade]:
    """The stored grades with what was decided about them; what changes is written, with its evidence."""
    final = adjusted_class([identified(grade, identities) for grade in grades], adjustments)
    final = [replace(after, hand_in=before.hand_in) for before, after in zip(grades, final, strict=True)]
    for before, after in zip(grades, final, strict=True):
        if after != before:
            write(out, replace(after, evidence=load_grade(out, after.submission_id).evidence))
    return final


def about_nobody(keys: Sequence[str], name: str) -> str:
    """Say which entries of the file speak of nobody who handed in."""
    shown = ", ".join(f"`{escaped(key, 60)}`" for key in keys[:8])
    return f"{name}: no submission is known as {shown}{' …' if len(keys) > 8 else ''}"  # noqa: PLR2004
