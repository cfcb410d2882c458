"""How a verdict looks: a mark, a word beside it, and a colour that neither depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.model import Verdict

if TYPE_CHECKING:
    from grader.model import CheckResult

MARKS = {Verdict.PASS: "✓", Verdict.FAIL: "✗", Verdict.SKIP: "–", Verdict.ERROR: "!"}
STYLES = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.SKIP: "yellow", Verdict.ERROR: "magenta"}
WORDS = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.SKIP: "skip",
    Verdict.ERROR: "error",
}


class Look(NamedTuple):
    """The mark and the word of an item's outcome, the colour of a terminal and the class of a page."""

    mark: str
    word: str
    style: str
    name: str


NOT_JUDGED = Look("○", "not judged", "yellow", "skip")
"""A state of its own: it earns nothing as long as something else fails, and nobody knows more of it."""


def look(result: CheckResult) -> Look:
    """How the outcome of an item looks."""
    verdict = result.verdict
    if verdict is Verdict.FAIL and not result.judged:
        return NOT_JUDGED
    return Look(MARKS[verdict], WORDS[verdict], STYLES[verdict], verdict.value)
