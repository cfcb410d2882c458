"""Who handed something in, and how it came: from the names of a download, its metadata and the roster."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Student:
    """One person, as a platform or the roster names them; what nobody says is empty."""

    name: str = ""
    id: str = ""
    """The platform's own number: Canvas's user, Moodle's participant, Brightspace's user."""
    sid: str = ""
    """The number that the university gave them."""
    login: str = ""
    email: str = ""
    github: str = ""
    section: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class HandIn:
    """How a submission came in, beside its files.

    ``name`` is what the download calls it, whole and as it stands there; ``file`` that of the file or folder
    that counts, where reports go back under the same name. ``attempt`` is the number or time that it has,
    ``attempts`` how many there were. ``late`` is None where the platform does not say.
    """

    name: str
    layout: str = ""
    file: str = ""
    students: tuple[Student, ...] = ()
    attempt: str = ""
    attempts: int = 1
    late: bool | None = None
    time: str = ""
    """When it was handed in, as the platform wrote it."""
    key: str = ""
    """What the roster calls its (first) student in one word; questions are drawn for it."""
    anonymous: bool = False
    """Whether reports may not say whose it is."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What staff decided about a grade: ``points`` are added to its score, which holds them already.

    ``kind`` is ``late`` (of ``days``), ``item`` (which), ``score``, ``excused``, or a ``comment``
    alone.
    """

    kind: str
    points: Fraction = Fraction(0)
    item: str = ""
    days: int = 0
    comment: str = ""
    by: str = ""
