"""Numbers among the bytes of copies: which are the same in several calls."""

from __future__ import annotations

import numpy as np

from grader.kinds.attempts.words import in_runs, joined, located, mixed, numbers_in

_VALUES = np.array([0.5, 1.5, 2.5, 3.5], np.float32)


def test_numbers_are_located_in_the_type_in_which_most_of_them_lie() -> None:
    """The host may have converted them, and put others in between."""
    content, bounds = joined([b"....", np.array([9.0, *_VALUES[::-1]]).tobytes()])
    numbers = located([_VALUES], [content], bounds)
    assert numbers.dtype == np.float64
    assert numbers.offsets.tolist() == [36, 28, 20, 12]
    assert not numbers.is_in_order


def test_a_number_is_the_same_only_if_it_is_so_in_all_calls() -> None:
    """Equal numbers of one call may differ in another."""
    one, bounds = joined([np.array([1, 1], np.float32).tobytes()])
    other, _ = joined([np.array([3, 2], np.float32).tobytes()])
    calls = [np.array([1.0], np.float32), np.array([2.0], np.float32)]
    assert located(calls, [one, other], bounds).offsets.tolist() == [4]
    assert not located([calls[0], calls[0]], [one, other], bounds).present.any()


def test_of_equal_numbers_the_one_behind_the_number_before_is_taken() -> None:
    """So an array of ones is known in its order."""
    content, bounds = joined([np.ones(6, np.float32).tobytes()])
    offsets, elements = numbers_in([content], bounds, [np.ones(6, np.float32)], np.dtype(np.float32))
    assert elements.tolist() == list(range(6))
    assert offsets.tolist() == list(range(0, 24, 4))


def test_elements_in_their_order_are_distinguished_from_others() -> None:
    """A column of a matrix is no run of its elements."""
    assert in_runs(np.array([4, 5, 6, 0, 3]), 3).tolist() == [True, True, True, False, False]


def test_a_word_of_which_one_byte_is_mixed_is_so_as_a_whole() -> None:
    """Its other bytes may be the same by chance."""
    base, first, second = (
        np.array(b, np.uint8) for b in ([0] * 8, [1, 1, 0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 1, 0, 0])
    )
    assert mixed(base, first, second, [(0, 8)]).tolist() == [True] * 4 + [False] * 4
