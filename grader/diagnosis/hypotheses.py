"""What an operation's mistakes make of its inputs: the staff's ``hypotheses.py``, and the order of asking.

``reference/<operation>/hypotheses.py`` is trusted code of the course, as the oracle beside it. It has

- ``predictions(output)``, which yields what mistakes of this operation would have left in a wrong output
  (`WrongOutput`, `Prediction`), the more specific first, or
- ``candidates(output)``, which yields the ids of all mistakes that fit, where the order of `candidates` here
  does not suit the operation;
- ``NOT_A_MISTAKE``, if it is there: ids of likely mistakes that are none in this operation.

A mistake that more than one operation can show has its texts in `grader.mistakes`; the texts of all others
are in ``reference/<operation>/feedback.yaml``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from grader.diagnosis.facts import agrees
from grader.diagnosis.general import (
    CERTAIN_TESTS,
    LIKELY_TESTS,
    PATTERNS,
    THREAD_TESTS,
)
from grader.diagnosis.moved import copied_input, moved_predictions, other_output, stored_elsewhere
from grader.diagnosis.other_inputs import other_formulas, other_inputs
from grader.errors import OurError
from grader.staff_code import TookTooLongError, line_of, load_module, running

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator
    from pathlib import Path

    from grader.diagnosis.facts import Prediction, Tests, WrongOutput

T = TypeVar("T")

WEAK = frozenset(
    {
        *("imprecise", "all-the-same", "every-second", "border-wrong", "edge-wrong", "block-borders-wrong"),
        *("parts-reversed", "numbers-misplaced", "numbers-twice", "numbers-from-elsewhere"),
        *(mistake for mistake, _ in PATTERNS),
        *("values-exchanged", "counted-elsewhere", "counted-more-than-once", "values-not-counted"),
        *("partial-blocks-wrong", "some-blocks", "partly-unwritten", "whole-numbers", "added-in-float"),
    }
)
"""Likely mistakes that only say what the output looks like: another formula explains it better."""

FILE_NAME = "hypotheses.py"


@dataclass(frozen=True, slots=True)
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
    """What stands behind the last result."""


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
    sure += foreseen(output, copied_input, stored_elsewhere, other_output, *of_operation, moved_predictions)
    sure += [mistake for mistake in foreseen(output, other_inputs) if mistake not in without]
    suggested = [*likely(output, without)]
    sure += [mistake for mistake in suggested if mistake not in WEAK]
    yield from sure
    if not sure:  # a mutant says what is right of the wrong formula, which may be the same as any of these
        yield from foreseen(output, other_formulas)
    yield from (mistake for mistake in suggested if mistake in WEAK)


def certain(output: WrongOutput) -> Iterator[str]:
    """The mistakes that look like no others, whatever the operation."""
    return passing(CERTAIN_TESTS, output)


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
    tests = (*THREAD_TESTS, *LIKELY_TESTS)
    return passing(tuple(test for test in tests if test[0] not in without), output)


def passing(tests: Tests, output: WrongOutput) -> Iterator[str]:
    """The mistakes whose test the output passes."""
    for mistake, test in tests:
        with np.errstate(all="ignore"):  # of infinities no difference is a number
            passes = test(output)
        if passes:
            yield mistake
