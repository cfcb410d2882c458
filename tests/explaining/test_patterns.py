"""The places where an output is wrong are reported when the cause is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.explaining import NO_HYPOTHESES, WrongOutput, fitting
from grader.explaining.patterns import some_rows_wrong, wrong_from_there_on
from grader.model.mistakes import texts_of_course

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

DRAWN = np.random.default_rng(6)
RIGHT = DRAWN.uniform(1, 2, (20, 30))
OTHER = DRAWN.uniform(5, 9, (20, 30))
ROW: Array = np.indices(RIGHT.shape)[0]
COLUMN: Array = np.indices(RIGHT.shape)[1]


def wrong_where(mask: Array, other: Array = OTHER, **fields: Any) -> WrongOutput:  # noqa: ANN401
    """An output with other numbers in some places."""
    right, others = (array.reshape(-1)[: mask.size].reshape(mask.shape) for array in (RIGHT, other))
    got = np.where(mask, others, right)
    return WrongOutput("y", got, right, 1e-9, np.zeros(got.shape, np.bool_), store_bytes=1, **fields)


@pytest.mark.parametrize(
    ("pattern", "mask", "other"),
    [
        ("last-row-or-column-wrong", (ROW[:6] == 5) | (COLUMN[:6] == 29), OTHER),
        ("last-row-or-column-wrong", COLUMN[:6] == 29, OTHER),
        ("first-row-or-column-wrong", ROW[:6] == 0, OTHER),
        ("some-rows-wrong", ROW % 5 > 2, OTHER),
        ("some-columns-wrong", COLUMN > 9, OTHER),
        ("wrong-are-zero", DRAWN.random((20, 30)) < 0.3, np.zeros_like(OTHER)),
        ("wrong-from-there-on", np.arange(90) >= 37, OTHER),
        ("", DRAWN.random((20, 30)) < 0.3, OTHER),
        ("", DRAWN.random(90) < 0.3, OTHER),
    ],
)
def test_a_pattern_is_reported_where_there_is_one(pattern: str, mask: Array, other: Array) -> None:
    """Of rows and columns, of ends, of what stands there; and none of elements that are just anywhere."""
    assert next(fitting(NO_HYPOTHESES, wrong_where(mask, other)), "") == pattern
    assert not pattern or pattern in texts_of_course(())


def test_a_run_that_was_cut_short_shows_no_pattern() -> None:
    """It ended where it ended."""
    assert not some_rows_wrong(wrong_where(np.asarray(ROW > 9), completed=False))
    assert not wrong_from_there_on(wrong_where(np.arange(90) >= 37, completed=False))


def test_two_or_three_elements_are_no_pattern() -> None:
    """The last one alone, or all but the first."""
    assert not wrong_from_there_on(wrong_where(np.arange(90) >= 88))
    assert not wrong_from_there_on(wrong_where(np.arange(90) >= 1))
