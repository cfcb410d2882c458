"""Declarations of variables and parameters, with their initialisers (PTX ISA sections 5.1 and 5.4)."""

from __future__ import annotations

from array import array

from grader.ptx.expressions import ConstantReader
from grader.ptx.nodes import TYPE_BYTES, Immediate, Numbers, Symbol, Variable
from grader.ptx.tokens import END

SPACES = (".global", ".const", ".shared", ".local", ".param")


class DeclarationReader(ConstantReader):
    """Reads what is declared alike in a module and in a function."""

    def through_semicolon(self) -> None:
        """Past the end of a directive."""
        while not self.accept(";"):
            if self.take().kind == "end":
                raise self.unexpected(END, "`;`")

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
