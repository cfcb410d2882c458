"""The bundled operations' hypotheses and texts, and every mistake that has a name."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from grader.explaining import Diagnosis, Hypotheses, WrongOutput, explain_output, load_hypotheses
from grader.grading.assignment.feedback import FILE_NAME, merged, read_operation
from grader.model.mistakes import MistakeTexts, bundled_texts

if TYPE_CHECKING:
    from grader.model import Named

REFERENCE = Path(__file__).resolve().parents[1] / "reference"


def hypotheses(operation: str) -> Hypotheses:
    """Those of an operation; none for a name that no folder has."""
    return load_hypotheses(REFERENCE / operation)


@cache
def texts_of(operation: str) -> Named[Named[str]]:
    """The texts of an operation's own mistakes."""
    file = REFERENCE / operation / FILE_NAME
    texts, problems = read_operation(file.read_bytes()) if file.is_file() else ((), [])
    assert not problems
    return texts


OPERATIONS = tuple(sorted(file.parent.name for file in REFERENCE.glob(f"*/{FILE_NAME}")))

TEXTS: Named[Named[str]] = ()
for _operation in OPERATIONS:
    TEXTS = merged(TEXTS, texts_of(_operation))

MISTAKES: dict[str, MistakeTexts] = bundled_texts().mistakes | {
    name: MistakeTexts(**dict(fields)) for name, fields in TEXTS
}
"""All mistakes by id, those of operations included."""


def explained(operation: str, output: WrongOutput) -> Diagnosis | None:
    """The mistake of an operation that explains an output."""
    return explain_output(hypotheses(operation), output, texts_of(operation))
