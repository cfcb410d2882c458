"""The matmul oracle: float32 in any order is within its bound, coarser arithmetic is not, and its inputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from grader.grading.arguments import poison
from grader.grading.oracle import draw_inputs, load_oracle
from grader.model import Case, Visibility

Array: TypeAlias = NDArray[Any]
Summation: TypeAlias = Callable[[Array, Array, np.random.Generator], Array]

MATMUL = load_oracle(Path(__file__).parents[2] / "reference" / "matmul")
SHAPES = ((1, 1, 1), (3, 2, 5), (33, 1, 18), (17, 16, 9), (8, 57, 12), (12, 400, 7))
F32 = np.float32


def _case(kind: str, shape: tuple[int, int, int], seed: int = 1) -> Case:
    return Case("case", tuple(zip("MKN", shape, strict=True)), (), Visibility.VISIBLE, kind, seed)


def _judge(result: Array, inputs: dict[str, Array]) -> Array:
    """Return which elements of a result are within the oracle's bound."""
    (m, k), n = inputs["A"].shape, inputs["B"].shape[1]
    values, bound = MATMUL.expected(inputs, {"M": m, "K": k, "N": n})["C"]
    within: Array = np.abs(result.astype(np.float64) - values) <= bound
    return within


# --- float32 in many orders --------------------------------------------------------------------------


def _products(a: Array, b: Array) -> Array:
    """Every product rounded once, M by N by K."""
    return a[:, np.newaxis, :] * b.T[np.newaxis, :, :]


def _forwards(a: Array, b: Array, _rng: np.random.Generator) -> Array:
    return np.add.accumulate(_products(a, b), axis=2, dtype=F32)[..., -1]


def _shuffled(a: Array, b: Array, rng: np.random.Generator) -> Array:
    order = rng.permutation(a.shape[1])
    return _forwards(a[:, order], b[order], rng)


def _pairwise(a: Array, b: Array, _rng: np.random.Generator) -> Array:
    terms = _products(a, b)
    while terms.shape[2] > 1:
        half = terms.shape[2] // 2
        terms = np.concatenate(
            (terms[..., :half] + terms[..., half : 2 * half], terms[..., 2 * half :]), axis=2
        )
    return terms[..., 0]


def _fused(a: Array, b: Array, _rng: np.random.Generator) -> Array:
    """Multiply and add with one rounding: the product is exact in float64, the sum nearly so."""
    total = np.zeros((a.shape[0], b.shape[1]), F32)
    for k in range(a.shape[1]):
        exact = a[:, k, np.newaxis].astype(np.float64) * b[k].astype(np.float64)
        total = (total + exact).astype(F32)
    return total


def _by_tiles(a: Array, b: Array, rng: np.random.Generator) -> Array:
    """A sum for each tile of 16, then the sum of those, padded with zeros."""
    a = np.pad(a, ((0, 0), (0, -a.shape[1] % 16)))
    b = np.pad(b, ((0, -b.shape[0] % 16), (0, 0)))
    total = np.zeros((a.shape[0], b.shape[1]), F32)
    for start in range(0, a.shape[1], 16):
        total += _forwards(a[:, start : start + 16], b[start : start + 16], rng)
    return total


def _in_double(a: Array, b: Array, _rng: np.random.Generator) -> Array:
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(F32)


ORDERS = (_forwards, _shuffled, _pairwise, _fused, _by_tiles, _in_double)


