"""Gaps between the statements of the student's source, as positions in the PTX of the -O0 build.

That build keeps the statements apart and in their order, so where the line changes one statement ends and the
next begins. A gap counts only where the source has a statement's end before it: a barrier cannot stand in the
middle of an expression.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from grader.base.cpp import CppText
from grader.base.records import frozen
from grader.model.messages import text_of
from grader.simulation.ptx import Address, Symbol
from grader.simulation.ptx.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.simulation.ptx import Function, Instruction, Location, Module
    from grader.simulation.ptx.flow import Loop

MOST_LINES = 40
"""Lines of one statement, at most."""

_STRONG = {"volatile", "relaxed", "acquire", "release", "mmio"}
_NESTING = {"{": 1, "}": -1}
_CONTINUE = re.compile(r"\b(?:continue|goto)\b")
_LOOP = re.compile(r"\b(?:for|while)\b")
_READS, _WRITES = ("ld", "ldu", "ldmatrix"), ("st",)


@frozen
class Gap:
    """A gap before the instruction ``at``; it reads as ``adding X {at_words}``, ``moving X {to_words}``."""

    at: int
    at_words: str
    to_words: str


class Source:
    """The student's text without comments; ``name`` is the name of the file in the PTX."""

    def __init__(self, module: Module, name: str, lines: Sequence[str]) -> None:
        self.files = {number for number, path in module.files if path.rsplit("/", 1)[-1] == name}
        self.lines = CppText("\n".join(lines)).code.split("\n")
        opened = (line.count("(") - line.count(")") for line in self.lines)
        self.open = tuple(accumulate(opened))
        """Number of parentheses that are open at the end of each line."""

    def line(self, location: Location | None) -> int:
        """The line of the file that an instruction belongs to, by inlining perhaps; 0 if to none."""
        while location is not None:
            if location.file in self.files and location.line:
                return location.line
            location = location.inlined_at
        return 0

    def head(self, line: int) -> int:
        """The line on which the statement begins that this line is part of; 0 if that is unknown.

        The body of an `if` or a loop without braces is part of its statement.
        """
        for first in range(min(line, len(self.lines)), max(0, line - MOST_LINES), -1):
            above = "\n".join(self.lines[max(0, first - MOST_LINES) : first - 1]).rstrip()
            if above.endswith((";", "{", "}")) and self.open[first - 2] <= 0:
                return first
        return 0

    def closing(self, head: int) -> int:
        """The line of the brace that ends the body of a loop; 0 if it has none, or some turns end earlier.

        ``head`` is the loop's first line of code: of a `do` the first one in its body.
        """
        braces, parentheses = 0 if _LOOP.search(self.lines[head - 1]) else 1, 0
        for number in range(head, len(self.lines) + 1):
            for character in self.lines[number - 1]:
                braces += _NESTING.get(character, 0)
                parentheses += (character == "(") - (character == ")")
                if braces == 0 and character == "}":
                    statement = "\n".join(self.lines[head - 1 : number])
                    return 0 if _CONTINUE.search(statement) else number
                if braces == 0 and character == ";" and parentheses <= 0:
                    return 0
        return 0


