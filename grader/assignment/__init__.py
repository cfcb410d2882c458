"""An assignment's YAML → `Assignment`, checked as a whole.

`document` turns YAML into a tree with positions, `fields` and `program_fields` say what the texts at its
leaves mean, `structure`, `questions` and `rubric` which keys there are (those of rubric items come from
`grader.checks`), and `schema` which of them a kind of submission has, for editors, too. `draft` keeps the
parts that are sound and says what is wrong with the others; `launching` and `cross_checks` look at what must
hold between parts; `feedback` has texts about mistakes; `load` puts it all together and makes the frozen
records. `execution` says what of it all is run, `bundled` knows where assignments and references are,
`handout` what students may have of them, and `cache` keeps what was sound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.assignment import cache as assignment_cache
from grader.assignment.bundled import (
    bundled_ids,
    find_assignment,
    recorded_counters,
    recorded_estimates,
    reference_folder,
    staff_folder,
    staff_kernel,
)
from grader.assignment.execution import draw_seed, execution_digests, expand_cases, wanted_files

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Assignment

__all__ = [
    "bundled_ids",
    "draw_seed",
    "execution_digests",
    "expand_cases",
    "find_assignment",
    "load_assignment",
    "recorded_counters",
    "recorded_estimates",
    "reference_folder",
    "staff_folder",
    "staff_kernel",
    "wanted_files",
]


def load_assignment(path: Path, cache: Path | None = None) -> Assignment:
    """The assignment in the folder or file ``path``; raises `SpecError` with every problem there is.

    Each problem is one line, ``file:line:column: dotted.path: message``. A sound assignment is kept in the
    folder ``cache``, and comes from there as long as none of its files changes.
    """
    assignment = assignment_cache.recall(path, cache) if cache else None
    if assignment is not None:
        return assignment
    # Pydantic takes a fifth of a second to import: commands that read no assignment do without.
    from grader.assignment import load  # noqa: PLC0415

    assignment = load.load_assignment(path)
    if cache:
        assignment_cache.remember(path, assignment, cache)
    return assignment
