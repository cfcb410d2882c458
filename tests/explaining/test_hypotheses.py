"""An operation is one folder: its hypotheses are asked, and its texts are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.base.errors import UsageError
from grader.explaining import NO_HYPOTHESES, WrongOutput, explain_output, fitting, load_hypotheses
from grader.grading.assignment.feedback import merged, mistakes_of, read_operation
from grader.model.mistakes import texts_of_course
from tests.references import MISTAKES, OPERATIONS, REFERENCE

if TYPE_CHECKING:
    from pathlib import Path

WANTED = np.arange(1.0, 41.0)

PREDICTIONS = """
NOT_A_MISTAKE = ("constant-factor",)

def predictions(output):
    yield "squared", output.wanted ** 2, None
"""

ONE = """
squared:
  title: squared
  explanation: "`{output}` holds squares"
  hint: leave out the product.
  concept: operation
"""


def wrong(got: np.ndarray[tuple[int], np.dtype[np.float64]]) -> WrongOutput:
    """A vector that should hold 1 to 40."""
    return WrongOutput("y", got, WANTED, 1e-9, np.zeros(WANTED.shape, np.bool_))


def folder(path: Path, hypotheses: str) -> Path:
    """An operation of its own."""
    (path / "hypotheses.py").write_text(hypotheses, encoding="utf-8")
    (path / "feedback.yaml").write_text(ONE, encoding="utf-8")
    return path


def test_an_operation_of_its_own_has_mistakes_with_texts_of_their_own(tmp_path: Path) -> None:
    """Nothing of it is in the grader; the pointer to a bundled concept is written out."""
    hypotheses = load_hypotheses(folder(tmp_path, PREDICTIONS))
    feedback, problems = read_operation(ONE.encode())
    diagnosis = explain_output(hypotheses, wrong(WANTED**2), feedback)
    assert not problems
    assert diagnosis is not None
    assert (diagnosis.mistake, diagnosis.explanation) == ("squared", "`y` holds squares")
    assert diagnosis.concept == "the definition of the operation in the hand-out"
    assert explain_output(NO_HYPOTHESES, wrong(WANTED**2), feedback) is None
    assert mistakes_of([tmp_path]) == {"squared"}


def test_what_an_operation_calls_no_mistake_is_not_named(tmp_path: Path) -> None:
    """All other likely mistakes are."""
    hypotheses = load_hypotheses(folder(tmp_path, PREDICTIONS))
    assert "constant-factor" in fitting(NO_HYPOTHESES, wrong(WANTED * 3))
    assert "constant-factor" not in fitting(hypotheses, wrong(WANTED * 3))
    assert "sign-flipped" in fitting(hypotheses, wrong(-WANTED))


def test_an_operation_may_decide_the_order_alone(tmp_path: Path) -> None:
    """With `candidates` nothing else is asked."""
    hypotheses = load_hypotheses(folder(tmp_path, "def candidates(output):\n    yield 'squared'\n"))
    assert list(fitting(hypotheses, wrong(-WANTED))) == ["squared"]


def test_hypotheses_that_cannot_be_loaded_are_the_staff_s_error(tmp_path: Path) -> None:
    """The file is named."""
    with pytest.raises(UsageError, match=r"hypotheses\.py: cannot be loaded: NameError"):
        load_hypotheses(folder(tmp_path, "nonsense\n"))


def test_a_new_mistake_needs_all_its_texts() -> None:
    """A bundled one may be reworded in part."""
    _, problems = read_operation(b"squared: {title: squared}\nno-store: {title: nothing}\n")
    ((_, path, message),) = problems
    assert path == "squared"
    assert message == (
        "`explanation` is missing; a mistake of this operation alone needs title, explanation, hint, concept"
    )


def test_the_course_s_text_of_an_operation_s_mistake_wins() -> None:
    """Field by field."""
    feedback, _ = read_operation(ONE.encode())
    mistake = texts_of_course(merged(feedback, (("squared", (("title", "zum Quadrat"),)),))).mistake(
        "squared"
    )
    assert (mistake.title, mistake.hint) == ("zum Quadrat", "leave out the product.")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_bundled_hypotheses_predict_mistakes_that_have_texts(operation: str) -> None:
    """Every id in an operation's feedback.yaml is one that its hypotheses name, and has all its texts."""
    source = (REFERENCE / operation / "hypotheses.py").read_text(encoding="utf-8")
    ids = mistakes_of([REFERENCE / operation])
    assert ids
    assert not [name for name in ids if f'"{name}"' not in source]
    assert ids <= MISTAKES.keys()
