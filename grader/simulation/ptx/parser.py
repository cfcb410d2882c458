"""PTX tokens → nodes: a recursive-descent parser over the grammar of PTX ISA chapters 5, 10 and 11.

`module_variables` gives the names of variables of a PTX text in the source, and their sizes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from grader.base.errors import PtxSyntaxError
from grader.simulation.ptx.declarations import SPACES, DeclarationReader
from grader.simulation.ptx.nodes import (
    TYPE_BYTES,
    Address,
    Function,
    Immediate,
    Instruction,
    Location,
    Module,
    Operand,
    Pair,
    Register,
    Symbol,
    Tuple,
    Variable,
    Vector,
)
from grader.simulation.ptx.tokens import END, integer, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.simulation.ptx.tokens import Token

_LINKAGES = (".visible", ".extern", ".weak", ".common")
_ADDRESS_BITS = 64

Position: TypeAlias = tuple[int, int, int]
"""A file's number, a line and a column."""

MOST_INLINED = 32
"""Calls that one location may be inlined in: more is no compiler's doing."""

_PIECE = re.compile(r"L[a-z]n?\d+E|A\d+_|[ST][0-9A-Z]*_|(?P<length>\d{1,9})")
"""A template's constant, an array's extent, a substitution; or the length of a name that follows."""


@lru_cache(maxsize=16)  # the kernels of a program share the modules of its files
def parse(text: str) -> Module:
    """The module that ``text`` describes; raises PtxSyntaxError naming the PTX line."""
    parser = ModuleParser(tokens(text))
    try:
        return parser.module()
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        # A directive without its operands, braces without end: nothing that nvcc writes.
        raise PtxSyntaxError(f"PTX line {parser.line()}: this could not be read") from error


class ModuleParser(DeclarationReader):
    """The module level (chapter 10)."""

    def module(self) -> Module:
        """Everything up to the end (chapter 10)."""
        target, functions, variables, files = "", [], [], []
        aliases: list[tuple[str, str]] = []
        while (token := self.peek()).kind != "end":
            word = token.text
            if word == ".version":
                self.rest_of_line(token.line)
            elif word == ".address_size":
                self.address_size()
            elif word == ".target":
                target = self.rest_of_line(token.line)[1].text
            elif word == ".file":
                _, number, path, *_more = self.rest_of_line(token.line)
                files.append((integer(number.text), path.text.strip('"')))
            elif word == ".section":
                self.rest_of_line_until_block()
            elif word == ".alias":
                aliases.append(self.alias())
            elif word == ".pragma":
                self.through_semicolon()
            else:
                item = self.declaration()
                if isinstance(item, Function):
                    functions.append(item)
                else:
                    variables.extend(item)
        bodies = {function.name: function for function in functions if function.defined}
        functions += [replace(bodies[body], name=name) for name, body in aliases]
        return Module(target, tuple(functions), tuple(variables), tuple(files))

    def address_size(self) -> None:
        """`.address_size 64` (section 11.1.3), the only size that devices of today have."""
        line = self.take().line
        if self.whole() != _ADDRESS_BITS:
            raise PtxSyntaxError(f"PTX line {line}: only addresses of {_ADDRESS_BITS} bits are read")

    def alias(self) -> tuple[str, str]:
        """`.alias name, function;`: another name of a function (section 10.3.4)."""
        self.take()
        name = self.take().text
        self.expect(",")
        function = self.take().text
        self.expect(";")
        return name, function

    def rest_of_line_until_block(self) -> None:
        """Move past a `.section name { … }`."""
        while self.peek().text != "{":
            if self.take().kind == "end":
                raise self.unexpected(END, "`{`")
        self.skip_block()

    def declaration(self) -> Function | list[Variable]:
        """A function, or variables of one type."""
        linkage, start = "", self.peek().start
        while self.peek().text in _LINKAGES:
            linkage = self.take().text[1:]
        word = self.peek().text
        if word in (".entry", ".func"):
            function = self.function()
            return replace(function, text=(start, self.last().end))
        if word in SPACES:
            variables = self.variables(linkage)
            return [replace(variable, text=(start, self.last().end)) for variable in variables]
        raise self.unexpected(self.peek(), "a function or a variable")

    def function(self) -> Function:
        """`.entry` or `.func`: its head, and its body if it has one."""
        is_entry = self.take().text == ".entry"
        results = self.parameters() if self.peek().text == "(" else ()
        token = self.take()
        name, named = token.text, (token.start, token.end)
        parameters = self.parameters() if self.peek().text == "(" else ()
        most_threads = self.performance_directives()
        if self.accept(";"):
            return Function(name, is_entry, parameters, results, defined=False, named=named)
        body = Body(self)
        body.block()
        return Function(
            name,
            is_entry,
            parameters,
            results,
            tuple(body.registers),
            tuple(body.variables),
            tuple(body.instructions),
            tuple(body.labels),
            targets=tuple(body.targets),
            named=named,
            most_threads=most_threads,
        )

    def performance_directives(self) -> int:
        """Skip them, up to the body; gives the threads of `.maxntid` (PTX ISA section 11.4), 0 without it."""
        most_threads, bounded = 0, False
        while self.peek().text not in ("{", ";"):
            token = self.take()
            if token.kind == "end":
                raise self.unexpected(END, "`{`")
            if token.text.startswith("."):
                bounded = token.text == ".maxntid"
            elif bounded and token.text.isdecimal():
                most_threads = max(most_threads, 1) * int(token.text)
        return most_threads


