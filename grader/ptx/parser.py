"""PTX tokens → nodes: a recursive-descent parser over the grammar of PTX ISA chapters 5, 10 and 11.

`module_variables` says what variables of a PTX text are called in the source, and how large they are.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from grader.errors import PtxSyntaxError
from grader.ptx.body import Body
from grader.ptx.declarations import SPACES, DeclarationReader
from grader.ptx.nodes import Function, Module, Variable
from grader.ptx.tokens import END, integer, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

_LINKAGES = (".visible", ".extern", ".weak", ".common")
_ADDRESS_BITS = 64

_PIECE = re.compile(r"L[a-z]n?\d+E|A\d+_|[ST][0-9A-Z]*_|(?P<length>\d{1,9})")
"""A template's constant, an array's extent, a substitution; or the length of a name that follows."""


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
        """Past a `.section name { … }`."""
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
        """Past them, up to the body; gives the threads of `.maxntid` (PTX ISA section 11.4), 0 without it."""
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

    Its own name comes last, after those of the function and the namespaces it is in, each led by its
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
