"""C++ and CUDA text, parsed by tree-sitter: what is a declaration, a comment or a string, and where.

A text that is written wrongly has a tree, too, with errors in it, and readers of a tree take what is whole.
Parsing never raises, and is bounded: a text that takes the parser too long has no tree at all.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import tree_sitter_cuda
from tree_sitter import Language, Parser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tree_sitter import Node

MOST_STEPS = 8_000
"""Steps of a parser, each of a hundred actions: some 500 KiB of usual code, or few seconds of the worst.

A number of steps, unlike a time, is the same on every machine.
"""

MOST_READS = 20_000
"""Chunks that are read: a text is read again for each comment that seems to begin in it and never ends."""

_LANGUAGE = Language(tree_sitter_cuda.language())
_CHUNK = 4096
_WIDE = re.compile(r"[^\x00-\x7f]")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_NOT_CODE = {"comment", "string_literal", "char_literal", "raw_string_literal", "system_lib_string"}


_INCLUDE = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[\"<](?:[^\"<>\n]{0,200}[/\\\\])?(?P<name>[^\"<>\n/\\\\]+)[\">]",
    re.MULTILINE,
)


def included_names(texts: Iterable[str]) -> frozenset[str]:
    """The files that some texts include, by their names without folders."""
    return frozenset(match["name"] for text in texts for match in _INCLUDE.finditer(text))


class CppText:
    """A text with its tree. Places in the tree are places of characters: `of` gives the text there."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def root(self) -> Node | None:
        """The tree's root; None where parsing was given up.

        Characters beyond ASCII, of which names may consist, are parsed as underscores: so each has one byte.
        """
        return parsed(_WIDE.sub("_", self.text).encode())

    def of(self, node: Node | None) -> str:
        """The text of a node; empty for none."""
        return self.text[node.start_byte : node.end_byte] if node else ""

    def words(self, node: Node | None) -> str:
        """The text of a node in one line, each run of blanks as one."""
        return " ".join(self.of(node).split())

    def nodes(self, *kinds: str, enters: Callable[[Node], bool] | None = None) -> Iterator[Node]:
        """The nodes of some kinds in the order of the text, without those below a node not to be entered."""
        return (node for node in walk(self.root, enters) if node.type in kinds)

    @cached_property
    def without_comments(self) -> str:
        """The text with blanks for comments and strings; all else, line ends included, is where it was.

        Empty where parsing was given up.
        """
        if self.root is None:
            return ""
        kept, end = [], 0
        for node in walk(self.root, lambda node: node.type not in _NOT_CODE):
            if node.type in _NOT_CODE:
                kept += [self.text[end : node.start_byte], re.sub(r"[^\n]", " ", self.of(node))]
                end = node.end_byte
        return "".join((*kept, self.text[end:]))

    @property
    def code(self) -> str:
        """The text with blanks for comments, strings and directives of the preprocessor."""
        return _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), self.without_comments)


def parsed(content: bytes) -> Node | None:
    """The root of the tree of a text in UTF-8; None where parsing was given up."""
    steps = reads = 0

    def is_too_long(*_: object) -> bool:
        nonlocal steps
        steps += 1
        return steps > MOST_STEPS or reads > MOST_READS

    def read(offset: int, _: object) -> bytes:
        nonlocal reads
        reads += 1
        return content[offset : offset + _CHUNK] if reads <= MOST_READS else b""

    try:
        tree = Parser(_LANGUAGE).parse(read, progress_callback=is_too_long)
    except ValueError:  # given up
        return None
    return tree.root_node if reads <= MOST_READS else None


def walk(node: Node | None, enters: Callable[[Node], bool] | None = None) -> Iterator[Node]:
    """A node and all below it, parents first, in the order of the text.

    What is below a node that ``enters`` says no to is left out.
    """
    if node is None:
        return
    cursor = node.walk()
    while True:
        current = cursor.node
        if current is None:
            return
        yield current
        if (enters is None or enters(current)) and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def declared_name(declarator: Node | None) -> Node | None:
    """The node of the name that a declarator declares, below pointers and arrays; None for none."""
    while declarator is not None and not declarator.type.endswith("identifier"):
        inner = declarator.child_by_field_name("declarator")
        declarator = inner or next((node for node in declarator.named_children if _declares(node)), None)
    while declarator is not None and declarator.type == "qualified_identifier":
        declarator = declarator.child_by_field_name("name")
    return declarator


def _declares(node: Node) -> bool:
    return node.type.endswith(("declarator", "identifier"))


UNROLLED = 8
"""Turns of a loop that become one in `with_unrolled_loop`."""

_UNROLL = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+(?:no)?unroll\b[^\n]*$")


def with_unrolled_loop(source: bytes, lines: tuple[int, int]) -> bytes | None:
    """A file whose innermost loop around some lines, from 1, is unrolled; no line gets another number.

    A pragma that says how to unroll it gives way. None where no loop is around these lines.
    """
    first, last = lines[0] - 1, lines[1] - 1
    around = [
        node
        for node in walk(parsed(source))
        if node.type in ("for_statement", "while_statement")
        and node.start_point.row <= first
        and last <= node.end_point.row
    ]
    if not around:
        return None
    loop = min(around, key=lambda node: node.end_byte - node.start_byte)
    pragma = f'_Pragma("unroll {UNROLLED}") '.encode()
    text = source[: loop.start_byte] + pragma + source[loop.start_byte :]
    of_lines = text.split(b"\n")
    before = loop.start_point.row - 1
    if before >= 0 and _UNROLL.match(of_lines[before]):
        of_lines[before] = b""
    return b"\n".join(of_lines)
