"""Whether a few wrong elements are what a mistake makes of them, or only happen to be near."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.diagnosis.facts import WHOLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.diagnosis.facts import WrongOutput


def is_no_accident(output: WrongOutput, predicted: NDArray[Any]) -> bool:
    """Whether few wrong elements are so close to a prediction that no other one would have come as close.

    Bounds are for the worst order of summation: who makes the predicted mistake is mostly far closer.
    """
    wrong = output.wrong
    got, foreseen = output.values[wrong], np.asarray(predicted, np.float64)[wrong]
    if output.is_exact:
        close = np.full(got.shape, WHOLE)
    else:
        unit = float(np.finfo(output.got.dtype).eps) if output.got.dtype.kind == "f" else 0.0
        close = output.bounds[wrong] / CLOSER + CLOSER * unit * np.abs(foreseen)
    with np.errstate(all="ignore"):
        away = np.abs(got - output.wanted[wrong]) / close
        return bool((np.abs(got - foreseen) <= close).all() and np.prod(away) >= MANY_OTHERS)


CLOSER = 8
"""Which part of its bound an element is off at most, and by how many roundings of itself besides."""

MANY_OTHERS = 1e4
"""How many numbers the wrong elements could be that are as far from the right ones."""
