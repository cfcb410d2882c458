"""The input that a kernel reads is identified by the expected results for other inputs, in any operation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.explaining import NO_HYPOTHESES, WrongOutput, fitting
from grader.model import Launch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[Any]

ROWS, COLUMNS = 24, 50
LAUNCH = Launch((1, 6, 1), (32, 4, 1))
DRAWN = np.random.default_rng(5)
INPUTS: dict[str, Array] = {
    "A": DRAWN.uniform(-2, 2, (ROWS, COLUMNS)),
    "x": DRAWN.uniform(-2, 2, COLUMNS),
    "w": DRAWN.uniform(-2, 2, COLUMNS),
    "b": DRAWN.uniform(-2, 2, ROWS),
}


def answer(inputs: Mapping[str, Array]) -> Array:
    """An operation that no hypothesis knows: a weighted product, with something added."""
    product: Array = inputs["A"] @ (inputs["x"] * inputs["w"] ** 2) + inputs["b"]
    return product


def output(got: Array, **fields: Any) -> WrongOutput:  # noqa: ANN401 - the record's own
    """Evidence of a wrong result of that operation."""
    inputs = fields.pop("inputs", INPUTS)
    return WrongOutput(
        "y",
        got,
        answer(inputs),
        1e-6,
        np.zeros(got.shape, np.bool_),
        inputs=tuple(inputs.items()),
        launch=LAUNCH,
        answer=answer,
        store_bytes=1,
        **fields,
    )


def column(kept: Array) -> Array:
    """The matrix with nothing but these columns."""
    return np.where(kept, INPUTS["A"], 0.0)


INDEX = np.arange(COLUMNS)


@pytest.mark.parametrize(
    ("mistake", "read"),
    [
        ("input-not-used", {"b": np.zeros(ROWS)}),
        ("input-not-used", {"w": np.ones(COLUMNS)}),
        ("sign-of-input", {"b": -INPUTS["b"]}),
        ("inputs-exchanged", {"x": INPUTS["w"], "w": INPUTS["x"]}),
        ("input-transposed", {"A": INPUTS["A"].reshape(COLUMNS, ROWS).T}),
        ("input-row-length", {"A": INPUTS["A"].reshape(-1)[np.add.outer(np.arange(ROWS) * ROWS, INDEX)]}),
        ("first-of-input", {"A": np.tile(INPUTS["A"][0], (ROWS, 1))}),
        ("integer-inputs", {"A": np.trunc(INPUTS["A"])}),
        ("tail-not-counted", {"A": column(INDEX < 32)}),
        ("last-step-missing", {"A": column(INDEX % 32 < 16)}),
        ("last-of-tiles-left-out", {"A": column(INDEX % 32 < 31)}),
        ("end-of-sum-left-out", {"A": column(INDEX > 0)}),
        ("not-accumulated", {"A": column(INDEX == COLUMNS - 1)}),
        ("not-accumulated", {"A": column(INDEX >= 32)}),
    ],
)
def test_what_was_read_in_place_of_an_input_is_named(mistake: str, read: dict[str, Array]) -> None:
    """The staff's own oracle gives the results that would be right then."""
    assert next(fitting(NO_HYPOTHESES, output(answer(INPUTS | read)))) == mistake


def test_one_round_of_a_long_row_is_distinguished_from_a_row_without_its_end() -> None:
    """The two mistakes differ in rows of more than two rounds, and the cases decide together."""
    inputs = INPUTS | {name: DRAWN.uniform(-2, 2, 90) for name in "xw"} | {"A": DRAWN.uniform(-2, 2, (8, 90))}
    inputs["b"] = INPUTS["b"][:8]
    got = answer(inputs | {"A": np.where(np.arange(90) < 32, inputs["A"], 0)})
    assert next(fitting(NO_HYPOTHESES, output(got, inputs=inputs))) == "first-round-of-row"


@pytest.mark.parametrize("seed", range(20))
def test_numbers_that_nothing_explains_get_no_name(seed: int) -> None:
    """Also where all but a few are what some mistake would have made."""
    got = answer(INPUTS | {"b": np.zeros(ROWS)})
    got[seed] += 0.01
    assert "input-not-used" not in set(fitting(NO_HYPOTHESES, output(got)))
    noise = answer(INPUTS) + np.random.default_rng(seed).uniform(-1, 1, ROWS)
    assert set(fitting(NO_HYPOTHESES, output(noise))) <= {"imprecise"}


