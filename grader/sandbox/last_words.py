"""The limit that ended a program, by what it said last: a driver hides the signal that its child got.

The words are read here, outside: what enforces limits inside a sandbox says only what it saw itself.
"""

from __future__ import annotations

import re

from grader.sandbox.job import Outcome, Status

_LIMITS = (
    (Status.TIME, re.compile(rb"CPU time limit exceeded")),
    (Status.OUTPUT, re.compile(rb"File size limit exceeded|File too large")),
    (Status.MEMORY, re.compile(rb"out of memory|memory exhausted|std::bad_alloc|Cannot allocate memory")),
)
_QUOTED = re.compile(rb"^(?:[ \t].*|\S[^:(\n]*(?::\d|\(\d).*)$", re.MULTILINE)
"""Lines of a compiler that quote a source, or speak of a line in it: those words are not its own."""

_MOST_BYTES = 2000


def outcome_of(status: str, returncode: int, stdout: bytes, stderr: bytes, seconds: float) -> Outcome:
    """The outcome of a job; one that nobody stopped and that failed may name the limit that it met.

    Raises ValueError for a status that there is not.
    """
    ending = Status(status)
    if ending in (Status.EXIT, Status.SIGNAL) and returncode:
        words = own_words(stderr)
        ending = next((limit for limit, pattern in _LIMITS if pattern.search(words)), ending)
    return Outcome(ending, returncode, stdout, stderr, seconds)


def own_words(stderr: bytes) -> bytes:
    """The end of what a program said, without lines that quote a source: students write those."""
    return _QUOTED.sub(b"", stderr[-_MOST_BYTES:])
