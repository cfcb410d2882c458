"""A wrong formula is identified by the results of the staff's oracle with one change."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.explaining import NO_HYPOTHESES, WrongOutput, fitting
from grader.explaining.formulas.changes import PLAINEST_FIRST
from grader.explaining.formulas.mutants import mutants
from grader.explaining.formulas.sums import changes_of_sum
from grader.explaining.mistake import MISTAKES
from grader.explaining.other_answers import MutantAnswers
from grader.grading.oracle import load_oracle
from grader.model import Case, Visibility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from grader.grading.oracle import Oracle

    Array = NDArray[Any]

ORACLE = '''
    """Some steps of a decay, with a source where it is warm."""
    from __future__ import annotations
    import numpy as np
    KINDS = ("random",)

    def inputs(kind, shape, rng):
        return {"x": rng.uniform(1, 9, shape["N"])}

    def _source(x: np.ndarray, rate: float) -> np.ndarray:
        return np.where(x > 5.0, np.sqrt(x) * rate, 0.125 * np.log(x))

    def expected(inputs, shape):
        u = np.asarray(inputs["x"], np.float64)
        for _ in range(shape["T"]):
            u = u - u / 7.25 + _source(u, 0.7)
        return {"y": (u, 1e-9 * np.ones_like(u))}
'''
OF_SUMS = {change.mistake for change in changes_of_sum(1000, (16, 32, 128))}
CASE = Case("small", (("N", 60), ("T", 4)), (), Visibility.VISIBLE, "random", 0)


def student(x: Array, steps: int = 4, step: Callable[[Array], Array] | None = None, **other: float) -> Array:
    """The results of a kernel whose formula may be another one."""
    limit, rate, divisor = other.get("limit", 5.0), other.get("rate", 0.7), other.get("divisor", 7.25)

    def right(u: Array) -> Array:
        source: Array = np.where(u > limit, np.sqrt(u) * rate, 0.125 * np.log(u))
        return u - u / divisor + source

    for _ in range(steps):
        x = (step or right)(x)
    return x


@pytest.fixture(name="oracle")
def _oracle(tmp_path: Path) -> Oracle:
    (tmp_path / "oracle.py").write_text(textwrap.dedent(ORACLE))
    return load_oracle(tmp_path)


def named(oracle: Oracle, compute: Callable[[Array], Array], case: Case = CASE) -> str:
    """The mistake that is named first for the results of a kernel."""
    inputs = oracle.inputs("random", dict(case.shape), np.random.default_rng(2))
    wanted, bound = oracle.expected(inputs, dict(case.shape))["y"]
    got = compute(inputs["x"])
    given = tuple(inputs.items())
    asked = MutantAnswers(oracle, case, "y", inputs)
    unwritten = np.zeros(got.shape, np.bool_)
    output = WrongOutput("y", got, wanted, bound, unwritten, given, store_bytes=4, mutants=asked)
    return next(fitting(NO_HYPOTHESES, output), "")


@pytest.mark.parametrize(
    ("mistake", "compute"),
    [
        ("steps-of-formula", lambda x: student(x, 3)),
        ("steps-of-formula", lambda x: student(x, 5)),
        ("first-step-only", lambda x: student(x, 1)),
        ("number-in-formula", lambda x: student(x, limit=6.0)),
        ("fraction-in-formula", lambda x: student(x, divisor=7.0)),
        ("part-of-formula", lambda x: student(x, rate=1.0)),
        ("sign-in-formula", lambda x: student(x, rate=-0.7)),
        (
            "function-in-formula",
            lambda x: student(x, step=lambda u: u - u / 7.25 + np.where(u > 5, u * 0.7, 0.125 * np.log(u))),
        ),
        (
            "condition-in-formula",
            lambda x: student(
                x, step=lambda u: u - u / 7.25 + np.where(u < 5, np.sqrt(u) * 0.7, 0.125 * np.log(u))
            ),
        ),
    ],
)
def test_one_change_of_the_formula_is_named(
    oracle: Oracle, mistake: str, compute: Callable[[Array], Array]
) -> None:
    """Also in a function that `expected` calls."""
    assert named(oracle, compute) == mistake


NORMS = '''
    """The lengths of two pairs, summed up."""
    import numpy as np
    KINDS = ("random",)

    def inputs(kind, shape, rng):
        return {"x": rng.uniform(1, 9, shape["N"])}

    def expected(inputs, shape):
        x = np.asarray(inputs["x"], np.float64)
        p, q = np.sin(x), x[::-1]
        return {"y": (np.sqrt(x + p * p) + np.sqrt(3 * x + q * q), 1e-9)}
'''


@pytest.mark.parametrize(
    ("mistake", "compute"),
    [
        ("function-in-formula", lambda x: 4 * x + np.sin(x) ** 2 + x[::-1] ** 2),
        ("quantity-in-formula", lambda x: np.sqrt(x + np.sin(x) ** 2) + np.sqrt(3 * x + np.sin(x) ** 2)),
    ],
)
def test_what_is_wrong_in_two_places_at_once_is_one_mistake(
    tmp_path: Path, mistake: str, compute: Callable[[Array], Array]
) -> None:
    """A function that is forgotten wherever it belongs; both factors of a square."""
    (tmp_path / "oracle.py").write_text(textwrap.dedent(NORMS))
    assert named(load_oracle(tmp_path), compute) == mistake


def test_two_changes_and_noise_get_no_name(oracle: Oracle) -> None:
    """A result that is nearly one mistake gets no name."""
    assert named(oracle, lambda x: student(x, 3, limit=6.5, rate=0.6)) == ""
    assert named(oracle, lambda x: student(x, 3) + np.random.default_rng(1).normal(0, 1e-2, x.size)) == ""


def test_one_more_wrong_element_and_no_change_explains_it(oracle: Oracle) -> None:
    """A change has to explain all elements."""

    def compute(x: Array) -> Array:
        y = student(x, 3)
        y[17] += 1
        return y

    assert named(oracle, compute) == ""


def test_an_output_of_one_number_everywhere_is_no_formula(tmp_path: Path) -> None:
    """Any condition that lets everybody by gives it, and so does a kernel without a formula."""
    source = textwrap.dedent(ORACLE).replace('{"y": (u, ', '{"y": (np.where(u > 3.0, 1.0, 0.0), ')
    (tmp_path / "oracle.py").write_text(source)
    oracle = load_oracle(tmp_path)
    assert named(oracle, np.ones_like) == "all-the-same"
    assert named(oracle, lambda x: (student(x) <= 3.0) * 1.0) == "condition-in-formula"


def test_of_hidden_cases_no_mutant_is_asked(oracle: Oracle) -> None:
    """Their outputs have no say in what visible cases show."""
    hidden = replace(CASE, visibility=Visibility.HIDDEN)
    assert named(oracle, lambda x: student(x, 3), hidden) == ""


def test_an_oracle_that_goes_on_until_something_changes_has_no_mutants(tmp_path: Path) -> None:
    """With one change it may go on for ever."""
    source = textwrap.dedent(ORACLE).replace('for _ in range(shape["T"])', "while u.max() > 3")
    (tmp_path / "oracle.py").write_text(source)
    assert not list(mutants(load_oracle(tmp_path)))


def test_an_oracle_that_catches_everything_has_no_mutants(tmp_path: Path) -> None:
    """It would catch, too, what stops a change that takes too long: nothing but the process's end is left."""
    source = textwrap.dedent(ORACLE).replace(
        "        u = u - u / 7.25 + _source(u, 0.7)",
        "        try:\n            u = u - u / 7.25 + _source(u, 0.7)\n        except:\n            pass",
    )
    (tmp_path / "oracle.py").write_text(source)
    assert not list(mutants(load_oracle(tmp_path)))


