"""From evidence to the named mistake that explains it.

`explain_output` compares a wrong array with what each named mistake would have produced; `explain_findings`
reads races and bad accesses; `advise` puts what they suggest into results. A hypothesis is only named where
it fits every element that it can predict. What is known of one operation lives in a file of its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.diagnosis import general, matmul
from grader.diagnosis.advice import line_advice, unneeded_barriers
from grader.diagnosis.facts import Diagnosis, Mistake, WrongOutput, agrees
from grader.diagnosis.findings import advise, explain_findings
from grader.diagnosis.mistakes import MISTAKES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "MISTAKES",
    "Diagnosis",
    "Mistake",
    "WrongOutput",
    "advise",
    "explain_findings",
    "explain_output",
    "line_advice",
    "unneeded_barriers",
]

OPERATIONS: dict[str, Callable[[WrongOutput], Iterator[matmul.Prediction]]] = {
    "matmul": matmul.predictions,
}
"""The name of a reference → its own hypotheses."""


def explain_output(operation: str, output: WrongOutput) -> Diagnosis | None:
    """The first mistake that would have produced exactly this array; None where no known one does.

    Certain patterns come first, then right numbers in wrong places, then the mistakes that are particular to
    ``operation`` (the assignment's `reference`; any other name has none), then what is merely likely.
    """
    mistake = next(_candidates(operation, output), None)
    return None if mistake is None else _named(mistake, output)


def _candidates(operation: str, output: WrongOutput) -> Iterator[str]:
    """The ids of all mistakes that fit."""
    if not output.wrong.any():
        return
    yield from (mistake for mistake, test in general.CERTAIN if test(output))
    for mistake, predicted in general.stored_elsewhere(output):
        if agrees(output, predicted):
            yield mistake
    for mistake, predicted, known in OPERATIONS.get(operation, _none)(output):
        if agrees(output, predicted, known):
            yield mistake
    yield from (mistake for mistake, test in general.LIKELY if test(output))


def _none(_: WrongOutput) -> Iterator[matmul.Prediction]:
    """An operation without hypotheses of its own."""
    return iter(())


def _named(mistake: str, output: WrongOutput) -> Diagnosis:
    """The mistake's texts with the names of this assignment."""
    found = MISTAKES[mistake]
    arrays = [name for name, array in output.inputs if array.ndim] or ["the input"]
    places = {
        "output": output.array,
        "a": arrays[0],
        "b": arrays[min(1, len(arrays) - 1)],
        "tile": next((name for name, _ in output.constants), "the tile size"),
    }
    return Diagnosis(
        mistake=mistake,
        title=found.title,
        explanation=found.explanation.format(**places),
        hint=found.hint.format(**places),
        concept=found.concept,
    )
