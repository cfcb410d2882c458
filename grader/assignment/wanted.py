"""Which files a run of a program must bring back: those that the rubric looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.model import Assignment

STREAMS = ("stdout", "stderr")
LOOKING = ("text", "array")
"""The checks that have an ``of``."""


def wanted_files(assignment: Assignment) -> tuple[str, ...]:
    """The names of the files that some item looks at, in the order of the rubric; plain names, no folders."""
    named = (str(dict(item.options)["of"]) for item in assignment.rubric if item.check in LOOKING)
    return tuple(dict.fromkeys(name for name in named if name not in STREAMS))
