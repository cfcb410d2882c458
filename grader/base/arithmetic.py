"""Arithmetic over named whole numbers, as assignments use it for extents, grids, blocks and scalars.

    ceil(N / TILE_SIZE)      2 * BLOCK_SIZE * 4      min(M, N) % 32      0.25 * N

A text is parsed once into a small tree of frozen nodes and evaluated as often as there are launches. It is
never handed to Python. ``/`` is exact: ``ceil(55 / 16)`` is 4, and where a whole number is needed another
result is an error rather than rounded. ``%`` takes the sign of its right operand. The text comes from files
by other authors, so its length, nesting and the size of every number on the way are bounded.

    expression := term (("+" | "-") term)*
    term       := factor (("*" | "/" | "%") factor)*
    factor     := "-" factor | number | name | "(" expression ")"
                | ("ceil" | "floor") "(" expression ")"
                | ("min" | "max") "(" expression ("," expression)* ")"
    number     := digits ["." digits]
"""

from __future__ import annotations

import math
import operator
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from grader.base.errors import UsageError
from grader.base.records import frozen
from grader.base.text import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_LENGTH = 300
"""Characters in one expression."""

MAX_DEPTH = 24
"""Parentheses, calls and signs inside one another."""

MAX_VALUE = 2**63 - 1
"""No number may exceed this in size, neither on the way nor as the result."""

_TOKEN = re.compile(r"[0-9]+(?:\.[0-9]+)?|[A-Za-z_][A-Za-z0-9_]*|\S")


class ArithmeticProblem(UsageError):  # noqa: N818 - the assignment's problem, not ours
    """An expression cannot be parsed or has no value; ``column`` counts from 1, and 0 means none."""

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(message, column)
        self.column = column

    def __str__(self) -> str:
        return str(self.args[0])


# --- the tree ----------------------------------------------------------------------------------------


@frozen
class Number:
    """A number, not negative; whole, or a decimal fraction."""

    value: int | Fraction

    def __str__(self) -> str:
        if isinstance(self.value, int):
            return str(self.value)
        return f"{Decimal(self.value.numerator) / self.value.denominator:f}"


@frozen
class Name:
    """A dimension or a constant."""

    name: str

    def __str__(self) -> str:
        return self.name


@frozen
class Negation:
    """``-operand``."""

    operand: Expression

    def __str__(self) -> str:
        return f"-{_bracketed(self.operand, isinstance(self.operand, BinaryOperation))}"


@frozen
class BinaryOperation:
    """``left symbol right``, where the symbol is one of ``+ - * / %``."""

    symbol: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        rank = _RANK[self.symbol]
        left = _bracketed(
            self.left, isinstance(self.left, BinaryOperation) and _RANK[self.left.symbol] < rank
        )
        right = _bracketed(
            self.right, isinstance(self.right, BinaryOperation) and _RANK[self.right.symbol] <= rank
        )
        return f"{left} {self.symbol} {right}"


@frozen
class Call:
    """``ceil(x)``, ``floor(x)``, ``min(a, …)`` or ``max(a, …)``."""

    function: str
    arguments: tuple[Expression, ...]

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


Expression: TypeAlias = Number | Name | Negation | BinaryOperation | Call
"""``str(expression)`` is a text that parses to the same tree."""

_RANK = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2}
_OPERATORS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}
_FUNCTIONS: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "ceil": lambda values: Fraction(math.ceil(values[0])),
    "floor": lambda values: Fraction(math.floor(values[0])),
    "min": min,
    "max": max,
}


_OF_ONE = ("ceil", "floor")
"""Functions that take one argument; the others take any number of them."""


def _bracketed(expression: Expression, needed: bool) -> str:  # noqa: FBT001 - one caller's condition
    return f"({expression})" if needed else str(expression)


# --- text to tree ------------------------------------------------------------------------------------


def parse(text: str) -> Expression:
    """The tree for ``text``; raises `ArithmeticProblem` with the column and what was expected there."""
    if len(text) > MAX_LENGTH:
        raise ArithmeticProblem(f"an expression has at most {MAX_LENGTH} characters, this one {len(text)}")
    parser = _Parser(text)
    expression = parser.sum()
    parser.take("", "an operator or the end")
    return expression


