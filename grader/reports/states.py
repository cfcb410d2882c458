"""What became of a rubric item, told apart further than by its verdict: each has a mark and a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.messages import text_of
from grader.model import Verdict

if TYPE_CHECKING:
    from grader.model import ItemGrade


class State(NamedTuple):
    """A mark, the name of its word, and the class that gives a page its colour."""

    mark: str
    key: str
    name: str

    @property
    def word(self) -> str:
        """The word, in the language of the report."""
        return text_of(self.key)


PASSED = State("✓", "state-passed", "pass")
PARTLY = State("◐", "state-partly", "partly")
FAILED = State("✗", "state-failed", "fail")
WAITING = State("○", "state-waiting", "waiting")
"""It earns nothing as long as something else fails, and nobody knows more of it: no cross."""
NEEDS_GPU = State("◇", "state-gpu", "gpu")
SKIPPED = State("–", "state-skipped", "skip")
OURS = State("!", "state-error", "error")


def state_of(item: ItemGrade) -> State:
    """Give the state of an item."""
    result = item.result
    if result.verdict is Verdict.FAIL:
        if not result.judged:
            return WAITING
        return PARTLY if 0 < result.fraction < 1 else FAILED
    if result.verdict is Verdict.SKIP:
        return NEEDS_GPU if result.needs_gpu else SKIPPED
    return PASSED if result.verdict is Verdict.PASS else OURS
