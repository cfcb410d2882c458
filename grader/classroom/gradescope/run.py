"""The whole of `run_autograder`: one submission and Gradescope's metadata, graded; results.json.

    python -P -m grader.classroom.gradescope.run /autograder
    python -P -m grader.classroom.gradescope.run --prove /autograder/source   # the staff's own solution, by
    `setup.sh`

Results are written in any case, before Gradescope ends us. What goes wrong on our side is a sentence in the
results and no score, never a zero. Standard output is for staff: Gradescope keeps it, and the results say
that students do not see it.

submission_metadata.json says when something was handed in, by whom, and how often before. Format: Gradescope
autograder documentation, "Submission Metadata". Of a file that is missing or of another form nothing counts
as known, for a grade needs none of it; each value is believed only as far as it has its type. Times are
compared with each other, never with a clock: an autograder may be run again later.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from grader.base.errors import GraderError, OurError, described_bug
from grader.base.records import frozen
from grader.base.text import count, escaped, listed
from grader.classroom.batch import grade_class
from grader.grading.assignment import load_assignment, staff_kernel
from grader.grading.assignment.bundled import FILE_NAME
from grader.grading.submission import further_lines, lines, read_as
from grader.grading.submission.items import OnDisk, safe
from grader.kinds import pipeline
from grader.model import HandIn, Student, Verdict
from grader.reports import platforms, text, wording
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import Job, bubblewrap
from grader.toolchain.sandbox.local import OtherUserSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType

    from grader.model import Assignment, Grade, Submission
    from grader.toolchain.sandbox import Sandbox

HARNESS = "harness.json"
"""File in which the archive describes itself."""

STAFFS_ONLY = (("source", 0o700), ("results", 0o700), ("submission_metadata.json", 0o600))
"""Paths that students' code may not read: hidden cases, and the results of earlier submissions."""

OURS = 3

FAILED = "the autograder failed; the course's staff find the reason in its log"
"""Message for students: the reason itself may name hidden cases."""

WRITING_SECONDS = 10.0
"""Time kept for judging, and for writing results after a submission was ended."""

LEAST_SECONDS = 1.0


@frozen
class Harness:
    """Description of an archive: its assignment, the folder of the staff's files, and the inputs' seed.

    ``folder`` is the folder of the unpacked archive, ``seconds`` the time that grading may take altogether.
    """

    folder: Path
    assignment: str
    seed: int
    seconds: float

    @property
    def path(self) -> Path:
        """The assignment's folder."""
        return self.folder / "assignments" / self.assignment


class OutOfTime(BaseException):
    """Grading was ended because Gradescope would have ended it, results and all.

    It is no Exception, so that no handler on its way takes it for a failure of its own and goes on.
    """


def main(root: Path) -> int:
    """Grade what lies in ``root`` as Gradescope lays it out; 0 with a grade, 3 where there is none."""
    results = root / "results" / "results.json"
    try:
        written, log, code = *_graded(root), 0
    except OutOfTime as problem:
        written, log, code = platforms.gradescope_failure(str(problem)), str(problem), OURS
    except GraderError as problem:
        written, log, code = platforms.gradescope_failure(FAILED), str(problem), OURS
    except Exception as problem:  # noqa: BLE001 - the last resort: results are written
        written, log, code = (
            platforms.gradescope_failure(FAILED),
            described_bug("the autograder", problem),
            OURS,
        )
    _replace(results, written)
    sys.stdout.write(log.encode("utf-8", "backslashreplace").decode() + "\n")
    return code


def _graded(root: Path) -> tuple[str, str]:
    """The results, and what staff read; raises GraderError where there is no grade."""
    began = time.monotonic()
    harness = read_harness(root / "source")
    with _ended_after(harness.seconds):
        _shut(root)
        assignment = load_assignment(harness.path)
        metadata = read_metadata(root / "submission_metadata.json")
        submission = _read_submission(root / "submission", metadata)
        grade = _grade(harness, assignment, submission, began + harness.seconds)
    source, further = lines(submission.source), further_lines(submission)
    about = {"assignment": grade.assignment_id, "assignment_digest": grade.assignment_digest}
    data = {**about, "grader": dict(pipeline.versions())["grader"], **metadata.data()}
    if doubt := wording.unscored(grade):  # of hidden cases the results do not say it
        data["not_judged"] = doubt
    results = platforms.gradescope(grade, source, metadata.remarks(), data, further=further)
    return results, text.render(grade, audience="staff", source_lines=source, further=further).plain


