"""Expressions over dimensions and constants."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.base.arithmetic import (
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_VALUE,
    ArithmeticProblem,
    BinaryOperation,
    Call,
    Expression,
    Name,
    Negation,
    Number,
    evaluate,
    names,
    parse,
)

VALUES = {"M": 55, "N": 43, "TILE_SIZE": 16, "zero": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("M", 55),
        ("ceil(N / TILE_SIZE)", 3),
        ("ceil(-N / TILE_SIZE)", -2),
        ("(M + TILE_SIZE - 1) / TILE_SIZE * 0 + 2", 2),
        ("1 + 2 * 3", 7),
        ("10 - 3 - 2", 5),
        ("48 / 4 / 3", 4),
        ("M % TILE_SIZE", 7),
        ("-7 % 4", 1),
        ("-(M - N) * 2", -24),
        ("- - 3", 3),
        ("min(M, N, 50)", 43),
        ("max(M)", 55),
        ("ceil(min(M, N) / 2) * 4", 88),
        ("1 / 3 + 2 / 3", 1),
        ("  \tM\n*2 ", 110),
        ("floor(N / TILE_SIZE)", 2),
        ("floor(-N / TILE_SIZE)", -3),
        ("0.5 * 4", 2),
        ("1.0", 1),
        ("floor(2.5) + ceil(2.5)", 5),
    ],
)
def test_arithmetic_is_exact(text: str, value: int) -> None:
    """Operators bind as in C, and quotients keep their fraction until something rounds them."""
    assert evaluate(parse(text), VALUES) == value


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("", "expected a number, a name or `(` at column 1, found the end", 1),
        ("N +", "expected a number, a name or `(` at column 4, found the end", 4),
        ("2 ** 3", "expected a number, a name or `(` at column 4, found `*`", 4),
        ("N // 2", "expected a number, a name or `(` at column 4, found `/`", 4),
        ("N 2", "expected an operator or the end at column 3, found `2`", 3),
        ("1.", "expected an operator or the end at column 2, found `.`", 2),
        (".5", "expected a number, a name or `(` at column 1, found `.`", 1),
        ("1.5.2", "expected an operator or the end at column 4, found `.`", 4),
        ("1e3", "expected an operator or the end at column 2, found `e3`", 2),
        ("floor(M, N)", "expected `)` at column 8, found `,`", 8),
        ("0." + "1" * 40, "the number 0.111111… has too many digits", 0),
        ("(N", "expected `)` at column 3, found the end", 3),
        ("N)", "expected an operator or the end at column 2, found `)`", 2),
        ("ceil", "expected `(` after `ceil` at column 5, found the end", 5),
        ("ceil(M, N)", "expected `)` at column 7, found `,`", 7),
        ("min()", "expected a number, a name or `(` at column 5, found `)`", 5),
        ("round(N)", "expected an operator or the end at column 6, found `(`", 6),
        ("N.real", "expected an operator or the end at column 2, found `.`", 2),
        ("lambda: 0", "expected an operator or the end at column 7, found `:`", 7),
        ("é", "expected a number, a name or `(` at column 1, found `é`", 1),
        ("N \x1b[2J", "expected an operator or the end at column 3, found `\\x1b`", 3),
        ("9" * 40, "the number 99999999… is too large", 0),
        ("1+" * 400 + "1", f"an expression has at most {MAX_LENGTH} characters, this one 801", 0),
        ("(" * 200, f"an expression nests at most {MAX_DEPTH} deep", MAX_DEPTH + 1),
        ("-" * 200 + "1", f"an expression nests at most {MAX_DEPTH} deep", MAX_DEPTH + 1),
    ],
)
def test_a_text_that_is_no_expression_is_refused_with_its_column(
    text: str, message: str, column: int
) -> None:
    """The message has what was expected, the column, and what stood there instead."""
    with pytest.raises(ArithmeticProblem) as caught:
        parse(text)
    assert (str(caught.value), caught.value.column) == (message, column)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("N / 2", "`N / 2` is 43/2, not a whole number; use ceil(…) or floor(…) to round it"),
        ("M / (N - 43)", "`M / (N - 43)` divides by zero"),
        ("M % zero", "`M % zero` divides by zero"),
        ("K + 1", "nothing is called `K` here; known names: M, N, TILE_SIZE, zero"),
        (f"{MAX_VALUE} + 1", f"`{MAX_VALUE} + 1` is too large a number"),
        (f"{MAX_VALUE} * {MAX_VALUE} / {MAX_VALUE}", f"`{MAX_VALUE} * {MAX_VALUE}` is too large a number"),
    ],
)
def test_an_expression_without_a_whole_value_is_refused_with_the_reason(text: str, message: str) -> None:
    """Fractions, divisions by zero, unknown names and numbers out of range name the piece at fault."""
    with pytest.raises(ArithmeticProblem) as caught:
        evaluate(parse(text), VALUES)
    assert str(caught.value) == message


def test_names_are_those_that_need_a_value() -> None:
    """Functions are no names, and a name used twice counts once."""
    assert names(parse("ceil(N / TILE) * min(-N, 4) % K")) == {"N", "TILE", "K"}
    assert names(parse("3")) == frozenset()


def test_the_longest_chain_can_be_used_like_any_other() -> None:
    """The length limit keeps the tree flat enough to evaluate, print, hash and pickle."""
    expression = parse("+".join("1" * ((MAX_LENGTH + 1) // 2)))
    assert evaluate(expression, {}) == 150
    assert names(expression) == frozenset()
    assert pickle.loads(pickle.dumps(expression)) == expression  # noqa: S301 - our own bytes
    assert hash(expression) == hash(parse("+".join("1" * 150)))
    assert str(expression).count("+") == 149


def test_a_problem_survives_pickling() -> None:
    """Worker processes hand problems to their parent."""
    problem = pickle.loads(pickle.dumps(ArithmeticProblem("expected more", 7)))  # noqa: S301 - our own bytes
    assert (str(problem), problem.column, problem.exit_code) == ("expected more", 7, 2)


def _branches(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    operations = st.builds(BinaryOperation, st.sampled_from("+-*/%"), inner, inner)
    calls = st.builds(
        Call, st.sampled_from(["min", "max"]), st.lists(inner, min_size=1, max_size=3).map(tuple)
    )
    ceilings = st.builds(Call, st.sampled_from(["ceil", "floor"]), inner.map(lambda argument: (argument,)))
    return operations | calls | ceilings | st.builds(Negation, inner)


NUMBERS = st.integers(0, 99) | st.sampled_from([Fraction(1, 2), Fraction(7, 20), Fraction(9001, 1000)])
LEAVES: st.SearchStrategy[Expression] = st.builds(Number, NUMBERS) | st.builds(
    Name, st.sampled_from(sorted(VALUES))
)
EXPRESSIONS = st.recursive(LEAVES, _branches, max_leaves=8)


def _by_definition(expression: Expression) -> Fraction:
    """The value in Python's own rational arithmetic."""
    match expression:
        case Number() | Name():
            return Fraction(expression.value if isinstance(expression, Number) else VALUES[expression.name])
        case Negation(operand):
            return -_by_definition(operand)
        case Call("ceil" | "floor" as function, (argument,)):
            return Fraction(getattr(math, function)(_by_definition(argument)))
        case Call(function, arguments):
            values = [_by_definition(argument) for argument in arguments]
            return sorted(values)[0 if function == "min" else -1]
        case BinaryOperation(symbol, left, right):
            a, b = _by_definition(left), _by_definition(right)
            if symbol in "+-*":
                return {"+": a + b, "-": a - b, "*": a * b}[symbol]
            return a / b if symbol == "/" else a - b * math.floor(a / b)


@given(EXPRESSIONS)
def test_evaluation_agrees_with_rational_arithmetic(expression: Expression) -> None:
    """A whole value is returned exactly; fractions and divisions by zero are refused, and nothing else."""
    try:
        expected = _by_definition(expression)
    except ZeroDivisionError:
        expected = Fraction(1, 2)  # refused, like any value that is not whole
    if expected.denominator == 1:
        assert evaluate(expression, VALUES) == expected
    else:
        with pytest.raises(ArithmeticProblem):
            evaluate(expression, VALUES)


@given(EXPRESSIONS)
def test_the_text_of_an_expression_parses_to_the_same_expression(expression: Expression) -> None:
    """Brackets are written where they are needed."""
    assert parse(str(expression)) == expression


@given(st.text(alphabet="MN12+-*/%(), .ceilmnaxfor_\x00é", max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    """Nothing but an `ArithmeticProblem` comes out of a text, whatever it is."""
    try:
        outcome = str(parse(text))
    except ArithmeticProblem as problem:
        outcome = str(problem)
    assert outcome.isprintable()
