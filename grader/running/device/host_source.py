"""Names that a program gives its device memory, from the lines of the calls that allocate it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import field
from typing import TYPE_CHECKING

from grader.base.cpp import CppText, declared_name
from grader.base.records import mutable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node

    from grader.running.device.memory import DeviceAllocation

_ALLOCATING = {
    "cudaHostAlloc",
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaMallocHost",
    "cudaMallocManaged",
    "cudaMallocPitch",
}
_CALL = re.compile(r"\b(cuda[A-Z]\w*)[ \t]*(?:<[^<>]*>[ \t]*)?\(")
_OF_ERRORS = {"cudaGetErrorName", "cudaGetErrorString", "cudaGetLastError", "cudaPeekAtLastError"}
_SOURCES = {"cudaMemcpy": 1, "cudaMemcpyAsync": 1, "cudaMemcpy2D": 2, "cudaMemcpy2DAsync": 2}
"""Position of the source among the arguments of a copy."""
_TO_POINTERS = 2
_AROUND = {"cast_expression": "value", "pointer_expression": "argument", "parenthesized_expression": ""}


@mutable
class HostSource:
    """The student's file, and which of its lines the calls of the program return to."""

    text: str
    call_lines: Mapping[int, int]
    file: str = ""
    others: tuple[HostSource, ...] = ()
    """The further files of the program."""
    _names: Mapping[int, list[str]] | None = field(default=None)
    _pointer_copies: frozenset[int] | None = field(default=None)
    _callers: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Calls that have allocated something, by line, in the order of their first time."""
    _given: dict[int, str] = field(default_factory=dict)
    """The names of allocations by their number."""
    _shared: Counter[str] = field(default_factory=Counter)
    """Number of allocations that have had a name."""

    def line_of(self, caller: int) -> int | None:
        """The line of a call, in the `file_of` it."""
        return self._of(caller).call_lines.get(caller)

    def file_of(self, caller: int) -> str:
        """File that contains a call; the first one if it is unknown."""
        return self._of(caller).file

    def call_of(self, caller: int) -> str:
        """Function of the runtime that is called there; empty where its line does not determine it."""
        source, line = self._of(caller), self.line_of(caller)
        lines = source.text.splitlines()
        if line is None or not 0 < line <= len(lines):
            return ""
        names = set(_CALL.findall(lines[line - 1])) - _OF_ERRORS
        return names.pop() if len(names) == 1 else ""

    def counts_bytes(self, caller: int) -> bool:
        """True if the statement of a call has a size in bytes in it: such a size is meant as it is."""
        source, line = self._of(caller), self.line_of(caller)
        if line is None:
            return False
        statement = "\n".join(source.text.splitlines()[line - 1 : line + 2]).partition(";")[0]
        return "sizeof" in statement

    def copies_pointers(self, caller: int) -> bool:
        """True if what a copy takes is declared as an array of pointers, or is the address of a pointer."""
        return self.line_of(caller) in self._of(caller).pointer_copies

    @property
    def pointer_copies(self) -> frozenset[int]:
        """The lines of such copies."""
        if self._pointer_copies is None:
            self._pointer_copies = lines_copying_pointers(self.text)
        return self._pointer_copies

    def _of(self, caller: int) -> HostSource:
        return next((source for source in self.others if caller in source.call_lines), self)

    def name_of(self, allocation: DeviceAllocation) -> str:
        """Name of an allocation in the program: ``d_A``; else where it comes from. No two have one name.

        The second one that a loop allocates is ``d_A#2``: arrays are distinguished by their names.
        """
        if allocation.number not in self._given:
            source = self._of(allocation.caller)
            name = source.written_name(allocation.caller) or f"array {allocation.number}"
            self._shared[name] += 1
            again = f"#{self._shared[name]}" if self._shared[name] > 1 else ""
            self._given[allocation.number] = name + again
        return self._given[allocation.number]

    def give_name(self, allocation: DeviceAllocation, name: str) -> None:
        """Call an allocation by a name that does not stand in the program."""
        self._given[allocation.number] = name
        self._shared[name] += 1

    def written_name(self, caller: int) -> str:
        """Name on the line of a call; of several names there, the one that belongs to this call in order."""
        line = self.line_of(caller)
        if line is None:
            return ""
        if self._names is None:
            self._names = allocated_names(self.text)
        names, callers = self._names.get(line, []), self._callers[line]
        if caller not in callers:
            callers.append(caller)
        if len(names) == 1:
            return names[0]
        turn = callers.index(caller)
        return names[turn] if turn < len(names) else f"the array of line {line}"


def allocated_names(text: str) -> Mapping[int, list[str]]:
    """Names that each line allocates, as they are written there."""
    names: defaultdict[int, list[str]] = defaultdict(list)
    source = CppText(text)
    for call in source.nodes("call_expression"):
        if source.of(call.child_by_field_name("function")).partition("<")[0] in _ALLOCATING:
            arguments = call.child_by_field_name("arguments")
            first = (
                arguments.named_children[0] if arguments is not None and arguments.named_children else None
            )
            name = source.words(_bare(first))
            for line in range(call.start_point[0] + 1, call.end_point[0] + 2):
                names[line].append(name)
    return names


def lines_copying_pointers(text: str) -> frozenset[int]:
    """The lines of copies that take an array of pointers, as it is declared, or a pointer by its address."""
    source = CppText(text)
    pointers: dict[str, int] = {}
    lines: set[int] = set()
    for node in source.nodes("declaration", "parameter_declaration", "call_expression"):
        if node.type == "call_expression":
            taken = _taken_by_copy(source, node)
            bare = _bare(taken)
            is_address = source.of(taken).startswith("&")
            if bare is not None and pointers.get(source.of(bare), 0) + is_address >= _TO_POINTERS:
                lines |= set(range(node.start_point.row + 1, node.end_point.row + 2))
        for declarator in node.children_by_field_name("declarator"):
            pointers[source.of(declared_name(declarator))] = _pointers_to(declarator)
    return frozenset(lines)


def _taken_by_copy(source: CppText, call: Node) -> Node | None:
    """The source operand of a copy; None for another call."""
    position = _SOURCES.get(source.of(call.child_by_field_name("function")))
    arguments = call.child_by_field_name("arguments")
    given = arguments.named_children if arguments is not None else []
    return given[position] if position is not None and position < len(given) else None


def _pointers_to(declarator: Node) -> int:
    """Pointers that lead to a value: two in `T **p` and `T *p[n]`, one in `T *p`, none in `T p[m][n]`."""
    if declarator.type == "init_declarator":
        inner = declarator.child_by_field_name("declarator")
        return _pointers_to(inner) if inner is not None else 0
    if declarator.type != "pointer_declarator":
        return 0
    inner = declarator.child_by_field_name("declarator")
    leads_on = inner is not None and inner.type in ("pointer_declarator", "array_declarator")
    return 2 if leads_on else 1


def _bare(node: Node | None) -> Node | None:
    """An expression without casts, ``&`` and parentheses around it."""
    while node is not None and node.type in _AROUND:
        name = _AROUND[node.type]
        inner = node.child_by_field_name(name) if name else None
        node = inner or (node.named_children[-1] if node.named_children else None)
    return node
