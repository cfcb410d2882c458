"""Places in a syntax tree, and changes to the text there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node


class Edit(NamedTuple):
    """Bytes from ``start`` up to ``end`` become ``text``."""

    start: int
    end: int
    text: bytes


class Change(NamedTuple):
    """One change, possibly in two places; ``coarse`` where it needs the prelude."""

    kind: str
    edits: tuple[Edit, ...]
    coarse: bool = False


def replaced(kind: str, node: Node, text: bytes, *, coarse: bool = False) -> Change:
    """A node's text becomes another."""
    return Change(kind, (Edit(node.start_byte, node.end_byte, text),), coarse)


def exchanged(kind: str, first: Node, second: Node) -> Change:
    """Two nodes change places; ``first`` comes before ``second``."""
    there = Edit(first.start_byte, first.end_byte, text_of(second))
    back = Edit(second.start_byte, second.end_byte, text_of(first))
    return Change(kind, (there, back))


def applied(source: bytes, edits: tuple[Edit, ...]) -> bytes:
    """A text with edits that do not overlap."""
    for edit in sorted(edits, reverse=True):
        source = source[: edit.start] + edit.text + source[edit.end :]
    return source


def text_of(node: Node | None) -> bytes:
    """A node's text; empty for none."""
    return (node.text or b"") if node is not None else b""


def part(node: Node, name: str) -> Node | None:
    """A node's field, without the parentheses around it."""
    found = node.child_by_field_name(name)
    while found is not None and found.type in ("parenthesized_expression", "condition_clause"):
        inner = [child for child in found.named_children if child.type != "comment"]
        found = inner[0] if len(inner) == 1 else None
    return found
