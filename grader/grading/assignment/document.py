"""YAML text → a tree that remembers where everything stood.

Only the plain part of YAML is read: mappings with scalar keys, sequences, scalars. Tags, anchors and
aliases are refused, so nothing is constructed and nothing multiplies. Scalars stay text (``0.10`` is not
yet a number, ``no`` not yet false): what a text means is for its field to say. What is wrong is said in
the language of `grader.model.messages.speaking`, for students' sheets are read here, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml

from grader.base.records import frozen, mutable
from grader.model.messages import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 128 * 1024
"""The largest assignment file that is read."""

MAX_DEPTH = 12
"""Mappings and sequences inside one another."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})

_FAST_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C is ten times as fast; what is wrong is said in the words of the other, which is everywhere."""

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the top of the document."""

Plain: TypeAlias = "dict[str, Plain] | list[Plain] | str | None"
"""A node without its positions."""


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text; both count from 1."""

    line: int
    column: int


def dotted(path: KeyPath) -> str:
    """The path as people write it: ``rubric[2].points``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


@frozen
class Flaw:
    """Something wrong with the document, at the node (or at the key of the node) that ``path`` leads to."""

    path: KeyPath
    message: str
    at_key: bool = False


@frozen
class ScalarNode:
    """A text, or ``None`` where nothing (or ``null``) was written."""

    text: str | None
    position: Position


@frozen
class SequenceNode:
    """A list."""

    items: tuple[Node, ...]
    position: Position


@frozen
class MappingNode:
    """Keys, where each of them stood, and their values."""

    values: dict[str, Node]
    keys: dict[str, Position]
    position: Position


Node: TypeAlias = ScalarNode | SequenceNode | MappingNode


class UnreadableDocument(Exception):  # noqa: N818 - says what happened to the document
    """The text cannot be read any further; never leaves the package."""

    def __init__(self, message: str, position: Position) -> None:
        super().__init__(message, position)
        self.message = message
        self.position = position


@mutable
class _Composer:
    """Events of the YAML parser → nodes; what can be passed over is noted in ``flaws``."""

    events: Iterator[yaml.Event]
    expected: str = "an assignment"
    flaws: list[tuple[Position, str, str]] = field(default_factory=list)

    def document(self) -> Node:
        """The only document of the stream."""
        next(self.events)  # the start of the stream
        start = next(self.events)
        if isinstance(start, yaml.StreamEndEvent):
            raise UnreadableDocument(text_of("document-empty", expected=self.expected), Position(1, 1))
        node = self._node(next(self.events), ())
        next(self.events)  # the end of the document
        if not isinstance(after := next(self.events), yaml.StreamEndEvent):
            raise UnreadableDocument(text_of("document-second"), _position(after))
        return node

    def _node(self, event: yaml.Event, path: KeyPath) -> Node:
        position = _position(event)
        if isinstance(event, yaml.AliasEvent):
            raise UnreadableDocument(text_of("document-alias", name=str(event.anchor)), position)
        if len(path) > MAX_DEPTH:
            raise UnreadableDocument(text_of("document-deep", most=MAX_DEPTH), position)
        self._refuse_extras(event, position, path)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(position, path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(position, path)
        # All that is left is a scalar; the parser in C says '' of a plain one.
        empty = not event.style and event.value in NULLS  # type: ignore[attr-defined]
        return ScalarNode(None if empty else event.value, position)  # type: ignore[attr-defined]

    def _refuse_extras(self, event: yaml.Event, position: Position, path: KeyPath) -> None:
        if anchor := getattr(event, "anchor", None):
            self.flaws.append((position, dotted(path), text_of("document-anchor", name=anchor)))
        if tag := getattr(event, "tag", None):
            self.flaws.append((position, dotted(path), text_of("document-tag", name=tag)))

    def _sequence(self, position: Position, path: KeyPath) -> SequenceNode:
        items: list[Node] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self._node(event, (*path, len(items))))
        return SequenceNode(tuple(items), position)

    def _mapping(self, position: Position, path: KeyPath) -> MappingNode:
        mapping = MappingNode({}, {}, position)
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._node(event, (*path, "?"))
            inner = (*path, (key.text or "?") if isinstance(key, ScalarNode) else "?")
            self._add(mapping, key, self._node(next(self.events), inner), inner)
        return mapping

    def _add(self, mapping: MappingNode, key: Node, value: Node, path: KeyPath) -> None:
        if not isinstance(key, ScalarNode) or key.text is None:
            self.flaws.append((key.position, dotted(path[:-1]), text_of("document-nameless")))
        elif key.text in mapping.keys:
            first = mapping.keys[key.text].line
            message = text_of("document-twice", name=key.text, line=first)
            self.flaws.append((key.position, dotted(path), message))
        else:
            mapping.keys[key.text] = key.position
            mapping.values[key.text] = value


