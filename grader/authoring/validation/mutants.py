"""The model solution with one thing wrong: mutants of its source, and of the barriers in its PTX.

    source ─tree-sitter▶ functions that the kernels reach ─changes (one operator each)▶ Mutant …
    source ─tree-sitter▶ host functions ─changes to how they use the device▶ Mutant …
    PTX ─▶ barriers that the kernels reach ─each left out▶ Mutant …

What the operators are is in `grader.authoring.validation.operators` and `host_operators`. Mutants to measure
tests by: DeMillo, Lipton and Sayward, *Hints on test data selection*, Computer 11(4), 1978.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.authoring.validation import host_operators, operators
from grader.authoring.validation.operators import Change, applied
from grader.authoring.validation.records import Mutant
from grader.base.cpp import declared_name, parsed, walk
from grader.simulation.emulator.statement_gaps import calls
from grader.simulation.ptx import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

    from grader.model import Assignment, Build
    from grader.simulation.ptx import Instruction, Module

_DEVICE_CODE = re.compile(rb"\b__(?:global|device)__\b")
_NUMBER = re.compile(rb"\s*\(?\s*(\d+)\s*\)?\s*")


def source_mutants(
    source: bytes, kernels: Iterable[str], constants: Iterable[str] = ()
) -> tuple[Mutant, ...]:
    """Every mutant of a file, in the order of its lines, each text once.

    ``kernels`` are the names of the kernels that are launched; only they and what they call is changed.
    ``constants`` are names that a student may choose a value for (a tile size), which stay as they are.
    """
    root = parsed(source)
    if root is None:
        return ()
    entries = {name.rsplit("::", 1)[-1] for name in kernels}
    bodies = _reachable(root, entries)
    changes = [
        change for body in bodies.values() for node in walk(body) for change in operators.changes(node)
    ]
    changes += [operators.emptied(body) for name, body in bodies.items() if name in entries]
    changes += _of_constants(root, bodies.values(), set(constants))
    return _in_order(source, changes)


def program_mutants(source: bytes) -> tuple[Mutant, ...]:
    """Every mutant of a program or a function, in the order of its lines, each text once.

    Device code is changed everywhere, host code where it uses the device.
    """
    root = parsed(source)
    if root is None:
        return ()
    changes: list[Change] = []
    on_device: list[Node] = []
    for definition, body in _definitions(root):
        head = source[definition.start_byte : body.start_byte]
        if _DEVICE_CODE.search(head) is None:
            changes += [change for node in walk(body) for change in host_operators.changes(node)]
            continue
        on_device.append(body)
        changes += [change for node in walk(body) for change in operators.changes(node)]
        if b"__global__" in head:
            changes.append(operators.emptied(body))
    changes += _of_constants(root, on_device, set())
    return _in_order(source, changes)


def _in_order(source: bytes, changes: list[Change]) -> tuple[Mutant, ...]:
    in_order = sorted(changes, key=lambda change: (change.edits[0].start, change.kind))
    return tuple(_named_mutants(source, in_order))


def interface_names(assignment: Assignment) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the kernels that an assignment launches, and of the constants that students choose."""
    kernels_of_cases = (plan.kernel for plan in assignment.cases if getattr(plan, "kernel", ""))
    kernels = dict.fromkeys((assignment.kernel.kernel, *kernels_of_cases))
    names = (name for constant in assignment.kernel.constants for name in (constant.name, *constant.aliases))
    return tuple(kernels), tuple(names)


def _reachable(root: Node, entries: set[str]) -> dict[str, Node]:
    """The bodies of the kernels and of what they call, by name; of all functions if there is no kernel."""
    defined = {name: body for name, body in _functions(root) if name != "main"}
    todo = [name for name in defined if name in entries] or list(defined)
    reached: dict[str, Node] = {}
    while todo:
        name = todo.pop()
        if name not in reached:
            reached[name] = defined[name]
            todo += [used for used in _identifiers(defined[name]) if used in defined]
    return {name: body for name, body in defined.items() if name in reached}


def _functions(root: Node) -> Iterator[tuple[str, Node]]:
    for node, body in _definitions(root):
        name = declared_name(node.child_by_field_name("declarator"))
        if name is not None and name.text:
            yield name.text.decode("latin-1"), body


def _definitions(root: Node) -> Iterator[tuple[Node, Node]]:
    """The functions that a file defines, each with its body."""
    for node in walk(root):
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        if body is not None:
            yield node, body


def _identifiers(node: Node) -> set[str]:
    return {inner.text.decode("latin-1") for inner in walk(node) if inner.type == "identifier" and inner.text}


def _of_constants(root: Node, bodies: Iterable[Node], chosen: set[str]) -> Iterator[Change]:
    """Numbers that the file defines outside its functions, one higher."""
    used = set().union(*map(_identifiers, bodies)) - chosen
    for node in root.named_children:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type == "preproc_def" and name and value and name.text and value.text:
            number = _NUMBER.fullmatch(value.text)
            if number and name.text.decode("latin-1") in used:
                yield operators.replaced("constant-changed", value, b"%d" % (int(number[1]) + 1))
        elif node.type == "declaration" and _identifiers(node) & used:
            for inner in walk(node):
                if inner.type == "number_literal":
                    yield from operators.changes(inner)


