"""PTX tokens → nodes: a recursive-descent parser over the grammar of PTX ISA chapters 5, 10 and 11."""

from __future__ import annotations

from array import array
from dataclasses import replace

from grader.errors import PtxSyntaxError
from grader.ptx.body import SPACES, Body
from grader.ptx.cursor import END, integer
from grader.ptx.expressions import ConstantReader
from grader.ptx.lexer import tokens
from grader.ptx.nodes import TYPE_BYTES, Function, Immediate, Module, Numbers, Symbol, Variable

_LINKAGES = (".visible", ".extern", ".weak", ".common")
_ADDRESS_BITS = 64


def parse(text: str) -> Module:
    """The module that ``text`` describes; raises PtxSyntaxError naming the PTX line."""
    parser = ModuleParser(tokens(text))
    try:
        return parser.module()
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        # A directive without its operands, braces without end: nothing that nvcc writes.
        raise PtxSyntaxError(f"PTX line {parser.line()}: this could not be read") from error


class ModuleParser(ConstantReader):
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

    def through_semicolon(self) -> None:
        """Past the end of a directive."""
        while not self.accept(";"):
            if self.take().kind == "end":
                raise self.unexpected(END, "`;`")

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
        while self.peek().text not in ("{", ";"):  # performance directives: .maxntid 256, 1, 1 …
            if self.take().kind == "end":
                raise self.unexpected(END, "`{`")
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
        )

    def parameters(self) -> tuple[Variable, ...]:
        """`(.param .u64 a, .param .u32 b)`."""
        self.expect("(")
        found: list[Variable] = []
        while not self.accept(")"):
            found.append(self.variable(self.take().text[1:], ""))
            self.accept(",")
        return tuple(found)

    def variables(self, linkage: str) -> list[Variable]:
        """Variables in one state space."""
        space = self.take().text[1:]
        found = [self.variable(space, linkage)]
        while self.accept(","):
            found.append(Variable(space, self.take().text, found[0].type, 1, found[0].align))
        self.expect(";")
        return found

    def variable(self, space: str, linkage: str) -> Variable:
        """``.align 4 .b8 name[1024] = {…}`` after its state space."""
        align, type_, lanes = 0, "", 1
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
                self.skip_parentheses()
        line, name = self.line(), self.take().text
        count = self.extents() * lanes
        initial = self.initialiser() if self.accept("=") else ()
        return Variable(space, name, type_, count, align or TYPE_BYTES[type_] * lanes, initial, linkage, line)

    def skip_parentheses(self) -> None:
        """Past `( … )`."""
        self.expect("(")
        while not self.accept(")"):
            if self.take().kind == "end":
                raise self.unexpected(END, "`)`")

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
        found: list[Immediate | Symbol | Numbers] = []
        while not self.accept("}"):
            if self.peek().text == "{":
                found.extend(self.initialiser())
            elif self.peek().kind == "numbers":
                listed = map(int, self.take().text.rstrip(", ").split(","))
                found.append(Numbers(array("Q", listed).tobytes()))
            else:
                found.append(self.initial_value())
            self.accept(",")
        return tuple(found)

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