def _position(event: yaml.Event) -> Position:
    mark: Any = event.start_mark
    return Position(mark.line + 1, mark.column + 1)


def read_document(
    content: bytes, expected: str = "an assignment"
) -> tuple[Node, list[tuple[Position, str, str]]]:
    """The document's tree, and what is wrong with it that did not keep it from being read.

    Each of the latter is a position, a dotted path and a message. ``expected`` is what the file should hold.

    Raises `UnreadableDocument` where there is no going on: not UTF-8, not YAML, an alias, nesting beyond
    `MAX_DEPTH`.
    """
    text = _decoded(content)
    try:
        return _composed(text, _FAST_LOADER, expected)
    except yaml.YAMLError:
        return _explained(text, expected)


def _composed(
    text: str,
    loader: Any,  # noqa: ANN401 - yaml's loaders have no common type
    expected: str,
) -> tuple[Node, list[tuple[Position, str, str]]]:
    composer = _Composer(yaml.parse(text, Loader=loader), expected)
    return composer.document(), composer.flaws


def _explained(text: str, expected: str) -> tuple[Node, list[tuple[Position, str, str]]]:
    """The same by the parser in Python, with its words and its place for what is no YAML."""
    try:
        return _composed(text, yaml.SafeLoader, expected)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        position = Position(before.count("\n") + 1, error.position - (before.rfind("\n") + 1) + 1)
        character = f"U+{error.character:04X}"
        raise UnreadableDocument(text_of("document-character", character=character), position) from error
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        position = Position(mark.line + 1, mark.column + 1)
        if text[mark.index : mark.index + 1] == "\t":
            raise UnreadableDocument(text_of("document-tab"), position) from error
        problem = str(error.problem or error.context)
        if problem.startswith("mapping values are not allowed"):
            raise UnreadableDocument(text_of("document-colon"), position) from error
        raise UnreadableDocument(text_of("document-no-yaml", problem=problem), position) from error


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        column = error.start - (before.rfind(b"\n") + 1) + 1
        raise UnreadableDocument(
            text_of("document-no-text"), Position(before.count(b"\n") + 1, column)
        ) from error


def read_sound(content: bytes, expected: str) -> Node:
    """The document's tree; whatever is wrong with it raises `UnreadableDocument`."""
    root, flaws = read_document(content, expected)
    if flaws:
        position, path, message = min(flaws)
        raise UnreadableDocument(f"{path}: {message}" if path else message, position)
    return root


def read_plain(content: bytes, expected: str) -> Plain:
    """The document as `plain` gives it; whatever is wrong with it raises `UnreadableDocument`."""
    return plain(read_sound(content, expected))


def plain(node: Node) -> Plain:
    """The node as dictionaries, lists, texts and ``None``."""
    if isinstance(node, MappingNode):
        return {key: plain(value) for key, value in node.values.items()}
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.items]
    return node.text


def locate(root: Node, flaw: Flaw) -> tuple[Position, str]:
    """Position of a flaw, and its dotted path (``rubric[2].points``).

    A path may lead further than the document does (a key that is missing, the tag of a union): what the
    document does not have is passed over, and the place is the innermost node that was reached.
    """
    node, position = root, root.position
    reached: KeyPath = ()
    for step in flaw.path:
        if isinstance(node, MappingNode) and step in node.values:
            position, node = node.keys[str(step)], node.values[str(step)]
        elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            position = node.position
        else:
            continue
        reached = (*reached, step)
    return (position if flaw.at_key else node.position), dotted(reached)
