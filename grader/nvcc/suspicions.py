"""What the student's text shows that may be meant, and explains much where something fails.

Two `extern __shared__` arrays begin at the same address, and a loop may change its variable in its header
and in its body. Right kernels do both, so nothing here costs anything. What cannot be parsed is not known.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from grader.cpp import declared_name, walk
from grader.model import Finding, FindingKind, Severity, SourceRemark
from grader.nvcc.declarations import shared_arrays
from grader.nvcc.source import SOURCE_NAME
from grader.ptx.facts import reached_lines, reached_symbols
from grader.ptx.parser import symbol_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from grader.cpp import CppText
    from grader.nvcc.declarations import DeclaredKernel, OwnText
    from grader.ptx import Module

_OPERATION = ("left", "operator", "right")
_SCALING = ("*", "/", "<<", ">>")
_STEPPING = ("+=", "-=")
_MOST_LOOPS = 200


def suspicions(
    text: OwnText, kernel: DeclaredKernel | None, module: Module, entry: str, file: str
) -> tuple[Finding, ...]:
    """Findings that cost nothing.

    ``module`` is the unoptimised build, ``file`` the source's name for people.
    """
    return (*_of_one_address(text, kernel, module, entry, file), *_stepped_twice(text, module, entry, file))


def _of_one_address(
    text: OwnText, kernel: DeclaredKernel | None, module: Module, entry: str, file: str
) -> Iterator[Finding]:
    """One for each name of dynamic shared memory, where the kernel uses several."""
    used = {symbol_name(symbol) for symbol in reached_symbols(module, entry)}
    names = {name: origin for name, origin in _dynamic_arrays(text, kernel).items() if name in used}
    for name, (where, line) in names.items() if len(names) > 1 else ():
        yield _suspicion(SourceRemark.ONE_ADDRESS, name, file if where == SOURCE_NAME else where, line)


def _dynamic_arrays(text: OwnText, kernel: DeclaredKernel | None) -> dict[str, tuple[str, int]]:
    """Where each `extern __shared__` array is declared; of several with one name that of ``kernel``."""
    arrays: dict[str, tuple[str, int]] = {}
    for array in shared_arrays(text, kernel):
        if array.is_extern and array.extents == ("",):
            arrays.setdefault(array.name, (array.file, array.line))
    return arrays


def _stepped_twice(text: OwnText, module: Module, entry: str, file: str) -> Iterator[Finding]:
    """One for each loop of the kernel that counts in its header, and doubles or halves in its body."""
    lines = reached_lines(module, entry, SOURCE_NAME)
    for loop in islice(text.cpp.nodes("for_statement"), _MOST_LOOPS):
        body = loop.child_by_field_name("body")
        for name in _counted(text.cpp, loop):
            scaled = _scaled(text.cpp, body, name)
            where, line = text.origin(scaled.start_byte) if scaled else ("", 0)
            if where == SOURCE_NAME and line in lines:
                header = text.origin(loop.start_byte)[1]
                yield _suspicion(SourceRemark.STEPPED_TWICE, name, file, line, header)


def _counted(cpp: CppText, loop: Node) -> Iterator[str]:
    """The variables that the third part of a loop's header takes one further or one back."""
    for step in walk(loop.child_by_field_name("update"), lambda node: node.type == "comma_expression"):
        if step.type == "update_expression":
            yield cpp.of(step.child_by_field_name("argument"))
        elif step.type == "assignment_expression":
            target, operator, value = (cpp.of(step.child_by_field_name(part)) for part in _OPERATION)
            if operator in _STEPPING and value == "1":
                yield target


def _scaled(cpp: CppText, body: Node | None, name: str) -> Node | None:
    """Where a body multiplies, divides or shifts a variable that it does not declare itself."""
    scaling = None
    for node in walk(body):
        if node.type == "declaration":
            declared = map(declared_name, node.children_by_field_name("declarator"))
            if name in map(cpp.of, declared):
                return None
        if node.type == "assignment_expression" and not scaling and _scales(cpp, node, name):
            scaling = node
    return scaling


def _scales(cpp: CppText, assignment: Node, name: str) -> bool:
    """Whether an assignment gives a variable a multiple or a fraction of itself."""
    target, operator, value = (assignment.child_by_field_name(part) for part in _OPERATION)
    if cpp.of(target) != name:
        return False
    if cpp.of(operator) == "=":
        return _is_multiple(cpp, value, name)
    doubles = cpp.of(operator) == "+=" and cpp.of(value) == name
    return doubles or cpp.of(operator).removesuffix("=") in _SCALING


def _is_multiple(cpp: CppText, value: Node | None, name: str) -> bool:
    """Whether a value begins with `i * …`, `… * i`, `i / …`, a shift of `i`, or `i + i`."""
    while value is not None:
        if value.type == "binary_expression":
            left, operator, right = (
                value.child_by_field_name(part) for part in ("left", "operator", "right")
            )
            sides, sign = (cpp.of(left), cpp.of(right)), cpp.of(operator)
            if (sides[0] == name and sign in _SCALING) or (sides[1] == name and sign == "*"):
                return True
            if sides == (name, name) and sign == "+":
                return True
            value = left
        else:
            value = value.named_children[0] if value.type == "parenthesized_expression" else None
    return False


def _suspicion(remark: SourceRemark, name: str, file: str, line: int, other: int | None = None) -> Finding:
    return Finding(
        FindingKind.MISTAKE,
        hazard=remark,
        file=file,
        line=line,
        other_line=other,
        address=name,
        severity=Severity.INFO,
    )
