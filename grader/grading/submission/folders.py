"""Contents of a folder that was handed in, its source, and the headers that come along.

The folder that counts is the only one, the newest attempt, or the only one with a source. Headers in folders
below a source come along where an ``#include`` names them, wherever they lie.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from grader.base.cpp import CppText, included_names
from grader.base.records import frozen
from grader.base.text import escaped
from grader.grading.submission.items import (
    ARCHIVES,
    MAX_BYTES,
    UNREAD_ARCHIVES,
    Unusable,
    decode,
    ending,
    part,
    require_text,
)
from grader.model import Clause, FindingCode
from grader.model.messages import remarked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from grader.grading.submission.items import Item
    from grader.model import Named


@frozen
class Wanted:
    """Endings of files that may hold it, in groups of falling preference, and words for it.

    ``beside`` matches the names of files that belong to it where they lie in the same folder, or where an
    ``#include`` names them in a folder beside or below. The others
    are names of clauses: ``one`` is what messages ask for, ``file`` what one file is, ``kind`` and
    ``missing`` what such a file is, ``text`` what it holds, and ``group`` several of them.
    """

    groups: tuple[tuple[str, ...], ...]
    beside: re.Pattern[str] | None
    one: str
    file: str
    kind: str
    missing: str
    text: str
    group: str
    several: bool = False
    """True if more than one may belong together: then the first is the one with ``main``."""

    @property
    def endings(self) -> tuple[str, ...]:
        """All endings, the preferred ones first."""
        return tuple(ending for group in self.groups for ending in group)

    @property
    def opened(self) -> tuple[tuple[str, ...], ...]:
        """The groups, with archives in the first, which may hold what is preferred."""
        return ((*self.groups[0], *ARCHIVES), *self.groups[1:])


SOURCE = Wanted(
    groups=((".cu",), (".c", ".cpp", ".cuh"), (".h",)),
    beside=re.compile(r"\w[\w.+ -]*\.(h|cuh|hpp|hxx|hh|inl|inc)", re.IGNORECASE),
    one="one-source",
    file="the-source",
    kind="a-source",
    missing="no-source",
    text="source-text",
    group="sources",
)
"""A kernel or a program, with its headers."""

PROGRAM = replace(
    SOURCE,
    beside=re.compile(r"\w[\w.+ -]*\.(h|cuh|hpp|hxx|hh|inl|inc|cu|c|cc|cpp|cxx)", re.IGNORECASE),
    file="the-program-file",
    text="program-text",
    several=True,
)
"""A program, with its headers and its further sources."""

ANSWERS = Wanted(
    groups=((".yaml", ".yml", ".json"),),
    beside=None,
    one="one-sheet",
    file="the-sheet",
    kind="a-sheet",
    missing="no-sheet",
    text="sheet-text",
    group="sheets",
)
"""A file with answers to questions."""

MAX_ENTRIES = 1000
"""More than this many files in one student's folder are not a submission."""

MOST_NAMES = 8


def read_item(
    item: Item, expected: Wanted = SOURCE, *, archived: bool = False
) -> tuple[str, bytes, Named[bytes]]:
    """The name of the file that is ``expected``, its bytes, and the headers beside it; raises `Unusable`.

    An archive counts as the folder that it holds; one in another (``archived``) is not opened.
    """
    if item.is_folder:
        return _read_folder(item, expected, archived=archived)
    if item.is_file and ending(item.name) in ARCHIVES and not archived:
        return _read_archive(item, expected)
    _require_name(item, expected)
    return item.name, _content_of(item, expected), ()


def _read_archive(item: Item, expected: Wanted) -> tuple[str, bytes, Named[bytes]]:
    from grader.grading.submission import archives  # noqa: PLC0415 - a file that is none needs no decompressors

    content = item.read(archives.MAX_BYTES, "an-archive")
    try:
        return read_item(archives.opened(item.name, content), expected, archived=True)
    except Unusable as unusable:
        remark = Clause("in-archive", (("name", escaped(item.name, 60)),))
        unusable.finding = remarked(unusable.finding, remark)
        raise


def _require_name(item: Item, expected: Wanted) -> None:
    """Require a wanted ending of a name; what is no regular file gets another message, when it is read."""
    kind = ending(item.name)
    if not item.is_file or kind in expected.endings:
        return
    if kind in UNREAD_ARCHIVES or kind in ARCHIVES:
        what = part("is-nested" if kind in ARCHIVES else "is-other-archive")
        description = part("archive-of", choices=ARCHIVES, wanted=part(expected.group))
    else:
        what = part("is-not", wanted=part(expected.kind))
        description = part("the-ending", choices=expected.endings)
    raise Unusable(FindingCode.FILE_IS, name=escaped(item.name), what=what, wanted=description)


