"""The texts at the leaves of an assignment that asks questions."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from grader.analysis import MOST
from grader.assignment.fields import text

MOST_TEXT = 1000
"""Characters of a question."""

LONGEST_UNIT = 30
_NUMBER = r"[0-9]{1,9}"
_EXPECTED = "a whole number, a range like 40..160, or a choice like `8 | 16 | 32`"


def _numbers(value: object) -> tuple[int, int, tuple[int, ...]]:
    """The lowest, the highest and, of a choice, all the numbers there are."""
    found = text(value, _EXPECTED)
    choices = [part.strip() for part in found.split("|")]
    ends = [part.strip() for part in found.split("..")]
    parts = choices if len(choices) > 1 else ends
    if len(ends) > 2 or not all(re.fullmatch(_NUMBER, part) for part in parts):  # noqa: PLR2004 - two ends
        raise ValueError(f"expected {_EXPECTED}, found `{found[:60]}`")
    numbers = tuple(map(int, parts))
    if max(numbers) > MOST:
        raise ValueError(f"expected at most {MOST}, found `{found}`")
    if len(choices) > 1:
        return min(numbers), max(numbers), numbers
    if numbers[0] > numbers[-1]:
        raise ValueError(f"expected the lower end first, found `{found}`")
    return numbers[0], numbers[-1], ()


def _question(value: object) -> str:
    found = text(value, "a question")
    if any(not character.isprintable() and character != "\n" for character in found):
        raise ValueError("expected a text without control characters")
    if len(found) > MOST_TEXT:
        raise ValueError(f"expected at most {MOST_TEXT} characters, found {len(found)}")
    return found


def _unit(value: object) -> str:
    found = text(value, "a unit such as bytes")
    if not found.isprintable() or len(found) > LONGEST_UNIT or re.search(r"\d", found):
        raise ValueError("expected a unit such as bytes, without digits")
    return found


def _seed(value: object) -> int:
    found = text(value, "a whole number")
    if not re.fullmatch(r"[0-9]{1,9}", found):
        raise ValueError(f"expected a whole number of at most nine digits, found `{found[:60]}`")
    return int(found)


Numbers = Annotated[
    tuple[int, int, tuple[int, ...]],
    PlainValidator(_numbers),
    WithJsonSchema(
        {
            "type": ["integer", "string"],
            "description": "a number, or what is drawn for each student: a range 40..160, a choice 8 | 16",
        }
    ),
]
QuestionText = Annotated[
    str,
    PlainValidator(_question),
    WithJsonSchema(
        {"type": "string", "description": "text for people; {M} stands for a number of the setting"}
    ),
]
Unit = Annotated[
    str, PlainValidator(_unit), WithJsonSchema({"type": "string", "description": "bytes, flop, %, blocks …"})
]
Seed = Annotated[int, PlainValidator(_seed), WithJsonSchema({"type": "integer", "minimum": 0})]
