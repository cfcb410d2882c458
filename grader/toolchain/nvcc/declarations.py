"""Declarations in the student's own text, read from the preprocessor's output, where macros are expanded.

They are not in the PTX: kernels that were never instantiated, template parameters, extents of shared
arrays. None of it decides a grade by itself; what cannot be parsed is simply not known.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING

from grader.base.cpp import CppText, declared_name, walk
from grader.base.records import frozen
from grader.model import Finding, FindingKind, Severity, SourceRemark
from grader.simulation.ptx.facts import reachable_lines, reachable_symbols
from grader.simulation.ptx.parser import symbol_name
from grader.toolchain.nvcc.constants import number
from grader.toolchain.nvcc.source import SOURCE_NAME

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tree_sitter import Node

    from grader.model import Named
    from grader.simulation.ptx import Module

_MARK = re.compile(r'# (?P<line>\d+) "(?P<file>[^"]*)"')
_AT_NAMESPACE_SCOPE = {
    "translation_unit",
    "namespace_definition",
    "linkage_specification",
    "declaration_list",
    "template_declaration",
    "ERROR",
}
_GRID_CONSTANT = "__attribute__((grid_constant))"
_LONGEST_UNIT = 20_000_000
_LONGEST = 500_000
"""Characters of own text that are looked at."""


@frozen
class DeclaredKernel:
    """A kernel as it is declared. ``template`` holds the parameters of a template, as they are written."""

    name: str
    scopes: tuple[str, ...]
    template: tuple[str, ...]
    line: int
    file: str
    parameters: tuple[str, ...] = ()
    """The names of its parameters as the file has them, empty for one without a name."""


@frozen
class DeclaredArray:
    """An array that is declared as `__shared__`: its extents as they are written, and where it is."""

    name: str
    extents: tuple[str, ...]
    is_extern: bool
    file: str
    line: int

    def is_before(self, kernel: DeclaredKernel | None) -> bool:
        """True if it is declared before a kernel, or in another file than the kernel."""
        file, line = (kernel.file, kernel.line) if kernel else ("", 0)
        return self.file != file or self.line < line


@frozen
class OwnText:
    """Preprocessed lines of some files, joined; `origin` gives the place that an offset comes from."""

    cpp: CppText
    starts: tuple[int, ...]
    origins: tuple[tuple[str, int], ...]

    def origin(self, offset: int) -> tuple[str, int]:
        """The file and line of a character."""
        return self.origins[max(0, bisect_right(self.starts, offset) - 1)] if self.origins else ("", 1)


def own_text(preprocessed: str, source: str, files: Collection[str]) -> OwnText:
    """The lines that come from ``files``, the first of which to be entered is ``source``, without pragmas.

    No grammar foresees where those may be, nor an attribute behind the `const` of a pointer.
    """
    begin = preprocessed.find(f'# 1 "{source}"')
    lines: list[str] = []
    starts: list[int] = []
    origins: list[tuple[str, int]] = []
    file, number, size = "", 0, 0
    for line in preprocessed[begin : begin + _LONGEST_UNIT].splitlines() if begin >= 0 else ():
        mark = _MARK.match(line)
        if mark:
            file, number = mark["file"], int(mark["line"])
            continue
        if file in files and line.strip() and not line.startswith("#") and size < _LONGEST:
            lines.append(line.replace(_GRID_CONSTANT, " " * len(_GRID_CONSTANT)))
            starts.append(size)
            origins.append((file, number))
            size += len(line) + 1
        number += 1
    return OwnText(CppText("\n".join(lines)), tuple(starts), tuple(origins))


def included_at(preprocessed: str, path: str) -> tuple[str, int] | None:
    """The file and line whose ``#include`` read ``path`` (GNU cpp manual, "Preprocessor Output")."""
    entered = preprocessed.find(f'\n# 1 "{path}" 1')
    mark = preprocessed.rfind("\n# ", 0, max(0, entered))
    includer = _MARK.match(preprocessed, mark + 1)
    if includer is None:
        return None
    return includer["file"], int(includer["line"]) + preprocessed.count("\n", mark + 1, entered)


def kernels(text: OwnText) -> tuple[DeclaredKernel, ...]:
    """Every kernel declared at namespace scope, in the order of the text, each name and scope once."""
    declared: dict[tuple[str, ...], DeclaredKernel] = {}
    for node in walk(text.cpp.root, lambda node: node.type in _AT_NAMESPACE_SCOPE):
        function = node.child_by_field_name("declarator")
        if function is None or function.type != "function_declarator" or not _has(text.cpp, node, "global"):
            continue
        name = function.child_by_field_name("declarator")
        if name is None or name.type != "identifier":
            continue
        file, line = text.origin(name.start_byte)
        scopes, template = _surroundings(text.cpp, node)
        parameters = tuple(
            text.cpp.of(declared_name(parameter)) for parameter in _parts(function, "parameters")
        )
        kernel = DeclaredKernel(text.cpp.of(name), scopes, template, line, file, parameters)
        declared.setdefault((*scopes, kernel.name), kernel)
    return tuple(declared.values())


def _has(cpp: CppText, declaration: Node, attribute: str) -> bool:
    """True if a declaration has an attribute, such as the `shared` that `__shared__` expands to."""
    attributes = (child for child in declaration.children if child.type == "attribute_specifier")
    return any(re.fullmatch(rf"\W*__attribute__\W*{attribute}\W*", cpp.of(node)) for node in attributes)


