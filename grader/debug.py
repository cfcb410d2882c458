"""Help for finding bugs of ours that are not to disturb a grade."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path


def log_swallowed(what: str) -> None:
    """Print the exception that is being handled, with its traceback, where `GRADER_DEBUG` is set.

    Call it where an exception is dropped because ``what`` failed is no part of the grade.
    """
    if os.environ.get("GRADER_DEBUG"):
        print(f"left out, because it failed: {what}", file=sys.stderr)  # noqa: T201 - where people look
        traceback.print_exc()


def described_bug(what: str, problem: BaseException) -> str:
    """A bug of ours in one sentence: ``what`` failed, with which exception, and the line that raised it."""
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{what} failed: {type(problem).__name__}: {problem} ({Path(frame.filename).name}:{frame.lineno})"
