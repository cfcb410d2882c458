"""The oracle's answers for other inputs: a help for explaining, which costs little and disturbs no one."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.explaining.other_answers import OtherAnswers
from grader.grading.oracle import load_oracle
from grader.model import Case, Visibility

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ORACLE = """
import sys
import warnings

KINDS = ("drawn",)

def inputs(kind, shape, rng):
    return {"x": rng.uniform(1, 2, shape["N"])}

def expected(inputs, shape):
    x = inputs["x"]
    print("asked"), print("asked", file=sys.stderr), warnings.warn("asked")
    while not x.any():
        pass
    if (x < 0).any():
        raise ValueError("negative")
    return {"y": (2 * x, 0.0)}
"""


@pytest.fixture
def answers(tmp_path: Path) -> Callable[..., OtherAnswers]:
    """Answers of an oracle that was written for positive numbers, and prints."""
    (tmp_path / "oracle.py").write_text(ORACLE)
    case = Case("c", (("N", 3),), (), Visibility.VISIBLE, "drawn", 0)
    return lambda **fields: OtherAnswers(load_oracle(tmp_path), case, "y", **fields)


def test_an_answer_is_what_the_oracle_expects(answers: Callable[..., OtherAnswers]) -> None:
    """Of the inputs that it is given, which stay as they are."""
    x = np.array([1.0, 2.0, 3.0])
    got = answers()({"x": x})
    assert got is not None
    assert got.tolist() == [2, 4, 6]
    assert x.flags.writeable


def test_an_oracle_that_fails_or_prints_disturbs_no_one(
    answers: Callable[..., OtherAnswers], capsys: pytest.CaptureFixture[str]
) -> None:
    """It is asked a hundred times for answers that no one reads."""
    with warnings.catch_warnings(action="always", record=True) as warned:
        assert answers()({"x": np.array([-1.0])}) is None
        assert answers()({"x": np.array([1.0])}) is not None
    assert not warned
    assert capsys.readouterr() == ("", "")


def test_an_oracle_that_never_ends_with_other_inputs_is_asked_no_more(
    answers: Callable[..., OtherAnswers],
) -> None:
    """Such as one that follows links, or goes on until nothing changes."""
    asked, began = answers(seconds_left=0.2), time.monotonic()
    assert asked({"x": np.zeros(3)}) is None
    assert asked({"x": np.ones(3)}) is None
    assert time.monotonic() - began < 2


def test_all_questions_together_have_a_limit(answers: Callable[..., OtherAnswers]) -> None:
    """Also where each of them is answered."""
    asked = answers(seconds_left=1e-9)
    asked({"x": np.ones(3)})
    assert asked.seconds_left < 0
    assert asked({"x": np.ones(3)}) is None