def test_a_few_numbers_are_explained_by_accident_and_so_by_nothing() -> None:
    """Three elements with wide bounds are left to what knows the operation; narrow ones tell a mistake."""
    few = INPUTS | {"A": INPUTS["A"][:3], "b": INPUTS["b"][:3]}
    small = output(answer(few | {"b": np.zeros(3)}), inputs=few)
    assert not list(fitting(NO_HYPOTHESES, replace(small, bound=2.0)))
    assert next(fitting(NO_HYPOTHESES, small)) == "input-not-used"


def test_an_oracle_that_does_not_understand_other_inputs_explains_nothing() -> None:
    """Such as columns of a sparse matrix that lie outside of it."""
    wrong = output(answer(INPUTS | {"w": np.ones(COLUMNS)}))
    assert not list(fitting(NO_HYPOTHESES, replace(wrong, answer=lambda _: None)))


def test_one_of_two_operands_twice() -> None:
    """Named where they are the first two inputs, which the text names."""
    inputs = {name: DRAWN.uniform(-2, 2, 40) for name in "pq"}
    right, got = inputs["p"] ** 2 * inputs["q"], inputs["p"] ** 3
    unwritten = np.zeros(40, np.bool_)
    wrong = WrongOutput(
        "y",
        got,
        right,
        1e-6,
        unwritten,
        tuple(inputs.items()),
        answer=lambda read: read["p"] ** 2 * read["q"],
    )
    assert next(fitting(NO_HYPOTHESES, wrong)) == "operand-twice"


def test_two_operands_behind_another_input_are_not_named_by_its_name() -> None:
    """The text names the first two inputs, also where the first is a single number."""
    inputs = {"s": np.ones(1)} | {name: DRAWN.uniform(-2, 2, 40) for name in "pq"}
    right, got = inputs["p"] ** 2 * inputs["q"], inputs["p"] ** 3

    def square(read: Mapping[str, Array]) -> Array:
        return np.asarray(read["s"] * read["p"] ** 2 * read["q"])

    wrong = WrongOutput("y", got, right, 1e-6, np.zeros(40, np.bool_), tuple(inputs.items()), answer=square)
    assert "operand-twice" not in set(fitting(NO_HYPOTHESES, wrong))


def test_what_is_only_compared_fits_by_accident_and_so_nothing() -> None:
    """Another threshold is no conversion to integers."""
    x = DRAWN.uniform(-3, 3, 200)

    def above(read: Mapping[str, Array]) -> Array:
        return np.asarray((read["x"] > 0).astype(np.int32))

    inputs, unwritten = (("x", x),), np.zeros(200, np.bool_)
    got = (x >= 1).astype(np.int32)
    wrong = WrongOutput("y", got, above({"x": x}), 0.0, unwritten, inputs, answer=above, store_bytes=1)
    assert not list(fitting(NO_HYPOTHESES, wrong))


def test_nothing_is_asked_twice_or_of_the_inputs_as_they_are() -> None:
    """An oracle may be slow, and many mistakes leave out the same elements."""
    asked = []

    def listening(read: Mapping[str, Array]) -> Array:
        asked.append(tuple(array.tobytes() for array in read.values()))
        return answer(read)

    noise = output(answer(INPUTS) + DRAWN.uniform(-1, 1, ROWS))
    list(fitting(NO_HYPOTHESES, replace(noise, answer=listening, constants=(("TILE", 16),))))
    assert 0 < len(set(asked)) == len(asked)
    assert tuple(array.tobytes() for array in INPUTS.values()) not in asked


def test_a_row_shorter_than_a_tile_has_nothing_but_an_end() -> None:
    """All of it is left out where tiles are counted rounded down."""
    inputs = INPUTS | {"A": INPUTS["A"][:, :20], "x": INPUTS["x"][:20], "w": INPUTS["w"][:20]}
    got = answer(inputs | {"A": np.zeros((ROWS, 20))})
    assert "tail-not-counted" in set(fitting(NO_HYPOTHESES, output(got, inputs=inputs)))
