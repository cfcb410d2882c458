"""The records of an import: levels, whose each entry is, what is left out or in doubt, and all together."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from grader.base.records import frozen

if TYPE_CHECKING:
    from grader.grading.submission.items import Item
    from grader.model import Student, Submission


class Left(StrEnum):
    """Reason why something in a download is not graded, without a question to staff."""

    EARLIER = "earlier-attempt"
    TEXT = "text-entry"
    RECEIPT = "receipt"
    FEEDBACK = "feedback"
    PLATFORM = "platform-file"
    HIDDEN = "hidden"
    BESIDE = "beside-the-students"
    SKIPPED = "unmatched"


class Doubt(StrEnum):
    """Reason for uncertainty about whose something is, or which of it counts."""

    LEVEL = "another-level"
    SEVERAL = "several-folders"
    SAME_ID = "same-id"
    SAME_NAME = "same-name"
    LOOK_ALIKE = "look-alike"
    ATTEMPTS = "attempts"
    TEXT_ONLY = "text-only"
    COPIES = "numbered-copies"
    STRANGE = "not-recognised"
    OUTPUT = "looks-like-our-output"
    OWN_LIST = "list-of-the-only-student"
    ANOTHER_SHEET = "sheet-of-another-name"
    NOT_ON_ROSTER = "not-on-roster"
    SEVERAL_ON_ROSTER = "several-on-roster"


@frozen
class Level:
    """One folder of a download, or the archive itself, where each entry may be another student's."""

    name: str
    items: tuple[Item, ...]
    hidden: tuple[str, ...] = ()
    """Names of what operating systems and tools leave behind."""
    beside: tuple[Item, ...] = ()
    """Items beside this folder, where it was gone down into."""
    depth: int = 0
    """Number of folders that were gone down into to reach it."""


@frozen
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
    """Name of the item itself in the download."""


@frozen
class Omission:
    """Item that is left out, under the name that the download gives it; ``of`` is its owner."""

    name: str
    reason: Left
    of: str = ""


@frozen
class StaffQuestion:
    """Question that staff must decide before grading: ``names`` are the entries that it is about.

    ``detail`` holds the names that the doubt comes from, such as folders below.
    """

    doubt: Doubt
    names: tuple[str, ...]
    detail: tuple[str, ...] = ()


PLAIN = "folders and files"
"""Name of the layout where no platform wrote the names."""


@frozen
class Download:
    """Submissions with their owners, sorted by id; items left out, and items in doubt."""

    name: str
    layout: str
    submissions: tuple[Submission, ...]
    left_out: tuple[Omission, ...] = ()
    questions: tuple[StaffQuestion, ...] = ()
    missing: tuple[Student, ...] = ()
    """Students on the roster who handed in nothing."""
