"""Each named mistake in a matrix product is recognised in what a straightforward loop makes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.explaining.tiled_kernel import TILE, Kernel, diagnose, inputs, mistaken, wrong_output
from tests.references import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.explaining.tiled_kernel import Array


def test_the_loops_without_a_mistake_are_within_the_bound() -> None:
    """Otherwise the tests below would prove nothing; and a right output has no mistake."""
    a, b = inputs()
    got = Kernel().run(a, b)
    assert not wrong_output(a, b, got).wrong.any()
    assert diagnose(a, b, got) == ""


@pytest.mark.parametrize(
    ("mistake", "fields"),
    [
        ("last-tile-dropped", {"tiles": lambda k: k // TILE}),
        ("last-tile-dropped", {"tiles": lambda k: -(-k // TILE) - 1}),
        ("not-accumulated", {"reset": True}),
        ("not-accumulated", {"first_tile": 1}),
        ("inner-loop-short", {"inner": lambda _: range(1, TILE)}),
        ("inner-loop-short", {"inner": lambda _: range(TILE - 1)}),
        ("inner-loop-short", {"inner": lambda t: range(t == 0, TILE)}),
        ("padded-with-ones", {"pad": 1.0}),
        ("stale-tile", {"keep_stale": True}),
        ("a-transposed", {"a_index": lambda row, k, sizes: k * sizes[0] + row}),
        ("b-transposed", {"b_index": lambda k, col, sizes: col * sizes[1] + k}),
        ("a-leading-dimension", {"a_index": lambda row, k, sizes: row * sizes[2] + k}),
        ("a-leading-dimension", {"a_index": lambda row, k, sizes: row * sizes[0] + k}),
        ("output-leading-dimension", {"c_index": lambda row, col, sizes: row * sizes[1] + col}),
        ("output-leading-dimension", {"c_index": lambda row, col, sizes: row * sizes[0] + col}),
        ("output-transposed", {"c_index": lambda row, col, sizes: col * sizes[0] + row}),
        ("parameter-order", {"sizes": lambda s: (s[0], s[2], s[1])}),
        ("tile-transposed", {"a_tile": lambda tile, row, k: tile[k, row]}),
        ("tile-transposed", {"b_tile": lambda tile, k, col: tile[col, k]}),
        ("edge-not-written", {"guard": lambda row, col, s: row < s[0] - 1 and col < s[2]}),
        ("edge-not-written", {"guard": lambda row, col, s: row < s[0] // 8 * 8 and col < s[2] // 8 * 8}),
        ("first-block-only", {"guard": lambda row, col, _: row < TILE and col < TILE}),
        ("no-store", {"guard": lambda *_: False}),
        (
            "block-indices-swapped",
            {
                "row_of": lambda _by, bx, ty, _tx: bx * TILE + ty,
                "col_of": lambda by, _bx, _ty, tx: by * TILE + tx,
            },
        ),
        (
            "thread-indices-swapped",
            {
                "row_of": lambda _by, bx, _ty, tx: bx * TILE + tx,
                "col_of": lambda by, _bx, ty, _tx: by * TILE + ty,
            },
        ),
        (
            "thread-indices-swapped",
            {
                "row_of": lambda by, _bx, _ty, tx: by * TILE + tx,
                "col_of": lambda _by, bx, ty, _tx: bx * TILE + ty,
            },
        ),
    ],
)
def test_a_mistake_in_the_kernel_is_named(mistake: str, fields: dict[str, Any]) -> None:
    """Run thread by thread, each mistake gets its own name and no other."""
    assert diagnose(*inputs(), mistaken(**fields)) == mistake


def with_terms(chosen: Callable[[int], bool]) -> Array:
    """The product without some of its terms."""
    a, b = inputs()
    kept = [k for k in range(a.shape[1]) if chosen(k)]
    return a[:, kept] @ b[kept, :]


@pytest.mark.parametrize(
    ("mistake", "got"),
    [
        ("terms-left-out", with_terms(lambda k: k % 4 != 3)),
        ("terms-left-out", with_terms(lambda k: k % 2 == 0)),
        ("terms-left-out", with_terms(lambda k: k % TILE < TILE - 4)),
        ("a-tile-stays", inputs()[0][:, np.arange(13) % TILE] @ inputs()[1]),
        ("b-tile-stays", inputs()[0] @ inputs()[1][np.arange(13) % TILE, :]),
        ("a-block-stays", (inputs()[0] @ inputs()[1])[np.arange(19) % TILE, :]),
        ("b-block-stays", (inputs()[0] @ inputs()[1])[:, np.arange(11) % TILE]),
    ],
)
def test_some_of_the_terms_and_a_part_that_stays(mistake: str, got: Array) -> None:
    """Unrolled loops that lose a term, and a tile of one operand that does not move on."""
    assert diagnose(*inputs(), got) == mistake


def test_both_tiles_read_transposed() -> None:
    """As of one."""
    fields = {"a_tile": lambda tile, row, k: tile[k, row], "b_tile": lambda tile, k, col: tile[col, k]}
    assert diagnose(*inputs(), mistaken(**fields)) == "tile-transposed"


def test_the_second_operand_with_the_width_of_the_first() -> None:
    """Seen where K is smaller than N: else every column ends beyond B, and nothing can be foretold."""
    kernel = Kernel(b_index=lambda k, col, sizes: k * sizes[1] + col)
    a, b = inputs((19, 11, 13))
    assert diagnose(a, b, kernel.run(a, b)) == "b-leading-dimension"
    assert diagnose(*inputs(), kernel.run(*inputs())) == ""


def test_sizes_taken_in_reverse_order() -> None:
    """M for N and N for M: the first rows of A and all of B can be foretold."""
    a, b = inputs((9, 20, 13))
    assert diagnose(a, b, Kernel(sizes=lambda sizes: sizes[::-1]).run(a, b)) == "parameter-order"


def test_both_operands_read_transposed() -> None:
    """The columns of A times the rows of B, on a square."""
    a, b = inputs((11, 11, 11))
    got = Kernel(
        a_index=lambda row, k, sizes: k * sizes[1] + row,
        b_index=lambda k, col, sizes: col * sizes[2] + k,
    ).run(a, b)
    assert diagnose(a, b, got) == "both-transposed"


def test_the_first_of_three_tiles_only() -> None:
    """With two tiles it could not be distinguished from a lost last one."""
    a, b = inputs((9, 20, 9))
    assert diagnose(a, b, Kernel(tiles=lambda _: 1).run(a, b)) == "first-tile-only"


def test_operands_in_the_wrong_order() -> None:
    """B times A."""
    a, b = inputs((9, 9, 9))
    assert diagnose(a, b, Kernel().run(b, a)) == "operands-swapped"


def test_a_product_element_by_element() -> None:
    """It is recognised where the shapes allow it."""
    a, b = inputs((9, 9, 9))
    assert diagnose(a, b, a * b) == "elementwise-product"


def test_half_precision_sums() -> None:
    """Each partial sum is rounded to a float16, as `__hadd` does."""
    a, b = inputs()
    got = np.zeros((19, 11), np.float32)
    for row in range(19):
        for col in range(11):
            total = np.float16(0)
            for k in range(13):
                total = np.float16(total + np.float16(a[row, k]) * np.float16(b[k, col]))
            got[row, col] = total
    assert diagnose(a, b, got) == "half-precision"


def test_half_precision_inputs_with_sums_in_float() -> None:
    """As tensor cores do it."""
    a, b = inputs()
    got = Kernel().run(a.astype(np.float16).astype(np.float32), b.astype(np.float16).astype(np.float32))
    assert diagnose(a, b, got) == "half-precision"


@pytest.mark.parametrize("which", ["both", "sum"])
def test_values_kept_in_an_int(which: str) -> None:
    """Tiles of int, and a sum of int."""
    a, b = inputs()
    got = np.zeros((19, 11), np.float32)
    for row in range(19):
        for col in range(11):
            total = 0
            for k in range(13):
                one, other = float(a[row, k]), float(b[k, col])
                total = total + int(one) * int(other) if which == "both" else int(total + one * other)
            got[row, col] = total
    assert diagnose(a, b, got) == "integer-inputs"


@settings(max_examples=25, deadline=None)
@given(
    st.integers(9, 21), st.integers(17, 30).filter(lambda k: k % TILE), st.integers(9, 21), st.integers(0, 99)
)
def test_a_lost_tile_is_named_at_any_shape_that_shows_it(m: int, k: int, n: int, seed: int) -> None:
    """Three tiles or more along K, the last of them partial."""
    a, b = inputs((m, k, n), seed)
    assert diagnose(a, b, Kernel(tiles=lambda terms: terms // TILE).run(a, b)) == "last-tile-dropped"


def test_inputs_that_are_no_product_leave_the_general_tests() -> None:
    """One matrix, or shapes that do not fit."""
    a, b = inputs()
    output = replace(wrong_output(a, b, -Kernel().run(a, b)), inputs=(("A", a), ("B", a)))
    found = explained("matmul", output)
    assert found is not None
    assert found.mistake == "sign-flipped"
