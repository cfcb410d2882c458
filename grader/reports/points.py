"""Points are exact fractions; people see at most two decimals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

    from grader.model import Grade


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


def score(grade: Grade) -> str:
    """``75 of 90 points``."""
    return f"{shown(grade.score)} of {counted(grade.max_score)}"
