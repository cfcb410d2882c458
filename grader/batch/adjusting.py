"""What staff decided about grades, applied to a class: kept in ``OUT/``, so that no regrading forgets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.batch.resume import write
from grader.course.adjustments import adjusted_class
from grader.course.decisions import FILE_NAME, Adjustments, read_adjustments
from grader.text import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grader.batch.folder import OutFolder
    from grader.model import Grade


def adjustments_for(out: OutFolder, given: Path | None, assignment: Path | None) -> Adjustments:
    """The decisions that count: those that are given, else those of earlier batches, else the assignment's.

    Raises SpecError with every problem in the file.
    """
    beside = (assignment if assignment.is_dir() else assignment.parent) / FILE_NAME if assignment else None
    for path in (given, out.path / FILE_NAME, beside):
        if path is not None and (path is given or path.is_file()):
            return read_adjustments(path)
    return Adjustments()


def keep(out: OutFolder, adjustments: Adjustments) -> None:
    """Keep the file in ``OUT/``, where the next batch and `rescore` find it."""
    if adjustments.content:
        out.write({FILE_NAME: adjustments.content.decode("utf-8-sig")})


def adjust_class(out: OutFolder, grades: Sequence[Grade], adjustments: Adjustments) -> list[Grade]:
    """The grades with what was decided about them; what changes is written."""
    final = adjusted_class(grades, adjustments)
    for before, after in zip(grades, final, strict=True):
        if after != before:
            write(out, after)
    return final


def about_nobody(keys: Sequence[str], name: str) -> str:
    """Say which entries of the file speak of nobody who handed in."""
    shown = ", ".join(f"`{escaped(key, 60)}`" for key in keys[:8])
    return f"{name}: no submission is known as {shown}{' …' if len(keys) > 8 else ''}"  # noqa: PLR2004
