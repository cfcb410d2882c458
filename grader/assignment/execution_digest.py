"""What of an assignment decides what is run, piece by piece: the rest is rubric, and may change afterwards.

Tags and visibility of cases are rubric: they say which items look at a case, and who may see it.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from grader.checks.text import STREAMS
from grader.model import Visibility

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.model import Assignment, Case, Named, RubricItem


def execution_digests(assignment: Assignment, cases: Iterable[Case], *, timed: bool) -> Named[str]:
    """Pairs of a piece, in words that fit into a message, and a digest of it.

    Evidence that was gathered for all of these pairs is evidence for this assignment; it may hold more.
    ``timed`` says whether it is about a GPU, where speedups are measured.
    """
    cases = tuple(cases)
    pieces = [
        ("what is to be handed in, and how it is launched", _digest(assignment.interface)),
        ("the reference", assignment.reference_digest),
        *((f"case `{case.id}`", _digest(_as_run(case))) for case in cases),
    ]
    for item in assignment.rubric:
        pieces += _asked_for(item, [case for case in cases if item.looks_at(case)])
    if timed and any(item.check == "speedup" for item in assignment.rubric):
        pieces.append(("what is timed", _digest(assignment.timing)))
    return tuple(dict.fromkeys(pieces))


def _asked_for(item: RubricItem, cases: list[Case]) -> Iterator[tuple[str, str]]:
    """The pieces that only this item asks for."""
    options = dict(item.options)
    if item.check == "traffic":
        kernel = options["baseline"]
        yield from ((f"the counters of the {kernel} kernel in case `{case.id}`", "") for case in cases)
    elif item.check == "array":
        what = f"the array `{options['output']}`"
        yield from ((f"{what} in case `{case.id}`", _digest(item.options)) for case in cases)
    elif item.check == "text" and options["of"] not in STREAMS:
        yield f"the file `{options['of']}`", ""


def _as_run(case: Case) -> Case:
    return replace(case, tags=(), visibility=Visibility.VISIBLE)


def _digest(piece: object) -> str:
    return sha256(repr(piece).encode(errors="backslashreplace")).hexdigest()
