"""The records of an import: levels, whose each entry is, what is left out or in doubt, and all together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.model import Student, Submission
    from grader.submission.items import Item


class Left(StrEnum):
    """Why something in a download is not graded, though nobody has to ask for it."""

    EARLIER = "earlier-attempt"
    TEXT = "text-entry"
    RECEIPT = "receipt"
    FEEDBACK = "feedback"
    PLATFORM = "platform-file"
    HIDDEN = "hidden"
    BESIDE = "beside-the-students"
    SKIPPED = "unmatched"


class Doubt(StrEnum):
    """Why nobody can say with certainty whose something is, or which of it counts."""

    LEVEL = "another-level"
    SEVERAL = "several-folders"
    SAME_ID = "same-id"
    SAME_NAME = "same-name"
    ATTEMPTS = "attempts"
    TEXT_ONLY = "text-only"
    COPIES = "numbered-copies"
    STRANGE = "not-recognised"
    ANOTHER_SHEET = "sheet-of-another-name"
    NOT_ON_ROSTER = "not-on-roster"
    SEVERAL_ON_ROSTER = "several-on-roster"


@dataclass(frozen=True, slots=True)
class Level:
    """One folder of a download, or the archive itself, where each entry may be somebody else's."""

    name: str
    items: tuple[Item, ...]
    hidden: tuple[str, ...] = ()
    """Names of what operating systems and tools leave behind."""
    beside: tuple[Item, ...] = ()
    """What lies beside this folder, where it was gone down into."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of a level, and whose it is.

    ``key`` is the same for all that one student handed in, ``label`` what their id is made of, and ``name``
    what the download calls them. Of several ``order``s the greatest counts; ``attempt`` says it to people.
    """

    item: Item
    key: str
    label: str
    name: str
    students: tuple[Student, ...] = ()
    attempt: str = ""
    order: tuple[int | str, ...] = ()
    attempts: int = 1
    late: bool | None = None
    time: str = ""
    left: Left | None = None
    file: str = ""
    """What the download calls the item itself."""


@dataclass(frozen=True, slots=True)
class Omission:
    """What is left out, under the name that the download gives it; ``of`` is whose it is."""

    name: str
    reason: Left
    of: str = ""


@dataclass(frozen=True, slots=True)
class StaffQuestion:
    """What staff have to decide before anything is graded: ``names`` are the entries that it is about.

    ``detail`` holds the names that the doubt comes from, such as folders below.
    """

    doubt: Doubt
    names: tuple[str, ...]
    detail: tuple[str, ...] = ()


PLAIN = "folders and files"
"""What the layout is called where no platform wrote the names."""


@dataclass(frozen=True, slots=True)
class Download:
    """Who handed what in, sorted by id; what is left out, and what is in doubt."""

    name: str
    layout: str
    submissions: tuple[Submission, ...]
    left_out: tuple[Omission, ...] = ()
    questions: tuple[StaffQuestion, ...] = ()
    missing: tuple[Student, ...] = ()
    """Who is on the roster and handed in nothing."""
