"""Declarations of variables and parameters, with their initialisers (PTX ISA sections 5.1 and 5.4).

An initialiser is a constant expression (section 4.6): operators as in C on whole numbers of 64 bits, and on
doubles. A literal is signed unless it ends in ``U`` or needs the 64th bit. Points that the ISA leaves open
follow ptxas: a shift takes the low six bits of its amount, ``%`` is unsigned, both branches of ``?:`` are
evaluated.
"""

from __future__ import annotations

import operator
import struct
from array import array
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from grader.base.errors import PtxSyntaxError
from grader.simulation.ptx.nodes import TYPE_BYTES, Immediate, Numbers, Symbol, Variable
from grader.simulation.ptx.tokens import END, Cursor, integer, real

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.ptx.tokens import Token

SPACES = (".global", ".const", ".shared", ".local", ".param")

_RANKS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
"""Binary operators, the ones that bind weakest first."""

_RANK = {symbol: rank for rank, symbols in enumerate(_RANKS) for symbol in symbols}

_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_COMPUTED: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}

WARP_SIZE = 32

_ENDS = frozenset(",;]})")

_BITS = 64

_SIGN = 1 << (_BITS - 1)


class Whole(NamedTuple):
    """A whole number of 64 bits, ``.s64`` or ``.u64``."""

    value: int
    signed: bool = True


Constant: TypeAlias = Whole | float


class ConstantReader(Cursor):
    """A cursor that reads constant expressions."""

    def constant(self) -> Immediate:
        """The value of the expression that stands here, as an immediate.

        Raises PtxSyntaxError where there is none, or where it has no value.
        """
        token = self.peek()
        if token.kind == "integer" and self.peek(1).text in _ENDS:  # nearly always
            return Immediate(integer(self.take().text))
        single = self._single_precision()
        if single is not None:
            return single
        value = self._conditional()
        if isinstance(value, float):
            return Immediate(int.from_bytes(struct.pack("<d", value), "little"), "f64")
        return Immediate(value.value)

    def whole(self) -> int:
        """The value of an expression over whole numbers; raises PtxSyntaxError for any other."""
        token, value = self.peek(), self.constant()
        if value.kind != "int":
            raise self.unexpected(token, "a whole number")
        return value.value

    def offset(self) -> int:
        """Offset added to an address: ``+ 4``, ``+ 8*4`` or ``-4``; 0 if there is none."""
        if not self.accept("+") and self.peek().text != "-":
            return 0
        value = self.whole() % (1 << _BITS)
        return value - (1 << _BITS) if value >= _SIGN else value

    def _single_precision(self) -> Immediate | None:
        """``0f3F800000``, perhaps with a sign: such a literal takes part in no expression."""
        negative = self.peek().text == "-"
        token = self.peek(1) if negative else self.peek()
        if token.kind != "real" or token.text[:2].lower() != "0f":
            return None
        for _ in range(1 + negative):
            self.take()
        return real(token.text, -1 if negative else 1)

    def _conditional(self) -> Constant:
        condition = self._binary(0)
        question = self.peek()
        if not self.accept("?"):
            return condition
        chosen = self._conditional()
        self.expect(":")
        other = self._conditional()
        return chosen if _whole(question, condition).value else other

    def _binary(self, rank: int) -> Constant:
        """Operators of this rank and of the ranks that bind tighter, from left to right."""
        left = self._unary()
        while (token := self.peek()).kind == "punctuation" and _RANK.get(token.text, -1) >= rank:
            self.take()
            left = _combined(token, left, self._binary(_RANK[token.text] + 1))
        return left

    def _unary(self) -> Constant:
        token = self.peek()
        if token.kind != "punctuation" or token.text not in ("+", "-", "!", "~", "("):
            return self._primary()
        self.take()
        if token.text == "(":
            return self._bracketed()
        value = self._unary()
        if token.text == "!":
            return Whole(int(not _whole(token, value).value))
        if token.text == "~":
            return _wrapped(~_whole(token, value).value, signed=False)
        if isinstance(value, float):
            return -value if token.text == "-" else value
        return _wrapped(-value.value if token.text == "-" else value.value, signed=value.signed)

    def _bracketed(self) -> Constant:
        """A cast ``(.s64) x``, or an expression in parentheses, after the opening one."""
        cast = self.peek()
        if cast.text in (".s64", ".u64"):
            self.take()
            self.expect(")")
            return _wrapped(_whole(cast, self._unary()).value, signed=cast.text == ".s64")
        value = self._conditional()
        self.expect(")")
        return value

    def _primary(self) -> Constant:
        token = self.take()
        if token.kind == "integer":
            value = integer(token.text)
            return _wrapped(value, signed=not token.text.endswith("U") and value < _SIGN)
        if token.kind == "real" and token.text[:2].lower() != "0f":
            return float(struct.unpack("<d", real(token.text, 1).value.to_bytes(8, "little"))[0])
        if token.text == "WARP_SZ":
            return Whole(WARP_SIZE)
        raise self.unexpected(token, "a number")


