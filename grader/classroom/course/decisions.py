"""Staff decisions about grades: a policy for late work, extensions, other scores, excused students.

    due: 2026-11-01 23:59 +01:00     # where the platform gives times; with a zone where those have one
    late:
      grace: 15 minutes
      per_day: 10%                   # of the maximum, for each day begun
      flat: 5%                       # once, however late
      at_most: 50%
    students:                        # by the id of the submission, or anything that the roster says of them
      ada: {extension: 3 days, comment: was ill, by: Prof. Weber}
      12346: {days_late: 1}
      grace: {items: {edges: 20}, comment: the hidden case was wrong, by: Prof. Weber}
      linus: {score: 80, comment: shown in person, by: Prof. Weber}
      marie: {excused: true, comment: transferred, by: Prof. Weber}
    groups:                          # a comment for several of them, beside what is decided about each
      - {students: [ada, linus], comment: see the lecture on barriers, by: Tim}

A score that is set is final: nothing is taken off for being late. The lateness of a submission must be
certain; where the platform only says that it was late, ``days_late`` has to say by how many days.
"""

from __future__ import annotations

import re
from dataclasses import field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from grader.base.errors import SpecError, UsageError
from grader.base.records import frozen
from grader.base.text import escaped, suggestion
from grader.grading.assignment import document
from grader.grading.assignment.document import Flaw, UnreadableDocument

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "adjustments.yaml"
_LONGEST = 1000
_NOTHING = Fraction(0)
_UNITS = {"minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400}
_DURATION = re.compile(r"(\d{1,5}(?:\.\d{1,3})?) ?(minute|hour|day|week)s?")
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T-](\d\d)[:-](\d\d)(?:[:-](\d\d)(?:\.\d+)?)? ?(Z|UTC|[+-]\d\d:?\d\d)?", re.ASCII
)