def test_what_an_oracle_keeps_for_later_stays_as_it_is(tmp_path: Path) -> None:
    """A list that is filled when it is first needed, in one step or through a function, is no mutant's."""
    source = textwrap.dedent(ORACLE).replace(
        "def _source(",
        "RATES = []\n\n\ndef _rates():\n    if not RATES:\n        RATES.append(0.7)\n"
        "    return RATES\n\n\ndef _source(",
    )
    (tmp_path / "oracle.py").write_text(source.replace("_source(u, 0.7)", "_source(u, sum(_rates()))"))
    oracle = load_oracle(tmp_path)
    inputs = oracle.inputs("random", dict(CASE.shape), np.random.default_rng(2))
    before, _ = oracle.expected(inputs, dict(CASE.shape))["y"]
    assert list(MutantAnswers(oracle, CASE, "y", inputs))
    after, _ = oracle.expected(inputs, dict(CASE.shape))["y"]
    assert np.array_equal(before, after)


@pytest.mark.parametrize("side", [range(4), range(-3, 1)])
def test_a_window_of_one_side_lacks_a_part(tmp_path: Path, side: range) -> None:
    """It is no quantity in the place of another, though a counter is 0 as well."""
    source = """
import numpy as np
KINDS = ("random",)

def inputs(kind, shape, rng):
    return {"x": rng.uniform(1, 9, shape["N"])}

def expected(inputs, shape):
    x, y, r = inputs["x"], np.zeros(shape["N"]), shape["T"] - 1
    for i in range(len(x)):
        count = 0
        for k in range(-r, r + 1):
            if 0 <= i + k < len(x):
                y[i] += x[i + k]
                count += 1
        y[i] /= count
    return {"y": (y, 1e-9 * np.ones_like(y))}
"""
    (tmp_path / "oracle.py").write_text(source)

    def averages(x: Array) -> Array:
        near = [[x[i + k] for k in side if 0 <= i + k < x.size] for i in range(x.size)]
        return np.array([np.mean(some) for some in near])

    assert named(load_oracle(tmp_path), averages) == "part-of-formula"