def _read_folder(folder: Item, expected: Wanted, *, archived: bool) -> tuple[str, bytes, Named[bytes]]:
    items = _content(folder, expected)
    files = [item for item in items if not item.is_folder]
    source = _source(files, folder.noun, expected)
    if ending(source.name) in ARCHIVES:
        return read_item(source, expected, archived=archived)
    content = _content_of(source, expected)
    beside = expected.beside
    if beside is None:
        return source.name, content, ()
    chosen = [file for file in files if file is not source and beside.fullmatch(file.name)]
    _require_distinct([source, *chosen])
    headers = {file.name: _text_of(file, expected) for file in chosen}
    below = [item for item in items if item.is_folder]
    headers |= headers_from_folders(content, headers, below, beside, lambda item: _text_of(item, expected))
    if sum(map(len, headers.values())) > MAX_BYTES:
        raise Unusable(FindingCode.HEADERS_TOO_LARGE, most=MAX_BYTES // 2**20)
    return source.name, content, tuple(headers.items())


def _content(folder: Item, expected: Wanted) -> list[Item]:
    """Contents of the folder that counts: itself, or one in it."""
    noun = part(f"the-{folder.noun}")
    inner = settle(folder, expected.opened)
    items = list(inner.items)
    if len(items) > MAX_ENTRIES:
        one = part(f"{expected.one}-and-headers" if expected.beside else expected.one)
        raise Unusable(FindingCode.FOLDER_TOO_MANY, noun=noun, number=len(items), wanted=one)
    if not items:
        raise Unusable(FindingCode.FOLDER_EMPTY, noun=noun, wanted=part(expected.one))
    if inner.several:
        names = tuple(f"`{escaped(name, 60)}`" for name in inner.several[:MOST_NAMES])
        raise Unusable(FindingCode.SEVERAL_FOLDERS, noun=noun, wanted=part(expected.group), names=names)
    return items


def _source(files: list[Item], noun: str, expected: Wanted) -> Item:
    """The one file of the endings that are preferred, or else of others that may hold it, or one archive."""
    for endings in (*expected.groups, ARCHIVES):
        candidates = [file for file in files if ending(file.name) in endings]
        if expected.several and len(candidates) > 1 and endings is not ARCHIVES:
            return _beginning(candidates, noun, expected)
        if len(candidates) > 1:
            raise Unusable(
                FindingCode.SEVERAL_SOURCES,
                noun=part(f"the-{noun}"),
                number=len(candidates),
                endings=endings,
                names=_listed(candidates),
            )
        if candidates:
            return candidates[0]
    raise Unusable(
        FindingCode.NO_SOURCE,
        noun=part(f"the-{noun}"),
        missing=part(expected.missing),
        wanted=part(expected.one),
        held=part("it-holds", names=_listed(files)) if files else part("only-folders"),
    )


_MAIN = re.compile(r"\bmain\s*\([^;{}()]{0,300}\)[^;{}()]{0,100}\{")


def _beginning(candidates: list[Item], noun: str, expected: Wanted) -> Item:
    """The one of several sources with ``main``; the first by name where none has it.

    What another one includes is no source of its own.
    """
    texts = {item: CppText(decode(_text_of(item, expected))) for item in candidates}
    included = included_names(text.text for text in texts.values())
    not_included = [item for item in candidates if item.name not in included] or candidates
    having = [item for item in not_included if _MAIN.search(texts[item].without_comments or texts[item].text)]
    if len(having) > 1:
        raise Unusable(FindingCode.SEVERAL_MAINS, noun=part(f"the-{noun}"), names=_listed(having))
    return having[0] if having else min(not_included, key=lambda item: item.name)


def _require_distinct(files: list[Item]) -> None:
    """Raise `Unusable` for two files whose names differ in case only: elsewhere they are one file.

    There is no guess which was meant.
    """
    first: dict[str, str] = {}
    for file in files:
        folded = file.name.casefold()
        if folded in first:
            names = (f"`{escaped(first[folded], 60)}`", f"`{escaped(file.name, 60)}`")
            raise Unusable(FindingCode.SAME_NAMES, names=names)
        first[folded] = file.name


def _content_of(item: Item, expected: Wanted) -> bytes:
    """The bytes of a file that is wanted, with something in it."""
    content = _text_of(item, expected)
    if not content.removeprefix(codecs.BOM_UTF8).strip():
        raise Unusable(FindingCode.FILE_EMPTY, name=escaped(item.name), wanted=part(expected.file))
    return content


def _text_of(item: Item, expected: Wanted) -> bytes:
    content = item.read(MAX_BYTES, expected.kind)
    require_text(content, escaped(item.name), expected.text)
    return content


def _listed(files: Iterable[Item]) -> str:
    names = [f"`{escaped(file.name, 60)}`" for file in islice(files, MOST_NAMES + 1)]
    return ", ".join(names[:MOST_NAMES] + ["…"] * (len(names) > MOST_NAMES))


MOST_FILES = 2000
"""Most names in folders below that are looked at; another project may lie there."""
MOST_DEPTH = 3
"""Most folders below one another that are opened in search of headers."""

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">\n]{1,200})[\">]", re.MULTILINE)


