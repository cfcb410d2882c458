"""What must hold between the parts of an assignment of kind ``program``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.assignment.document import Flaw
from grader.assignment.structure import ProgramPart
from grader.checks.array import ArrayCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.assignment.draft import Draft


def flaws(draft: Draft, *, has_oracle: bool) -> Iterator[Flaw]:
    """All that does not fit together; ``has_oracle``: the reference that the file names has an oracle."""
    if isinstance(draft.submission, ProgramPart):
        yield from _arrays_without_an_oracle(draft, has_oracle=has_oracle)
    yield from _arrays_compared_twice(draft)


def _arrays_without_an_oracle(draft: Draft, *, has_oracle: bool) -> Iterator[Flaw]:
    for index, item in enumerate(draft.rubric):
        if has_oracle or item is None or item.CHECK is not ArrayCheck:
            continue
        if draft.reference is None:
            message = "an array is compared with what an oracle computes: expected a key `reference`"
        else:
            message = f"expected a file reference/{draft.reference}/oracle.py, which computes the array"
        yield Flaw(("rubric", index, "check"), message)


def _arrays_compared_twice(draft: Draft) -> Iterator[Flaw]:
    """A case has one comparison for each output."""
    owner: dict[tuple[str, str], int] = {}
    for index, item in enumerate(draft.rubric):
        check = item.as_check() if item else None
        if not isinstance(check, ArrayCheck):
            continue
        looked_at = {
            case.id
            for case in draft.cases
            if case and (not check.item.cases or {case.id, *case.tags} & set(check.item.cases))
        }
        pairs = [(case, check.output) for case in sorted(looked_at)]
        taken = next((pair for pair in pairs if pair in owner), None)
        if taken:
            message = f"`{check.output}` of case `{taken[0]}` is compared by rubric[{owner[taken]}] already"
            yield Flaw(("rubric", index, "output"), message)
        owner = dict.fromkeys(pairs, index) | owner