class ModuleVariable(NamedTuple):
    """A variable of a module in the state space ``global`` or ``const``, by its name in the PTX."""

    name: str
    space: str
    size: int


def symbol_name(symbol: str) -> str:
    """The source name of a variable: ``A_tile`` for ``_ZZ11tiledMatMulPfS_S_iiiE6A_tile``.

    Its own name comes last, after the names of the function and the namespaces it is in, each led by its
    length (Itanium C++ ABI, section 5.1).
    """
    if not symbol.startswith("_Z"):
        return symbol
    name, position = symbol, len("_Z")
    while match := _PIECE.search(symbol, position):
        position = match.end()
        length = int(match["length"] or 0)
        if length and position + length <= len(symbol):
            name, position = symbol[position : position + length], position + length
    return name


def symbol_called(name: str, symbols: Iterable[str]) -> str | None:
    """The PTX name of the variable that the source calls ``name``; a global one comes before others."""
    called = [symbol for symbol in symbols if symbol_name(symbol) == name]
    return name if name in called else next(iter(called), None)


def module_variables(ptx: str) -> dict[str, ModuleVariable]:
    """The variables of a PTX text by their PTX names (PTX ISA section 5.4); raises PtxSyntaxError."""
    variables = (variable for variable in parse(ptx).variables if variable.space in ("global", "const"))
    return {v.name: ModuleVariable(v.name, v.space, v.size) for v in variables}


_USED_BYTES = re.compile(r'"\s*used_bytes_mask\s+(0x[0-9a-fA-F]{1,8}|[0-9]{1,10})\s*"')

_TYPE_LAST = {"ld", "ldu", "st", "atom", "red", "setp", "set", "shfl"} | {
    *("add", "sub", "mul", "fma", "mad", "min", "max", "abs", "neg", "div", "rcp", "sqrt"),
}
"""Instructions whose types come last in the ISA's syntax; ptxas takes `ld.global.u32.ca` as well."""

_MOST_REGISTERS = 1_000_000
"""Limit in one declaration: far beyond what any compiler asks for."""


