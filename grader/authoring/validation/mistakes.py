"""The staff's mistakes, wrong files by name: each is a file of its own, or edits of another file.

The table beside them says of each what it is about and what it loses (`descriptions`), and has the edits;
`mistake_sources` gives the bytes of every one.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from grader.authoring.validation import tables
from grader.base.errors import UsageError
from grader.base.records import frozen
from grader.base.text import did_you_mean, suggestion
from grader.grading.assignment.document import MappingNode, Node, Position, ScalarNode, SequenceNode, plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "EQUIVALENT",
    "FOLDER",
    "SUFFIXES",
    "TABLE",
    "Description",
    "MistakeTable",
    "descriptions",
    "mistake_sources",
    "read_table",
]

FOLDER, TABLE, EQUIVALENT = "mistakes", "mistakes.yaml", "equivalent.yaml"
SUFFIXES = (".cu", ".yaml", ".yml", ".json")
"""Suffixes of files that may be handed in: a source file, or a file of answers."""

_KEYS = ("title", "wrong", "loses")
_FIRST, _OF, _EDITS = "first", "of", "edits"
"""The keys of every mistake; what its author must read first; the file that it is made from, and how."""

_FIND, _PUT = "find", "put"
"""The keys of an edit."""


class Description(NamedTuple):
    """Description of a mistake in the table: its subject, and the items that it must lose."""

    title: str
    loses: tuple[str, ...]


class _Edit(NamedTuple):
    """A text that occurs once in a file, where the table has it, and what stands in its place."""

    find: bytes
    at: Position
    put: bytes


@frozen
class MistakeTable:
    """``mistakes.yaml`` of a staff's folder, with the place of each entry; empty where there is none."""

    folder: Path
    root: MappingNode

    @property
    def file(self) -> Path:
        """Path of the file, or the path that it would have."""
        return self.folder / FOLDER / TABLE

    @property
    def names(self) -> tuple[str, ...]:
        """The mistakes that it names, in its order."""
        return tuple(self.root.values)

    @property
    def edited(self) -> tuple[str, ...]:
        """Names of the mistakes that are made from another file."""
        entries = self.root.values.items()
        return tuple(name for name, entry in entries if {_OF, _EDITS} & set(_values(entry)))

    def refused(self, name: str, at: Position, message: str) -> UsageError:
        """The error about an entry, with the line."""
        return UsageError(f"{self.file}:{at.line}:{at.column}: {name}: {message}")


def read_table(folder: Path) -> MistakeTable:
    """The table of the mistakes in ``folder``/mistakes.

    Raises UsageError where it cannot be understood.
    """
    file = folder / FOLDER / TABLE
    root = tables.read(file)
    if root is None:
        root = MappingNode({}, {}, Position(1, 1))
    if not isinstance(root, MappingNode):
        raise UsageError(f"{file}: expected a table of mistakes by file name")
    return MistakeTable(folder, root)


def descriptions(table: MistakeTable, items: set[str]) -> dict[str, Description]:
    """Description of each mistake in the table, in its order; ``items`` are the ids of the rubric's items.

    Raises UsageError for an entry that cannot be understood.
    """
    return {name: _description(table, name, items) for name in table.names}


def _description(table: MistakeTable, name: str, items: set[str]) -> Description:
    at, entry = table.root.keys[name], plain(table.root.values[name])
    if not isinstance(entry, dict) or not set(entry) >= set(_KEYS) or not isinstance(entry["loses"], list):
        raise table.refused(name, at, "expected `title`, `wrong` and `loses`, a list of rubric items")
    keys = (*_KEYS, _FIRST, _OF, _EDITS)
    unknown = next((key for key in entry if key not in keys), None)
    if unknown is not None:
        raise table.refused(name, at, f"unknown key `{unknown}`; {suggestion(unknown, keys)}")
    loses = tuple(map(str, entry["loses"]))
    missing = next((item for item in loses if item not in items), None)
    if missing is not None:
        hint = suggestion(missing, sorted(items))
        raise table.refused(name, at, f"loses `{missing}`, which the rubric does not have; {hint}")
    return Description(str(entry["title"]), loses)


