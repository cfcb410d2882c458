"""Mutation operators on statements: guards, loops, what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.cpp import walk
from grader.validation.changes import Change, Edit, part, replaced, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_JUMPS = ("return_statement", "continue_statement", "break_statement")
_LIMITS = (b"<", b"<=", b">", b">=", b"!=")
_BARRIERS = (b"__syncthreads", b"__syncwarp", b"sync", b"__threadfence", b"arrive_and_wait")


def guard_dropped(node: Node) -> Iterator[Change]:
    """`if (condition)` always; one that leaves (`if (outside) return;`) never."""
    condition, body = part(node, "condition"), node.child_by_field_name("consequence")
    if condition is None or body is None or b"constexpr" in text_of(node).split(b"(")[0]:
        return
    inner = [child for child in body.named_children if child.type != "comment"]
    leaves = body.type in _JUMPS or (
        body.type == "compound_statement" and len(inner) == 1 and inner[0].type in _JUMPS
    )
    yield replaced("guard-dropped", condition, b"false" if leaves else b"true")


def loop_bound(node: Node) -> Iterator[Change]:
    """A loop that goes one short, or one too far."""
    condition = part(node, "condition")
    for each in _comparisons(condition):
        limit = each.child_by_field_name("right")
        if limit is not None:
            bound = text_of(limit)
            yield replaced("loop-bound-lower", limit, b"(%s) - 1" % bound)
            yield replaced("loop-bound-higher", limit, b"(%s) + 1" % bound)


def _comparisons(condition: Node | None) -> Iterator[Node]:
    for node in walk(condition) if condition is not None else ():
        if node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in _LIMITS:
            yield node


def removed(node: Node) -> Iterator[Change]:
    """A statement left out: an assignment, a call, a barrier."""
    if node.parent is not None and node.parent.type == "for_statement":
        return
    inner = node.named_children[0] if node.named_children else None
    if inner is None:
        return
    name = text_of(inner.child_by_field_name("function")).rsplit(b".", 1)[-1].rsplit(b"::", 1)[-1]
    is_barrier = inner.type == "call_expression" and name.startswith(_BARRIERS)
    kind = "barrier-removed" if is_barrier else "statement-removed"
    yield Change(kind, (Edit(node.start_byte, node.end_byte, b";"),))


def initial_value_missing(node: Node) -> Iterator[Change]:
    """A variable that starts from a number starts from nothing: `float sum;`."""
    if b"const" in text_of(node).split(b"=")[0]:
        return
    for declarator in node.named_children:
        name, value = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("value")
        if declarator.type == "init_declarator" and name is not None and _is_plain(value):
            yield Change("initial-value-missing", (Edit(name.end_byte, declarator.end_byte, b""),))


def _is_plain(value: Node | None) -> bool:
    return value is not None and value.type in ("number_literal", "unary_expression", "initializer_list")


def array_one_short(node: Node) -> Iterator[Change]:
    """An array with one element less in one dimension."""
    size = node.child_by_field_name("size")
    if size is not None:
        yield replaced("array-one-short", size, b"(%s) - 1" % text_of(size))
