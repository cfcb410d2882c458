"""Interpretation of a download: a table for the terminal, JSON, and questions to staff.

`grade` prints the summary and writes all of it to ``OUT/import.json``; ``--dry-run`` prints the table.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from rich.table import Table
from rich.text import Text

from grader.base.text import count, escaped, listed, one_line
from grader.classroom.course.entries import PLAIN, Doubt, Left
from grader.model import HandIn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from grader.classroom.course.entries import Download, Omission, StaffQuestion
    from grader.model import Submission

FORMAT_VERSION: Final = 1
MOST_NAMES = 5
MOST_QUESTIONS = 20

WHY_LEFT = {
    Left.EARLIER: "an earlier attempt",
    Left.TEXT: "a text entry, no file",
    Left.RECEIPT: "a receipt of the platform",
    Left.FEEDBACK: "feedback that staff gave",
    Left.PLATFORM: "a file of the platform or about the class",
    Left.HIDDEN: "hidden, or left behind by a system or a tool",
    Left.BESIDE: "beside the folder of the students",
    Left.SKIPPED: "not matched, and skipped",
}
WHY_ASKED = {
    Doubt.LEVEL: "{names}: no student's, it seems: several folders with sources lie one level down "
    "({detail}); name the folder in which each student has one",
    Doubt.SEVERAL: "{names}: it is unclear which folder counts ({detail}): several hold sources, or the "
    "newest attempt holds none",
    Doubt.SAME_ID: "{names}: one number, but two names ({detail}); expected a number for each student",
    Doubt.SAME_NAME: "{names}: differ in nothing that says whose they are; expected one for each student",
    Doubt.LOOK_ALIKE: "{names}: look alike as names of submissions ({detail}), so that one could be taken "
    "for the other; rename one",
    Doubt.ATTEMPTS: "{names}: it is unclear which attempt counts: the names do not say which is the newest, "
    "or the newest holds no file",
    Doubt.TEXT_ONLY: "{names}: the student handed in a text or a link, and no file; ask for the file",
    Doubt.COPIES: "{names}: numbers that a browser or a drive put there; it is unclear whose they are",
    Doubt.STRANGE: "{names}: neither a name of this kind of download nor a source file or a student's folder",
    Doubt.OWN_LIST: "{names}: say that all of it is of `{detail}`, and a student may have written that; "
    "where a platform did, grade the folder around these under the platform's name, such as "
    "assignment_77_export or hw3-submissions, else take out what says so",
    Doubt.OUTPUT: "{names}: looks like what `grader grade -o` writes, and is not the OUT of this command; "
    "move an OUT of yours elsewhere; if a student handed it in, take journal.jsonl out of it",
    Doubt.ANOTHER_SHEET: "{names}: the sheets were made for other names ({detail}) than the platform "
    "writes, so whose numbers count is not known; grade with the --roster that the sheets were made from",
    Doubt.NOT_ON_ROSTER: "{names}: not on the roster; add a row, or name the student in the file's name",
    Doubt.SEVERAL_ON_ROSTER: "{names}: all of them are `{detail}`'s by the roster; expected one submission",
}


def render(download: Download, *, width: int) -> Iterable[Table | Text]:
    """Lay out the table of a dry run: who, which file, which attempt, late, and what is left out and why."""
    table = Table(box=None, pad_edge=False, header_style="bold", width=min(width, 160))
    for heading in ("submission", "student", "file", "attempt", "late", "note"):
        table.add_column(heading, overflow="fold")
    for submission in download.submissions:
        table.add_row(*map(Text, _row(submission)))
    yield table
    yield Text()
    for omission in download.left_out:
        of = f" ({one_line(omission.of, 40)})" if omission.of else ""
        yield Text(f"left out: {escaped(omission.name, 80)}{of}: {WHY_LEFT[omission.reason]}")
    for student in download.missing:
        yield Text(f"missing: {one_line(student.name or student.id or student.login, 80)}")
    for question in download.questions:
        yield Text(f"in doubt: {sentence_of(question)}")
    yield Text(summary(download))


def _row(submission: Submission) -> tuple[str, ...]:
    hand_in = submission.hand_in or HandIn(submission.file)
    attempt = hand_in.attempt + (f" (of {hand_in.attempts})" if hand_in.attempts > 1 else "")
    late = {True: "late", False: "", None: ""}[hand_in.late]
    headers = f"with {count(len(submission.headers), 'header')}" if submission.headers else ""
    return (
        one_line(submission.id, 60),
        listed([one_line(one.name or one.login or one.github or one.id, 60) for one in hand_in.students]),
        one_line(submission.file, 60),
        one_line(attempt, 60),
        late,
        submission.problem.message if submission.problem else headers,
    )


def worth_saying(download: Download) -> bool:
    """True if the summary says more than how many there are."""
    late = any(one.hand_in and one.hand_in.late for one in download.submissions)
    return late or download.layout != PLAIN or bool(download.left_out or download.missing)


def summary(download: Download) -> str:
    """Say in a line what the download is and what of it is not graded."""
    late = sum(bool(one.hand_in and one.hand_in.late) for one in download.submissions)
    kind = "" if download.layout == PLAIN else f" ({download.layout})"
    parts = [f"{escaped(download.name, 60)}{kind}: {count(len(download.submissions), 'submission')}"]
    if late:
        parts.append(f"{late} late")
    if download.missing:
        parts.append(f"{count(len(download.missing), 'student')} of the roster without one")
    reasons = Counter(omission.reason for omission in download.left_out)
    if reasons:
        why = ", ".join(count(number, *_SHORT[reason]) for reason, number in reasons.items())
        parts.append(f"{len(download.left_out)} left out ({why})")
    if download.questions:
        parts.append(f"{_name_count(download.questions)} in doubt")
    return ", ".join(parts)


_SHORT = {
    Left.EARLIER: ("earlier attempt",),
    Left.TEXT: ("text entry", "text entries"),
    Left.RECEIPT: ("receipt",),
    Left.FEEDBACK: ("feedback", "feedback"),
    Left.PLATFORM: ("other file",),
    Left.HIDDEN: ("hidden file",),
    Left.BESIDE: ("beside", "beside"),
    Left.SKIPPED: ("not matched", "not matched"),
}


def _name_count(questions: Sequence[StaffQuestion]) -> int:
    return sum(len(question.names) for question in questions)


def refusal(download: Download) -> str:
    """Say why nothing is graded: each doubt in a line of its own, and the two ways on."""
    questions = download.questions
    name, number = escaped(download.name, 60), count(_name_count(questions), "entry", "entries")
    rest = len(questions) - MOST_QUESTIONS
    return "\n".join(
        [
            f"{name}: {number} cannot be matched with certainty, so nothing is graded yet:",
            *(f"  {sentence_of(question)}" for question in questions[:MOST_QUESTIONS]),
            *([f"  and {rest:,} more"] if rest > 0 else []),
            "--dry-run shows everything; --skip-unmatched grades the others",
        ]
    )


def sentence_of(question: StaffQuestion) -> str:
    """Say what is in doubt about which names."""
    return WHY_ASKED[question.doubt].format(names=_names(question.names), detail=_plain(question.detail))


def _names(names: Sequence[str]) -> str:
    shown = [f"`{escaped(name, 60)}`" for name in names[:MOST_NAMES]]
    rest = len(names) - MOST_NAMES
    return listed([*shown, f"{rest:,} more"] if rest > 0 else shown)


def _plain(names: Sequence[str]) -> str:
    shown = [escaped(name, 60) for name in names[:MOST_NAMES]]
    return ", ".join([*shown, "…"] if len(names) > MOST_NAMES else shown)


def dump(download: Download, path: str = "") -> str:
    """Write the table as JSON, in which names stand whole; ``path`` is that of the download (`path_from`)."""
    document = {
        "format_version": FORMAT_VERSION,
        "name": download.name,
        **({"path": path} if path else {}),
        "layout": download.layout,
        "submissions": [_as_json(submission) for submission in download.submissions],
        "left_out": [_omitted(omission) for omission in download.left_out],
        "in_doubt": [
            {"names": list(question.names), "code": question.doubt.value, "message": sentence_of(question)}
            for question in download.questions
        ],
        "missing": [_filled(asdict(student)) for student in download.missing],
    }
    return json.dumps(document, indent=2) + "\n"


def path_from(out: Path, submissions: Path) -> str:
    """Path of the submissions as seen from ``out``, which stays right where both are moved together."""
    return os.path.relpath(submissions.resolve(), out.resolve())


def submissions_of(out: Path, table: bytes | None) -> Path | None:
    """Path of what was graded into ``out`` by its table; None where that does not say it."""
    path = json.loads(table).get("path") if table else None
    return (out / path).resolve() if isinstance(path, str) else None


def _as_json(submission: Submission) -> dict[str, Any]:
    hand_in = submission.hand_in or HandIn(submission.file)
    document = {
        "id": submission.id,
        **asdict(hand_in),
        "file": submission.file,
        "in_download": hand_in.file,
        "students": [_filled(asdict(student)) for student in hand_in.students],
        "headers": [name for name, _ in submission.headers],
        "problem": submission.problem.message if submission.problem else "",
    }
    del document["anonymous"]  # the table is of names, and for those who may know them
    return document


def _omitted(omission: Omission) -> dict[str, str]:
    return {"name": omission.name, "reason": omission.reason.value, "of": omission.of}


def _filled(values: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}
