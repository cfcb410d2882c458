"""Hypotheses for an operation on two arrays element by element: the other operators, one operand twice."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.explaining.facts import Prediction, WrongOutput

PAIR = 2
OPERATORS = (operator.add, operator.sub, operator.mul)


def predictions(output: WrongOutput) -> Iterator[Prediction]:
    """Results of the two inputs of the output's shape with another operator, or of one with itself."""
    arrays = [np.asarray(a, np.float64) for _, a in output.inputs if a.shape == output.got.shape]
    if len(arrays) != PAIR:
        return
    a, b = arrays
    slack = output.tolerance(output.wanted)
    for rule in OPERATORS:
        if (np.abs(rule(a, b) - output.wanted) <= slack).all():
            yield "operand-twice", rule(a, a), None
            yield "operand-twice", rule(b, b), None
    for predicted in (a + b, a - b, b - a, a * b):
        yield "another-operator", predicted, None