def prove(folder: Path) -> int:
    """Grade the staff's own solution as a student's, where the archive lies in ``folder``; 0 for full marks.

    Raises GraderError where it cannot be graded.
    """
    harness = read_harness(folder)
    assignment = load_assignment(harness.path)
    solution = read_as(OnDisk(staff_kernel(assignment, "solution")), "solution")
    grade = _grade(harness, assignment, solution, time.monotonic() + harness.seconds)
    sys.stdout.write(text.render(grade, audience="staff", source_lines=lines(solution.source)).plain)
    return 0 if grade.verdict is not Verdict.ERROR and grade.score >= grade.max_score else OURS


def read_harness(folder: Path) -> Harness:
    """Description of the archive in ``folder``; raises OurError where it has none."""
    try:
        fields = json.loads((folder / HARNESS).read_bytes())
        return Harness(folder, str(fields["assignment"]), int(fields["seed"]), float(fields["seconds"]))
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        raise OurError(
            f"{folder / HARNESS} cannot be read; make the archive again with `grader export-gradescope`"
        ) from None


def _read_submission(folder: Path, metadata: Metadata) -> Submission:
    """Read the submission, with its owner; its ``problem`` says what is wrong with it."""
    name = f"submission_{safe(metadata.submission)}" if metadata.submission else "submission"
    return replace(read_as(OnDisk(folder.resolve()), name), hand_in=metadata.hand_in())


def _grade(harness: Harness, assignment: Assignment, submission: Submission, deadline: float) -> Grade:
    """Grade it until ``deadline`` (of `time.monotonic`); a grade that takes longer is an error of ours.

    Raises OurError where nothing can be graded here.
    """
    tools = find_tools()
    must_be_out_of_reach(harness.path / FILE_NAME, tools.sandbox)
    plan = pipeline.make_plan(assignment, harness.seed, tools, visible_only=False)
    left = max(LEAST_SECONDS, deadline - time.monotonic() - WRITING_SECONDS)
    (result,) = grade_class(plan, [submission], tools, jobs=1, patience=left)
    return result.grade


def find_tools() -> Tools:
    """The compiler, in a bubblewrap where one can be made, else as another user."""
    toolchain = find_toolchain()
    if not bubblewrap.trouble():
        return Tools(toolchain, bubblewrap.BubblewrapSandbox(toolchain.roots))
    if os.geteuid() != 0:
        raise OurError("the autograder is not root, so it cannot be another user than the students' code")
    return Tools(toolchain, OtherUserSandbox())


def must_be_out_of_reach(file: Path, sandbox: Sandbox) -> None:
    """Raise OurError where a job can read this file of the staff's."""
    if not file.is_file():
        raise OurError(f"{file} is missing")
    if sandbox.run(Job(("cat", str(file)))).outcome.ok:
        raise OurError(f"students' code could read the staff's files: {file}")


def _shut(root: Path) -> None:
    """Take from others the right to read what is the staff's; whether they can is tried before grading."""
    for name, mode in STAFFS_ONLY:
        with suppress(OSError):
            (root / name).chmod(mode)


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block after this number of seconds of wall time."""

    def end(signum: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - as signals are handled
        raise OutOfTime(f"grading took longer than {seconds:.0f} s and was ended")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _replace(path: Path, content: str) -> None:
    """Write a file atomically: readers see all of it, or what was there before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half")
    half.write_text(content, encoding="utf-8")
    half.replace(path)


MAX_BYTES = 64 * 2**20
"""Earlier submissions come with all of their results."""
MOST_STUDENTS = 50
LONGEST = 200

LAYOUT = "Gradescope"


@frozen
class Metadata:
    """Known facts about a submission; times are ISO 8601 with their zone, and empty where unknown."""

    submission: str = ""
    students: tuple[Student, ...] = ()
    created: str = ""
    due: str = ""
    late_due: str = ""
    earlier: int = 0
    """Number of earlier submissions by the same students."""
    best: float | None = None
    """The highest of those scores, None where there is none. So for the last one."""
    last: float | None = None

    @property
    def late(self) -> bool | None:
        """True if it came after the due date; None where that is unknown."""
        return _after(self.created, self.due)

    @property
    def too_late(self) -> bool | None:
        """True if it came after the last date for late work; None where that is unknown."""
        return _after(self.created, self.late_due)

    def hand_in(self) -> HandIn:
        """Hand-in of the submission, as it is recorded in every grade."""
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
        """Remarks on it for students, a line each."""
        handed_in = f"handed in {_time_text(self.created)}" if self.created else ""
        if self.late:
            handed_in += f", late: it was due {_time_text(self.due)}"
        if self.too_late:
            handed_in += f"; the last date for late work was {_time_text(self.late_due)}"
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
        """The metadata as JSON for scripts, without what Gradescope does not say."""
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
    """Metadata in the file; empty where it is missing, too long, or of another form."""
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
    """The one of the newest time; the last in the list where that is unknown."""
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


def _time_text(time: str) -> str:
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


if __name__ == "__main__":
    *asked, folder = sys.argv[1:]
    sys.exit((prove if asked else main)(Path(folder)))
