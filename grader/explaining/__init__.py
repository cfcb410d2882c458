"""From evidence to the named mistake that explains it.

`explain_output` compares a wrong array with what each named mistake would have produced; `explain_findings`
reads races and bad accesses; `advise` puts what they suggest into results. A hypothesis is only named where
it fits every element that it can predict. What is particular to one operation is in its folder of references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.explaining.advice import line_advice, unneeded_barriers
from grader.explaining.agreement import (
    StillPossible,
    agree_on_mistakes,
    can_tell_mistakes_apart,
    describe_mistake,
)
from grader.explaining.causes import SubmissionContext, context_of_submission
from grader.explaining.facts import Diagnosis, WrongOutput
from grader.explaining.findings import advise, explain_findings
from grader.explaining.first_cause import first_cause
from grader.explaining.hypotheses import NO_HYPOTHESES, Hypotheses, candidates, load_hypotheses
from grader.explaining.table import in_vectors

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
        name = in_vectors(mistake) if output.got.ndim <= 1 else mistake
        if name not in seen:
            seen.add(name)
            yield name