def _combined(token: Token, left: Constant, right: Constant) -> Constant:
    """The value of ``left token right``."""
    symbol = token.text
    if isinstance(left, float) and isinstance(right, float):
        return _of_doubles(token, left, right)
    a, b = _whole(token, left), _whole(token, right)
    if symbol in ("&&", "||"):
        both = (a.value != 0, b.value != 0)
        return Whole(int(all(both) if symbol == "&&" else any(both)))
    if symbol in ("<<", ">>"):
        amount = b.value % _BITS
        shifted = a.value << amount if symbol == "<<" else a.value >> amount
        return _wrapped(shifted, signed=a.signed)
    if symbol in ("/", "%") and b.value == 0:
        raise PtxSyntaxError(f"PTX line {token.line}: a constant expression divides by zero")
    signed = a.signed and b.signed and symbol != "%"
    a, b = _wrapped(a.value, signed=signed), _wrapped(b.value, signed=signed)
    if symbol in _COMPARED:
        return Whole(int(_COMPARED[symbol](a.value, b.value)))
    if symbol == "%":
        return _wrapped(a.value % b.value, signed=False)
    result = _quotient(a.value, b.value) if symbol == "/" else _COMPUTED[symbol](a.value, b.value)
    return _wrapped(result, signed=signed)


def _of_doubles(token: Token, left: float, right: float) -> Constant:
    if token.text in _COMPARED:
        return Whole(int(_COMPARED[token.text](left, right)))
    if token.text == "/" and right:
        return left / right
    if token.text == "+":
        return left + right
    if token.text == "-":
        return left - right
    if token.text == "*":
        return left * right
    raise PtxSyntaxError(f"PTX line {token.line}: {token.text} of floating-point numbers has no value")


def _quotient(a: int, b: int) -> int:
    """Rounded towards zero, as in C."""
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def _whole(token: Token, value: Constant) -> Whole:
    if isinstance(value, float):
        raise PtxSyntaxError(f"PTX line {token.line}: {token.text} needs whole numbers")
    return value


def _wrapped(value: int, *, signed: bool) -> Whole:
    """The low 64 bits of a value, read with or without a sign."""
    low = value % (1 << _BITS)
    return Whole(low - (1 << _BITS) if signed and low >= _SIGN else low, signed)


class DeclarationReader(ConstantReader):
    """Reads the declarations common to a module and a function."""

    def through_semicolon(self) -> None:
        """Move past the end of a directive."""
        while not self.accept(";"):
            if self.take().kind == "end":
                raise self.unexpected(END, "`;`")

    def parameters(self) -> tuple[Variable, ...]:
        """`(.param .u64 a, .param .u32 b)`."""
        self.expect("(")
        variables: list[Variable] = []
        while not self.accept(")"):
            variables.append(self.variable(self.take().text[1:], ""))
            self.accept(",")
        return tuple(variables)

    def variables(self, linkage: str) -> list[Variable]:
        """Variables in one state space."""
        space = self.take().text[1:]
        variables = [self.variable(space, linkage)]
        while self.accept(","):
            variables.append(Variable(space, self.take().text, variables[0].type, 1, variables[0].align))
        self.expect(";")
        return variables

    def variable(self, space: str, linkage: str) -> Variable:
        """``.align 4 .b8 name[1024] = {…}`` after its state space."""
        align, type_, lanes, managed = 0, "", 1, False
        while (token := self.peek()).text.startswith("."):
            word = self.take().text[1:]
            if word == "align":
                align = self.integer()
            elif word in ("v2", "v4"):
                lanes = int(word[1])
            elif word in TYPE_BYTES:
                type_ = word
            elif word not in ("ptr", "global", "shared", "const", "local", "attribute", "managed", "unified"):
                raise self.unexpected(token, "a type")
            elif word == "attribute":
                managed = ".managed" in self.parenthesised()
        line, name = self.line(), self.take().text
        count = self.extents() * lanes
        initial = self.initialiser() if self.accept("=") else ()
        align = align or TYPE_BYTES[type_] * lanes
        return Variable(space, name, type_, count, align, initial, linkage, line, managed=managed)

    def parenthesised(self) -> list[str]:
        """The words of `( … )`."""
        self.expect("(")
        words = []
        while not self.accept(")"):
            token = self.take()
            if token.kind == "end":
                raise self.unexpected(END, "`)`")
            words.append(token.text)
        return words

    def extents(self) -> int:
        """`[4][8]` as the number of elements; 0 for `[]`."""
        count = 1
        while self.accept("["):
            if self.accept("]"):
                return 0
            count *= self.integer()
            self.expect("]")
        return count

    def initialiser(self) -> tuple[Immediate | Symbol | Numbers, ...]:
        """`= 5` or `= {1, 2, {3}}`, flattened."""
        if not self.accept("{"):
            return (self.initial_value(),)
        values: list[Immediate | Symbol | Numbers] = []
        while not self.accept("}"):
            if self.peek().text == "{":
                values.extend(self.initialiser())
            elif self.peek().kind == "numbers":
                listed = map(int, self.take().text.rstrip(", ").split(","))
                values.append(Numbers(array("Q", listed).tobytes()))
            else:
                values.append(self.initial_value())
            self.accept(",")
        return tuple(values)

    def initial_value(self) -> Immediate | Symbol:
        """A number, ``name``, ``name+4``, ``generic(name)`` or ``0xFF00(name)`` (section 5.4.4)."""
        if self.peek().kind != "word" or self.peek().text == "WARP_SZ":
            number = self.constant()
            if not self.accept("("):
                return number
            masked = self.initial_value()
            self.expect(")")
            return Symbol(masked.name, masked.offset, number.value) if isinstance(masked, Symbol) else masked
        name = self.take().text
        if name == "generic":
            self.expect("(")
            name = self.take().text
            self.expect(")")
        return Symbol(name, self.offset())
