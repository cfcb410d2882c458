"""The bundled assignments and the staff's tables, as tests read them: each assignment once in a process.

Every process of a run collects all tests, and what modules read while they are imported is read in each.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from grader.grading.assignment import find_assignment, load_assignment

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Assignment

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The same documents, read ten times as fast where PyYAML came with libyaml."""


@cache
def bundled(name: str) -> Assignment:
    """The bundled assignment with this id."""
    return load_assignment(find_assignment(name))


def read_table(file: Path) -> Any:  # noqa: ANN401 - whatever is in it
    """A YAML file of the staff's, such as the table of an operation's mistakes."""
    return yaml.load(file.read_bytes(), Loader=_LOADER)  # noqa: S506 - a safe loader, whichever it is
