"""What can be said of a launch with pencil and paper: bytes, operations, blocks, occupancy, with the steps.

A *subject* is what a question is about: a matrix product by tiles (`matmul`), a launch over any extent
(`launch`), what a multiprocessor holds at once (`occupancy`), or bare numbers (`numbers`). Given its numbers
it has named *quantities*: a value, a unit and the worked explanation. The counters of the emulator agree
exactly with those of the same name. A *misconception* is the same model with one step done wrong: whoever
answers with its value has probably done just that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.analysis.launch import LAUNCH
from grader.analysis.matmul import MATMUL
from grader.analysis.occupancy import OCCUPANCY
from grader.analysis.subject import (
    MOST,
    AnalysisProblem,
    Definition,
    Misconception,
    Quantity,
    Subject,
    parameters,
    quantity_names,
    shown,
    study,
    value,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "MOST",
    "SUBJECTS",
    "AnalysisProblem",
    "Definition",
    "Misconception",
    "Quantity",
    "Subject",
    "parameters",
    "quantity_names",
    "shown",
    "study",
    "value",
]

NUMBERS = Subject(
    parameters={}, situation=lambda numbers: numbers, quantities={}, misconceptions=lambda _: ()
)
"""Bare numbers, called as the assignment likes."""

SUBJECTS: Mapping[str, Subject] = {
    "matmul": MATMUL,
    "launch": LAUNCH,
    "occupancy": OCCUPANCY,
    "numbers": NUMBERS,
}
"""Which subjects there are, by the names that assignments use."""
