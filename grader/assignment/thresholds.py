"""Speedups to be reached and shares of the points, as staff write them.

A threshold is a number (``1.25``) or a share of what the model solution reaches on the same device
(``0.9 of solution``).
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from grader.assignment.fields import text
from grader.model import Threshold

_NUMBER = r"[0-9]{1,6}(?:\.[0-9]{1,9})?"
_THRESHOLD = re.compile(rf"({_NUMBER})(\s+of\s+solution)?")
_EXPECTED = "a number such as 1.25 or a share such as `0.9 of solution`"

LEAST_BUDGET, MOST_BUDGET = 0.1, 10.0
"""Seconds of a GPU for one submission's timed launches."""


def _threshold(value: object) -> Threshold:
    found = text(value, _EXPECTED)
    match = _THRESHOLD.fullmatch(found)
    if not match:
        raise ValueError(f"expected {_EXPECTED}, found `{found[:60]}`")
    number = Fraction(match.group(1))
    return Threshold(of_solution=number) if match.group(2) else Threshold(fixed=number)


def _credit(value: object) -> Fraction:
    expected = "a share of the points above 0 and at most 1, like 0.25"
    found = text(value, expected)
    if not re.fullmatch(_NUMBER, found) or not 0 < Fraction(found) <= 1:
        raise ValueError(f"expected {expected}, found `{found[:60]}`")
    return Fraction(found)


def _budget(value: object) -> float:
    expected = f"a number of seconds from {LEAST_BUDGET:g} to {MOST_BUDGET:g}"
    found = text(value, expected)
    if not re.fullmatch(_NUMBER, found) or not LEAST_BUDGET <= float(found) <= MOST_BUDGET:
        raise ValueError(f"expected {expected}, found `{found[:60]}`")
    return float(found)


Speedup = Annotated[
    Threshold,
    PlainValidator(_threshold),
    WithJsonSchema(
        {
            "type": ["number", "string"],
            "minimum": 0,
            "pattern": rf"^{_NUMBER}\s+of\s+solution$",
            "description": "how many times as fast as the baseline (1.25), or a share of how many times as "
            "fast the model solution is on the same device (0.9 of solution)",
        }
    ),
]
Credit = Annotated[
    Fraction,
    PlainValidator(_credit),
    WithJsonSchema(
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "description": "share of the points"}
    ),
]
Budget = Annotated[
    float,
    PlainValidator(_budget),
    WithJsonSchema(
        {
            "type": "number",
            "minimum": LEAST_BUDGET,
            "maximum": MOST_BUDGET,
            "description": "seconds of timed launches, at most; what is open then counts for the student",
        }
    ),
]
