"""One submission in Gradescope's container: compiled and run as somebody else, and judged here."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader import pipeline
from grader.assignment.bundled import FILE_NAME
from grader.batch import grade_class
from grader.errors import OurError
from grader.nvcc import Tools, find_toolchain
from grader.sandbox import Job, bubblewrap
from grader.sandbox.other_user import OtherUserSandbox
from grader.submission import read_as
from grader.submission.files import safe
from grader.submission.items import OnDisk

if TYPE_CHECKING:
    from pathlib import Path

    from grader.gradescope.metadata import Metadata
    from grader.model import Assignment, Grade, Submission
    from grader.sandbox import Sandbox

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


def read_submission(folder: Path, metadata: Metadata) -> Submission:
    """What was handed in, with whose it is; what is wrong with it is its ``problem``."""
    name = f"submission_{safe(metadata.submission)}" if metadata.submission else "submission"
    return replace(read_as(OnDisk(folder.resolve()), name), hand_in=metadata.hand_in())


def grade(harness: Harness, assignment: Assignment, submission: Submission, deadline: float) -> Grade:
    """Grade it until ``deadline`` (of `time.monotonic`); a grade that takes longer is an error of ours.

    Raises OurError where nothing can be graded here.
    """
    tools = find_tools()
    must_be_out_of_reach(harness.path / FILE_NAME, tools.sandbox)
    plan = pipeline.make_plan(assignment, harness.seed, tools, visible_only=False)
    left = max(LEAST_SECONDS, deadline - time.monotonic() - WRITING_SECONDS)
    (result,) = grade_class(plan, [submission], tools, jobs=1, patience=left)
    return result


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
