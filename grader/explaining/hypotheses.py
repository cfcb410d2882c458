"""Predictions of an operation's mistakes: the staff's ``hypotheses.py``, and the order of asking.

``reference/<operation>/hypotheses.py`` is trusted code of the course, as the oracle beside it. It has

- ``predictions(output)``, which yields what mistakes of this operation would have left in a wrong output
  (`WrongOutput`, `Prediction`), the more specific first, or
- ``candidates(output)``, which yields the ids of all mistakes that fit, where the order of `candidates` here
  does not suit the operation;
- ``NOT_A_MISTAKE``, if it is there: ids of likely mistakes that are none in this operation.

A mistake that more than one operation can show has its texts in `grader.model.mistakes`; the texts of all
others are in ``reference/<operation>/feedback.yaml``.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from grader.base.errors import OurError
from grader.base.records import frozen
from grader.base.staff_code import TookTooLongError, line_of, load_module, running
from grader.explaining.facts import agrees
from grader.explaining.misplaced_values import (
    copied_input,
    misplaced_predictions,
    other_output,
    stored_elsewhere,
)
from grader.explaining.mistake import Rank
from grader.explaining.other_inputs import other_formulas, other_inputs
from grader.explaining.table import tests

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator
    from pathlib import Path

    from grader.explaining.facts import Prediction, Tests, WrongOutput

T = TypeVar("T")

FILE_NAME = "hypotheses.py"

CERTAIN, CLEAR, VAGUE = tests(Rank.CERTAIN), tests(Rank.LIKELY), tests(Rank.APPEARANCE)
SUGGESTED = tests(Rank.LIKELY, Rank.APPEARANCE)


@frozen
class Hypotheses:
    """The parts of one ``hypotheses.py``; an operation without the file has none of them."""

    predictions: Callable[[WrongOutput], Iterator[Prediction]] | None = None
    candidates: Callable[[WrongOutput], Iterator[str]] | None = None
    not_a_mistake: tuple[str, ...] = ()


NO_HYPOTHESES = Hypotheses()


@cache
def load_hypotheses(folder: Path) -> Hypotheses:
    """The hypotheses of the operation whose reference is ``folder``, once for each folder.

    Raises:
        UsageError: the file cannot be loaded.

    """
    file = folder / FILE_NAME
    if not file.is_file():
        return NO_HYPOTHESES
    module = load_module(file)
    return Hypotheses(
        _watched(file, getattr(module, "predictions", None)),
        _watched(file, getattr(module, "candidates", None)),
        tuple(getattr(module, "NOT_A_MISTAKE", ())),
    )


def _watched(
    file: Path, function: Callable[[WrongOutput], Iterable[T]] | None
) -> Callable[[WrongOutput], Iterator[T]] | None:
    """The function, if it is there, run as the staff's code is; one that does not end raises OurError."""
    if function is None:
        return None

    def watched(output: WrongOutput) -> Iterator[T]:
        code = f"`{function.__name__}` ({file})"
        try:
            with running(code):
                results = iter(function(output))
            while True:
                with running(code):
                    result = next(results, _END)
                if isinstance(result, _End):
                    return
                yield result
        except TookTooLongError as problem:
            raise OurError(f"{line_of(problem, file)}: {code} was stopped") from None

    return watched


class _End:
    """End marker behind the last result."""


_END = _End()


def candidates(hypotheses: Hypotheses, output: WrongOutput) -> Iterator[str]:
    """The ids of all mistakes that fit a wrong output, the surest first.

    Certain patterns come first, then right numbers in wrong places, then the mistakes of the operation, then
    what would be right for other inputs, then what is merely likely.
    """
    if hypotheses.candidates:
        yield from hypotheses.candidates(output)
        return
    of_operation = (hypotheses.predictions,) if hypotheses.predictions else ()
    without = hypotheses.not_a_mistake
    sure = [*certain(output)]
    sure += foreseen(
        output, copied_input, stored_elsewhere, other_output, *of_operation, misplaced_predictions
    )
    sure += [mistake for mistake in foreseen(output, other_inputs) if mistake not in without]
    sure += passing(CLEAR, output, without)
    yield from sure
    if not sure:  # a mutant says what is right of the wrong formula, which may be the same as any of these
        yield from foreseen(output, other_formulas)
    yield from passing(VAGUE, output, without)


def certain(output: WrongOutput) -> Iterator[str]:
    """The mistakes that look like no others, whatever the operation."""
    return passing(CERTAIN, output)


def foreseen(
    output: WrongOutput, *hypotheses: Callable[[WrongOutput], Iterator[Prediction]]
) -> Iterator[str]:
    """The mistakes whose prediction agrees with the output, hypothesis by hypothesis."""
    for predictions in hypotheses:
        for mistake, predicted, mask in predictions(output):
            if agrees(output, predicted, mask):
                yield mistake


def likely(output: WrongOutput, without: Container[str] = ()) -> Iterator[str]:
    """The mistakes that an output suggests, whatever the operation."""
    return passing(SUGGESTED, output, without)


def passing(tests: Tests, output: WrongOutput, without: Container[str] = ()) -> Iterator[str]:
    """The mistakes whose test the output passes, ``without`` some that are not asked about."""
    for mistake, test in tests:
        if mistake in without:
            continue
        with np.errstate(all="ignore"):  # of infinities no difference is a number
            passes = test(output)
        if passes:
            yield mistake