def _named_mutants(source: bytes, changes: Iterable[Change]) -> Iterator[Mutant]:
    earlier: set[bytes] = {source}
    times: Counter[tuple[str, str, str]] = Counter()
    for change in changes:
        text = applied(source, change.edits)
        if text in earlier:
            continue
        earlier.add(text)
        removed, added = _changed_lines(source, text)
        times[change.kind, removed, added] += 1
        number = times[change.kind, removed, added]
        line = source[: change.edits[0].start].count(b"\n") + 1
        mark = stable_id(change.kind, removed, added, number)
        description = f"{removed.strip()} → {added.strip() or '(nothing)'}"
        yield Mutant(
            mark,
            change.kind,
            line,
            description,
            operators.PRELUDE * change.coarse + text,
            _diff(source, text),
        )


def stable_id(kind: str, removed: str, added: str, number: int) -> str:
    """An id that depends on the changed text and on how many such changes came before it, on nothing else."""
    digest = hashlib.sha256(repr((kind, removed, added, number)).encode()).hexdigest()
    return f"{kind}-{digest[:8]}"


def _changed_lines(before: bytes, after: bytes) -> tuple[str, str]:
    """The lines that differ, without the blanks at their ends."""
    old, new = _lines(before), _lines(after)
    first = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    old, new = old[first:], new[first:]
    while old and new and old[-1] == new[-1]:
        old.pop()
        new.pop()
    return "\n".join(map(str.strip, old)), "\n".join(map(str.strip, new))


def _diff(before: bytes, after: bytes) -> str:
    difference = difflib.unified_diff(_lines(before), _lines(after), "solution", "mutant", lineterm="", n=2)
    return "\n".join(difference)


def _lines(text: bytes) -> list[str]:
    return text.decode("latin-1").replace("\r", "").split("\n")


BARRIER_KIND = "barrier-removed-from-ptx"

_STATEMENT = re.compile(r"(?:@!?%p\d+\s+)?(?:bar|barrier)\.[^;]*;")


def barrier_mutants(built: Build, source: bytes) -> tuple[Mutant, ...]:
    """A mutant for each barrier that the kernels of a build can come to."""
    text = source.decode("latin-1").split("\n")
    return tuple(_mutants(_barriers(built.hazard_ptx, _entries(built)), text, source))


def without_barrier(built: Build, number: int) -> Build:
    """The build without the barrier of this number: in the -O0 PTX and, if it has as many, the default's."""
    entries = _entries(built)
    barriers = _barriers(built.hazard_ptx, entries)
    hazard_ptx = _without(built.hazard_ptx, barriers[number])
    default = _barriers(built.ptx, entries)
    ptx = _without(built.ptx, default[number]) if len(default) == len(barriers) else built.ptx
    further_builds = tuple(
        (name, replace(further, ptx=ptx, hazard_ptx=hazard_ptx) if further.ptx == built.ptx else further)
        for name, further in built.others
    )
    return replace(built, ptx=ptx, hazard_ptx=hazard_ptx, others=further_builds)


def _mutants(barriers: list[Instruction], text: list[str], source: bytes) -> Iterator[Mutant]:
    occurrences: dict[str, int] = {}
    for number, barrier in enumerate(barriers):
        line = barrier.location.line if barrier.location else 0
        shown = text[line - 1].strip() if 0 < line <= len(text) else ""
        occurrences[shown] = occurrences.get(shown, 0) + 1
        description = f"{barrier.name} of `{shown}` taken out of the PTX"
        diff = f"--- PTX of the solution\n+++ PTX of the mutant\n-    {barrier.name}  // line {line}: {shown}"
        yield Mutant(
            stable_id(BARRIER_KIND, shown, "", occurrences[shown]),
            BARRIER_KIND,
            line,
            description,
            source,
            diff,
            number,
        )


def _entries(built: Build) -> tuple[str, ...]:
    """The kernels that are launched; of a program all that its file has."""
    if not built.entry:
        return tuple(function.name for function in parse(built.hazard_ptx).functions if function.is_entry)
    return (built.entry, *(further.entry for _, further in built.others))


def _barriers(ptx: str, entries: tuple[str, ...]) -> list[Instruction]:
    """The barriers of the kernels and of what they call, in the order of the text."""
    module = parse(ptx)
    names = _reachable_functions(module, entries)
    instructions = (
        instruction
        for function in module.functions
        if function.name in names
        for instruction in function.body
    )
    return sorted(filter(_is_barrier, instructions), key=lambda instruction: instruction.ptx_line)


def _is_barrier(instruction: Instruction) -> bool:
    return instruction.opcode in ("bar", "barrier") and "sync" in instruction.modifiers


def _reachable_functions(module: Module, entries: tuple[str, ...]) -> set[str]:
    defined = {function.name: function for function in module.functions if function.defined}
    todo, reached = [name for name in entries if name in defined], set[str]()
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += [callee for callee in calls(defined[name]) if callee in defined]
    return reached


def _without(ptx: str, barrier: Instruction) -> str:
    lines = ptx.split("\n")
    lines[barrier.ptx_line - 1] = _STATEMENT.sub("", lines[barrier.ptx_line - 1], count=1)
    return "\n".join(lines)
