"""What can be said of a launch with pencil and paper: bytes, operations, blocks, occupancy, with the steps.

A *subject* is what a question is about: a matrix product by tiles (`matmul`), a launch over any extent
(`launch`), what a multiprocessor holds at once (`occupancy`), or bare numbers (`numbers`). Given its numbers
it has named *quantities*: a value, a unit and the worked explanation. The counters of the emulator agree
exactly with those of the same name. A *misconception* is the same model with one step done wrong: whoever
answers with its value has probably done just that.
"""

from __future__ import annotations

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
from grader.analysis.subjects import SUBJECTS

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
