"""What the student's text shows that may be meant, and explains much where something fails.

Two `extern __shared__` arrays begin at the same address, and a loop may change its variable in its header
and in its body. Right kernels do both, so nothing here costs anything. What the patterns miss is not known.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.model import Finding, FindingKind, Severity, SourceRemark
from grader.nvcc.source import SOURCE_NAME
from grader.ptx.facts import reached_lines, reached_symbols
from grader.ptx.parser import symbol_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.nvcc.declarations import Kernel, OwnText
    from grader.ptx import Module

_SHARED = re.compile(r"__attribute__\(\(shared\)\)(?P<declarators>[^;{}]{1,400});")
_BEFORE = re.compile(r"[^;{}]*$")
_LONGEST_BEFORE = 200
_UNBOUNDED = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*\[\s*\]")
_FOR = re.compile(r"\bfor\s*\(")
_STEP = re.compile(r"\s*(?:(?:\+\+|--)\s*(?P<first>\w+)|(?P<then>\w+)\s*(?:\+\+|--|[+-]=\s*1))\s*")
_BLOCK_OR_END = re.compile(r"[{;]")
_CLOSING = {"(": ")", "{": "}"}
_LONGEST_HEADER = 400
_LONGEST_BODY = 4000
_MOST_LOOPS = 200
"""Bounds, so that no text takes the patterns for ever."""


def suspicions(
    own: OwnText, kernel: Kernel | None, module: Module, entry: str, file: str
) -> tuple[Finding, ...]:
    """Findings that cost nothing.

    ``module`` is the unoptimised build, ``file`` the source's name for people.
    """
    return (*_of_one_address(own, kernel, module, entry, file), *_stepped_twice(own, module, entry, file))


def _of_one_address(
    own: OwnText, kernel: Kernel | None, module: Module, entry: str, file: str
) -> Iterator[Finding]:
    """One for each name of dynamic shared memory, where the kernel uses several."""
    used = {symbol_name(symbol) for symbol in reached_symbols(module, entry)}
    names = {name: place for name, place in _dynamic_arrays(own, kernel).items() if name in used}
    for name, (where, line) in names.items() if len(names) > 1 else ():
        yield _suspicion(SourceRemark.ONE_ADDRESS, name, file if where == SOURCE_NAME else where, line)


def _dynamic_arrays(own: OwnText, kernel: Kernel | None) -> dict[str, tuple[str, int]]:
    """Where each `extern __shared__` array is declared; of several with one name that of ``kernel``."""
    declared = [
        (array["name"], own.place(statement.start("declarators")))
        for statement in _SHARED.finditer(own.text)
        if re.search(r"\bextern\b", _before(own.text, statement.start()) + statement["declarators"])
        for array in _UNBOUNDED.finditer(statement["declarators"])
    ]
    first = (kernel.file, kernel.line) if kernel else ("", 0)
    declared.sort(key=lambda each: each[1][0] != first[0] or each[1][1] < first[1])
    arrays: dict[str, tuple[str, int]] = {}
    for name, place in declared:
        arrays.setdefault(name, place)
    return arrays


def _before(text: str, end: int) -> str:
    """What stands in front of ``end`` in its statement."""
    start = max(0, end - _LONGEST_BEFORE)
    statement = _BEFORE.search(text[start:end])
    return statement[0] if statement else ""


def _stepped_twice(own: OwnText, module: Module, entry: str, file: str) -> Iterator[Finding]:
    """One for each loop of the kernel that counts in its header, and doubles or halves in its body."""
    lines = reached_lines(module, entry, SOURCE_NAME)
    for loop in islice(_FOR.finditer(own.text), _MOST_LOOPS):
        begin = _end(own.text, loop.end() - 1, _LONGEST_HEADER)
        counted = _counted(own.text[loop.end() : max(begin - 1, loop.end())])
        body = own.text[begin : _end_of_statement(own.text, begin)] if counted else ""
        for name in counted:
            offset = _scaled(body, name)
            where, line = own.place(begin + (offset or 0))
            if offset is not None and where == SOURCE_NAME and line in lines:
                header = own.place(loop.start())[1]
                yield _suspicion(SourceRemark.STEPPED_TWICE, name, file, line, header)


def _counted(header: str) -> list[str]:
    """The variables that the third part of a loop's header takes one further or one back."""
    parts = header.split(";")
    steps = (_STEP.fullmatch(part) for part in parts[2].split(",")) if len(parts) == 3 else ()  # noqa: PLR2004
    return [step["first"] or step["then"] for step in steps if step]


def _scaled(body: str, name: str) -> int | None:
    """Where a body multiplies, divides or shifts a variable that it does not declare itself."""
    if re.search(rf"\b(?!return\b|else\b)[A-Za-z_]\w*\s+{name}\s*[=;,]", body):
        return None
    scaled = re.search(
        rf"(?<![\w.>*]){name}\s*(?:(?:\*|/|<<|>>)=|\+=\s*{name}\s*;"
        rf"|=\s*\(?\s*(?:{name}\s*(?:\*|/|<<|>>)|{name}\s*\+\s*{name}\b|\w+\s*\*\s*{name}\b))",
        body,
    )
    return scaled.start() if scaled else None


def _end_of_statement(text: str, start: int) -> int:
    """Behind the next semicolon, or behind the block that opens before it, which an `if` may lead."""
    first = _BLOCK_OR_END.search(text, start, start + _LONGEST_HEADER)
    if first is None:
        return start
    return _end(text, first.start(), _LONGEST_BODY) if first[0] == "{" else first.end()


def _end(text: str, opens: int, longest: int) -> int:
    """Behind the bracket that closes the one at ``opens``; 0 if it does not come soon."""
    opening, depth = text[opens], 0
    closing = _CLOSING[opening]
    for bracket in re.finditer(rf"[{opening}{closing}]", text[opens : opens + longest]):
        depth += 1 if bracket[0] == opening else -1
        if not depth:
            return opens + bracket.end()
    return 0


def _suspicion(remark: SourceRemark, name: str, file: str, line: int, other: int | None = None) -> Finding:
    return Finding(
        FindingKind.MISTAKE,
        "",
        hazard=remark,
        file=file,
        line=line,
        other_line=other,
        address=name,
        severity=Severity.INFO,
    )
