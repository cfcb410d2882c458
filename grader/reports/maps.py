"""Where an output is wrong, drawn: a character for each element, or for a few rows and columns of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.compare import MAP_CHARACTERS

if TYPE_CHECKING:
    from grader.model import Finding

MEANINGS = ("right", "never written", "NaN", "wrong")
"""What the characters of a map stand for, in the order of `MAP_CHARACTERS`."""

UNICODE = "·○n█"
"""The same where a terminal can show them: shades are taken in at a glance."""


NEARLY_ALL = 0.95
"""Of a map: where one sort of wrong fills this share, there is no pattern to see."""


def says_something(finding: Finding) -> bool:
    """Whether there is a map, and not nearly everywhere the same sort of wrong."""
    drawn = "".join(finding.wrong_map)
    right = MAP_CHARACTERS[0]
    return len(set(drawn)) > 1 and all(
        drawn.count(character) < NEARLY_ALL * len(drawn) for character in set(drawn) - {right}
    )


def legend(finding: Finding, *, ascii_only: bool = False) -> str:
    """What a character stands for, of those that occur."""
    drawn = set("".join(finding.wrong_map))
    shown = zip(MAP_CHARACTERS, _signs(ascii_only=ascii_only), MEANINGS, strict=True)
    signs = ", ".join(f"{sign} {meaning}" for character, sign, meaning in shown if character in drawn)
    rows, columns = finding.map_cell
    cell = "" if (rows, columns) == (1, 1) else f"; each for {rows} × {columns} elements, the worst of them"
    array = finding.array or "the output"
    case = f" in case `{finding.case}`" if finding.case else ""
    return f"where {array} is wrong{case} ({signs}{cell}):"


def drawing(finding: Finding, *, ascii_only: bool = False) -> tuple[str, ...]:
    """The lines of the map."""
    signs = str.maketrans(MAP_CHARACTERS, _signs(ascii_only=ascii_only))
    return tuple(line.translate(signs) for line in finding.wrong_map)


def _signs(*, ascii_only: bool) -> str:
    return MAP_CHARACTERS if ascii_only else UNICODE
