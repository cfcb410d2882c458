"""Gradescope's submission_metadata.json: when something was handed in, by whom, and how often before.

Format: Gradescope autograder documentation, "Submission Metadata". Of a file that is missing or of another
form nothing counts as known, for a grade needs none of it; each value is believed only as far as it has its
type. Times are compared with each other, never with a clock: an autograder may be run again later.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from grader.model import HandIn, Student
from grader.text import count, escaped, listed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_BYTES = 64 * 2**20
"""Earlier submissions come with all of their results."""
MOST_STUDENTS = 50
LONGEST = 200

LAYOUT = "Gradescope"


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known of a submission; times are ISO 8601 with their zone, and empty where nobody says."""

    submission: str = ""
    students: tuple[Student, ...] = ()
    created: str = ""
    due: str = ""
    late_due: str = ""
    earlier: int = 0
    """How often the same students handed something in before."""
    best: float | None = None
    """The highest of those scores, None where there is none. So for the last one."""
    last: float | None = None

    @property
    def late(self) -> bool | None:
        """Whether it came after the due date; None where that cannot be told."""
        return _after(self.created, self.due)

    @property
    def too_late(self) -> bool | None:
        """Whether it came after the last date for late work; None where that cannot be told."""
        return _after(self.created, self.late_due)

    def hand_in(self) -> HandIn:
        """The same as every grade has it."""
        number = self.earlier + 1
        return HandIn(
            self.submission or "submission",
            LAYOUT,
            students=self.students,
            attempt=str(number),
            attempts=number,
            late=self.late,
            time=self.created,
        )

    def remarks(self) -> tuple[str, ...]:
        """What students read of it, a line each."""
        handed_in = f"handed in {_shown(self.created)}" if self.created else ""
        if self.late:
            handed_in += f", late: it was due {_shown(self.due)}"
        if self.too_late:
            handed_in += f"; the last date for late work was {_shown(self.late_due)}"
        names = [student.name or student.email for student in self.students]
        group = f"handed in for {listed([name for name in names if name])}" if len(names) > 1 else ""
        return tuple(filter(None, (handed_in, group, self._attempts())))

    def _attempts(self) -> str:
        if not self.earlier:
            return ""
        scores = "" if self.best is None else f"; so far the best score is {self.best:g}"
        scores += "" if self.best is None or self.last is None else f", the last one {self.last:g}"
        return f"{count(self.earlier, 'submission')} before this one{scores}"

    def data(self) -> dict[str, Any]:
        """The same for scripts: what nobody says is left out."""
        values = {
            "submission": self.submission,
            "created_at": self.created,
            "due_date": self.due,
            "late_due_date": self.late_due,
            "late": self.late,
            "students": [{"name": user.name, "id": user.id, "email": user.email} for user in self.students],
            "earlier_submissions": self.earlier,
            "best_score": self.best,
            "last_score": self.last,
        }
        return {name: value for name, value in values.items() if value not in (None, "", [])}


def read_metadata(path: Path) -> Metadata:
    """What the file says; nothing where it is missing, too long, or of another form."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return Metadata()
        fields = _fields(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return Metadata()
    assignment = _fields(fields.get("assignment"))
    dates = _own_dates(fields)
    earlier = [_fields(submission) for submission in _list(fields.get("previous_submissions"))]
    scores = [
        score for score in (_number(submission.get("score")) for submission in earlier) if score is not None
    ]
    return Metadata(
        submission=_text(fields, "id"),
        students=_students(fields),
        created=_time(fields, "created_at"),
        due=_time(dates, "due_date") or _time(assignment, "due_date"),
        late_due=_time(dates, "late_due_date") or _time(assignment, "late_due_date"),
        earlier=len(earlier),
        best=max(scores, default=None),
        last=_number(_latest(earlier).get("score")),
    )


def _own_dates(fields: Mapping[str, object]) -> Mapping[str, object]:
    """The dates of the only student, who may have an extension; a group has the assignment's."""
    users = _list(fields.get("users"))
    return _fields(_fields(users[0]).get("assignment")) if len(users) == 1 else {}


def _latest(earlier: list[Mapping[str, object]]) -> Mapping[str, object]:
    """The one of the newest time; the last in the list where that cannot be told."""
    times = [
        (_moment(_time(submission, "submission_time")), number) for number, submission in enumerate(earlier)
    ]
    newest = max(((time, number) for time, number in times if time), default=None)
    return earlier[newest[1] if newest else -1] if earlier else {}


def _students(fields: Mapping[str, object]) -> tuple[Student, ...]:
    users = [_fields(user) for user in _list(fields.get("users"))[:MOST_STUDENTS]]
    return tuple(
        Student(name=_text(user, "name"), id=_text(user, "id"), email=_text(user, "email"))
        for user in users
        if user
    )


def _fields(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _text(fields: Mapping[str, object], name: str) -> str:
    """A text, or a whole number as one, harmless; nothing for what is neither."""
    value = fields.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return str(value)
    return escaped(value, LONGEST) if isinstance(value, str) else ""


def _time(fields: Mapping[str, object], name: str) -> str:
    """A time with its zone as it was written; nothing for what is none."""
    value = fields.get(name)
    return value if isinstance(value, str) and _moment(value) else ""


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if len(text) <= LONGEST else None
    except ValueError:
        return None
    return moment if moment and moment.tzinfo and text.isascii() and text.isprintable() else None


def _shown(time: str) -> str:
    """A time to the second, for people."""
    moment = _moment(time)
    return moment.isoformat(" ", "seconds") if moment else ""


def _after(time: str, limit: str) -> bool | None:
    moment, end = _moment(time), _moment(limit)
    return None if moment is None or end is None else moment > end


def _number(value: object) -> float | None:
    """A finite number, also written as a text; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
