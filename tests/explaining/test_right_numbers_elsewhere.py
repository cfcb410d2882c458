"""Outputs that hold the numbers of an input in another order, or count its elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.explaining import NO_HYPOTHESES, WrongOutput, fitting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

DRAWN = np.random.default_rng(3)
KEYS = DRAWN.permutation(400)[:96].astype(np.int32)
SORTED = np.concatenate([np.sort(KEYS[:48]), np.sort(KEYS[48:])])
VALUES = DRAWN.integers(0, 12, 300).astype(np.int32)
COUNTS = np.bincount(VALUES, minlength=12)


def named(got: Array, wanted: Array, source: Array) -> str:
    """The mistake named first for a wrong output of an operation that no hypothesis knows."""
    unwritten = np.zeros(got.shape, np.bool_)
    output = WrongOutput("y", got.astype(np.int32), wanted, 0.0, unwritten, (("x", source),), store_bytes=4)
    return next(fitting(NO_HYPOTHESES, output), "")


def changed(index: int, value: int) -> Array:
    """The right output but for one element, and some that change places."""
    got = np.roll(SORTED, 7)
    got[index] = value
    return got


@pytest.mark.parametrize(
    ("mistake", "got"),
    [
        ("parts-reversed", np.concatenate([SORTED[:48][::-1], SORTED[48:][::-1]])),
        ("numbers-misplaced", np.roll(SORTED, 7)),
        ("numbers-twice", changed(3, int(KEYS[0]))),
        ("numbers-from-elsewhere", changed(3, 4000)),
    ],
)
def test_numbers_that_should_only_change_places(mistake: str, got: Array) -> None:
    """All of them are there, or some twice, or some that belong to no element."""
    assert named(got, SORTED, KEYS) == mistake


def test_numbers_that_change_places_in_the_input_itself() -> None:
    """Some may stay where they are: that no thread stored them proves nothing."""
    got = SORTED.copy()
    got[:48] = got[:48][::-1]
    output = WrongOutput("x", got, SORTED, 0.0, got == KEYS, (("x", KEYS),), store_bytes=4)
    kept = got.copy()
    kept[5] = KEYS[5]
    assert next(fitting(NO_HYPOTHESES, output)) == "numbers-misplaced"
    twice = WrongOutput("x", kept, SORTED, 0.0, kept == KEYS, (("x", KEYS),), store_bytes=4)
    assert next(fitting(NO_HYPOTHESES, twice)) == "numbers-twice"


def test_an_output_that_should_hold_other_numbers_is_no_rearrangement() -> None:
    """Then its numbers being those of the input proves nothing."""
    assert named(np.roll(SORTED, 7), SORTED + 1, KEYS) == ""


def test_what_is_no_number_comes_from_nowhere() -> None:
    """It is memory that no thread wrote, or a bad operation: other findings show which."""
    got = np.roll(SORTED, 7).astype(np.float64)
    got[3] = np.nan
    wanted, unwritten = SORTED.astype(np.float64), np.zeros(SORTED.shape, np.bool_)
    output = WrongOutput("y", got, wanted, 0.0, unwritten, (("x", KEYS),), store_bytes=8)
    assert "numbers-from-elsewhere" not in fitting(NO_HYPOTHESES, output)


def test_a_few_numbers_are_not_reported_to_be_in_wrong_places() -> None:
    """Of zeros and ones any output holds the right numbers."""
    bits = KEYS % 2
    assert named(np.roll(np.sort(bits), 7), np.sort(bits), bits) == ""


def moved(count: Array) -> Array:
    """The counts with one element in another place."""
    count = count.copy()
    count[2] += 1
    count[5] -= 1
    return count


@pytest.mark.parametrize(
    ("mistake", "got"),
    [
        ("counted-elsewhere", moved(COUNTS)),
        ("counted-more-than-once", COUNTS + np.arange(12)),
        ("values-not-counted", COUNTS - np.minimum(np.arange(12), COUNTS)),
    ],
)
def test_counts_of_all_elements_of_an_input(mistake: str, got: Array) -> None:
    """As many, too many, too few."""
    assert named(got, COUNTS, VALUES) == mistake


@pytest.mark.parametrize("change", [lambda c: c - 2 * (np.arange(12) % 5) + 3, lambda c: -c - np.arange(12)])
def test_counts_that_are_too_large_and_too_small_get_no_name(change: Callable[[Array], Array]) -> None:
    """Nor do numbers that count nothing."""
    assert named(change(COUNTS), COUNTS, VALUES) == ""


def test_sums_that_are_not_the_number_of_elements_are_no_counts() -> None:
    """Nothing is known of how they come about."""
    assert named(moved(COUNTS + 1), COUNTS + 1, VALUES) == ""


def test_two_values_that_stand_for_each_other() -> None:
    """Everywhere, or it is something else."""
    bits = (KEYS % 2).astype(np.float64)
    assert named(1 - bits, bits, KEYS) == "values-exchanged"
    nearly = 1 - bits
    nearly[4] = bits[4]
    assert named(nearly, bits, KEYS) == ""


def test_both_ends_of_a_vector_that_are_wrong_are_its_border() -> None:
    """As far as several steps carry what is wrong there; elsewhere something else is wrong."""
    wanted = DRAWN.permutation(1000)[:80]
    got = wanted.copy()
    got[:6] += DRAWN.integers(1, 9, 6)
    got[-6:] += DRAWN.integers(1, 9, 6)
    assert named(got, wanted, KEYS) == "border-wrong"
    got[40] += 1
    assert named(got, wanted, KEYS) == ""
