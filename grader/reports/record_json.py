"""record.json: a whole grade with all that it was decided on, there and back (staff only).

`report` and `rescore` read it, and nothing else. Format version 2: ``checksum``, that of all that follows it
(`grader.model.seals`), and ``grade{…}``, the record `grader.model.Grade` by the types of its fields
(`grader.model.codec`): any new field of a record comes along. Version 1 had no checksum. Of either the points
have to add up (`grader.grading.score.total`). It names hidden cases and their shapes, and holds no source, no
PTX, no executable and no trace. What an item's check alone knows (its options) is left to the assignment.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from grader import model
from grader.base.errors import UsageError
from grader.grading import score
from grader.model.codec import Misfit, decode, encode, fits
from grader.model.seals import is_intact, sealed

if TYPE_CHECKING:
    from grader.model import CheckResult, Grade

FORMAT_VERSION: Final = 2
WITHOUT_CHECKSUM: Final = 1
"""The format version of grader 0.1.0 and before, which is read, too."""
MOST_CHARACTERS = 256 * 2**20


def dump(grade: Grade) -> str:
    """Write a grade; raises TypeError for what no record should hold."""
    record = {"format_version": FORMAT_VERSION, "grade": encode(replace(_without_options(grade), trace=None))}
    return sealed(json.dumps(record, allow_nan=False, separators=(",", ":")) + "\n")


def load(
    text: str, name: str = "record.json", submission: str | None = None, *, with_evidence: bool = True
) -> Grade:
    """Read it back; ``name`` is the file's for messages.

    Without its evidence a grade takes half the time: all of the record is checked just so, but of the
    evidence only the backend and the build's digest are given.

    Raises UsageError for what is no such file, and for the record of another than the named submission.
    """
    try:
        grade: Grade = _grade(text, with_evidence=with_evidence)
        if submission not in (None, grade.submission_id):
            raise Misfit("it is the record of another submission")
    except (ValueError, RecursionError) as problem:
        reason = str(problem) if isinstance(problem, Misfit) else "it is no JSON that can be read"
        raise UsageError(f"{name} is no stored grade: {reason}; grade the submission again") from None
    return grade


def _grade(text: str, *, with_evidence: bool) -> Any:  # noqa: ANN401 - `decode` has no type for mypy
    if len(text) > MOST_CHARACTERS:
        raise Misfit(f"expected at most {MOST_CHARACTERS // 2**20} MiB")
    intact = is_intact(text)
    if intact is False:
        raise Misfit("it is damaged: its checksum is another")
    record = json.loads(text)
    version = record.get("format_version") if isinstance(record, dict) else None
    if version != (FORMAT_VERSION if intact else WITHOUT_CHECKSUM):
        raise Misfit(f"expected format version {FORMAT_VERSION} with its checksum in front")
    stored = record.get("grade")
    grade = decode(model.Grade, stored if with_evidence else _with_little_evidence(stored), "grade")
    _must_add_up(grade)
    return grade


def _must_add_up(grade: Grade) -> None:
    """Raise Misfit unless a grade's points are the sum of its items, with the decisions of staff."""
    total = score.total(item.result for item in grade.items)
    decided = sum((entry.points for entry in grade.adjustments), score.NOTHING)
    stored = (grade.items, grade.score - decided, grade.max_score, grade.skipped_points)
    if (total.items, total.score, total.max_score, total.skipped_points) != stored:
        raise Misfit("its points do not add up")


def _with_little_evidence(grade: Any) -> Any:  # noqa: ANN401 - what a file holds
    """A stored grade of whose evidence the backend and the build's digest are left, if all of it fits.

    Evidence that does not fit stays, for `decode` to say where.
    """
    evidence = grade.get("evidence") if isinstance(grade, dict) else None
    if evidence is None or not fits(model.Evidence, [evidence]):
        return grade
    build = {key: evidence["build"][key] for key in ("ok", "digest") if key in evidence["build"]}
    return grade | {"evidence": {"backend": evidence["backend"], "build": build}}


def _without_options(grade: Grade) -> Grade:
    """Options are of any type, which no reader could check, and reports have no use for them."""
    items = tuple(replace(item, result=_without_option(item.result)) for item in grade.items)
    shown = grade.for_student
    if shown is not None:
        shown = replace(shown, results=tuple(map(_without_option, shown.results)))
    return replace(grade, items=items, for_student=shown)


def _without_option(result: CheckResult) -> CheckResult:
    return replace(result, item=replace(result.item, options=()))
