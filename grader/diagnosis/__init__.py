"""From evidence to the named mistake that explains it.

`explain_output` compares a wrong array with what each named mistake would have produced; `explain_findings`
reads races and bad accesses; `advise` puts what they suggest into results. A hypothesis is only named where
it fits every element that it can predict. What is particular to one operation is in its folder of references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.diagnosis.advice import line_advice, unneeded_barriers
from grader.diagnosis.agreement import (
    StillPossible,
    agree_on_mistakes,
    can_tell_mistakes_apart,
    describe_mistake,
)
from grader.diagnosis.causes import SubmissionContext, context_of_submission
from grader.diagnosis.facts import Diagnosis, WrongOutput
from grader.diagnosis.findings import advise, explain_findings
from grader.diagnosis.first_cause import first_cause
from grader.diagnosis.hypotheses import NO_HYPOTHESES, Hypotheses, candidates, load_hypotheses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.model import Named

__all__ = [
    "NO_HYPOTHESES",
    "Diagnosis",
    "Hypotheses",
    "StillPossible",
    "SubmissionContext",
    "WrongOutput",
    "advise",
    "agree_on_mistakes",
    "can_tell_mistakes_apart",
    "context_of_submission",
    "explain_findings",
    "explain_output",
    "first_cause",
    "fitting",
    "line_advice",
    "load_hypotheses",
    "unneeded_barriers",
]

IN_VECTORS = {
    "edge-not-written": "tail-not-written",
    "edge-wrong": "tail-wrong",
    "first-block-only": "first-block-of-vector",
    "some-blocks": "some-blocks-of-vector",
}
"""What mistakes are called where there are no rows and columns."""


def explain_output(
    hypotheses: Hypotheses, output: WrongOutput, feedback: Named[Named[str]] = ()
) -> Diagnosis | None:
    """The first mistake that would have produced exactly this array; None where none does.

    ``hypotheses`` are those of the assignment's operation, ``feedback`` the texts of its mistakes
    (`grader.model.Assignment`).
    """
    mistake = next(iter(fitting(hypotheses, output)), None)
    if mistake is None:
        return None
    inputs = tuple(name for name, array in output.inputs if array.ndim)
    return describe_mistake(mistake, output.array, inputs, output.constants, feedback)


def fitting(hypotheses: Hypotheses, output: WrongOutput) -> Iterator[str]:
    """The ids of all mistakes that would have produced this array, each once, the surest first."""
    if not output.wrong.any():
        return
    seen = set()
    for mistake in candidates(hypotheses, output):
        name = IN_VECTORS.get(mistake, mistake) if output.got.ndim <= 1 else mistake
        if name not in seen:
            seen.add(name)
            yield name