class Statements:
    """A function's statements: their positions, their accesses, and the gaps between them."""

    def __init__(self, function: Function, source: Source) -> None:
        self.function, self.source = function, source
        self.flow = Flow(function)
        lines, last = [], 0
        for instruction in function.body:
            last = source.line(instruction.location) or last
            lines.append(last)
        self.lines: tuple[int, ...] = tuple(lines)
        """The line of each instruction; that of the one above where it has none of its own."""
        head = {line: source.head(line) for line in set(lines)}
        self.heads = tuple(head[line] for line in lines)
        """The line on which the statement of each instruction begins."""

    def accesses(self, line: int, *, writing: bool) -> list[int]:
        """The instructions of a line that read, or write, memory that others may use too."""
        return [
            at
            for at, instruction in enumerate(self.function.body)
            if self.lines[at] == line and _accesses(instruction, writing=writing)
        ]

    def calls_of(self, name: str) -> list[int]:
        """The calls of a function."""
        return [
            at
            for at, instruction in enumerate(self.function.body)
            if instruction.opcode == "call" and Symbol(name) in instruction.operands[:2]
        ]

    def barriers(self, line: int = 0) -> list[int]:
        """The barriers of the whole block, on this line or on any."""
        return [
            at
            for at, instruction in enumerate(self.function.body)
            if is_barrier(instruction) and self.lines[at] and line in (0, self.lines[at])
        ]

    def depth(self, at: int) -> tuple[int, int]:
        """Number of thread-dependent branches that control an instruction, and of loops around it."""
        body = self.function.body
        guards = (body[branch].guard for branch in self.flow.deciding(at))
        apart = sum(guard is not None and guard.name in self.flow.thread_dependent for guard in guards)
        return apart, len(self.flow.loops_around(at))

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """All gaps between statements."""
        gaps = [self._gap(at) for at in range(1, len(self.lines)) if self._begins(at)]
        first = {gap.at_words: gap for gap in reversed(gaps) if gap is not None}
        return tuple(sorted(first.values(), key=lambda gap: gap.at))

    def _begins(self, at: int) -> bool:
        """True if a statement, or the way back to the head of a loop, begins here."""
        if not self.heads[at] or not self.heads[at - 1]:
            return False
        return self.heads[at] != self.heads[at - 1] or self._goes_back(at)

    def _goes_back(self, at: int) -> bool:
        """True if it is the jump at the end of a loop's body."""
        instruction = self.function.body[at]
        if instruction.opcode != "bra" or instruction.guard is not None:
            return False
        headers = {loop.header for loop in self.flow.loops_around(at)}
        return bool(headers.intersection(self.flow.successors[self.flow.block_of[at]]))

    def _gap(self, at: int) -> Gap | None:
        line = self.heads[at]
        around = self.flow.loops_around(at)
        head = self._extent(around[0])[0] if around else 0
        if around and at > self.flow.starts[around[0].header] and (line == head or self._goes_back(at)):
            brace = self.source.closing(head)
            if not brace:
                return None
            loop = {"head": head, "brace": brace}
            return Gap(at, text_of("at-loop-end", **loop), text_of("to-loop-end", **loop))
        above = max((number for number in self.lines if 0 < number < line), default=0)
        if not above:
            return None
        inner = [self._extent(loop) for loop in self.flow.loops if loop not in around]
        ended = [first for first, last in inner if first <= above <= last < line]
        between = {"above": above, "line": line, "head": min(ended, default=0)}
        if ended:
            return Gap(at, text_of("at-after-loop", **between), text_of("to-after-loop", **between))
        return Gap(at, text_of("at-between", **between), text_of("to-between", **between))

    def _extent(self, loop: Loop) -> tuple[int, int]:
        """The first and the last line of a loop."""
        lines = [
            line
            for block in loop.blocks
            for line in self.lines[self.flow.starts[block] : self.flow.starts[block + 1]]
            if line
        ]
        return (min(lines), max(lines)) if lines else (0, 0)


def is_barrier(instruction: Instruction) -> bool:
    """True if it is the barrier of the whole block, and no more than that."""
    words = instruction.modifiers
    if instruction.opcode not in ("bar", "barrier") or "sync" not in words or "warp" in words:
        return False
    return len(instruction.operands) == 1 and instruction.guard is None


def _accesses(instruction: Instruction, *, writing: bool) -> bool:
    """True if it reads, or writes, memory; atomics do both, and so do all others with an address."""
    if {"param", "local", "const"} & set(instruction.modifiers):
        return False
    if not any(isinstance(operand, Address) for operand in instruction.operands):
        return False
    if instruction.opcode in _READS or "load" in instruction.modifiers:
        return not writing
    if instruction.opcode in _WRITES or "store" in instruction.modifiers:
        return writing
    return True


def calls(function: Function) -> list[str]:
    """The functions that it calls by name."""
    return [
        operand.name
        for instruction in function.body
        if instruction.opcode == "call"
        for operand in instruction.operands[:2]
        if isinstance(operand, Symbol)
    ]


def uses_strong(function: Function) -> bool:
    """True if a function has accesses by which threads may wait for each other, or exchange knowledge.

    These are the strong operations of the memory consistency model (PTX ISA section 8.3).
    """
    return any(
        instruction.opcode in ("atom", "red", "fence", "membar", "mbarrier")
        or _STRONG & set(instruction.modifiers)
        for instruction in function.body
    )