class _Parser:
    """Recursive descent, one token ahead; a token is its column and its text, empty at the end."""

    def __init__(self, text: str) -> None:
        self._tokens = [(match.start() + 1, match[0]) for match in _TOKEN.finditer(text)]
        self._tokens.append((len(text.rstrip()) + 1, ""))
        self._next = 0
        self._depth = 0

    def sum(self) -> Expression:
        """Terms and what stands between them."""
        return self._chain("+-", lambda: self._chain("*/%", self._factor))

    def take(self, symbol: str, expected: str) -> None:
        """Step over the token ``symbol``, or say what was expected."""
        column, token = self._tokens[self._next]
        if token != symbol:
            actual = f"`{escaped(token)}`" if token else "the end"
            raise ArithmeticProblem(f"expected {expected} at column {column}, found {actual}", column)
        self._next += 1

    def _chain(self, symbols: str, operand: Callable[[], Expression]) -> Expression:
        left = operand()
        while (symbol := self._peek()) and symbol in symbols:
            self._next += 1
            left = BinaryOperation(symbol, left, operand())
        return left

    def _factor(self) -> Expression:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            column, _ = self._tokens[self._next]
            raise ArithmeticProblem(f"an expression nests at most {MAX_DEPTH} deep", column)
        expression = self._operand()
        self._depth -= 1
        return expression

    def _operand(self) -> Expression:
        start = self._peek()
        if not re.match(r"[A-Za-z_0-9(-]", start):
            self.take("(", "a number, a name or `(`")
        self._next += 1
        if start == "-":
            return Negation(self._factor())
        if start == "(":
            return self._closed(self.sum())
        if start in _FUNCTIONS:
            return self._call(start)
        return Number(_bounded(start)) if start[0].isdecimal() else Name(start)

    def _call(self, function: str) -> Expression:
        self.take("(", f"`(` after `{function}`")
        arguments = [self.sum()]
        while function not in _OF_ONE and self._peek() == ",":
            self._next += 1
            arguments.append(self.sum())
        return self._closed(Call(function, tuple(arguments)))

    def _closed(self, inner: Expression) -> Expression:
        self.take(")", "`)`")
        return inner

    def _peek(self) -> str:
        return self._tokens[self._next][1]


def _bounded(digits: str) -> int | Fraction:
    # The length first: turning a very long text into a number takes long.
    if len(digits) > len(str(MAX_VALUE)):
        problem = "has too many digits" if "." in digits else "is too large"
        raise ArithmeticProblem(f"the number {digits[:8]}… {problem}")
    value = Fraction(digits)
    if value > MAX_VALUE:
        raise ArithmeticProblem(f"the number {digits[:8]}… is too large")
    return value.numerator if value.denominator == 1 else value


# --- tree to number ----------------------------------------------------------------------------------


def names(expression: Expression) -> frozenset[str]:
    """The names that the expression needs a value for."""
    match expression:
        case Number():
            return frozenset()
        case Name(name):
            return frozenset({name})
        case Negation(operand):
            return names(operand)
        case BinaryOperation(_, left, right):
            return names(left) | names(right)
        case Call(_, arguments):
            return frozenset().union(*map(names, arguments))


def evaluate(expression: Expression, values: Mapping[str, int]) -> int:
    """The whole number that ``expression`` stands for, given a value for each of its names.

    Raises `ArithmeticProblem` for a name without a value, a division by zero, a number beyond `MAX_VALUE`
    and a result that is not whole.
    """
    result = _exact(expression, values)
    if result.denominator != 1:
        raise ArithmeticProblem(
            f"`{expression}` is {result}, not a whole number; use ceil(…) or floor(…) to round it"
        )
    return result.numerator


def exactly(expression: Expression, values: Mapping[str, Fraction]) -> Fraction:
    """The number that ``expression`` stands for, whole or not; raises what `evaluate` raises."""
    return _exact(expression, values)


def number_for(dtype: str, expression: Expression, values: Mapping[str, int]) -> int | float:
    """Value of a scalar of this type: for a type of floating point not only a whole number.

    Raises what `evaluate` raises.
    """
    if "float" not in dtype:
        return evaluate(expression, values)
    return float(_exact(expression, values))


def _exact(expression: Expression, values: Mapping[str, int] | Mapping[str, Fraction]) -> Fraction:
    match expression:
        case Number(value):
            result = Fraction(value)
        case Name(name):
            result = Fraction(_value_of(name, values))
        case Negation(operand):
            result = -_exact(operand, values)
        case BinaryOperation(symbol, left, right):
            result = _applied(expression, symbol, _exact(left, values), _exact(right, values))
        case Call(function, arguments):
            result = _FUNCTIONS[function]([_exact(argument, values) for argument in arguments])
    if max(abs(result.numerator), result.denominator) > MAX_VALUE:
        raise ArithmeticProblem(f"`{expression}` is too large a number")
    return result


def _value_of(name: str, values: Mapping[str, int] | Mapping[str, Fraction]) -> int | Fraction:
    if name not in values:
        names = ", ".join(sorted(values)) or "none"
        raise ArithmeticProblem(f"nothing is called `{name}` here; known names: {names}")
    return values[name]


def _applied(whole: Expression, symbol: str, left: Fraction, right: Fraction) -> Fraction:
    if right == 0 and symbol in "/%":
        raise ArithmeticProblem(f"`{whole}` divides by zero")
    return _OPERATORS[symbol](left, right)
