"""The model of a tiled product: the lessons' numbers, and the counters of the emulator, exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.model.messages import text_of
from grader.simulation.analysis.subjects import SUBJECTS, AnalysisProblem, study, value
from tests.simulation.analysis.emulated import counters

MATMUL = SUBJECTS["matmul"]

COUNTED = (
    "global_load_bytes",
    "global_store_bytes",
    "global_load_sectors",
    "global_store_sectors",
    "shared_load_bytes",
    "shared_store_bytes",
    "flops",
    "barriers",
)
"""Quantities with the name of a counter: what the model solution does."""

NAIVE = {
    "global_load_bytes": "naive_global_load_bytes",
    "global_load_sectors": "naive_global_load_sectors",
    "global_store_bytes": "global_store_bytes",
    "global_store_sectors": "global_store_sectors",
    "flops": "owner_flops",
}
"""Counters of the naive kernel, and the quantities that they are."""


def of(name: str, m: int, k: int, n: int, tile: int = 16) -> Fraction:
    """A quantity of M by K times K by N."""
    return value(MATMUL, {"M": m, "K": k, "N": n, "tile": tile}, name)


def agrees(m: int, k: int, n: int, tile: int) -> None:
    """Assert that the emulator's counters are those of the model."""
    tiled, naive = counters("solution", m, k, n, tile), counters("naive", m, k, n, tile)
    predicted = {name: of(name, m, k, n, tile) for name in COUNTED}
    assert predicted == {name: getattr(tiled, name) for name in COUNTED}
    predicted = {name: of(quantity, m, k, n, tile) for name, quantity in NAIVE.items()}
    assert predicted == {name: getattr(naive, name) for name in NAIVE}


def test_the_bytes_of_the_lesson() -> None:
    """55 × 48 times 48 × 43 in tiles of 16: 64,704 bytes are read and 9,460 written."""
    assert of("global_load_bytes", 55, 48, 43) == 64_704
    assert of("global_store_bytes", 55, 48, 43) == 9_460


def test_the_operations_of_the_lesson() -> None:
    """142 × 110 times 110 × 146 in tiles of 32: 4,561,040 by owners, 6,553,600 by all threads."""
    assert of("owner_flops", 142, 110, 146, 32) == 4_561_040
    assert of("flops", 142, 110, 146, 32) == 6_553_600


def test_the_grid_of_the_lesson() -> None:
    """1000 × 800 times 800 × 1200: 75 × 63 blocks; the last rows are partial, the last columns whole."""
    names = ("grid_x", "grid_y", "blocks", "last_rows", "last_columns", "phases", "boundary_blocks")
    assert [of(name, 1000, 800, 1200) for name in names] == [75, 63, 4725, 8, 16, 50, 75]


def test_the_table_of_tiles() -> None:
    """8, 32 and 128 KiB for tiles of 32, 64, 128; 64 × 64 threads are four times what is allowed."""
    assert [of("shared_bytes", 1024, 1024, 1024, tile) for tile in (32, 64, 128)] == [8192, 32768, 131_072]
    assert of("threads_per_block", 1024, 1024, 1024, 64) == 4 * 1024


def test_what_tiles_save() -> None:
    """A tile of 16 reads a sixteenth of what the naive kernel does: 4 operations a byte instead of 0.25."""
    assert of("reduction", 1024, 1024, 1024) == 16
    assert of("intensity", 1024, 1024, 1024) == 4
    assert of("naive_intensity", 1024, 1024, 1024) == Fraction(1, 4)


def last_step(numbers: dict[str, int], name: str) -> str:
    """The sentence with which an explanation ends."""
    step = study(MATMUL, numbers, name).steps[-1]
    return text_of(step.name, **dict(step.values))


def test_the_steps_use_the_numbers_of_the_question_and_end_with_its_answer() -> None:
    """Each quantity's worked explanation comes to the value."""
    numbers = {"M": 55, "K": 48, "N": 43, "tile": 16}
    assert last_step(numbers, "global_load_bytes") == "4 bytes each: (7,920 + 8,256) · 4 = 64,704 bytes"
    for name in MATMUL.quantities:
        found = study(MATMUL, numbers, name)
        assert found.steps, name
        if found.value.denominator == 1 and "sectors" not in name:
            assert f"{found.value.numerator:,}" in last_step(numbers, name), name


@pytest.mark.parametrize(
    ("numbers", "complaint"),
    [
        ({"M": 8, "K": 8}, "the number `N` is missing"),
        ({"M": 8, "K": 8, "N": 8, "tiel": 4}, "no number is called `tiel` here; expected M, K, N, tile"),
        ({"M": 0, "K": 8, "N": 8}, "expected `M` from 1 to 1,000,000, found 0"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(numbers: dict[str, int], complaint: str) -> None:
    """With the number and what was expected."""
    with pytest.raises(AnalysisProblem, match=complaint):
        value(MATMUL, numbers, "blocks")


def test_sectors_of_huge_matrices_are_refused_rather_than_counted_for_minutes() -> None:
    """Everything else about them has a formula."""
    with pytest.raises(AnalysisProblem, match="expected smaller ones"):
        of("global_load_sectors", 10**6, 10**6, 10**6)
    assert of("blocks", 10**6, 10**6, 10**6) == 62_500**2


@pytest.mark.parametrize(
    ("m", "k", "n"), [(55, 48, 43), (1, 17, 1), (34, 34, 34), (16, 16, 16), (3, 5, 61), (50, 1, 2)]
)
def test_the_emulator_counts_what_the_model_predicts(m: int, k: int, n: int) -> None:
    """Bytes, sectors, operations and barriers, of the tiled and the naive kernel, to the last one."""
    agrees(m, k, n, 16)


@pytest.mark.slow
@pytest.mark.timeout(900)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    m=st.integers(1, 90),
    k=st.integers(1, 90),
    n=st.integers(1, 90),
    tile=st.sampled_from((2, 7, 8, 12, 16, 32)),
)
def test_the_emulator_counts_what_the_model_predicts_for_any_shape_and_tile(
    m: int, k: int, n: int, tile: int
) -> None:
    """Tiles that no warp fits into are no exception."""
    agrees(m, k, n, tile)
