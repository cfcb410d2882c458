"""Mistakes that show whatever the operation, and when no mistake is named."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.explaining import NO_HYPOTHESES, WrongOutput, fitting
from grader.model import Launch
from tests.explaining.tiled_kernel import TILE, Kernel, diagnose, inputs, mistaken, wrong_output
from tests.references import MISTAKES, explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.explaining.tiled_kernel import Array

NAN = np.float32(np.nan)


def test_a_block_that_stores_into_the_tile_across_the_diagonal() -> None:
    """On a square, where a swapped grid reaches everything."""
    a, b = inputs((16, 16, 16))
    right = Kernel().run(a, b)
    got = right.copy()
    for row in range(16):
        for col in range(16):
            got[row, col] = right[col // TILE * TILE + row % TILE, row // TILE * TILE + col % TILE]
    assert diagnose(a, b, got) == "block-indices-swapped"


def test_adding_into_a_poisoned_output_gives_nan_everywhere() -> None:
    """The poison's own bits may come out of it: only the bytes stored tell it from storing nothing."""
    got = mistaken(accumulate=True)
    assert np.isnan(got).all()
    assert diagnose(*inputs(), got, store_bytes=got.nbytes) == "adds-to-output"
    assert diagnose(*inputs(), got, unwritten=np.zeros_like(got, np.bool_)) == "adds-to-output"
    assert diagnose(*inputs(), got, store_bytes=0) == "no-store"
    assert diagnose(*inputs(), got, store_bytes=got.nbytes, reads_outside=True) == ""


def test_nan_without_reading_what_was_never_set_is_computed() -> None:
    """Such as inf / inf: what lay in the output has no part in it."""
    got, unwritten = mistaken(accumulate=True), np.zeros((19, 11), np.bool_)
    mistakes = [diagnose(*inputs(), got, unwritten=unwritten, reads_unset=unset) for unset in (True, False)]
    assert mistakes == ["adds-to-output", "computes-nan"]


def test_adding_into_an_output_with_other_poison() -> None:
    """The poison plus the answer."""
    a, b = inputs()
    got = Kernel(accumulate=True).run(a, b, poison=64.0)
    before = np.full_like(got, 64.0)
    assert diagnose(a, b, got, before=before, unwritten=np.zeros_like(got, np.bool_)) == "adds-to-output"


def test_zeros_everywhere() -> None:
    """Nothing was computed."""
    a, b = inputs()
    assert diagnose(a, b, np.zeros((19, 11), np.float32)) == "all-zeros"


@pytest.mark.parametrize(
    ("mistake", "change"),
    [
        ("constant-factor", lambda c: c * np.float32(1.5)),
        ("constant-factor", lambda c: c / np.float32(13)),
        ("sign-flipped", lambda c: -c),
        ("constant-offset", lambda c: c + np.float32(0.75)),
        ("integer-output", np.trunc),
        ("half-precision", lambda c: c.astype(np.float16).astype(np.float32)),
    ],
)
def test_a_right_answer_that_was_changed_throughout(mistake: str, change: Callable[[Array], Array]) -> None:
    """Whatever the operation."""
    a, b = inputs()
    output = wrong_output(a, b, change(Kernel().run(a, b)))
    for operation in ("matmul", "something-else"):
        found = explained(operation, output)
        assert found is not None
        assert found.mistake == mistake


def test_sums_rounded_to_few_digits_of_another_kind() -> None:
    """Ten bits of fraction, as no format here holds them: too imprecise, without a name for the type."""
    a, b = inputs()
    got = np.round(Kernel().run(a, b) * 700) / np.float32(700)
    assert diagnose(a, b, got) == "imprecise"


def test_an_edge_that_holds_something_else() -> None:
    """Written, but wrong."""
    got = mistaken()
    got[16:, :] += 3 * np.arange(11, dtype=np.float32)
    got[:, 8:] *= np.arange(19, dtype=np.float32)[:, None]
    assert diagnose(*inputs(), got, unwritten=np.zeros_like(got, np.bool_)) == "edge-wrong"


def test_a_store_without_a_guard_lands_in_the_next_row() -> None:
    """Zeros of the threads beyond the edge over the start of each row but the first."""
    got = mistaken()
    got[1:, :4] = 0
    assert diagnose(*inputs(), got) == "store-unguarded"


def test_whole_tiles_that_hold_something_else() -> None:
    """One tile out of six."""
    got = mistaken()
    got[8:16, :8] = np.arange(64, dtype=np.float32).reshape(8, 8) + 100.5
    assert diagnose(*inputs(), got) == "some-blocks"