def _surroundings(cpp: CppText, node: Node) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the namespaces around a declaration, and its parameters as a template."""
    scopes: list[str] = []
    template: tuple[str, ...] = ()
    while node.parent is not None:
        node = node.parent
        if node.type == "namespace_definition":
            scopes.append("".join(cpp.of(node.child_by_field_name("name")).split()))
        elif node.type == "template_declaration" and not template:
            template = tuple(cpp.words(parameter) for parameter in _parts(node, "parameters"))
    return tuple(scope for scope in reversed(scopes) if scope), template


def _parts(node: Node, field: str) -> list[Node]:
    """The declarations in a list that is a field of a node."""
    listed = node.child_by_field_name(field)
    return [part for part in listed.named_children if part.type.endswith("declaration")] if listed else []


def shared_arrays(text: OwnText, kernel: DeclaredKernel | None) -> tuple[DeclaredArray, ...]:
    """The arrays in shared memory: those at or after the ``kernel`` come first, each in the text's order."""
    arrays = (
        array
        for node in text.cpp.nodes("declaration", "field_declaration")
        if _has(text.cpp, node, "shared")
        for array in _arrays(text, node)
    )
    return tuple(sorted(arrays, key=lambda array: array.is_before(kernel)))


def _arrays(text: OwnText, declaration: Node) -> Iterator[DeclaredArray]:
    is_extern = any(text.cpp.of(node) == "extern" for node in declaration.children)
    for declarator in declaration.children_by_field_name("declarator"):
        name = declared_name(declarator)
        extents = [
            text.cpp.words(node.child_by_field_name("size"))
            for node in walk(declarator, lambda node: node.type.endswith("declarator"))
            if node.type == "array_declarator"
        ]
        if name and extents:
            file, line = text.origin(name.start_byte)
            yield DeclaredArray(text.cpp.of(name), tuple(reversed(extents)), is_extern, file, line)


def lone_extents(text: OwnText, kernel: DeclaredKernel) -> frozenset[str]:
    """Names that alone make an extent of a shared array of the ``kernel``: ``W`` of ``[W][W + 1]``."""
    arrays = (array for array in shared_arrays(text, kernel) if not array.is_before(kernel))
    return frozenset(extent for array in arrays for extent in array.extents if extent.isidentifier())


def shared_shapes(
    text: OwnText, constants: Mapping[str, int], kernel: DeclaredKernel | None
) -> Named[tuple[int, ...]]:
    """The extents of each shared array; of several with one name the first at or after ``kernel``."""
    shapes: dict[str, tuple[int, ...]] = {}
    for array in shared_arrays(text, kernel):
        if not all(array.extents):  # the launch gives its length
            continue
        extents = [number(extent, constants) for extent in array.extents]
        positive = tuple(extent for extent in extents if extent is not None and extent > 0)
        shapes.setdefault(array.name, positive if len(positive) == len(extents) else ())
    return tuple((name, shape) for name, shape in shapes.items() if shape)


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
    used = {symbol_name(symbol) for symbol in reachable_symbols(module, entry)}
    names = {name: origin for name, origin in _dynamic_arrays(text, kernel).items() if name in used}
    for name, (where, line) in names.items() if len(names) > 1 else ():
        yield _suspicion(SourceRemark.ONE_ADDRESS, name, file if where == SOURCE_NAME else where, line)


def _dynamic_arrays(text: OwnText, kernel: DeclaredKernel | None) -> dict[str, tuple[str, int]]:
    """File and line of each `extern __shared__` array; of several with one name those of ``kernel``."""
    arrays: dict[str, tuple[str, int]] = {}
    for array in shared_arrays(text, kernel):
        if array.is_extern and array.extents == ("",):
            arrays.setdefault(array.name, (array.file, array.line))
    return arrays


def _stepped_twice(text: OwnText, module: Module, entry: str, file: str) -> Iterator[Finding]:
    """One for each loop of the kernel that counts in its header, and doubles or halves in its body."""
    lines = reachable_lines(module, entry, SOURCE_NAME)
    for loop in islice(text.cpp.nodes("for_statement"), _MOST_LOOPS):
        body = loop.child_by_field_name("body")
        for name in _loop_counters(text.cpp, loop):
            scaled = _scaled(text.cpp, body, name)
            where, line = text.origin(scaled.start_byte) if scaled else ("", 0)
            if where == SOURCE_NAME and line in lines:
                header = text.origin(loop.start_byte)[1]
                yield _suspicion(SourceRemark.STEPPED_TWICE, name, file, line, header)


def _loop_counters(cpp: CppText, loop: Node) -> Iterator[str]:
    """The variables that the third part of a loop's header takes one further or one back."""
    for step in walk(loop.child_by_field_name("update"), lambda node: node.type == "comma_expression"):
        if step.type == "update_expression":
            yield cpp.of(step.child_by_field_name("argument"))
        elif step.type == "assignment_expression":
            target, operator, value = (cpp.of(step.child_by_field_name(part)) for part in _OPERATION)
            if operator in _STEPPING and value == "1":
                yield target


def _scaled(cpp: CppText, body: Node | None, name: str) -> Node | None:
    """Assignment in which a body multiplies, divides or shifts a variable that it does not declare itself."""
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
    """True if an assignment gives a variable a multiple or a fraction of itself."""
    target, operator, value = (assignment.child_by_field_name(part) for part in _OPERATION)
    if cpp.of(target) != name:
        return False
    if cpp.of(operator) == "=":
        return _is_multiple(cpp, value, name)
    doubles = cpp.of(operator) == "+=" and cpp.of(value) == name
    return doubles or cpp.of(operator).removesuffix("=") in _SCALING


def _is_multiple(cpp: CppText, value: Node | None, name: str) -> bool:
    """True if a value begins with `i * …`, `… * i`, `i / …`, a shift of `i`, or `i + i`."""
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
