"""What the student's own text declares, read from the preprocessor's output, where macros are expanded.

It is what PTX does not tell: kernels that were never instantiated, template parameters, extents of shared
arrays. None of it decides a grade by itself; what cannot be parsed is simply not known.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.cpp import CppText, declared_name, walk
from grader.nvcc.constants import number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tree_sitter import Node

    from grader.model import Named

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


@dataclass(frozen=True, slots=True)
class DeclaredKernel:
    """A kernel as it is declared. ``template`` holds the parameters of a template, as they are written."""

    name: str
    scopes: tuple[str, ...]
    template: tuple[str, ...]
    line: int
    file: str
    parameters: tuple[str, ...] = ()
    """The names of its parameters as the file has them, empty for one without a name."""


@dataclass(frozen=True, slots=True)
class DeclaredArray:
    """An array that is declared as `__shared__`: its extents as they are written, and where it is."""

    name: str
    extents: tuple[str, ...]
    is_extern: bool
    file: str
    line: int

    def is_before(self, kernel: DeclaredKernel | None) -> bool:
        """Whether it is declared before a kernel, or in another file than the kernel."""
        file, line = (kernel.file, kernel.line) if kernel else ("", 0)
        return self.file != file or self.line < line


@dataclass(frozen=True, slots=True)
class OwnText:
    """The preprocessed lines of some files, joined; `origin` says where an offset into it comes from."""

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
    """Whether a declaration has an attribute, such as the `shared` that `__shared__` expands to."""
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