# --- the bytes of each ----------------------------------------------------------------------------------


def mistake_sources(folder: Path) -> dict[str, bytes]:
    """The bytes of every mistake in ``folder``/mistakes by name: files that lie there, then edits of files.

    A file that the table does not name is among them; what the table names without a file or edits is not.

    Raises UsageError where the table or an edit in it cannot be understood, or does not fit its file.
    """
    table = read_table(folder)
    files = {path.name: path for path in sorted((folder / FOLDER).glob("*")) if _is_handed_in(path)}
    both = next((name for name in table.edited if name in files), None)
    if both is not None:
        at = table.root.keys[both]
        raise table.refused(both, at, f"lies in {FOLDER}/, and is made of edits as well; keep one of them")
    return {name: path.read_bytes() for name, path in files.items()} | {
        name: _edited(table, name) for name in table.edited
    }


def _is_handed_in(path: Path) -> bool:
    return path.suffix in SUFFIXES and path.name not in (TABLE, EQUIVALENT) and path.is_file()


def _edited(table: MistakeTable, name: str) -> bytes:
    """The file that a mistake is made from, after all edits."""
    at, values = table.root.keys[name], _values(table.root.values[name])
    path = PurePosixPath(name)
    if path.name != name or path.suffix not in SUFFIXES or name in (TABLE, EQUIVALENT):
        raise table.refused(name, at, f"expected the name of a file that ends in {', '.join(SUFFIXES)}")
    if _OF not in values or _EDITS not in values:
        message = (
            f"`{_OF}` and `{_EDITS}` go together: the file that it is made from, and what is changed there"
        )
        raise table.refused(name, at, message)
    base = _base(table, name, values[_OF])
    source = (table.folder / base).read_bytes()
    for edit in _edits(table, name, values[_EDITS]):
        if source.count(edit.find) == 0:
            message = f"`{_FIND}` does not occur in {base}, as the edits before it leave it"
            raise table.refused(name, edit.at, message)
        if source.find(edit.find) != source.rfind(edit.find):
            message = f"`{_FIND}` occurs more than once in {base}, as the edits before it leave it"
            raise table.refused(name, edit.at, f"{message}; add lines around it")
        source = source.replace(edit.find, edit.put)
    return source


def _base(table: MistakeTable, name: str, node: Node) -> str:
    """The file that a mistake is made from, relative to the staff's folder, where it must lie."""
    base = _text(node)
    if not base:
        raise table.refused(name, node.position, f"expected a file as `{_OF}`, such as solution.cu")
    inside = PurePosixPath(base)
    if not inside.is_absolute() and ".." not in inside.parts and (table.folder / base).is_file():
        return base
    if base in [f"{FOLDER}/{other}" for other in table.edited]:
        raise table.refused(name, node.position, f"`{base}` is made of edits itself; name a file that is not")
    files = (*table.folder.glob("*"), *(table.folder / FOLDER).glob("*"))
    names = [file.relative_to(table.folder).as_posix() for file in sorted(files) if file.suffix in SUFFIXES]
    hint = did_you_mean(base, names)
    message = f"there is no file `{base}` in {table.folder}"
    raise table.refused(name, node.position, f"{message}; {hint}" if hint else message)


def _edits(table: MistakeTable, name: str, node: Node) -> Iterator[_Edit]:
    """The edits in their order, the texts as UTF-8."""
    if not isinstance(node, SequenceNode) or not node.items:
        raise table.refused(name, node.position, f"expected a list of edits, each `{_FIND}` and `{_PUT}`")
    for item in node.items:
        values = _values(item)
        find, put = _text(values.get(_FIND)), _text(values.get(_PUT))
        if set(values) != {_FIND, _PUT} or not find or put is None:
            message = f'expected `{_FIND}`, a text that is not empty, and `{_PUT}`, a text (`""` for none)'
            raise table.refused(name, item.position, message)
        yield _Edit(find.encode(), values[_FIND].position, put.encode())


def _text(node: Node | None) -> str | None:
    return node.text if isinstance(node, ScalarNode) else None


def _values(node: Node) -> dict[str, Node]:
    return node.values if isinstance(node, MappingNode) else {}
