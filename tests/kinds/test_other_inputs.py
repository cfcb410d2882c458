"""The requirements on a kernel that is launched again with other inputs."""

from __future__ import annotations

import numpy as np

from grader.kinds.attempts.other_inputs import loosened
from grader.model.compare import compare


def test_an_infinity_among_what_is_expected_makes_no_bound_infinite() -> None:
    """It is right where it is expected, and shows nothing of how large the other elements are."""
    expected = np.array([-8.0, np.inf])
    bound = loosened(expected, 0.0)
    assert compare("y", np.array([-8.1, np.inf], np.float32), expected, bound).wrong == 0
    assert compare("y", np.array([8.0, np.inf], np.float32), expected, bound).wrong == 1


def test_where_anything_is_right_nothing_is_asked() -> None:
    """An oracle may mask all that it expects."""
    expected = np.ma.array([0.0, 0.0], mask=True)
    assert compare("y", np.array([1, np.nan], np.float32), expected, loosened(expected, 0.0)).wrong == 0