def headers_from_folders(
    source: bytes,
    beside_source: Mapping[str, bytes],
    folders: list[Item],
    pattern: re.Pattern[str],
    read: Callable[[Item], bytes],
) -> dict[str, bytes]:
    """Headers in ``folders`` by their paths, ``lib/tile.hpp``: those that the source or a header names.

    The last part of a name decides, for ``../lib/tile.hpp`` and ``tile.hpp`` may both mean that file.
    """
    waiting = [source, *beside_source.values()]
    if not folders or not any(map(_INCLUDE.search, waiting)):
        return {}
    below = {path: file for path, file in _files(folders, MOST_DEPTH) if pattern.fullmatch(file.name)}
    headers: dict[str, bytes] = {}
    while waiting:
        names = {_last(name.decode(errors="replace")) for name in _INCLUDE.findall(waiting.pop())}
        for path in [path for path in below if _last(path) in names]:
            headers[path] = read(below.pop(path))
            waiting.append(headers[path])
    return headers


def _files(folders: list[Item], most_depth: int) -> Iterator[tuple[str, Item]]:
    """Files by their paths from where the folders lie, outer ones first; at most `MOST_FILES` are seen."""
    waiting = [(folder.name, folder, 1) for folder in folders]
    looked_at = 0
    while waiting:
        path, folder, depth = waiting.pop(0)
        for item in _readable(folder):
            looked_at += 1
            if looked_at > MOST_FILES:
                return
            inner = f"{path}/{item.name}"
            if not item.is_folder:
                yield inner, item
            elif depth < most_depth:
                waiting.append((inner, item, depth + 1))


def _readable(folder: Item) -> list[Item]:
    """Contents of a folder; empty where it cannot be read, for it may not be needed."""
    try:
        return folder.items()
    except Unusable:
        return []


def _last(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1].strip()


MAX_DEPTH = 4
"""Most folders below one another that are opened to find a submission."""

_NUMBERED = re.compile(
    r"(?P<word>attempt|version|try|versuch|abgabe|v)[ _-]?(?P<number>\d{1,6})", re.IGNORECASE
)
_DATED = re.compile(r"\d{4}-\d\d-\d\d(?:[T _-]?\d\d(?:[-:.h]?\d\d){1,2})?")


@frozen
class Inner:
    """The folder that counts and what is in it.

    ``earlier`` names attempts that a newer one took the place of. ``several`` names folders that could all be
    meant, where none is chosen.
    """

    folder: Item
    items: tuple[Item, ...]
    attempt: str = ""
    earlier: tuple[str, ...] = ()
    several: tuple[str, ...] = ()


def settle(folder: Item, groups: tuple[tuple[str, ...], ...], named: str = "") -> Inner:
    """Go down as long as no file of an ending in ``groups`` lies here, and one folder certainly is next.

    A folder called ``named`` is taken before others. Raises `Unusable` where a folder cannot be read.
    """
    endings = {one for group in groups for one in group}
    inner = Inner(folder, tuple(folder.items()))
    for _ in range(MAX_DEPTH - 1):
        folders = [item for item in inner.items if item.is_folder]
        if not folders or any(not item.is_folder and ending(item.name) in endings for item in inner.items):
            break
        chosen, earlier, several = _next(inner.items, folders, groups, named)
        if chosen is None:
            return Inner(inner.folder, inner.items, inner.attempt, inner.earlier, several)
        attempt = chosen.name if earlier else inner.attempt
        inner = Inner(chosen, tuple(chosen.items()), attempt, (*inner.earlier, *earlier))
    return inner


def _next(
    items: tuple[Item, ...], folders: list[Item], groups: tuple[tuple[str, ...], ...], named: str
) -> tuple[Item | None, tuple[str, ...], tuple[str, ...]]:
    """The folder to go into, the attempts before it; or none, and the folders that could be meant."""
    if len(items) == 1:
        return folders[0], (), ()
    if called := [item for item in folders if named and item.name == named]:
        return called[0], (), ()
    if len(folders) > 1 and (newest := _newest(folders)) is not None:
        every = tuple(one for group in groups for one in group)
        holding = [item for item in folders if holds(item, every)]
        if holding and newest not in holding:
            return None, (), tuple(item.name for item in folders)
        return newest, tuple(item.name for item in folders if item is not newest), ()
    for group in groups:
        holding = [item for item in folders if holds(item, group)]
        if holding:
            names = tuple(item.name for item in holding)
            return (holding[0], (), ()) if len(holding) == 1 else (None, (), names)
    return None, (), ()


def _newest(folders: list[Item]) -> Item | None:
    """The last attempt by its number or date; None where the folders are not called like attempts."""
    numbered = [_NUMBERED.fullmatch(item.name) for item in folders]
    if all(numbered) and len({match["word"].lower() for match in numbered if match}) == 1:
        keys = [int(match["number"]) for match in numbered if match]
        return folders[keys.index(max(keys))] if len(set(keys)) == len(keys) else None
    if all(_DATED.fullmatch(item.name) for item in folders):
        return max(folders, key=lambda item: item.name)
    return None


def holds(item: Item, endings: tuple[str, ...]) -> bool:
    """True if a file with such an ending lies in a folder, at most `MAX_DEPTH` folders down."""
    return any(ending(file.name) in endings for _, file in _files([item], MAX_DEPTH))
