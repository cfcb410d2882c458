"""Mistakes of one operation each, made by plain loops that share nothing with the hypotheses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.explaining import WrongOutput
from tests.references import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

BLOCK = 64
RANDOM = np.random.default_rng(11)
X = RANDOM.uniform(-1, 2, 300).astype(np.float32)
EXACT = X.astype(np.float64)


def named(operation: str, got: Array, expected: Array, *inputs: Array, **fields: Any) -> str:  # noqa: ANN401
    """The mistake that is named, or empty; without ``launch=`` the grid covers the input in one round."""
    names = tuple(zip("xyz", inputs, strict=False))
    given = {"bound": 1e-4, "constants": (("BLOCK", BLOCK),), **fields}
    output = WrongOutput("out", got, expected, unwritten=np.zeros(got.shape, np.bool_), inputs=names, **given)
    found = explained(operation, output)
    return "" if found is None else found.mistake


# --- reduction ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mistake", "total"),
    [
        ("first-block-of-sum", lambda x: x[:BLOCK].sum()),
        ("parts-not-combined", lambda x: x[256:].sum()),
        ("parts-not-combined", lambda x: x[128:192].sum()),
        ("tail-not-counted", lambda x: x[:256].sum()),
        ("first-thread-of-sum", lambda x: x[::BLOCK].sum()),
        ("first-warp-of-sum", lambda x: sum(x[i] for i in range(300) if i % BLOCK < 32)),
        ("last-step-missing", lambda x: x[::2].sum()),
        ("end-of-sum-left-out", lambda x: x[:-1].sum()),
        ("end-of-sum-left-out", lambda x: x[1:].sum()),
        ("", lambda x: 32 * x.sum()),  # of one number any other is a multiple
    ],
)
def test_a_sum_of_a_part(mistake: str, total: Callable[[Array], float]) -> None:
    """The one number that comes out shows which part it is."""
    got = np.array([total(EXACT)], np.float32)
    assert named("reduction", got, np.array([EXACT.sum()]), X) == mistake


def test_a_maximum_of_the_first_block() -> None:
    """The rule is learnt from what is expected."""
    got = np.array([EXACT[:BLOCK].max()], np.float32)
    expected = np.array([max(EXACT.max(), 7.0)])
    assert named("reduction", got, expected, X) == ""
    x = np.append(X, np.float32(9))
    assert named("reduction", got, np.array([9.0]), x) == "first-block-of-sum"


def test_any_other_number_is_no_part_of_a_sum() -> None:
    """One number could be anything."""
    for wrong in (-3.25, 0.5, EXACT.sum() + 1, EXACT.sum() / 3):
        assert named("reduction", np.array([wrong], np.float32), np.array([EXACT.sum()]), X) == ""


@pytest.mark.parametrize("total", [BLOCK, 2 * BLOCK, 150, 256, 600])
def test_of_elements_that_are_all_the_same_it_is_unknown_which_were_counted(total: int) -> None:
    """A shuffle that loses half of a warp makes the same number as a block too few."""
    ones = np.ones(300, np.float32)
    assert named("reduction", np.array([total], np.float32), np.array([300.0]), ones) == ""


def test_small_numbers_of_many_blocks_meet_by_chance() -> None:
    """Whatever comes out is the part of some block; one of few large numbers is not."""
    few = np.tile(np.array([3, -3, 2, -1, 0, 1], np.float32), 640)
    some = [float(part.sum()) for part in few.reshape(-1, BLOCK)]
    got = np.array([some[7]], np.float32)
    assert named("reduction", got, np.array([few.sum()]), few, constants=(("BLOCK", 16),)) == ""
    large = np.arange(300, dtype=np.float32)
    last = np.array([large[256:].sum()], np.float32)
    assert named("reduction", last, np.array([large.sum()]), large) == "parts-not-combined"


def test_a_total_that_nothing_was_added_to_is_not_reported_as_never_written() -> None:
    """An atomic addition of 0 leaves a total of 0 bit for bit as it was, and is a store all the same."""
    x, zero = X[:1], np.zeros(1, np.float32)
    output = WrongOutput(
        "total",
        zero,
        x.astype(np.float64),
        1e-6,
        np.ones(1, np.bool_),
        (("x", x),),
        before=zero,
        store_bytes=4,
    )
    found = explained("reduction", output)
    assert found is not None
    assert found.mistake == "all-zeros"


# --- scan ---------------------------------------------------------------------------------------------


def _blocks_scanned(x: Array, joined: int) -> Array:
    """An inclusive scan in which a block counts a number of blocks before it."""
    result = np.zeros(x.size)
    for i in range(x.size):
        first = max(0, (i // BLOCK - joined) * BLOCK)
        result[i] = x[first : i + 1].sum()
    return result


@pytest.mark.parametrize(
    ("mistake", "scanned"),
    [
        ("exclusive-scan", np.concatenate([[0.0], np.cumsum(EXACT)[:-1]])),
        ("blocks-not-joined", _blocks_scanned(EXACT, 0)),
        ("one-block-joined", _blocks_scanned(EXACT, 1)),
        ("scan-backwards", np.cumsum(EXACT[::-1])[::-1]),
        ("input-copied", EXACT),
        ("last-step-missing", np.array([EXACT[max(0, i - 255) : i + 1].sum() for i in range(300)])),
    ],
)
def test_a_scan_that_leaves_something_out(mistake: str, scanned: Array) -> None:
    """Each is another sum at every place."""
    assert named("scan", scanned.astype(np.float32), np.cumsum(EXACT), X) == mistake


def test_a_scan_of_rows_that_leaves_something_out() -> None:
    """Each row is a scan of its own; its blocks are those of the row."""
    rows = np.stack([EXACT, EXACT[::-1]])
    anew = np.stack([_blocks_scanned(row, 0) for row in rows]).astype(np.float32)
    given = rows.astype(np.float32)
    assert named("scan", anew, np.cumsum(rows, axis=1), given) == "blocks-not-joined"
    flat = np.cumsum(rows).reshape(rows.shape).astype(np.float32)
    assert named("scan", flat, np.cumsum(rows, axis=1), given) == "rows-run-on"


def test_an_inclusive_scan_where_an_exclusive_one_is_asked_for() -> None:
    """The kind of scan that is asked for is learnt from what is expected."""
    got = np.cumsum(EXACT).astype(np.float32)
    expected = np.concatenate([[0.0], np.cumsum(EXACT)[:-1]])
    assert named("scan", got, expected, X) == "inclusive-scan"


# --- histogram ----------------------------------------------------------------------------------------

VALUES = RANDOM.integers(0, 16, 300).astype(np.int32)
COUNTS = np.bincount(VALUES, minlength=16)


def test_lost_updates() -> None:
    """No count too large, some too small: lost where threads race, and else never counted."""
    got = (COUNTS - RANDOM.integers(0, 9, 16)).astype(np.int32)
    given = (COUNTS.astype(np.float64), VALUES)
    assert named("histogram", got, *given, bound=0.0, raced=True) == "updates-lost"
    assert named("histogram", got, *given, bound=0.0) == "values-not-counted"
    assert named("transpose", got, *given, bound=0.0) == "values-not-counted"


def test_a_race_that_loses_the_same_share_of_every_bin_is_no_factor() -> None:
    """Nor is a bin for each element of a block: any thread may count in any bin."""
    values = np.repeat(np.arange(16), 128).astype(np.int32)
    counts = np.bincount(values)
    given = (counts.astype(np.float64), values)
    got = (counts // 16).astype(np.int32)
    assert named("histogram", got, *given, bound=0.0, raced=True) == "updates-lost"
    got = np.where(np.arange(16) < 8, counts, 0).astype(np.int32)
    found = named("histogram", got, *given, bound=0.0, constants=(("BLOCK", 8),))
    assert found == "bins-beyond-threads"


def test_one_bin_with_everything_in_it_tells_nothing_of_an_order() -> None:
    """It may have come to its place in any way."""
    expected = np.zeros(16)
    expected[15] = 2048
    got = expected[::-1].astype(np.int32)
    for operation in ("histogram", "vector-add"):
        assert named(operation, got, expected, np.arange(2048), bound=0.0) == ""


@pytest.mark.parametrize(
    ("mistake", "counted"),
    [("first-block-of-sum", VALUES[:BLOCK]), ("tail-not-counted", VALUES[:256])],
)
def test_elements_that_were_not_counted(mistake: str, counted: Array) -> None:
    """The bin of an element is its value, or comes from equal steps of values."""
    got = np.bincount(counted, minlength=16).astype(np.int32)
    assert named("histogram", got, COUNTS.astype(np.float64), VALUES, bound=0.0) == mistake
    bytes_of_it = (VALUES * 16 + 3).astype(np.uint8)
    assert named("histogram", got, COUNTS.astype(np.float64), bytes_of_it, bound=0.0) == mistake


def test_a_count_that_is_too_large_is_no_lost_update() -> None:
    """Something else is wrong then."""
    got = COUNTS.astype(np.int32)
    got[3] += 2
    got[5] -= 1
    assert named("histogram", got, COUNTS.astype(np.float64), VALUES, bound=0.0) == ""


# --- convolution --------------------------------------------------------------------------------------

IMAGE = RANDOM.uniform(-1, 1, (21, 18)).astype(np.float32)
WEIGHTS = RANDOM.uniform(-1, 1, (5, 5)).astype(np.float32)


def _filtered(
    weights: Array = WEIGHTS, outside: str = "zero", origin: int = 2, tile: int = 0, *, skip: bool = False
) -> Array:
    """Correlation, element by element."""
    height, width = IMAGE.shape
    result = np.zeros(IMAGE.shape)
    for row, col in np.ndindex(height, width):
        if skip and not (2 <= row < height - 2 and 2 <= col < width - 2):
            continue
        for i, j in np.ndindex(5, 5):
            r, c = row + i - origin, col + j - origin
            if tile and (r // tile, c // tile) != (row // tile, col // tile):
                continue
            if outside == "nearest":
                r, c = min(max(r, 0), height - 1), min(max(c, 0), width - 1)
            if 0 <= r < height and 0 <= c < width:
                result[row, col] += float(weights[i, j]) * float(IMAGE[r, c])
    return result


@pytest.mark.parametrize(
    ("mistake", "changes"),
    [
        ("filter-flipped", {"weights": WEIGHTS[::-1, ::-1]}),
        ("filter-transposed", {"weights": WEIGHTS.T}),
        ("filter-not-centred", {"origin": 0}),
        ("halo-wrong", {"outside": "nearest"}),
        ("halo-wrong", {"skip": True}),
        ("halo-missing", {"tile": 8}),
    ],
)
def test_a_filter_that_is_laid_otherwise(mistake: str, changes: dict[str, Any]) -> None:
    """With the filter as a matrix, or as numbers in a row."""
    got, expected = _filtered(**changes).astype(np.float32), _filtered()
    for weights in (WEIGHTS, WEIGHTS.reshape(-1)):
        found = named("convolution", got, expected, IMAGE, weights, constants=(("TILE", 8),), bound=1e-5)
        assert found == mistake


@pytest.mark.parametrize(("mistake", "changes"), [("filter-flipped", {"weights": WEIGHTS[::-1, ::-1]})])
def test_a_filter_that_the_kernel_holds_is_learnt(mistake: str, changes: dict[str, Any]) -> None:
    """From what is expected of the image: it is no input where it comes in a header."""
    got, expected = _filtered(**changes).astype(np.float32), _filtered()
    assert named("convolution", got, expected, IMAGE, constants=(("TILE", 8),), bound=1e-5) == mistake


def test_what_is_no_filter_at_all_is_not_taken_for_one() -> None:
    """Expected values that no weights give leave nothing to say."""
    expected = np.sin(_filtered() * 7)
    assert named("convolution", _filtered().astype(np.float32), expected, IMAGE, bound=1e-5) == ""


def test_the_nearest_element_may_be_what_is_asked_for() -> None:
    """Zeros outside are the mistake then."""
    found = named("convolution", _filtered().astype(np.float32), _filtered(outside="nearest"), IMAGE, WEIGHTS)
    assert found == "halo-wrong"


# --- element by element -------------------------------------------------------------------------------


def test_another_operator() -> None:
    """A product in place of a sum, or a difference."""
    y = RANDOM.uniform(-1, 1, 300).astype(np.float32)
    for got in (X * y, X - y):
        assert named("vector-add", got, EXACT + y, X, y, bound=1e-6) == "another-operator"


def test_a_right_answer_has_no_mistake() -> None:
    """Whatever the operation, with every element off by a little that the bound allows."""
    for operation in ("reduction", "scan", "histogram", "convolution", "vector-add"):
        assert named(operation, X, EXACT + 1e-6, X) == ""
