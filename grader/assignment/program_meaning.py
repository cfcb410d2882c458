"""What must hold between the parts of an assignment of kind ``program``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.assignment.document import Flaw
from grader.assignment.program_rubric import ArrayItem, TextItem
from grader.assignment.structure import ProgramPart
from grader.assignment.wanted import STREAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.assignment.draft import Draft


def flaws(draft: Draft, *, has_oracle: bool) -> Iterator[Flaw]:
    """All that does not fit together; ``has_oracle``: the reference that the file names has an oracle."""
    if isinstance(draft.submission, ProgramPart):
        yield from _arrays_without_an_oracle(draft, has_oracle=has_oracle)
    yield from _arrays_compared_twice(draft)
    yield from _numbers(draft)


def _arrays_without_an_oracle(draft: Draft, *, has_oracle: bool) -> Iterator[Flaw]:
    for index, item in enumerate(draft.rubric):
        if not isinstance(item, ArrayItem) or has_oracle:
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
        if not isinstance(item, ArrayItem):
            continue
        looked_at = {
            case.id
            for case in draft.cases
            if case and (not item.cases or {case.id, *case.tags} & set(item.cases))
        }
        pairs = [(case, item.output) for case in sorted(looked_at)]
        taken = next((pair for pair in pairs if pair in owner), None)
        if taken:
            message = f"`{item.output}` of case `{taken[0]}` is compared by rubric[{owner[taken]}] already"
            yield Flaw(("rubric", index, "output"), message)
        owner = dict.fromkeys(pairs, index) | owner


def _numbers(draft: Draft) -> Iterator[Flaw]:
    for index, item in enumerate(draft.rubric):
        if not isinstance(item, TextItem):
            continue
        if item.of.casefold() in STREAMS and item.of not in STREAMS:
            yield Flaw(("rubric", index, "of"), f"expected `{item.of.casefold()}`, in lower case")
        seen: dict[tuple[str, int], int] = {}
        for place, number in enumerate(item.numbers or ()):
            path = ("rubric", index, "numbers", place)
            if number.within.relative and number.value == 0:
                message = "expected an absolute number, like 0.001: any share of 0 is 0"
                yield Flaw((*path, "within"), message)
            where = (number.after, number.nth)
            if where in seen:
                message = f"numbers[{seen[where]}] looks at the same place; say `nth: 2` for the next number"
                yield Flaw((*path, "after"), message)
            seen.setdefault(where, place)
