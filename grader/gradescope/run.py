"""The whole of `run_autograder`: results.json is written, whatever happens, before Gradescope ends us.

    python -m grader.gradescope /autograder

What goes wrong on our side is a sentence in the results and no score, never a zero. Standard output is for
staff: Gradescope keeps it, and the results say that students do not see it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from grader import pipeline
from grader.assignment import load_assignment, staff_kernel
from grader.assignment.bundled import FILE_NAME
from grader.batch import grade_class
from grader.errors import GraderError, OurError, described_bug
from grader.gradescope.metadata import read_metadata
from grader.model import Verdict
from grader.nvcc import Tools, find_toolchain
from grader.reports import gradescope, text
from grader.sandbox import Job, bubblewrap
from grader.sandbox.local import OtherUserSandbox
from grader.submission import further_lines, lines, read_as
from grader.submission.items import OnDisk, safe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

    from grader.gradescope.metadata import Metadata
    from grader.model import Assignment, Grade, Submission
    from grader.sandbox import Sandbox

HARNESS = "harness.json"
"""What the archive says of itself."""

STAFFS_ONLY = (("source", 0o700), ("results", 0o700), ("submission_metadata.json", 0o600))
"""What students' code may not read: hidden cases, and the results of earlier submissions."""

OURS = 3

FAILED = "the autograder failed; the course's staff find the reason in its log"
"""What students read: the reason itself may name hidden cases."""

WRITING_SECONDS = 10.0
"""What is kept of the time for judging, and for writing results after a submission was ended."""

LEAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Harness:
    """What an archive was made for: its assignment, where its staff's files are, and the inputs' seed.

    ``folder`` is where the archive lies unpacked, ``seconds`` what grading may take altogether.
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

    It is no Exception, so that nobody on its way takes it for a failure of their own and goes on.
    """


def main(root: Path) -> int:
    """Grade what lies in ``root`` as Gradescope lays it out; 0 with a grade, 3 where there is none."""
    results = root / "results" / "results.json"
    try:
        written, log, code = *_graded(root), 0
    except OutOfTime as problem:
        written, log, code = gradescope.failure(str(problem)), str(problem), OURS
    except GraderError as problem:
        written, log, code = gradescope.failure(FAILED), str(problem), OURS
    except Exception as problem:  # noqa: BLE001 - the last resort: results are written
        written, log, code = gradescope.failure(FAILED), described_bug("the autograder", problem), OURS
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
    results = gradescope.render(grade, source, metadata.remarks(), data, further=further)
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
    """What the archive in ``folder`` was made for; raises OurError where it does not say."""
    try:
        fields = json.loads((folder / HARNESS).read_bytes())
        return Harness(folder, str(fields["assignment"]), int(fields["seed"]), float(fields["seconds"]))
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        raise OurError(
            f"{folder / HARNESS} cannot be read; make the archive again with `grader export-gradescope`"
        ) from None


def _read_submission(folder: Path, metadata: Metadata) -> Submission:
    """What was handed in, with whose it is; what is wrong with it is its ``problem``."""
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
    """Raise OutOfTime in the block after so many seconds of wall time."""

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
    """Write a file at once: whoever looks sees all of it, or what was there before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half")
    half.write_text(content, encoding="utf-8")
    half.replace(path)
