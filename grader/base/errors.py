"""Every exception this package raises on purpose.

    GraderError                 base: its text is shown to the user as it stands, without a traceback
    ├── UsageError              the command line asks for something that cannot be (exit 2)
    │   └── SpecError           an assignment is not sound; carries every problem found (exit 2)
    └── OurError                the grader or its machine is at fault (exit 3), never the student
        ├── ToolMissing         nvcc, g++, an engine… is not installed; says how to get it
        ├── StorageError        a folder cannot be written: read-only, full, gone
        ├── PtxSyntaxError      PTX text we could not read
        └── UnsupportedPtx      an instruction the emulator does not interpret

A student's mistake is never an exception that leaves a stage: it is a `Finding` in a record.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from pathlib import Path


class GraderError(Exception):
    """Base of all; ``exit_code`` is what the command line ends with."""

    exit_code = 3


class UsageError(GraderError):
    """The user asked for something that cannot be; the message says what to do instead."""

    exit_code = 2


class SpecError(UsageError):
    """An assignment is not sound.

    ``problems`` holds one complete line per problem (``file:line:column: path: expected …``), in the
    order of the file; ``str(error)`` is those lines joined.
    """

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)  # its own argument, so that it survives pickling
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(self.problems)


class OurError(GraderError):
    """The grader, or the machine it runs on, is at fault: verdict ``error``, never a zero."""


class ToolMissing(OurError):  # noqa: N818 - says what is the matter
    """A program that grading needs is not installed; the message says how to get it."""


class NotDoneHereError(OurError):
    """Request of a submission itself that is not done here: a question to the staff that keeps its points."""


class StorageError(OurError):
    """A folder cannot be written: it is read-only, full or gone."""


class PtxSyntaxError(OurError):
    """PTX text we could not read; names the PTX line.

    ``ptx_line`` is that line, 0 where the text just ends.
    """

    @property
    def ptx_line(self) -> int:
        """The PTX line that its text begins with."""
        match = re.match(r"PTX line (\d+)", str(self))
        return int(match[1]) if match else 0


class UnsupportedPtx(OurError):  # noqa: N818 - a statement about the PTX, not about the caller
    """An instruction that the emulator does not interpret.

    Names the instruction, its PTX line and ``sources``: the files and lines that it came from, first the one
    that holds it, then those into which that was inlined.
    """

    def __init__(self, instruction: str, ptx_line: int, sources: tuple[tuple[str, int], ...] = ()) -> None:
        super().__init__(instruction, ptx_line, sources)  # its own arguments, so that it survives pickling
        self.instruction = instruction
        self.ptx_line = ptx_line
        self.sources = sources

    def __str__(self) -> str:
        file, line = self.sources[0] if self.sources else ("", 0)
        where = f"PTX line {self.ptx_line}" + (f", from {file}:{line}" if self.sources else "")
        return f"the emulator does not interpret `{self.instruction}` yet ({where})"


def log_swallowed(activity: str) -> None:
    """Print the exception that is being handled, with its traceback, where `GRADER_DEBUG` is set.

    Call it where an exception is dropped because the ``activity`` that failed is no part of the grade.
    """
    if os.environ.get("GRADER_DEBUG"):
        print(f"left out, because it failed: {activity}", file=sys.stderr)  # noqa: T201 - where people look
        traceback.print_exc()


_MEMORY = (
    "this machine gives the grader too little memory; raise the limit (`ulimit -v`), free some, or use a "
    "smaller --jobs"
)
_FILES = "this machine lets the grader open too few files; raise the limit (`ulimit -n 1024`)"
_PROCESSES = (
    "this machine lets the grader start too few processes or threads; raise the limit (`ulimit -u`), give it "
    "more memory, or use a smaller --jobs"
)
_BY_NUMBER = {
    errno.ENOMEM: _MEMORY,
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.EAGAIN: _PROCESSES,  # of fork(2)
}
_BY_WORDS = {
    "can't start new thread": _PROCESSES,  # Python
    "failed to map segment": _MEMORY,  # the loader of libraries
    "cannot allocate memory": _MEMORY,
    "Cannot allocate memory": _MEMORY,
    "Too many open files": _FILES,
    "error return without exception set": _MEMORY,  # a module in C that could not be loaded
}
"""Messages of Python and the loader in exceptions that have no number."""


def exhausted(problem: BaseException) -> str:
    """The limit of this machine that an exception is about, and what to do; empty where it is about none."""
    if isinstance(problem, MemoryError):
        return _MEMORY
    if isinstance(problem, OSError) and problem.errno is not None:
        return _BY_NUMBER.get(problem.errno, "")
    if isinstance(problem, ImportError | RuntimeError | SystemError):
        return next((sentence for words, sentence in _BY_WORDS.items() if words in str(problem)), "")
    return ""


def described(problem: BaseException) -> str:
    """The text of an exception raised on purpose, or of a limit; of any other, a bug, its type as well."""
    if isinstance(problem, GraderError):
        return str(problem)
    return exhausted(problem) or f"{type(problem).__name__}: {problem}"


def described_bug(part: str, problem: BaseException) -> str:
    """A bug of ours in one sentence: ``part`` failed, with which exception, and the line that raised it.

    What a limit of this machine has brought about is none.
    """
    if limit := exhausted(problem):
        return f"{part} failed: {limit}"
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{part} failed: {type(problem).__name__}: {problem} ({Path(frame.filename).name}:{frame.lineno})"