class Body:
    """A function's body: declarations, labels and instructions, with the scopes of ``{ … }``."""

    def __init__(self, parser: DeclarationReader) -> None:
        self.parser = parser
        self.registers: list[tuple[str, str]] = []
        self.variables: list[Variable] = []
        self.instructions: list[Instruction] = []
        self.labels: list[tuple[str, int]] = []
        self.targets: list[tuple[str, tuple[str, ...]]] = []
        self._scopes: list[dict[str, str]] = []
        self._opened = 0
        self._declared: set[str] = set()
        self._location: Location | None = None
        self._inlined: dict[Position, tuple[Location, int]] = {}
        """The last location of each position, and how many calls it is inlined in."""
        self._used_bytes = -1

    def block(self) -> None:
        """`{ … }`, a scope of its own."""
        self.parser.expect("{")
        self._opened += 1
        self._scopes.append({})
        while not self.parser.accept("}"):
            self.statement()
        self._scopes.pop()

    def _located(self, position: Position, call: Position | None) -> Location:
        """A location; a call that it is inlined in has been located before, and may be inlined itself."""
        caller, depth = None, 0
        if call is not None:
            caller, depth = self._inlined.get(call, (Location(*call), 0))
            if depth >= MOST_INLINED:
                caller, depth = Location(*call), 0
        location = Location(*position, caller)
        self._inlined[position] = location, depth + 1
        return location

    def statement(self) -> None:
        """One declaration, label, directive or instruction."""
        cursor, token = self.parser, self.parser.peek()
        if token.text == "{":
            self.block()
        elif token.text == ".reg" or token.text.startswith(".reg."):
            self.register_declaration()
        elif token.text == ".loc":
            self._location = self._located(*_positions(cursor.rest_of_line(token.line)))
        elif token.text == ".pragma":
            self.pragma()
        elif token.text in (".branchtargets", ".calltargets"):
            cursor.through_semicolon()
        elif token.text in SPACES:
            self.variables.extend(self.declare(variable) for variable in cursor.variables(""))
        elif token.kind == "end":
            raise cursor.unexpected(token, "`}`")
        elif not cursor.accept(";"):
            self.label_or_instruction()

    def register_declaration(self) -> None:
        """``.reg .b32 %r<44>, %x;`` (section 5.5.4: a range spells out ``%r0`` to ``%r43``)."""
        cursor = self.parser
        joined = cursor.take().text.removeprefix(".reg")  # headers write `.reg.b32` as one word
        type_ = (joined or cursor.take().text)[1:]
        if type_ in ("v2", "v4"):
            raise PtxSyntaxError(f"PTX line {cursor.peek().line}: vector registers are not read")
        while True:
            name = cursor.take().text
            if cursor.accept("<"):
                count = cursor.integer()
                if count > _MOST_REGISTERS:
                    raise PtxSyntaxError(f"PTX line {cursor.line()}: {count} registers are too many")
                names = [f"{name}{number}" for number in range(count)]
                cursor.expect(">")
            else:
                names = [name]
            self.registers.extend((self.unique(name), type_) for name in names)
            if not cursor.accept(","):
                break
        cursor.expect(";")

    def unique(self, name: str) -> str:
        """``name`` made one of its kind in the function: an inner scope may declare it again."""
        spelt = name if name not in self._declared else f"{name}@{self._opened}"
        self._declared.add(spelt)
        self._scopes[-1][name] = spelt
        return spelt

    def declare(self, variable: Variable) -> Variable:
        """A variable under a name of its own."""
        spelt = self.unique(variable.name)
        if spelt == variable.name:
            return variable
        return Variable(
            variable.space, spelt, variable.type, variable.count, variable.align, variable.initial
        )

    def resolve(self, name: str) -> str:
        """The unique spelling of a name, from the innermost scope that declares it."""
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return name

    def pragma(self) -> None:
        """``.pragma "used_bytes_mask 15";`` before a load; the others are about speed."""
        self.parser.take()
        match = _USED_BYTES.fullmatch(self.parser.peek().text)
        self._used_bytes = int(match[1], 0) if match else -1
        self.parser.through_semicolon()

    def label_or_instruction(self) -> None:
        """`label:` or `@p opcode operands;`."""
        cursor = self.parser
        guard = self.guard() if cursor.accept("@") else None
        token = cursor.take()
        if token.kind != "word":
            raise cursor.unexpected(token, "an instruction")
        if guard is None and cursor.accept(":"):
            self.after_label(token.text)
            return
        opcode, *modifiers = token.text.split(".")
        if opcode in _TYPE_LAST:
            modifiers.sort(key=TYPE_BYTES.__contains__)
        operands = []
        if not cursor.accept(";"):
            calls = opcode == "call"
            operands.append(self.operand(calls=calls))
            while cursor.accept(","):
                operands.append(self.operand(calls=calls))
            cursor.expect(";")
        self.instructions.append(
            Instruction(
                opcode, tuple(modifiers), tuple(operands), guard, token.line, self._location, self._used_bytes
            ),
        )
        self._used_bytes = -1

    def after_label(self, name: str) -> None:
        """Parse what a label names: branch targets, something about a call, or the next instruction."""
        cursor = self.parser
        if cursor.accept(".branchtargets"):
            labels = [cursor.take().text]
            while cursor.accept(","):
                labels.append(cursor.take().text)
            cursor.expect(";")
            self.targets.append((name, tuple(labels)))
        elif cursor.peek().text in (".callprototype", ".calltargets"):
            cursor.through_semicolon()
        else:
            self.labels.append((name, len(self.instructions)))

    def guard(self) -> Register:
        """`@p` or `@!p`."""
        negated = self.parser.accept("!")
        return Register(self.resolve(self.parser.take().text), negated)

    def operand(self, *, calls: bool = False) -> Operand:
        """One operand, perhaps a pair `p|q`; parentheses of a call hold a list, all others an expression."""
        first = self.simple_operand(calls=calls)
        if self.parser.accept("|"):
            return Pair(first, self.simple_operand())
        return first

    def simple_operand(self, *, calls: bool = False) -> Operand:
        """One operand (section 6.4)."""
        cursor, token = self.parser, self.parser.peek()
        if cursor.accept("["):
            return self.address()
        if cursor.accept("{"):
            return Vector(self.operands_until("}"))
        if calls and cursor.accept("("):
            return Tuple(self.operands_until(")"))
        if token.text == "!" and cursor.peek(1).kind == "word":
            return self.guard()
        if token.kind == "word" and token.text != "WARP_SZ":
            return self.named()
        return cursor.constant()

    def operands_until(self, closing: str) -> tuple[Operand, ...]:
        """Operands up to a closing bracket."""
        operands = []
        while not self.parser.accept(closing):
            operands.append(self.operand())
            self.parser.accept(",")
        return tuple(operands)

    def named(self) -> Register | Symbol:
        """A register or a symbol, by its declaration."""
        name = self.resolve(self.parser.take().text)
        if name.startswith("%") or (name in self._declared and not self.is_variable(name)):
            return Register(name)
        return Symbol(name, self.parser.offset())

    def is_variable(self, name: str) -> bool:
        """True if the function declares a variable of this name."""
        return any(variable.name == name for variable in self.variables)

    def address(self) -> Address:
        """`[base + offset]` after its bracket; coordinates of a texture, behind a comma, are passed over."""
        cursor = self.parser
        base: Register | Symbol | Immediate
        base = self.named() if cursor.peek().kind == "word" else cursor.constant()
        offset = cursor.offset()
        while cursor.accept(","):
            self.operand()
        cursor.expect("]")
        return Address(base, offset)


def _positions(line: list[Token]) -> tuple[Position, Position | None]:
    """``.loc file line column [, function_name label+offset, inlined_at file line column]``."""
    words = [token.text for token in line]
    call = words.index("inlined_at") + 1 if "inlined_at" in words else None
    return _position(words[1:4]), None if call is None else _position(words[call : call + 3])


def _position(words: list[str]) -> Position:
    file, line, column = (integer(word) for word in words)
    return file, line, column