@pytest.mark.parametrize("summed", ORDERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", MATMUL.kinds)
def test_float32_is_within_the_bound_in_every_order(
    kind: str, shape: tuple[int, int, int], summed: Summation
) -> None:
    """Whatever the order of the sum, a float32 product is never outside its bound."""
    for seed in range(3):
        inputs = draw_inputs(MATMUL, _case(kind, shape, seed))
        result = summed(inputs["A"], inputs["B"], np.random.default_rng(seed))
        assert result.dtype == F32
        assert _judge(result, inputs).all()


@given(
    st.integers(1, 20), st.integers(1, 70), st.integers(1, 20), st.integers(0, 2**32), st.sampled_from(ORDERS)
)
@settings(max_examples=60, deadline=None)
def test_float32_is_within_the_bound_for_any_shape_and_seed(
    m: int, k: int, n: int, seed: int, summed: Summation
) -> None:
    """The bound holds for arbitrary shapes and seeds."""
    inputs = draw_inputs(MATMUL, _case("random", (m, k, n), seed))
    assert _judge(summed(inputs["A"], inputs["B"], np.random.default_rng(seed)), inputs).all()


def test_the_bound_covers_results_flushed_to_zero() -> None:
    """Products that underflow may be replaced by zero, as they are with -ftz=true."""
    inputs = {"A": np.full((1, 4), 1e-20, F32), "B": np.full((4, 1), 1e-19, F32)}
    assert _judge(np.zeros((1, 1), F32), inputs).all()


# --- what is too coarse -------------------------------------------------------------------------------


def _in_half(a: Array, b: Array, _rng: np.random.Generator) -> Array:
    return np.add.accumulate(_products(a.astype(np.float16), b.astype(np.float16)), axis=2)[..., -1]


def _summed_in_half(a: Array, b: Array, _rng: np.random.Generator) -> Array:
    total = np.zeros((a.shape[0], b.shape[1]), np.float16)
    for k in range(a.shape[1]):
        total = (total.astype(F32) + a[:, k, np.newaxis] * b[k]).astype(np.float16)
    return total


def _to_tf32(values: Array) -> Array:
    """Ten explicit bits of significand, rounded to nearest, ties away from zero."""
    bits = (values.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return bits.view(F32)


def _in_tf32(a: Array, b: Array, rng: np.random.Generator) -> Array:
    return _forwards(_to_tf32(a), _to_tf32(b), rng)


@pytest.mark.parametrize("summed", [_in_half, _summed_in_half, _in_tf32])
@pytest.mark.parametrize("shape", [(33, 1, 18), (34, 17, 20), (32, 32, 32), (61, 61, 61), (64, 64, 64)])
def test_half_and_tf32_arithmetic_fail(shape: tuple[int, int, int], summed: Summation) -> None:
    """Arithmetic with eleven significant bits is found out on random inputs of every size in use."""
    for seed in range(3):
        inputs = draw_inputs(MATMUL, _case("random", shape, seed))
        right = _judge(summed(inputs["A"], inputs["B"], np.random.default_rng(seed)), inputs)
        assert np.count_nonzero(~right) > right.size // 2


@pytest.mark.parametrize("kind", MATMUL.kinds)
@pytest.mark.parametrize("shape", [(34, 34, 34), (8, 57, 12)])
def test_nothing_passes_for_an_untouched_buffer(kind: str, shape: tuple[int, int, int]) -> None:
    """Poison is outside every bound."""
    inputs = draw_inputs(MATMUL, _case(kind, shape))
    untouched = np.full((shape[0], shape[2]), poison("float32"))
    assert not _judge(untouched, inputs).any()


@pytest.mark.parametrize("kind", ["random", "spikes"])
def test_a_single_missing_term_is_seen_everywhere(kind: str) -> None:
    """Leaving out any one k makes every element wrong, so that no guard can be off by one unseen."""
    inputs = draw_inputs(MATMUL, _case(kind, (12, 33, 14)))
    for k in range(33):
        short = _in_double(
            np.delete(inputs["A"], k, 1), np.delete(inputs["B"], k, 0), np.random.default_rng()
        )
        right = _judge(short, inputs)
        assert kind == "spikes" or not right.any()
        assert not right.all()


# --- the kinds of inputs ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MATMUL.kinds)
def test_inputs_are_float32_in_c_order_of_the_right_shape(kind: str) -> None:
    """Every kind gives A as M by K and B as K by N, ready to be copied to a device."""
    for m, k, n in SHAPES:
        inputs = draw_inputs(MATMUL, _case(kind, (m, k, n)))
        assert {name: array.shape for name, array in inputs.items()} == {"A": (m, k), "B": (k, n)}
        assert all(array.dtype == F32 and array.flags.c_contiguous for array in inputs.values())


@pytest.mark.parametrize("kind", MATMUL.kinds)
def test_the_seed_alone_decides_the_inputs(kind: str) -> None:
    """The same seed gives the same bytes."""
    first, second = (draw_inputs(MATMUL, _case(kind, (20, 30, 10), seed=7)) for _ in range(2))
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)


@pytest.mark.parametrize("kind", ["random", "spikes", "small-integers"])
def test_another_seed_gives_other_inputs(kind: str) -> None:
    """A hidden seed hides the numbers."""
    first, second = (draw_inputs(MATMUL, _case(kind, (20, 30, 10), seed=seed)) for seed in (7, 8))
    assert all((first[name] != second[name]).any() for name in first)


def test_random_inputs_have_no_structure_to_hide_behind() -> None:
    """Mixed signs, fractions, nothing near zero, nothing symmetric, A not B, no number twice in a matrix."""
    inputs = draw_inputs(MATMUL, _case("random", (24, 24, 24)))
    a, b = inputs["A"], inputs["B"]
    assert (a < 0).any()
    assert (a > 0).any()
    assert np.abs(a).min() >= F32(0.5)
    assert not np.array_equal(a, np.rint(a))
    assert not np.array_equal(a, a.T)
    assert not np.array_equal(a, b)
    assert np.unique(np.abs(a)).size == a.size


def test_small_integers_allow_no_error() -> None:
    """Whole numbers whose sums fit 24 bits are exact, so one unit too much is wrong."""
    inputs = draw_inputs(MATMUL, _case("small-integers", (32, 32, 32)))
    _, bound = MATMUL.expected(inputs, {"M": 32, "K": 32, "N": 32})["C"]
    assert not bound.any()


def test_integers_beyond_24_bits_are_not_called_exact() -> None:
    """The bound is above 0 again if a sum of whole numbers can round."""
    inputs = {"A": np.full((1, 2), 5000.0, F32), "B": np.full((2, 1), 5000.0, F32)}
    _, bound = MATMUL.expected(inputs, {"M": 1, "K": 2, "N": 1})["C"]
    assert bound[0, 0] > 0


def test_ones_and_twos_make_every_element_twice_k() -> None:
    """At 34 by 34 every element is 68."""
    inputs = draw_inputs(MATMUL, _case("ones-and-twos", (34, 34, 34)))
    values, bound = MATMUL.expected(inputs, {"M": 34, "K": 34, "N": 34})["C"]
    assert (values == 68.0).all()
    assert not bound.any()


def test_identity_repeats_the_columns_of_a() -> None:
    """C is A where B has a one, and zero beyond."""
    inputs = draw_inputs(MATMUL, _case("identity", (5, 3, 7)))
    values, _ = MATMUL.expected(inputs, {"M": 5, "K": 3, "N": 7})["C"]
    assert np.array_equal(values[:, :3], inputs["A"])
    assert not values[:, 3:].any()


def test_counting_is_the_example_of_the_handout() -> None:
    """8 by 8 with tiles of 4: partial sums 30 70 110 150 after a phase, 1404 1740 2076 2412 at the end."""
    inputs = draw_inputs(MATMUL, _case("counting", (8, 8, 8)))
    a, b = inputs["A"], inputs["B"]
    assert a[:4, :4].tolist() == np.arange(1, 17).reshape(4, 4).tolist()
    assert a[0, 4:].tolist() == [17, 18, 19, 20]
    assert np.array_equal(b, a.T)
    assert (a[:4, :4] @ b[:4, :4])[0].tolist() == [30, 70, 110, 150]
    assert (a[:4, :4] @ b[:4, :4])[3].tolist() == [150, 382, 614, 846]
    values, _ = MATMUL.expected(inputs, {"M": 8, "K": 8, "N": 8})["C"]
    assert values[0, :4].tolist() == [1404, 1740, 2076, 2412]
    assert values[3, :4].tolist() == [2412, 3132, 3852, 4572]


# --- square products ---------------------------------------------------------------------------------


def test_a_square_product_has_one_dimension_and_names_of_its_own() -> None:
    """`Width` makes M, N and P of what M, K and N make A, B and C of."""
    square = MATMUL.inputs("random", {"Width": 9}, np.random.default_rng(3))
    plain = MATMUL.inputs("random", {"M": 9, "K": 9, "N": 9}, np.random.default_rng(3))
    assert list(square) == ["M", "N"]
    assert np.array_equal(square["M"], plain["A"])
    assert np.array_equal(square["N"], plain["B"])
    found = MATMUL.expected(square, {"Width": 9})
    wanted = MATMUL.expected(plain, {"M": 9, "K": 9, "N": 9})
    assert list(found) == ["P"]
    assert all(np.array_equal(*pair) for pair in zip(found["P"], wanted["C"], strict=True))


def test_ones_and_twos_of_width_34_make_68() -> None:
    """Each of the 34 x 34 elements, and exactly."""
    shape = {"Width": 34}
    values, bound = MATMUL.expected(MATMUL.inputs("ones-and-twos", shape, np.random.default_rng(0)), shape)[
        "P"
    ]
    assert values.shape == (34, 34)
    assert (values == 68.0).all()
    assert (bound == 0.0).all()


def test_a_square_product_takes_two_operations_for_each_of_its_products() -> None:
    """And the library call knows the arrays by their names."""
    assert MATMUL.work is not None
    work = MATMUL.work({"Width": 10})
    assert work["flops"] == 2_000
    assert [work["library"][name] for name in ("a", "b", "c", "m", "n", "k")] == ["M", "N", "P", 10, 10, 10]


def test_sums_of_positive_inputs_do_not_cancel() -> None:
    """So that float32 in any order keeps a relative error of a few units of rounding."""
    inputs = MATMUL.inputs("positive", {"M": 20, "K": 64, "N": 20}, np.random.default_rng(5))
    values, _ = MATMUL.expected(inputs, {"M": 20, "K": 64, "N": 20})["C"]
    assert min(inputs["A"].min(), inputs["B"].min()) >= 0.0
    assert np.max(np.abs(inputs["A"] @ inputs["B"] - values) / values) < 1e-6
