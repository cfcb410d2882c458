"""A wrong sum inside a formula is identified: what it leaves out, adds twice, or is divided by."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.explaining import NO_HYPOTHESES, WrongOutput, fitting
from grader.explaining.other_answers import MutantAnswers
from grader.grading.oracle import load_oracle
from grader.model import Case, Visibility

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Reduce = Callable[[Array], Array]

ORACLE = '''
    """Rows, as far from their mean as they vary, and then as shares of one."""
    import numpy as np
    KINDS = ("random",)
    FLOOR = 0.125

    def inputs(kind, shape, rng):
        return {"x": rng.uniform(-2, 3, (shape["M"], shape["N"]))}

    def expected(inputs, shape):
        x = np.asarray(inputs["x"], np.float64)
        mean = x.mean(axis=1, keepdims=True)
        spread = ((x - mean) ** 2).mean(axis=1, keepdims=True)
        e = np.exp((x - mean) / np.sqrt(spread + FLOOR))
        return {"y": (e / e.sum(axis=1, keepdims=True), 1e-9)}
'''
ROWS, COLUMNS, THREADS = 6, 150, 64
INDEX = np.arange(COLUMNS)


def total(x: Array) -> Array:
    """The sum of each row."""
    return np.asarray(x.sum(axis=1, keepdims=True))


def average(x: Array) -> Array:
    """The mean of each row."""
    return total(x) / COLUMNS


def student(
    x: Array, mean: Reduce = average, spread: Reduce = average, shares: Reduce = total, floor: float = 0.125
) -> Array:
    """The results of a kernel whose sums may be others."""
    centred = x - mean(x)
    e = np.exp(centred / np.sqrt(spread(centred**2) + floor))
    return np.asarray(e / shares(e))


def part(kept: Array) -> Reduce:
    """A mean that takes only these elements."""
    return lambda x: average(np.where(kept, x, 0.0))


def own(x: Array) -> Array:
    """For each column the sum of those that its thread has."""
    return np.asarray(x @ ((INDEX[:, None] - INDEX) % THREADS == 0))


def named(folder: Path, compute: Callable[[Array], Array], text: str = ORACLE) -> str:
    """The mistake that is named first for the results of a kernel."""
    (folder / "oracle.py").write_text(textwrap.dedent(text))
    oracle = load_oracle(folder)
    case = Case("small", (("M", ROWS), ("N", COLUMNS)), (), Visibility.VISIBLE, "random", 0)
    inputs = oracle.inputs("random", dict(case.shape), np.random.default_rng(2))
    wanted, bound = oracle.expected(inputs, dict(case.shape))["y"]
    got = compute(inputs["x"])
    asked = MutantAnswers(oracle, case, "y", inputs, (THREADS,))
    unwritten = np.zeros(got.shape, np.bool_)
    given = tuple(inputs.items())
    output = WrongOutput("y", got, wanted, bound, unwritten, given, store_bytes=4, mutants=asked)
    return next(fitting(NO_HYPOTHESES, output), "")


@pytest.mark.parametrize(
    ("mistake", "compute"),
    [
        ("end-of-sum-left-out", lambda x: student(x, shares=lambda e: total(e[:, :-1]))),
        ("end-of-sum-left-out", lambda x: student(x, mean=part(INDEX > 0))),
        ("tail-not-counted", lambda x: student(x, mean=part(INDEX < 128), spread=part(INDEX < 128))),
        ("first-round-of-row", lambda x: student(x, shares=lambda e: total(e[:, :THREADS]))),
        ("last-step-missing", lambda x: student(x, *(part(INDEX % 2 == 0),) * 2)),
        ("first-thread-of-sum", lambda x: student(x, spread=part(INDEX % THREADS == 0))),
        ("part-added-twice", lambda x: student(x, shares=lambda e: total(e) + total(e[:, ::THREADS]))),
        ("own-part-of-sum", lambda x: student(x, shares=own)),
        ("start-of-formula", lambda x: student(x, shares=lambda e: total(e) + 1)),
        ("start-of-formula", lambda x: student(x, shares=lambda e: total(e) + THREADS)),
        ("divisor-in-formula", lambda x: student(x, spread=lambda v: total(v) / (COLUMNS - 1))),
        ("divisor-in-formula", lambda x: student(x, *(lambda v: total(v) / THREADS,) * 2)),
    ],
)
def test_a_sum_that_is_another_one_is_named(
    tmp_path: Path, mistake: str, compute: Callable[[Array], Array]
) -> None:
    """One of several sums, or all that are over as many elements."""
    assert named(tmp_path, compute) == mistake


@pytest.mark.parametrize(
    ("mistake", "compute"),
    [
        ("part-of-formula", lambda x: student(x, lambda v: 0 * total(v))),
        ("number-in-formula", lambda x: student(x, floor=0.25)),
    ],
)
def test_a_mistake_that_is_made_wherever_the_formula_repeats_a_term_is_named(
    tmp_path: Path, mistake: str, compute: Callable[[Array], Array]
) -> None:
    """The mean that is subtracted nowhere; a number that the file gives a name."""
    assert named(tmp_path, compute) == mistake


def test_a_mistake_in_one_use_of_what_the_oracle_keeps_in_a_variable_is_named(tmp_path: Path) -> None:
    """A kernel that computes the exponential twice, and subtracts the mean in one of the two only."""

    def compute(x: Array) -> Array:
        deviation = np.sqrt(average((x - average(x)) ** 2) + 0.125)
        return np.asarray(np.exp(x / deviation) / total(np.exp((x - average(x)) / deviation)))

    assert named(tmp_path, compute) == "part-of-formula"


def test_noise_has_no_wrong_sum(tmp_path: Path) -> None:
    """A result that is nearly one mistake gets no name."""
    noise = np.random.default_rng(1).normal(0, 1e-3, (ROWS, COLUMNS))
    assert named(tmp_path, lambda x: student(x, mean=part(INDEX > 0)) + noise) == ""


LOOPS = '''
    """A sparse product, term by term."""
    import numpy as np
    KINDS = ("random",)

    def inputs(kind, shape, rng):
        start = np.concatenate([[0], np.cumsum(rng.integers(1, 9, shape["M"]))])
        return {"start": start, "x": rng.uniform(-2, 2, start[-1])}

    def expected(inputs, shape):
        start, x = inputs["start"], inputs["x"]
        y = np.zeros(shape["M"])
        for row in range(shape["M"]):
            for k in range(start[row], start[row + 1]):
                y[row] += np.sin(x[k])
        return {"y": (y, 1e-9)}
'''


@pytest.mark.parametrize(
    ("mistake", "chosen"),
    [("not-accumulated", lambda k, _: k[-1:]), ("quantity-in-formula", lambda k, first: k - first)],
)
def test_what_a_loop_adds_up_may_be_its_last_term_or_begin_elsewhere(
    tmp_path: Path, mistake: str, chosen: Callable[[Array, int], Array]
) -> None:
    """`=` in place of `+=`; an index from the beginning of the row, not of the array."""
    (tmp_path / "oracle.py").write_text(textwrap.dedent(LOOPS))
    oracle = load_oracle(tmp_path)
    case = Case("small", (("M", 40),), (), Visibility.VISIBLE, "random", 0)
    inputs = oracle.inputs("random", {"M": 40}, np.random.default_rng(2))
    wanted, bound = oracle.expected(inputs, {"M": 40})["y"]
    rows = zip(inputs["start"], inputs["start"][1:], strict=False)
    got = np.array([np.sin(inputs["x"][chosen(np.arange(a, b), a)]).sum() for a, b in rows])
    asked = MutantAnswers(oracle, case, "y", inputs)
    unwritten = np.zeros(got.shape, np.bool_)
    output = WrongOutput("y", got, wanted, bound, unwritten, (), store_bytes=4, mutants=asked)
    assert next(fitting(NO_HYPOTHESES, output), "") == mistake
