"""From evidence to the named mistake that explains it.

`explain_output` compares a wrong array with what each named mistake would have produced; `explain_findings`
reads races and bad accesses; `advise` puts what they suggest into results. A hypothesis is only named where
it fits every element that it can predict. What is known of one operation lives in a file of its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.diagnosis import convolution, elementwise, general, matmul, moved, scans, sums
from grader.diagnosis.advice import line_advice, unneeded_barriers
from grader.diagnosis.agreement import agreed, described, telling
from grader.diagnosis.facts import Diagnosis, Prediction, WrongOutput, agrees
from grader.diagnosis.findings import advise, explain_findings
from grader.diagnosis.first import first_cause
from grader.diagnosis.surroundings import Surroundings, surroundings
from grader.mistakes import MISTAKES, Mistake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.model import Named

__all__ = [
    "MISTAKES",
    "Diagnosis",
    "Mistake",
    "Surroundings",
    "WrongOutput",
    "advise",
    "agreed",
    "explain_findings",
    "explain_output",
    "first_cause",
    "fitting",
    "line_advice",
    "surroundings",
    "telling",
    "unneeded_barriers",
]

OPERATIONS: dict[str, Callable[[WrongOutput], Iterator[Prediction]]] = {
    "matmul": matmul.predictions,
    "reduction": sums.reduction,
    "scan": scans.scan,
    "inclusive-scan": scans.scan,
    "convolution": convolution.predictions,
    "convolution-2d": convolution.predictions,
    "vector-add": elementwise.predictions,
    "transpose": general.turned,
}
"""The name of a reference → its own hypotheses."""


NO_MISTAKES_OF = {"transpose": ("block-indices-swapped", "rows-and-columns-swapped")}
"""What an operation has to do, and is no mistake there: to exchange rows and columns on the way."""

IN_VECTORS = {
    "edge-not-written": "tail-not-written",
    "edge-wrong": "tail-wrong",
    "first-block-only": "first-block-of-vector",
    "some-blocks": "some-blocks-of-vector",
}
"""What mistakes are called where there are no rows and columns."""


def explain_output(operation: str, output: WrongOutput, feedback: Named[Named[str]] = ()) -> Diagnosis | None:
    """The first mistake that would have produced exactly this array; None where no known one does.

    Certain patterns come first, then right numbers in wrong places, then the mistakes that are particular to
    ``operation`` (the assignment's `reference`; any other name has none), then what is merely likely.
    ``feedback`` is what the staff say of mistakes (`grader.model.Assignment`).
    """
    mistake = next(_candidates(operation, output), None)
    if mistake is None:
        return None
    inputs = tuple(name for name, array in output.inputs if array.ndim)
    return described(_in_vectors(mistake, output), output.array, inputs, output.constants, feedback)


def fitting(operation: str, output: WrongOutput) -> tuple[str, ...]:
    """The ids of all mistakes that would have produced this array, in the order of `explain_output`."""
    return tuple(dict.fromkeys(_in_vectors(each, output) for each in _candidates(operation, output)))


def _in_vectors(mistake: str, output: WrongOutput) -> str:
    return IN_VECTORS.get(mistake, mistake) if output.got.ndim <= 1 else mistake


def _candidates(operation: str, output: WrongOutput) -> Iterator[str]:
    """The ids of all mistakes that fit."""
    if not output.wrong.any():
        return
    if operation == "reduction":
        yield from sums.less_than_a_round(output)
    yield from (mistake for mistake, test in general.CERTAIN if test(output))
    if operation == "histogram":
        yield from _of_counts(output)
        return
    own = OPERATIONS.get(operation, _none)
    yield from _foreseen(output, moved.copied, general.stored_elsewhere, own, moved.predictions)
    left_out = NO_MISTAKES_OF.get(operation, ())
    if operation == "reduction":
        yield from sums.too_many_or_few(output)
    likely = (each for each in (*moved.CERTAIN, *general.LIKELY) if each[0] not in left_out)
    yield from (mistake for mistake, test in likely if test(output))


def _foreseen(
    output: WrongOutput, *hypotheses: Callable[[WrongOutput], Iterator[Prediction]]
) -> Iterator[str]:
    """The mistakes whose prediction agrees with the output, hypothesis by hypothesis."""
    for predictions in hypotheses:
        for mistake, predicted, known in predictions(output):
            if agrees(output, predicted, known):
                yield mistake


def _of_counts(output: WrongOutput) -> Iterator[str]:
    """The mistakes of a histogram: a bin belongs to no thread and no block, any of them may count in it."""
    yield from (mistake for mistake, test in sums.OF_BINS if test(output))
    yield from _foreseen(output, sums.histogram, moved.predictions)
    yield from (mistake for mistake, test in sums.TOO_MANY if test(output))
    if sums.too_few(output):
        yield "updates-lost" if output.raced else "values-not-counted"


def _none(_: WrongOutput) -> Iterator[Prediction]:
    """An operation without hypotheses of its own."""
    return iter(())
