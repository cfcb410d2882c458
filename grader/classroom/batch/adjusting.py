"""Staff decisions about grades, applied to a class: kept in ``OUT/``, so that no regrading forgets them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.base.text import escaped, quoted
from grader.classroom.batch.folder import load_any, load_grade
from grader.classroom.batch.resume import rewrite
from grader.classroom.course.adjustments import (
    adjusted_class,
    decided_for,
    must_be_certain,
    says_when,
    unknown_times,
    without_submission,
)
from grader.classroom.course.anonymous import identified
from grader.classroom.course.decisions import FILE_NAME, Adjustments, adjustments_in, read_adjustments

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grader.classroom.batch.folder import OutFolder
    from grader.classroom.course.anonymous import Identities
    from grader.model import Assignment, Grade, HandIn


BESIDE = "adjustments-beside.yaml"
"""Copy of the file that stood beside the assignment the last time, for when it is no longer there."""


def adjustments_for(
    out: OutFolder | None, given: Path | None, assignment: Path, *, anew: bool = False
) -> Adjustments:
    """The decisions that count: those that are given, else those beside the assignment or kept in ``OUT/``.

    ``anew`` says that what is kept is about another assignment; ``out`` is None where nothing is. Raises
    SpecError with every problem in the file, and UsageError where the file beside the assignment differs
    from one that was given before, or a kept one is gone or damaged.
    """
    if given is not None:
        return read_adjustments(given)
    beside = (assignment if assignment.is_dir() else assignment.parent) / FILE_NAME
    files = {beside: read_adjustments(beside)} if beside.is_file() else {}
    names = (FILE_NAME,) if files else (FILE_NAME, BESIDE)  # what stands beside it now counts, not what stood
    if out is not None and not anew and (earlier := stored_decisions(out, names)):
        path, content = earlier
        files[path] = adjustments_in(path, content)
        if beside in files and files[beside].content != files[path].content:
            raise UsageError(f"{beside} and {path} differ; say with --adjustments which one counts")
    return next(iter(files.values()), Adjustments())


def stored_decisions(out: OutFolder, names: Sequence[str] = (FILE_NAME, BESIDE)) -> tuple[Path, bytes] | None:
    """The first of these files that is kept in ``OUT/``; raises UsageError where it is gone or damaged."""
    for name in names:
        if (content := out.stored_file(name)) is not None:
            return out.with_names / name, content
    return None


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
    """Return what staff should know about the decisions; raise UsageError for what they must decide first.

    ``elsewhere`` are the submissions of the class's other shards.
    """
    must_be_certain(adjustments, hand_ins, [item.id for item in assignment.rubric])
    notes = []
    if strangers := without_submission(adjustments, (*hand_ins, *elsewhere)):
        notes.append(unmatched_entries(strangers, adjustments.name))
    unknown = unknown_times(adjustments, hand_ins)
    if unknown and any(says_when(hand_in) for _, hand_in in hand_ins):
        raise UsageError(
            f"{adjustments.name}: no time is known of {quoted(unknown)}, though others' are; "
            "write `days_late` for each under `students`, 0 for who was in time"
        )
    if unknown:
        notes.append(f"{adjustments.name}: no time of any submission is known; only `days_late` counts")
    if adjustments.path and adjustments.path.name == BESIDE:
        notes.append(f"{adjustments.path} counts, for {FILE_NAME} beside the assignment is gone")
    return notes


def marked_before(
    out: OutFolder,
    adjustments: Adjustments,
    hand_ins: Sequence[tuple[str, HandIn | None]],
    assignment: Assignment,
) -> dict[str, Grade]:
    """Load the stored grades with points set by hand, whether their files changed since or not."""
    decided = decided_for(adjustments, hand_ins).items()
    marked = [name for name, decision in decided if decision.items or decision.score is not None]
    stored = {}
    for name in marked:
        with suppress(UsageError):  # no file was seen where none is there, or a power cut damaged it
            stored[name] = load_any(out, name)
    return {name: grade for name, grade in stored.items() if grade.assignment_id == assignment.id}


def adjust_class(
    out: OutFolder, grades: Sequence[Grade], adjustments: Adjustments, identities: Identities | None
) -> list[Grade]:
    """The stored grades with what was decided about them; what changes is written, with its evidence."""
    final = adjusted_class([identified(grade, identities) for grade in grades], adjustments)
    final = [replace(after, hand_in=before.hand_in) for before, after in zip(grades, final, strict=True)]
    for before, after in zip(grades, final, strict=True):
        if after != before:
            rewrite(out, replace(after, evidence=load_grade(out, after.submission_id).evidence))
    return final


def unmatched_entries(keys: Sequence[str], name: str) -> str:
    """Name the entries of the file that match none of the students who handed in."""
    shown = ", ".join(f"`{escaped(key, 60)}`" for key in keys[:8])
    return f"{name}: no submission is known as {shown}{' …' if len(keys) > 8 else ''}"  # noqa: PLR2004
