"""Students and hand-ins: from the names of a download, its metadata and the roster."""

from __future__ import annotations

from fractions import Fraction

from grader.base.records import frozen


@frozen
class Student:
    """One person, as a platform or the roster names them; unknown values are empty."""

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


@frozen
class HandIn:
    """Hand-in of a submission, beside its files.

    ``name`` is its name in the download, whole and as it stands there; ``file`` that of the file or folder
    that counts, where reports go back under the same name. ``attempt`` is the number or time that it has,
    ``attempts`` the number of them. ``late`` is None where the platform does not say.
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
    """Name of its (first) student in the roster, as one word; questions are drawn for it."""
    anonymous: bool = False
    """True if reports may not say whose it is."""


@frozen
class Adjustment:
    """Adjustment of a grade by staff: ``points`` are added to its score, which holds them already.

    ``kind`` is ``late`` (of ``days``), ``item`` (which), ``score``, ``excused``, or a ``comment``
    alone. ``digest`` is that of the submission for which points were set by hand, as far as that is known.
    """

    kind: str
    points: Fraction = Fraction(0)
    item: str = ""
    days: int = 0
    comment: str = ""
    by: str = ""
    digest: str = ""


@frozen
class Alike:
    """Two submissions that are alike, with the lines (from 1) whose tokens the other one has, too.

    ``share`` is that of the smaller one's runs, 0 to 1. ``same`` are others with the tokens of one of them.
    """

    first: str
    second: str
    share: float
    first_lines: frozenset[int]
    second_lines: frozenset[int]
    same: tuple[str, ...] = ()
