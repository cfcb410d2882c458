"""Everything that leaves for a student."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from grader.reports import annotations as notes
from grader.reports import junit, platforms, text, wording
from grader.reports.audience import student_view
from grader.reports.files import of_submission

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model import Grade

STAFFS = {"record.json", "grade.json", "staff.html"}
"""The files of a submission that no student gets."""

RUNNER = {
    "CLASSROOM": "c",
    "ASSIGNMENT": "a",
    "OWNER": "ada",
    "SUBMISSION_TAG": "submit/2026-11-02T10-30-00Z-0a1b2c3",
    "COMMIT_URL": "u",
    "RELEASE_URL": "u",
    "REVIEW_URL": "u",
}


def leaving(grade: Grade, source: Sequence[str]) -> dict[str, str]:
    """Everything that a student is given of a grade, by its name, and how large it is."""
    files = of_submission(grade, source=source)
    shown = {name: content for name, content in files.items() if name not in STAFFS}
    notices = notes.annotations_of(grade, "ada.cu")
    shown |= {name: notes.render(notices, name, "1") for name in ("github", "gitlab", "sarif", "gcc")}
    view = student_view(grade)
    shown |= {f"junit {dialect}": junit.render([view], dialect) for dialect in junit.DIALECTS}
    shown |= {
        f"text {width}": text.render(grade, width=width, source_lines=source).plain for width in (60, 120)
    }
    shown["prairielearn"] = platforms.prairielearn(grade, source)
    shown["may be scored"] = str(not wording.unscored(view))
    if not wording.unscored(view):
        shown["classroom50"] = platforms.classroom50(grade, RUNNER, datetime(2026, 1, 1, tzinfo=UTC))
    shown["view"] = repr(view)  # what any further format could tell
    return shown