def guarded(rows: int, columns: int, bounds: tuple[int, int], beyond: float = np.nan) -> WrongOutput:
    """The output of a naive kernel on whole blocks of 8 whose guard has these bounds."""
    expected = np.random.default_rng(3).uniform(1, 2, (rows, columns))
    flat = np.full(rows * columns, np.nan, np.float32)
    for row in range(min(-(-rows // 8) * 8, bounds[0])):
        for column in range(min(-(-columns // 8) * 8, bounds[1])):
            where = row * columns + column
            if where < flat.size and (np.isnan(flat[where]) or column < columns):
                flat[where] = expected[row, column] if row < rows and column < columns else beyond
    got = flat.reshape(rows, columns)
    blocks = (("BLOCK", 8),)
    return WrongOutput("C", got, expected, 1e-6, np.isnan(got), constants=blocks, store_bytes=4)


@pytest.mark.parametrize("shape", [(21, 62), (55, 43), (13, 9), (3, 20), (41, 42)])
@pytest.mark.parametrize("beyond", [np.nan, 7.0])
def test_a_guard_with_its_bounds_exchanged(shape: tuple[int, int], beyond: float) -> None:
    """It is recognised in wide and in tall arrays, whatever was stored beyond a row."""
    found = explained("matmul", guarded(*shape, (shape[1], shape[0]), beyond))
    assert found is not None
    assert found.mistake == "guard-bounds-swapped"
    assert "grid" not in found.hint
    assert "exchange the bounds in the guard" in found.hint


def test_a_guard_and_a_grid_that_are_exchanged_look_alike_on_whole_blocks() -> None:
    """Both are named then."""
    found = explained("matmul", guarded(96, 32, (32, 96)))
    assert found is not None
    assert found.mistake == "rows-and-columns-swapped"


def test_a_guard_with_both_bounds_too_small_is_another_mistake() -> None:
    """A hypothesis must fit everything."""
    found = explained("matmul", guarded(21, 62, (20, 21)))
    assert found is not None
    assert found.mistake == "partly-unwritten"


def test_one_number_everywhere_is_reported() -> None:
    """A kernel that was written for inputs of ones and twos; not where one number is what is expected."""
    got = np.full((19, 11), 128, np.float32)
    assert diagnose(*inputs(), got) == "all-the-same"
    expected = np.full((19, 11), 68.0)
    output = WrongOutput("C", got, expected, 0.0, np.zeros(got.shape, np.bool_))
    assert explained("matmul", output) is None  # nor that it is a multiple of what is expected, as any is
    few = WrongOutput("C", got[0, :3], np.array([1.0, 2.0, 3.0]), 0.0, np.zeros(3, np.bool_))
    assert explained("matmul", few) is None


def test_one_element_alone_is_not_called_the_first() -> None:
    """Or the last: it is the end that fills no block."""
    got, expected = np.array([NAN], np.float32), np.array([2.5])
    output = WrongOutput("C", got, expected, 0.0, np.isnan(got), constants=(("BLOCK", 64),), store_bytes=0)
    assert list(fitting(NO_HYPOTHESES, output)) == ["no-store", "tail-not-written"]


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_whole_numbers_where_fractions_are_expected(kind: type) -> None:
    """An `int` on the way, whatever it rounded; not where numbers are so large that none has a fraction."""
    expected = np.random.default_rng(6).uniform(-9, 9, (19, 11))
    whole = np.floor(expected) + np.random.default_rng(7).integers(-3, 3, (19, 11))

    def mistake_of(factor: float) -> str:
        unwritten = np.zeros((19, 11), np.bool_)
        found = explained(
            "matmul", WrongOutput("C", (whole * factor).astype(kind), expected * factor, 1e-6, unwritten)
        )
        return "" if found is None else found.mistake

    assert mistake_of(1) == "whole-numbers"
    assert mistake_of(2.0**22 if kind is np.float32 else 2.0**9) != "whole-numbers"


@pytest.mark.parametrize(
    ("mistake", "right", "written"),
    [
        ("tail-not-written", np.arange(300) < 256, False),
        ("tail-wrong", np.arange(300) < 256, True),
        ("first-block-of-vector", np.arange(300) < 64, True),
        ("some-blocks-of-vector", np.arange(300) // 64 != 2, True),
    ],
)
def test_no_rows_and_columns_of_vectors_are_reported(mistake: str, right: Array, written: bool) -> None:  # noqa: FBT001
    """The same regions in words that fit one index."""
    expected = np.random.default_rng(4).uniform(1, 2, 300)
    noise = np.random.default_rng(5).uniform(3, 9, 300) if written else np.nan
    got = np.where(right, expected, noise).astype(np.float32)
    blocks = (("BLOCK", 64),)
    found = explained("vector-add", WrongOutput("C", got, expected, 1e-6, np.isnan(got), constants=blocks))
    assert found is not None
    assert found.mistake == mistake
    assert not re.search(r"row|col|matrix|blockIdx\.y", found.explanation + found.hint)


@pytest.mark.parametrize("rows", [8, 16, 24])
def test_a_part_of_each_tile_may_be_several_rounds_of_the_block(rows: int) -> None:
    """A loop over the tile that stops halfway; not blocks that are wrong."""
    expected = np.random.default_rng(4).uniform(1, 2, (64, 64))
    got = np.where(np.indices((64, 64))[0] % 32 < rows, expected, np.nan).astype(np.float32)
    output = WrongOutput("C", got, expected, 1e-6, np.isnan(got), constants=(("TILE", 32), ("ROWS", 8)))
    found = explained("transpose", replace(output, launch=Launch((2, 2, 1), (32, 8, 1))))
    assert found is not None
    assert found.mistake == "part-of-each-tile"


def test_scattered_elements_that_were_never_written() -> None:
    """All that was stored is right."""
    got = mistaken()
    got[2, 3] = got[9, 4] = NAN
    assert diagnose(*inputs(), got) == "partly-unwritten"


def test_a_run_that_was_cut_short_is_judged_by_what_it_stored() -> None:
    """Unwritten elements prove nothing then: the stored ones still show the mistake."""
    got = mistaken(a_index=lambda row, k, sizes: row * sizes[2] + k)
    got[8:] = NAN
    assert diagnose(*inputs(), got, completed=False) == "a-leading-dimension"
    stopped = mistaken()
    stopped[8:] = NAN
    assert diagnose(*inputs(), stopped, completed=False) == ""


def test_noise_is_not_explained() -> None:
    """An output that no mistake would have produced gets no name."""
    a, b = inputs()
    noise = np.random.default_rng(5).normal(size=(19, 11)).astype(np.float32) * 9
    assert diagnose(a, b, noise) == ""


def test_a_mistake_with_one_more_wrong_element_is_not_named() -> None:
    """A hypothesis must fit everything that it can predict."""
    got = mistaken(tiles=lambda k: k // TILE)
    got[0, 0] += 1
    assert diagnose(*inputs(), got) == ""


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20), st.integers(0, 2**31), st.booleans())
def test_any_shape_and_any_output_can_be_asked_about(
    m: int,
    k: int,
    n: int,
    seed: int,
    completed: bool,  # noqa: FBT001 - drawn
) -> None:
    """No shape makes a hypothesis stumble, and what is named is in the table."""
    a, b = inputs((m, k, n), seed)
    random = np.random.default_rng(seed)
    got = (a @ b).astype(np.float32)
    got[random.random((m, n)) < 0.3] = NAN
    got[random.random((m, n)) < 0.3] = np.inf
    mistake = diagnose(a, b, got, completed=completed)
    assert mistake == "" or mistake in MISTAKES


def test_a_vector_and_an_integer_output_need_no_matrices() -> None:
    """A reduction's result, a list of counts: the general tests do with any shape and type."""
    expected = np.arange(1, 41, dtype=np.float64)
    got = np.where(np.arange(40) < 32, expected, 0).astype(np.int32)
    output = WrongOutput("bins", got, expected, 0.0, np.zeros(40, np.bool_), constants=(("BLOCK", 16),))
    found = explained("counts", output)
    assert found is not None
    assert found.mistake == "tail-wrong"


def test_an_explanation_names_the_student_s_arrays_and_no_number() -> None:
    """It is shown for hidden cases too."""
    a, b = inputs()
    output = wrong_output(a, b, mistaken(tiles=lambda k: k // TILE))
    found = explained("matmul", output)
    assert found is not None
    assert found.explanation == "`C` lacks the last tile of the sum"
    assert "TILE_SIZE" in found.hint


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_text_is_complete(mistake: str) -> None:
    """Lower case first, no place left open, and no number that a case could have put there."""
    places = {
        "output": "C",
        "a": "A",
        "b": "B",
        "tile": "TILE",
        "array": "`A`",
        "at": " on line X",
        "other_at": " on line Y",
        "between": "between lines X and Y",
        "around": " line X",
        "constants": "`TILE`",
    }
    found = MISTAKES[mistake]
    assert found.title
    assert found.concept
    for text in (found.explanation.format(**places), found.hint.format(**places)):
        assert text[0].islower() or text[0] == "`"
        assert "{" not in text
    assert found.hint.endswith(".")
    assert not found.explanation.endswith(".")
    assert set(re.findall(r"\d+", found.explanation)) <= {"0", "1", "16"}