def test_what_an_object_of_the_oracles_remembers_stays_as_it_is(tmp_path: Path) -> None:
    """Answers that it keeps for the same inputs would be a mutant's, and right submissions would be wrong."""
    source = textwrap.dedent(ORACLE).replace("(u, 1e-9", "(MEMORY.answer(inputs['x'], u), 1e-9")
    memory = """
class Memory:
    def __init__(self):
        self.known = {}

    def answer(self, x, u):
        return self.known.setdefault(x.tobytes(), u)

MEMORY = Memory()
"""
    (tmp_path / "oracle.py").write_text(source + memory)
    oracle = load_oracle(tmp_path)
    inputs = oracle.inputs("random", dict(CASE.shape), np.random.default_rng(2))
    assert list(MutantAnswers(oracle, CASE, "y", inputs))
    after, _ = oracle.expected(inputs, dict(CASE.shape))["y"]
    assert np.allclose(after, student(inputs["x"]))


@pytest.mark.parametrize("table", ["np.full(10**5, 0.7)", "[[0.7] * 50 for _ in range(2000)]"])
def test_an_oracle_with_a_large_table_has_no_mutants(tmp_path: Path, table: str) -> None:
    """Each of hundreds would have a copy of it: 100 MB became 20 GB."""
    source = textwrap.dedent(ORACLE).replace("np.sqrt(x) * rate", "np.sqrt(x) * np.ravel(TABLE[0])[0]")
    (tmp_path / "oracle.py").write_text(f"{source}\nTABLE = {table}\n")
    assert not list(mutants(load_oracle(tmp_path)))


def test_the_name_of_a_type_is_no_table(tmp_path: Path) -> None:
    """A variable may say what it holds, as `NDArray`, behind whose name all methods of arrays stand."""
    source = textwrap.dedent(ORACLE).replace("u = np.asarray(", "u: Large = SMALL.factor * np.asarray(")
    table = """
class Table:
    factor, rows = 1.0, np.zeros(10**5)

    def __init__(self):
        self.own = Table

Large = list[Table]
SMALL = Table()
"""
    (tmp_path / "oracle.py").write_text(source + table)
    assert named(load_oracle(tmp_path), lambda x: student(x, 3)) == "steps-of-formula"


