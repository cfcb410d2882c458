"""Which files a run of a program must bring back: those that the rubric looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.checks.text import STREAMS

if TYPE_CHECKING:
    from grader.model import Assignment


def wanted_files(assignment: Assignment) -> tuple[str, ...]:
    """The names of the files that some item looks at, in the order of the rubric; plain names, no folders."""
    named = (dict(item.options).get("of") for item in assignment.rubric)
    return tuple(dict.fromkeys(name for name in named if name and name not in STREAMS))
