"""The staff's own texts about mistakes, from a YAML file beside the assignment.

It holds for a mistake's id any of ``title``, ``explanation``, ``hint`` and ``concept``, and under ``phrases``
what texts are put together with. `grader.mistakes` has the ids, and the texts that come with the grader.
"""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, TypeAlias

from grader.assignment import document
from grader.assignment.document import Mapping, Position, Scalar
from grader.assignment.fields import suggestion
from grader.mistakes import FIELDS, MISTAKES, PHRASES, allowed_places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.assignment.document import Node
    from grader.model import Named

Problem: TypeAlias = tuple[Position, str, str]
"""Where, the dotted path, and what is wrong."""

PHRASE_KEY = "phrases"
LONGEST = 2_000
"""Characters of a text."""


def read(content: bytes) -> tuple[Named[Named[str]], list[Problem]]:
    """The texts by mistake (and ``phrases``), and all that is wrong with them.

    Raises `document.Refused` where the file is no YAML that can be read.
    """
    root, problems = document.read(content)
    if not isinstance(root, Mapping):
        return (), [(root.position, "", "expected a mapping of mistakes to their texts")]
    known = [PHRASE_KEY, *MISTAKES]
    found = []
    for mistake, node in root.values.items():
        if mistake not in known:
            message = f"unknown mistake `{mistake[:60]}`; {_near(mistake, known)}"
            problems.append((root.keys[mistake], mistake[:60], message))
        else:
            problems += _flaws(mistake, node)
            found.append((mistake, _texts(node)))
    return tuple(found), problems


def _near(word: str, known: list[str]) -> str:
    """The nearest id; not all of them, which are more than anybody wants to read in a message."""
    near = suggestion(word, known)
    return near if near.startswith("did you mean") else "the ids are those in grader/mistakes"


def _texts(node: Node) -> Named[str]:
    """What is written of a mistake, lines joined; only where nothing is wrong does it mean anything."""
    pairs = node.values.items() if isinstance(node, Mapping) else ()
    return tuple((key, _plain(value)) for key, value in pairs if isinstance(value, Scalar) and value.text)


def _plain(value: Scalar) -> str:
    """A text as it is; a phrase may begin and end with a space, so only line breaks go."""
    return (value.text or "").replace("\n", " ")


def _flaws(mistake: str, node: Node) -> Iterator[Problem]:
    if not isinstance(node, Mapping):
        yield node.position, mistake, f"expected a mapping with any of {', '.join(_fields(mistake))}"
        return
    for field, value in node.values.items():
        path = f"{mistake}.{field[:60]}"
        if field not in _fields(mistake):
            yield node.keys[field], path, f"unknown key `{field[:60]}`; {suggestion(field, _fields(mistake))}"
        else:
            yield from ((value.position, path, message) for message in _wrong_text(mistake, field, value))


def _fields(mistake: str) -> tuple[str, ...]:
    return tuple(PHRASES) if mistake == PHRASE_KEY else FIELDS


def _wrong_text(mistake: str, field: str, value: Node) -> Iterator[str]:
    if not isinstance(value, Scalar) or not (value.text or "").strip():
        yield "expected a text"
        return
    written = _plain(value)
    if len(written) > LONGEST:
        yield f"expected at most {LONGEST:,} characters; this has {len(written):,}"
    if not written.isprintable():
        yield "expected a text without control characters"
    allowed = allowed_places(mistake, field)
    try:
        pieces = list(Formatter().parse(written))
    except ValueError:
        yield "braces do not match; write `{{` for a brace itself"
        return
    for _, name, form, conversion in pieces:
        if name is not None and (name not in allowed or form or conversion):
            there = ", ".join(f"`{{{each}}}`" for each in sorted(allowed)) or "none"
            yield f"unknown place `{{{name[:60]}}}`; this text may hold {there}"