def _text_of(value: object, expected: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
        raise ValueError(f"expected {expected}")
    return value.strip()


def _duration(value: object) -> timedelta:
    match = _DURATION.fullmatch(_text_of(value, "a time such as `15 minutes` or `3 days`").lower())
    if match is None:
        raise ValueError(f"expected a time such as `15 minutes` or `3 days`, found `{value}`")
    return timedelta(seconds=float(match[1]) * _UNITS[match[2]])


def _share(value: object) -> Fraction:
    text = _text_of(value, "a share such as `10%`")
    match = re.fullmatch(r"(\d{1,3}(?:\.\d{1,4})?) ?%", text, re.ASCII)
    if match is None or not 0 <= Fraction(match[1]) <= 100:  # noqa: PLR2004 - percent
        raise ValueError(f"expected a share from `0%` to `100%`, found `{text}`")
    return Fraction(match[1]) / 100


def _points(value: object) -> Fraction:
    text = _text_of(value, "a number of points")
    if not re.fullmatch(r"\d{1,7}(\.\d{1,4})?", text, re.ASCII):
        raise ValueError(f"expected a number of points, found `{text}`")
    return Fraction(text)


def _days(value: object) -> int:
    text = _text_of(value, "a whole number of days")
    if not re.fullmatch(r"\d{1,4}", text, re.ASCII):
        raise ValueError(f"expected a whole number of days, found `{text}`")
    return int(text)


def _flag(value: object) -> bool:
    if value not in {"true", "false"}:
        raise ValueError("expected `true` or `false`")
    return value == "true"


def _moment(value: object) -> datetime:
    moment = moment_of(_text_of(value, "a time such as `2026-11-01 23:59 +01:00`"))
    if moment is None:
        raise ValueError(f"expected a time such as `2026-11-01 23:59 +01:00`, found `{value}`")
    return moment


def _words(value: object) -> str:
    return _text_of(value, "a text")


def moment_of(text: str) -> datetime | None:
    """A time as platforms write it, with a zone where it has one; None where it is none."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    day, hour, minute, second, zone = match.groups()
    shift = {"Z": "+0000", "UTC": "+0000"}.get(zone, (zone or "").replace(":", ""))
    try:
        return datetime.strptime(  # noqa: DTZ007 - a zone is there where the text has one
            f"{day} {hour}:{minute}:{second or '00'}{shift}", f"%Y-%m-%d %H:%M:%S{'%z' if shift else ''}"
        )
    except ValueError:
        return None


class _FileSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class LatePolicy(_FileSection):
    """Deductions for late work, as shares of the maximum."""

    grace: Annotated[timedelta, BeforeValidator(_duration)] = timedelta(0)
    per_day: Annotated[Fraction, BeforeValidator(_share)] = _NOTHING
    flat: Annotated[Fraction, BeforeValidator(_share)] = _NOTHING
    at_most: Annotated[Fraction, BeforeValidator(_share)] = Fraction(1)


class OfStudent(_FileSection):
    """Decisions about one student."""

    extension: Annotated[timedelta, BeforeValidator(_duration)] = timedelta(0)
    days_late: Annotated[int, BeforeValidator(_days)] | None = None
    items: dict[str, Annotated[Fraction, BeforeValidator(_points)]] = {}
    score: Annotated[Fraction, BeforeValidator(_points)] | None = None
    excused: Annotated[bool, BeforeValidator(_flag)] = False
    comment: Annotated[str, BeforeValidator(_words)] = ""
    by: Annotated[str, BeforeValidator(_words)] = ""


class OfGroup(_FileSection):
    """Comment for several students."""

    students: tuple[Annotated[str, BeforeValidator(_words)], ...]
    comment: Annotated[str, BeforeValidator(_words)]
    by: Annotated[str, BeforeValidator(_words)] = ""


class Decisions(_FileSection):
    """The whole file."""

    due: Annotated[datetime, BeforeValidator(_moment)] | None = None
    late: LatePolicy = LatePolicy()
    students: dict[str, OfStudent] = {}
    groups: tuple[OfGroup, ...] = ()


_PARTS: dict[str, type[BaseModel]] = {"students": OfStudent, "groups": OfGroup, "late": LatePolicy}


@frozen
class Adjustments:
    """Decisions of staff, and the file and bytes that hold them."""

    path: Path | None = None
    decisions: Decisions = field(default_factory=Decisions)
    content: bytes = b""

    @property
    def name(self) -> str:
        """Name of the file in messages."""
        return self.path.name if self.path else FILE_NAME


def read_adjustments(path: Path) -> Adjustments:
    """The decisions in a file; raises `SpecError` with each problem and its line, or `UsageError`."""
    try:
        with path.open("rb") as stream:
            content = stream.read(document.MAX_BYTES + 1)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or "not a usable path"
        raise UsageError(f"{escaped(str(path))}: cannot be read: {why.lower()}") from None
    return adjustments_in(path, content)


def adjustments_in(path: Path, content: bytes) -> Adjustments:
    """The decisions in a file's bytes; raises as `read_adjustments`."""
    if len(content) > document.MAX_BYTES:
        raise UsageError(f"{escaped(str(path))}: expected at most {document.MAX_BYTES // 1024} KiB")
    return Adjustments(path, _decisions(content, str(path)), content)


def _decisions(content: bytes, name: str) -> Decisions:
    try:
        root, problems = document.read_document(content, "adjustments")
    except UnreadableDocument as refused:
        raise SpecError((_line(name, refused.position, "", refused.message),)) from None
    flaws: list[Flaw] = []
    decisions = Decisions()
    try:
        decisions = Decisions.model_validate(document.plain(root))
    except ValidationError as refused:
        flaws = [_explained(error) for error in refused.errors()]
    for student, one in decisions.students.items():
        decides = one.items or one.score is not None or one.excused
        flaws += [
            Flaw(("students", student), f"expected `{key}`: a changed grade says why, and who decided")
            for key in ("comment", "by")
            if decides and not getattr(one, key)
        ]
    problems += [(*document.locate(root, flaw), flaw.message) for flaw in flaws]
    if problems:
        raise SpecError(tuple(_line(name, *problem) for problem in sorted(problems)))
    return decisions


def _explained(error: Any) -> Flaw:  # noqa: ANN401 - pydantic's ErrorDetails, a dictionary
    path = tuple(error["loc"])
    if error["type"] == "extra_forbidden":
        part = _PARTS.get(str(path[0]), Decisions)
        return Flaw(
            path, f"unknown key `{path[-1]}`; {suggestion(str(path[-1]), part.model_fields)}", at_key=True
        )
    if error["type"] == "value_error":
        return Flaw(path, str(error["ctx"]["error"]))
    if error["type"] == "missing":
        return Flaw(path, f"expected `{path[-1]}`", at_key=True)
    return Flaw(path, "expected a list" if error["type"] == "tuple_type" else "expected a mapping")


def _line(name: str, position: document.Position, dotted: str, message: str) -> str:
    line = f"{name}:{position.line}:{position.column}: {f'{dotted}: ' if dotted else ''}{message}"
    return escaped(line, len(line))
