"""PTX tokens → nodes: a recursive-descent parser over the grammar of PTX ISA chapters 5, 10 and 11."""

from __future__ import annotations

import struct

from grader.errors import PtxSyntaxError
from grader.ptx.lexer import Token, tokens
from grader.ptx.nodes import (
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

_SPACES = (".global", ".const", ".shared", ".local", ".param")
_LINKAGES = (".visible", ".extern", ".weak", ".common")
_END = Token("end", "", 0)


def parse(text: str) -> Module:
    """The module that ``text`` describes; raises PtxSyntaxError naming the PTX line."""
    return _Parser(tokens(text)).module()


class _Cursor:
    """A place in a list of tokens."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._next = 0

    def peek(self) -> Token:
        return self._tokens[self._next] if self._next < len(self._tokens) else _END

    def take(self) -> Token:
        token = self.peek()
        self._next += 1
        return token

    def accept(self, text: str) -> bool:
        if self.peek().text == text and self.peek().kind != "string":
            self._next += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        token = self.take()
        if token.text != text:
            raise self.unexpected(token, f"`{text}`")
        return token

    def unexpected(self, token: Token, wanted: str) -> PtxSyntaxError:
        if token.kind == "end":
            return PtxSyntaxError(f"the PTX ends where {wanted} was expected")
        return PtxSyntaxError(f"PTX line {token.line}: expected {wanted}, found {token.text!r}")

    def rest_of_line(self, line: int) -> list[Token]:
        """The tokens left on ``line``: some directives end with their line, not with a semicolon."""
        found = []
        while self.peek().line == line and self.peek().kind != "end":
            found.append(self.take())
        return found

    def skip_block(self) -> None:
        """Past a ``{…}`` whose content does not matter here."""
        self.expect("{")
        depth = 1
        while depth:
            token = self.take()
            if token.kind == "end":
                raise self.unexpected(token, "`}`")
            depth += {"{": 1, "}": -1}.get(token.text, 0)

    def integer(self) -> int:
        sign = -1 if self.accept("-") else 1
        token = self.take()
        if token.kind != "integer":
            raise self.unexpected(token, "a whole number")
        return sign * _integer(token.text)


class _Parser(_Cursor):
    """The module level (chapter 10)."""

    def module(self) -> Module:
        target, functions, variables, files = "", [], [], []
        while (token := self.peek()).kind != "end":
            word = token.text
            if word in (".version", ".address_size"):
                self.rest_of_line(token.line)
            elif word == ".target":
                target = self.rest_of_line(token.line)[1].text
            elif word == ".file":
                _, number, path, *_more = self.rest_of_line(token.line)
                files.append((_integer(number.text), path.text.strip('"')))
            elif word == ".section":
                self.rest_of_line_until_block()
            elif word in (".alias", ".pragma"):
                self.through_semicolon()
            else:
                item = self.declaration()
                if isinstance(item, Function):
                    functions.append(item)
                else:
                    variables.extend(item)
        return Module(target, tuple(functions), tuple(variables), tuple(files))

    def rest_of_line_until_block(self) -> None:
        while self.peek().text != "{":
            if self.take().kind == "end":
                raise self.unexpected(_END, "`{`")
        self.skip_block()

    def through_semicolon(self) -> None:
        while not self.accept(";"):
            if self.take().kind == "end":
                raise self.unexpected(_END, "`;`")

    def declaration(self) -> Function | list[Variable]:
        linkage = ""
        while self.peek().text in _LINKAGES:
            linkage = self.take().text[1:]
        word = self.peek().text
        if word in (".entry", ".func"):
            return self.function()
        if word in _SPACES:
            return self.variables(linkage)
        raise self.unexpected(self.peek(), "a function or a variable")

    def function(self) -> Function:
        is_entry = self.take().text == ".entry"
        results = self.parameters() if self.peek().text == "(" else ()
        name = self.take().text
        parameters = self.parameters() if self.peek().text == "(" else ()
        while self.peek().text not in ("{", ";"):  # performance directives: .maxntid 256, 1, 1 …
            if self.take().kind == "end":
                raise self.unexpected(_END, "`{`")
        if self.accept(";"):
            return Function(name, is_entry, parameters, results, defined=False)
        body = _Body(self)
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
        )

    def parameters(self) -> tuple[Variable, ...]:
        self.expect("(")
        found: list[Variable] = []
        while not self.accept(")"):
            found.append(self.variable(self.take().text[1:], ""))
            self.accept(",")
        return tuple(found)

    def variables(self, linkage: str) -> list[Variable]:
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
        name = self.take().text
        count = self.extents() * lanes
        initial = self.initialiser() if self.accept("=") else ()
        return Variable(space, name, type_, count, align or TYPE_BYTES[type_] * lanes, initial, linkage)

    def skip_parentheses(self) -> None:
        self.expect("(")
        while not self.accept(")"):
            if self.take().kind == "end":
                raise self.unexpected(_END, "`)`")

    def extents(self) -> int:
        count = 1
        while self.accept("["):
            if self.accept("]"):
                return 0
            count *= self.integer()
            self.expect("]")
        return count

    def initialiser(self) -> tuple[Immediate | Symbol, ...]:
        if not self.accept("{"):
            return (self.initial_value(),)
        found: list[Immediate | Symbol] = []
        while not self.accept("}"):
            if self.peek().text == "{":
                found.extend(self.initialiser())
            else:
                found.append(self.initial_value())
            self.accept(",")
        return tuple(found)

    def initial_value(self) -> Immediate | Symbol:
        """A number, ``name``, ``name+4`` or ``generic(name)`` (section 5.4.4)."""
        if self.peek().kind != "word":
            return self.literal()
        name = self.take().text
        if name == "generic":
            self.expect("(")
            name = self.take().text
            self.expect(")")
        offset = self.integer() if self.accept("+") else 0
        return Symbol(name, offset)

    def literal(self) -> Immediate:
        sign = -1 if self.accept("-") else 1
        token = self.take()
        if token.kind == "real":
            return _real(token.text, sign)
        if token.kind == "integer":
            return Immediate(sign * _integer(token.text))
        raise self.unexpected(token, "a number")


class _Body:
    """A function's body: declarations, labels and instructions, with the scopes of ``{ … }``."""

    def __init__(self, parser: _Parser) -> None:
        self.parser = parser
        self.registers: list[tuple[str, str]] = []
        self.variables: list[Variable] = []
        self.instructions: list[Instruction] = []
        self.labels: list[tuple[str, int]] = []
        self._scopes: list[dict[str, str]] = []
        self._opened = 0
        self._declared: set[str] = set()
        self._location: Location | None = None

    def block(self) -> None:
        self.parser.expect("{")
        self._opened += 1
        self._scopes.append({})
        while not self.parser.accept("}"):
            self.statement()
        self._scopes.pop()

    def statement(self) -> None:
        cursor, token = self.parser, self.parser.peek()
        if token.text == "{":
            self.block()
        elif token.text == ".reg":
            self.register_declaration()
        elif token.text == ".loc":
            self._location = _location(cursor.rest_of_line(token.line))
        elif token.text in (".pragma", ".branchtargets", ".calltargets"):
            cursor.through_semicolon()
        elif token.text in _SPACES:
            self.variables.extend(self.declare(variable) for variable in cursor.variables(""))
        elif token.kind == "end":
            raise cursor.unexpected(token, "`}`")
        elif not cursor.accept(";"):
            self.label_or_instruction()

    def register_declaration(self) -> None:
        """``.reg .b32 %r<44>, %x;`` (section 5.5.4: a range spells out ``%r0`` to ``%r43``)."""
        cursor = self.parser
        cursor.take()
        type_ = cursor.take().text[1:]
        if type_ in ("v2", "v4"):
            raise PtxSyntaxError(f"PTX line {cursor.peek().line}: vector registers are not read")
        while True:
            name = cursor.take().text
            if cursor.accept("<"):
                names = [f"{name}{number}" for number in range(cursor.integer())]
                cursor.expect(">")
            else:
                names = [name]
            self.registers.extend((self.unique(each), type_) for each in names)
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
        spelt = self.unique(variable.name)
        if spelt == variable.name:
            return variable
        return Variable(variable.space, spelt, variable.type, variable.count, variable.align, variable.initial)

    def resolve(self, name: str) -> str:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return name

    def label_or_instruction(self) -> None:
        cursor = self.parser
        guard = self.guard() if cursor.accept("@") else None
        token = cursor.take()
        if token.kind != "word":
            raise cursor.unexpected(token, "an instruction")
        if guard is None and cursor.accept(":"):
            if cursor.peek().text == ".callprototype":
                cursor.through_semicolon()
            else:
                self.labels.append((token.text, len(self.instructions)))
            return
        opcode, *modifiers = token.text.split(".")
        operands = []
        while not cursor.accept(";"):
            operands.append(self.operand())
            if cursor.peek().text != ";":
                cursor.expect(",")
        self.instructions.append(
            Instruction(opcode, tuple(modifiers), tuple(operands), guard, token.line, self._location),
        )

    def guard(self) -> Register:
        negated = self.parser.accept("!")
        return Register(self.resolve(self.parser.take().text), negated)

    def operand(self) -> Operand:
        first = self.simple_operand()
        if self.parser.accept("|"):
            return Pair(first, self.simple_operand())
        return first

    def simple_operand(self) -> Operand:
        cursor, token = self.parser, self.parser.peek()
        if cursor.accept("["):
            return self.address()
        if cursor.accept("{"):
            return Vector(self.operands_until("}"))
        if cursor.accept("("):
            return Tuple(self.operands_until(")"))
        if cursor.accept("!"):
            return Register(self.resolve(cursor.take().text), negated=True)
        if token.kind == "word":
            return self.named()
        return cursor.literal()

    def operands_until(self, closing: str) -> tuple[Operand, ...]:
        found = []
        while not self.parser.accept(closing):
            found.append(self.operand())
            self.parser.accept(",")
        return tuple(found)

    def named(self) -> Register | Symbol:
        name = self.resolve(self.parser.take().text)
        if name.startswith("%") or (name in self._declared and not self.is_variable(name)):
            return Register(name)
        offset = self.parser.integer() if self.parser.accept("+") else 0
        return Symbol(name, offset)

    def is_variable(self, name: str) -> bool:
        return any(variable.name == name for variable in self.variables)

    def address(self) -> Address:
        cursor = self.parser
        base: Register | Symbol | Immediate
        base = self.named() if cursor.peek().kind == "word" else cursor.literal()
        offset = 0
        if cursor.accept("+"):
            offset = cursor.integer()
        elif cursor.peek().text == "-":
            offset = cursor.integer()
        cursor.expect("]")
        return Address(base, offset)


def _integer(text: str) -> int:
    text = text.rstrip("U")
    octal = len(text) > 1 and text[0] == "0" and text.isdigit()
    return int(text, 8 if octal else 0)


def _real(text: str, sign: int) -> Immediate:
    """``0f3F800000`` and ``0d…`` are bits; a decimal literal is a double (section 4.5.2)."""
    if text[:2] in ("0f", "0F"):
        return Immediate(int(text[2:], 16) ^ (0x80000000 if sign < 0 else 0), "f32")
    if text[:2] in ("0d", "0D"):
        return Immediate(int(text[2:], 16) ^ (1 << 63 if sign < 0 else 0), "f64")
    return Immediate(int.from_bytes(struct.pack("<d", sign * float(text)), "little"), "f64")


def _location(line: list[Token]) -> Location:
    """``.loc file line column [, function_name label+offset, inlined_at file line column]``."""
    numbers = [_integer(token.text) for token in line[1:4]]
    words = [token.text for token in line]
    inlined = None
    if "inlined_at" in words:
        start = words.index("inlined_at") + 1
        inlined = Location(*(_integer(token.text) for token in line[start : start + 3]))
    return Location(*numbers, inlined_at=inlined)