def test_only_the_changes_that_are_looked_for_are_tried(oracle: Oracle) -> None:
    """A change that another output has ruled out is not tried again."""
    inputs = oracle.inputs("random", dict(CASE.shape), np.random.default_rng(2))
    every = {mistake for mistake, _ in MutantAnswers(oracle, CASE, "y", inputs)}
    assert {"steps-of-formula", "sign-in-formula"} < every
    some = MutantAnswers(oracle, CASE, "y", inputs, only={"sign-in-formula"})
    assert {mistake for mistake, _ in some} == {"sign-in-formula"}
    assert not list(MutantAnswers(oracle, CASE, "y", inputs, only=frozenset()))


def test_where_nan_was_read_outside_no_formula_is_asked() -> None:
    """Hundreds of changed formulas took seconds, and none could fit."""

    def asked() -> Iterator[tuple[str, Array]]:
        raise AssertionError("a formula was asked")
        yield

    class Mutants:
        def __iter__(self) -> Iterator[tuple[str, Array]]:
            return asked()

    wanted, bound = np.arange(60.0), np.full(60, 1e-9)
    got = np.sin(wanted) + 7
    output = WrongOutput("y", got, wanted, bound, np.zeros(60, np.bool_), store_bytes=4, mutants=Mutants())
    with pytest.raises(AssertionError, match="was asked"):
        list(fitting(NO_HYPOTHESES, output))
    list(fitting(NO_HYPOTHESES, replace(output, reads_outside=True, got=np.where(wanted > 30, np.nan, got))))


def test_a_very_long_formula_has_no_mutants(tmp_path: Path) -> None:
    """To compile all of them takes a time that grows with the square of its length: a minute for 60 lines."""
    lines = "".join(f"        u = u + 0 * (u - {i} * u / 7.5)\n" for i in range(100))
    source = ORACLE.replace("        return {", lines + "        return {")
    (tmp_path / "oracle.py").write_text(textwrap.dedent(source))
    assert not list(mutants(load_oracle(tmp_path)))


def test_a_change_that_takes_much_memory_has_no_answer(tmp_path: Path) -> None:
    """4 to the power of 15 numbers are 8 GiB: whoever fills them may be ended by the system."""
    source = textwrap.dedent(ORACLE).replace("(u, 1e-9", "(u + np.zeros(2**15).size, 1e-9")
    (tmp_path / "oracle.py").write_text(source)
    oracle = load_oracle(tmp_path)
    inputs = oracle.inputs("random", dict(CASE.shape), np.random.default_rng(2))
    answers = [answer for _, answer in MutantAnswers(oracle, CASE, "y", inputs)]
    assert answers
    assert max(float(np.nanmax(answer)) for answer in answers) < 4**15


def test_a_function_without_a_name_has_no_mutants(tmp_path: Path) -> None:
    """The other explanations of an output stay."""
    source = textwrap.dedent(ORACLE).replace("def expected(", "def answers(")
    (tmp_path / "oracle.py").write_text(
        f"{source}\nexpected = lambda inputs, shape: answers(inputs, shape)\n"
    )
    oracle = load_oracle(tmp_path)
    assert not list(mutants(oracle))
    assert named(oracle, lambda x: -student(x)) == "sign-flipped"


def test_the_oracle_itself_stays_as_it_is(oracle: Oracle) -> None:
    """Mutants have names of their own."""
    inputs = oracle.inputs("random", dict(CASE.shape), np.random.default_rng(2))
    before, _ = oracle.expected(inputs, dict(CASE.shape))["y"]
    for _, mutant in mutants(oracle):
        try:
            mutant.expected(inputs, dict(CASE.shape))
        except Exception:  # noqa: BLE001, S112 - a change may be none that computes
            continue
    after, _ = oracle.expected(inputs, dict(CASE.shape))["y"]
    assert np.array_equal(before, after)


def test_each_mistake_is_called_the_same_in_vectors() -> None:
    """An output that rules out a mistake does so by its name, and others are not asked for it."""
    assert not {*PLAINEST_FIRST, *OF_SUMS} & {one.id for one in MISTAKES.values() if one.in_vectors}
