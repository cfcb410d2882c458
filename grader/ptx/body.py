"""The inside of a function: declarations, labels and instructions (PTX ISA chapters 4, 6 and 9)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.errors import PtxSyntaxError
from grader.ptx.declarations import SPACES
from grader.ptx.nodes import (
    TYPE_BYTES,
    Address,
    Immediate,
    Instruction,
    Location,
    Operand,
    Pair,
    Register,
    Symbol,
    Tuple,
    Variable,
    Vector,
)
from grader.ptx.tokens import integer

if TYPE_CHECKING:
    from grader.ptx.declarations import DeclarationReader
    from grader.ptx.tokens import Token

_USED_BYTES = re.compile(r'"\s*used_bytes_mask\s+(0x[0-9a-fA-F]{1,8}|[0-9]{1,10})\s*"')

_TYPE_LAST = {"ld", "ldu", "st", "atom", "red", "setp", "set", "shfl"} | {
    *("add", "sub", "mul", "fma", "mad", "min", "max", "abs", "neg", "div", "rcp", "sqrt"),
}
"""Instructions whose types come last in the ISA's syntax; ptxas takes `ld.global.u32.ca` as well."""

_MOST_REGISTERS = 1_000_000
"""In one declaration: far beyond what any compiler asks for."""


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
        self._used_bytes = -1

    def block(self) -> None:
        """`{ … }`, a scope of its own."""
        self.parser.expect("{")
        self._opened += 1
        self._scopes.append({})
        while not self.parser.accept("}"):
            self.statement()
        self._scopes.pop()

    def statement(self) -> None:
        """One declaration, label, directive or instruction."""
        cursor, token = self.parser, self.parser.peek()
        if token.text == "{":
            self.block()
        elif token.text == ".reg" or token.text.startswith(".reg."):
            self.register_declaration()
        elif token.text == ".loc":
            self._location = _location(cursor.rest_of_line(token.line))
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
        """What a label names: a list of branch targets, something about a call, or the next instruction."""
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
        """A register or a symbol, by what was declared."""
        name = self.resolve(self.parser.take().text)
        if name.startswith("%") or (name in self._declared and not self.is_variable(name)):
            return Register(name)
        return Symbol(name, self.parser.offset())

    def is_variable(self, name: str) -> bool:
        """Whether the function declares a variable of this name."""
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


def _location(line: list[Token]) -> Location:
    """``.loc file line column [, function_name label+offset, inlined_at file line column]``."""
    file, number, column = (integer(token.text) for token in line[1:4])
    words = [token.text for token in line]
    inlined = None
    if "inlined_at" in words:
        start = words.index("inlined_at") + 1
        at_file, at_line, at_column = (integer(token.text) for token in line[start : start + 3])
        inlined = Location(at_file, at_line, at_column)
    return Location(file, number, column, inlined)
