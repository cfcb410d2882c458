"""How verdicts and points are written: `✗ fail`, `8.33 of 15`.

Points are exact fractions, of which people see at most two decimals. A verdict has a mark, a word beside it
and a colour that neither depends on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.model import Verdict

if TYPE_CHECKING:
    from fractions import Fraction

    from grader.model import CheckResult, Grade, ItemGrade


def number(points: Fraction) -> int | float:
    """Round to two decimals; whole points are an ``int``."""
    rounded = round(points, 2)
    return int(rounded) if rounded.denominator == 1 else float(rounded)


def shown(points: Fraction) -> str:
    """Write points as people do: ``15``, ``8.33``."""
    return str(number(points))


def counted(points: Fraction) -> str:
    """``1 point``, ``8.33 points``."""
    return f"{shown(points)} {'point' if points == 1 else 'points'}"


def signed(points: Fraction) -> str:
    """Write points that are added or taken off: ``+5``, ``−10``, ``0``."""
    rounded = number(points)
    return f"{'+' if rounded > 0 else '−' if rounded < 0 else ''}{abs(rounded)}"


def of_item(item: ItemGrade) -> str:
    """``5 of 10``, ``+5 of +10`` (extra credit), ``−10 of −10`` (a penalty); a dash where not judged."""
    judged = item.result.verdict in {Verdict.PASS, Verdict.FAIL} and item.result.judged
    most = shown(item.max_points)
    if item.result.item.penalty:
        return f"{signed(item.points) if judged else '–'} of −{most}"
    if item.result.item.extra:
        return f"{signed(item.points) if judged else '–'} of +{most}"
    return f"{shown(item.points) if judged else '–'} of {most}"


def score(grade: Grade) -> str:
    """``75 of 90 points``."""
    return f"{shown(grade.score)} of {counted(grade.max_score)}"


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
