"""Subjects of questions, by the names that assignments use."""

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
