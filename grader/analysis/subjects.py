"""Which subjects there are, by the names that assignments use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.analysis.launch import LAUNCH
from grader.analysis.matmul import MATMUL
from grader.analysis.occupancy import OCCUPANCY
from grader.analysis.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Mapping

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
