"""Pencil-and-paper analysis of a launch: bytes, operations, blocks, occupancy, with the steps.

A *subject* is the topic of a question: a matrix product by tiles (`matmul`), a launch over any extent
(`launch`), the blocks that a multiprocessor holds at once (`occupancy`), or bare numbers (`numbers`). Given
its numbers it has named *quantities*: a value, a unit and the worked explanation. The counters of the
emulator agree exactly with those of the same name. A *misconception* is the same model with one step done
wrong: a student who answers with its value has probably made that mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.simulation.analysis.launch import LAUNCH
from grader.simulation.analysis.matmul import MATMUL
from grader.simulation.analysis.occupancy import OCCUPANCY
from grader.simulation.analysis.subject import (
    MOST,
    AnalysisProblem,
    Definition,
    Misconception,
    Quantity,
    Subject,
    number_text,
    parameters,
    quantity_names,
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
    "number_text",
    "parameters",
    "quantity_names",
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
"""Subjects by the names that assignments use."""
