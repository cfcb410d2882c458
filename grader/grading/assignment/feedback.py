"""Texts about mistakes, from YAML files: the course's own, and those of an operation's mistakes.

A file beside an assignment holds for a mistake's id any of ``title``, ``explanation``, ``hint`` and
``concept``, under ``phrases`` what texts are put together with, and under ``concepts`` where to read about an
idea; under ``messages``, ``clauses``, ``hidden`` and so on what else people read
(`grader.model.messages.TABLES`). ``reference/<operation>/feedback.yaml`` has the same format, and may name
new mistakes with all four fields: those that the operation's hypotheses predict. `grader.model.mistakes` has
the texts that come with the grader.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from grader.base.text import suggestion
from grader.grading.assignment import document
from grader.grading.assignment.document import MappingNode, Position, ScalarNode
from grader.model.messages import TABLES, allowed_fields, misplaced
from grader.model.mistakes import FIELDS, allowed_placeholders, bundled_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from grader.grading.assignment.document import Node
    from grader.model import Named

Problem: TypeAlias = tuple[Position, str, str]
"""Problem: its position, the dotted path, and a description."""

FILE_NAME = "feedback.yaml"
"""The texts of an operation's mistakes, in the operation's folder."""

SHARED_KEYS = ("phrases", "concepts")
TABLE_KEYS = (*SHARED_KEYS, *TABLES)
"""Keys of the file that are no mistakes: texts by other names."""

RETIRED = {("reports", "hidden-cases"), ("reports", "hidden-cases-one")}
"""Texts that are no longer used, which a course's file may still hold."""

LONGEST = 2_000
"""Characters of a text."""

NEW = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""The id of a mistake."""


def read(content: bytes, others: Iterable[str] = ()) -> tuple[Named[Named[str]], list[Problem]]:
    """The texts by mistake or table, and all that is wrong with them.

    ``others`` are the ids of mistakes that have no bundled texts. Raises `document.UnreadableDocument` where
    the file is no YAML that can be read.
    """
    root, problems = document.read_document(content)
    return _checked(root, problems, others)


def _checked(
    root: Node, problems: list[Problem], others: Iterable[str]
) -> tuple[Named[Named[str]], list[Problem]]:
    """The texts in a file that was parsed, and its problems with all that is wrong with the texts."""
    if not isinstance(root, MappingNode):
        return (), [(root.position, "", "expected a mapping of mistakes to their texts")]
    ids = [*TABLE_KEYS, *bundled_texts().mistakes, *others]
    texts = []
    for mistake, node in root.values.items():
        if mistake not in ids:
            message = f"unknown mistake `{mistake[:60]}`; {_near(mistake, ids)}"
            problems.append((root.keys[mistake], mistake[:60], message))
        else:
            problems += _flaws(mistake, node)
            texts.append((mistake, _texts(node)))
    return tuple(texts), problems


def read_operation(content: bytes) -> tuple[Named[Named[str]], list[Problem]]:
    """The texts of an operation's mistakes, and all that is wrong with them; a new mistake has all fields.

    Raises `document.UnreadableDocument` where the file is no YAML that can be read.
    """
    root, problems = document.read_document(content)
    common = {*bundled_texts().mistakes, *TABLE_KEYS}
    new = [name for name in _keys(root) if name not in common and NEW.fullmatch(name)]
    texts, problems = _checked(root, problems, new)
    for mistake, fields in texts:
        missing = [field for field in FIELDS if field not in dict(fields)] if mistake in new else []
        if missing and isinstance(root, MappingNode):
            message = (
                f"`{missing[0]}` is missing; a mistake of this operation alone needs {', '.join(FIELDS)}"
            )
            problems.append((root.keys[mistake], mistake, message))
    return texts, problems


def mistakes_of(folders: Iterable[Path]) -> frozenset[str]:
    """The ids in the texts of these operations, as far as they can be read."""
    ids: set[str] = set()
    for folder in folders:
        with suppress(OSError, document.UnreadableDocument):
            ids |= {*_keys(document.read_document((folder / FILE_NAME).read_bytes())[0])}
    return frozenset(ids.difference(TABLE_KEYS))


def merged(texts: Named[Named[str]], over: Named[Named[str]]) -> Named[Named[str]]:
    """The texts of both, field by field; where both have a field, ``over`` decides."""
    fields = {name: dict(pairs) for name, pairs in texts}
    for name, pairs in over:
        fields[name] = fields.get(name, {}) | dict(pairs)
    return tuple((name, tuple(pairs.items())) for name, pairs in fields.items())


def _keys(root: Node) -> tuple[str, ...]:
    return tuple(root.values) if isinstance(root, MappingNode) else ()


def _near(word: str, ids: list[str]) -> str:
    """The nearest id; not a list of all, which is too long for a message."""
    near = suggestion(word, ids)
    if near.startswith("did you mean"):
        return near
    return "the ids are those in grader/model/mistakes/texts.yaml and in the feedback.yaml of operations"


def _texts(node: Node) -> Named[str]:
    """Texts written of a mistake, lines joined; they are meaningful only where nothing is wrong."""
    pairs = node.values.items() if isinstance(node, MappingNode) else ()
    return tuple((key, _plain(value)) for key, value in pairs if isinstance(value, ScalarNode) and value.text)


def _plain(value: ScalarNode) -> str:
    """A text as it is; a phrase may begin and end with a space, so only line breaks go."""
    return (value.text or "").replace("\n", " ")


def _flaws(mistake: str, node: Node) -> Iterator[Problem]:
    if not isinstance(node, MappingNode):
        fields = "names and texts" if mistake in TABLES else f"any of {', '.join(_fields(mistake))}"
        yield node.position, mistake, f"expected a mapping with {fields}"
        return
    for field, value in node.values.items():
        path = f"{mistake}.{field[:60]}"
        if (mistake, field) in RETIRED:
            continue
        if field not in _fields(mistake):
            yield node.keys[field], path, f"unknown key `{field[:60]}`; {_nearest_field(mistake, field)}"
        else:
            yield from ((value.position, path, message) for message in _wrong_text(mistake, field, value))


def _nearest_field(mistake: str, field: str) -> str:
    """The nearest key; not a list of all in a table, which is too long for a message."""
    near = suggestion(field, _fields(mistake))
    if mistake not in TABLES or near.startswith("did you mean"):
        return near
    return "the names are those in grader/model/messages"


def _fields(mistake: str) -> tuple[str, ...]:
    if mistake in TABLES:
        return tuple(TABLES[mistake])
    return tuple(bundled_texts().shared[mistake]) if mistake in SHARED_KEYS else FIELDS


def _wrong_text(mistake: str, field: str, value: Node) -> Iterator[str]:
    if not isinstance(value, ScalarNode) or not (value.text or "").strip():
        yield "expected a text"
        return
    written = _plain(value)
    if len(written) > LONGEST:
        yield f"expected at most {LONGEST:,} characters; this has {len(written):,}"
    if not written.isprintable():
        yield "expected a text without control characters"
    ours = mistake in TABLES
    allowed = allowed_fields(mistake, field) if ours else allowed_placeholders(mistake, field)
    try:
        unknown = misplaced(written, allowed, TABLES[mistake][field] if ours else "")
    except ValueError:
        yield "braces do not match; write `{{` for a brace itself"
        return
    for name in unknown:
        places = ", ".join(f"`{{{placeholder}}}`" for placeholder in sorted(allowed)) or "none"
        yield f"unknown place `{{{name[:60]}}}`; this text may hold {places}"
