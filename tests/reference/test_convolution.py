"""The oracle of the 5 by 5 filter: its numbers are those that students get, its bound, its inputs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.grading.oracle import load_oracle
from grader.model.compare import compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).parents[2]
ORACLE = load_oracle(ROOT / "reference" / "convolution")
SHAPES = ((1, 1), (3, 4), (1, 20), (20, 1), (17, 33))
EXACT_KINDS = ("small-integers", "impulses")


def _filter() -> np.ndarray[Any, Any]:
    """The numbers of the header that students include."""
    text = (ROOT / "assignments" / "convolution-2d" / "filter.h").read_text()
    return np.array(re.findall(r"(-?\d+\.0)f", text), np.float64).reshape(5, 5)


def _inputs(kind: str, h: int, w: int) -> dict[str, np.ndarray[Any, Any]]:
    return ORACLE.inputs(kind, {"H": h, "W": w}, np.random.default_rng(3))


def _wrong(
    inputs: dict[str, np.ndarray[Any, Any]],
    answers: Iterable[tuple[str, Mapping[str, np.ndarray[Any, Any]]]],
) -> set[str]:
    """The names of the answers that are outside the bound."""
    values, bound = ORACLE.expected(inputs, _shape(inputs))["result"]
    return {name for name, given in answers if compare("result", given["result"], values, bound).wrong}


def _shape(inputs: dict[str, np.ndarray[Any, Any]]) -> dict[str, int]:
    return dict(zip("HW", inputs["image"].shape, strict=True))


def test_the_filter_has_no_symmetry_that_a_wrong_index_could_hide_behind() -> None:
    """No two of its numbers are equal, and none is zero."""
    assert len(set(_filter().flat)) == 25
    assert _filter().all()


@pytest.mark.parametrize("kind", ORACLE.kinds)
@pytest.mark.parametrize(("h", "w"), SHAPES)
def test_expected_values_are_the_sums_of_the_hand_out(kind: str, h: int, w: int) -> None:
    """Element by element, with the numbers of the header and zeros outside the image."""
    inputs, weights = _inputs(kind, h, w), _filter()
    image = inputs["image"].astype(np.float64)
    plain = np.zeros((h, w))
    for (r, c), _ in np.ndenumerate(plain):
        for (i, j), weight in np.ndenumerate(weights):
            row, column = r + i - 2, c + j - 2
            if 0 <= row < h and 0 <= column < w:
                plain[r, c] += weight * image[row, column]
    values, _ = ORACLE.expected(inputs, _shape(inputs))["result"]
    np.testing.assert_allclose(values, plain, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("kind", ORACLE.kinds)
@pytest.mark.parametrize(("h", "w"), SHAPES)
def test_float32_is_right_in_every_order(kind: str, h: int, w: int) -> None:
    """By rows, backwards, by columns, as a tree, and with fused operations."""
    assert ORACLE.orders
    inputs = _inputs(kind, h, w)
    assert not _wrong(inputs, ORACLE.orders(inputs, _shape(inputs)))


def test_coarser_arithmetic_is_wrong_for_a_random_image() -> None:
    """Half, bfloat16 and TF32 are beyond the bound of 25 products."""
    assert ORACLE.coarser
    inputs = _inputs("random", 9, 9)
    assert _wrong(inputs, ORACLE.coarser(inputs, _shape(inputs))) == {"half", "bfloat16", "tf32"}


@pytest.mark.parametrize("kind", EXACT_KINDS)
def test_whole_numbers_leave_no_room_for_rounding(kind: str) -> None:
    """Whole numbers by whole numbers are exact in every order, so the bound is zero."""
    assert not ORACLE.expected(_inputs(kind, 20, 30), {"H": 20, "W": 30})["result"][1].any()
    assert ORACLE.expected(_inputs("random", 20, 30), {"H": 20, "W": 30})["result"][1].all()


def test_a_frame_of_zeros_hides_what_is_done_outside_the_image() -> None:
    """Framed images and impulses are zero as far from the rim as the filter reaches."""
    for kind in ("framed", "impulses"):
        image = _inputs(kind, 20, 30)["image"]
        assert image.any()
        image[2:-2, 2:-2] = 0
        assert not image.any()


def test_work_counts_products_inside_the_image() -> None:
    """A single element has one product, a multiply and an add; far from the border there are 25."""
    assert ORACLE.work
    assert ORACLE.work({"H": 1, "W": 1})["flops"] == 2
    more = ORACLE.work({"H": 101, "W": 101})["flops"] - ORACLE.work({"H": 100, "W": 101})["flops"]
    assert more == 2 * 5 * (5 * 101 - 6)
