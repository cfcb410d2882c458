"""Submission as a tree of folders and files, wherever it lies: on disk, in an archive, in parts.

Files are untrusted: no links out, no devices, no surprises of size, in their text neither.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
import unicodedata
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from grader.base.records import frozen
from grader.base.text import escaped
from grader.model import Clause, Detail, Finding, FindingCode, FindingKind
from grader.model.messages import worded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from grader.model import Submission

_OF_TOOLS = frozenset({".git", ".hg", ".svn", ".idea", ".vscode", ".ipynb_checkpoints", ".cache", ".venv"})
"""Folders of tools, which may hold copies of sources that were not handed in."""

_IGNORED = frozenset({"__macosx", "thumbs.db", "desktop.ini"})


class Item(Protocol):
    """A folder or a file that was handed in."""

    @property
    def name(self) -> str:
        """Its last name; any characters at all."""

    @property
    def is_folder(self) -> bool:
        """True if it is a folder itself; a link to one is not."""

    @property
    def is_file(self) -> bool:
        """True if it is a file itself: no folder, link, device or pipe."""

    @property
    def noun(self) -> str:
        """Noun for it in messages where it is a folder: ``folder``, ``archive``."""

    def items(self) -> list[Item]:
        """Contents of a folder, sorted by name, without what `is_ignored`; raises `Unusable`."""

    def read(self, most: int, wanted: str) -> bytes:
        """The bytes of a file, ``most`` at most, which is to be ``wanted``; raises `Unusable`."""


def is_ignored(name: str) -> bool:
    """True if it is a hidden file, or one that operating systems leave behind."""
    return name.startswith(".") or name.casefold() in _IGNORED


@frozen
class OnDisk:
    """A file or folder on disk; ``inside`` is the student's folder, which no link may lead out of.

    ``out`` is the resolved folder that grades are written into, which was not handed in.
    """

    path: Path
    inside: Path | None = None
    noun: str = "folder"
    out: Path | None = None

    @property
    def name(self) -> str:
        """Its name in the file system."""
        return self.path.name

    @property
    def is_folder(self) -> bool:
        """True if it is a folder by its own mode."""
        return stat.S_ISDIR(mode(self.path))

    @property
    def is_file(self) -> bool:
        """True if it is a file by its own mode."""
        return stat.S_ISREG(mode(self.path))

    def items(self) -> list[Item]:
        """Its contents; all of them are this student's."""
        try:
            contents = entries(self.path, self.out)
        except OSError as error:
            reason: Detail = error.strerror.lower() if error.strerror else part("no-reason")
            raise Unusable(FindingCode.FOLDER_UNREADABLE, reason=reason) from error
        return [OnDisk(path, self.inside or self.path, out=self.out) for path in contents]

    def read(self, most: int, wanted: str) -> bytes:
        """See `read_bytes`."""
        return read_bytes(self.path, self.inside, most, wanted)


def entries(folder: Path, out: Path | None = None) -> list[Path]:
    """Contents of a folder on disk, sorted, without what was not handed in, as ``out``; raises OSError."""
    with os.scandir(folder) as scanned:
        names = [entry.name for entry in scanned]
    kept = (folder / name for name in sorted(names) if not is_ignored(name))
    return [path for path in kept if out is None or path.name != out.name or path.resolve() != out]


def dotted(folder: Path, endings: Iterable[str]) -> list[Path]:
    """The folders in one on disk that begin with a dot and hold a file with such an ending; raises OSError.

    A student's folder may be called so, and so may what tools leave behind, which holds no such file.
    """
    with os.scandir(folder) as scanned:
        names = sorted(
            entry.name
            for entry in scanned
            if entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
        )
    return [folder / name for name in names if name not in _OF_TOOLS and _holds(folder / name, endings)]


def _holds(folder: Path, endings: Iterable[str]) -> bool:
    """True if a folder can be read and holds a file with one of ``endings``."""
    try:
        return any(path.name.lower().endswith(tuple(endings)) for path in entries(folder))
    except OSError:
        return False


def is_our_output(path: Path) -> bool:
    """True if a folder looks like what `grader grade -o` writes; a student can make one that does."""
    return (
        stat.S_ISDIR(mode(path))
        and (path / "journal.jsonl").is_file()
        and stat.S_ISDIR(mode(path / "grades"))
    )


def mode(path: Path) -> int:
    """Its own mode, not that of what a link leads to: that may be out of our reach."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


@frozen
class Renamed:
    """An item under the name that it had before a learning platform put the student's in front."""

    item: Item
    name: str

    @property
    def is_folder(self) -> bool:
        """As before."""
        return self.item.is_folder

    @property
    def is_file(self) -> bool:
        """As before."""
        return self.item.is_file

    @property
    def noun(self) -> str:
        """As before."""
        return self.item.noun

    def items(self) -> list[Item]:
        """As before."""
        return self.item.items()

    def read(self, most: int, wanted: str) -> bytes:
        """As before."""
        return self.item.read(most, wanted)


@frozen
class Bundle:
    """All that one student handed in, where it lies side by side with what others did."""

    name: str
    parts: tuple[Item, ...]
    is_folder: bool = True
    is_file: bool = False
    noun: str = "submission"

    def items(self) -> list[Item]:
        """Its files, and what its folders hold."""
        contents = [inner for part in self.parts for inner in (part.items() if part.is_folder else [part])]
        return by_name(contents)

    def read(self, most: int, wanted: str) -> bytes:  # noqa: ARG002 - as all items have it
        """Raise `Unusable`: it is no file."""
        raise Unusable(FindingCode.SEVERAL_FILES, wanted=part(wanted))


def by_name(items: Iterable[Item]) -> list[Item]:
    """Sorted by their names."""
    return sorted(items, key=lambda item: item.name)


MAX_BYTES = 1024 * 1024
"""The largest source file or header that is read; the largest we saw in courses has 60 KB."""

_MAGIC = (
    (b"\x7fELF", "is-program"),
    (b"PK\x03\x04", "is-zip"),
    (b"\x1f\x8b", "is-gzip"),
    (b"%PDF-", "is-pdf"),
    (b"{\\rtf", "is-rich-text"),
    (b"<!DOCTYPE html", "is-web-page"),
    (b"<!doctype html", "is-web-page"),
    (b"<html", "is-web-page"),
)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NO_FILE = {
    stat.S_IFDIR: "is-folder",
    stat.S_IFIFO: "is-pipe",
    stat.S_IFSOCK: "is-socket",
    stat.S_IFCHR: "is-device",
    stat.S_IFBLK: "is-device",
}


class Unusable(Exception):  # noqa: N818 - says what the submission is
    """A submission cannot be graded: the reason as a code with its data; its text is English.

    Parts of the sentence are names of clauses (`grader.model.messages.builds`), alone or with their data.
    """

    def __init__(self, code: FindingCode, **details: Detail) -> None:
        super().__init__()
        self.finding = worded(Finding(FindingKind.COMPILE, code=code, details=tuple(details.items())))

    def __str__(self) -> str:
        """The sentence."""
        return self.finding.message


def part(name: str, /, **values: Detail) -> tuple[Clause, ...]:
    """A part of a sentence, as the data of a finding hold it."""
    return (Clause(name, tuple(values.items())),)


def read_bytes(file: Path, inside: Path | None, most: int, expected: str) -> bytes:
    """The bytes of a file, ``most`` at most, which is to be ``expected``; raises `Unusable`.

    A link is followed if it leads to a file under ``inside``, the folder of the same student; without
    ``inside`` none is. The file is opened once, without blocking, and what was opened is checked.
    """
    name = escaped(file.name)
    try:
        target = _behind_link(file, inside, name)
        _require_regular(target.lstat(), name)
        # Between looking and opening it may have become something else: a pipe must not make us wait.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
        with os.fdopen(os.open(target, flags), "rb") as stream:
            status = os.fstat(stream.fileno())
            _require_regular(status, name)
            content = stream.read(most + 1) if status.st_size <= most else b""
            size = max(status.st_size, len(content))
    except (OSError, RuntimeError) as error:
        message = getattr(error, "strerror", None)
        reason: Detail = message.lower() if message else part("link-in-circle")
        raise Unusable(FindingCode.FILE_UNREADABLE, name=name, reason=reason) from error
    require_size(size, name, most, expected)
    return content


def require_size(size: int, name: str, most: int, expected: str) -> None:
    """Raises `Unusable` for a file of more than ``most`` bytes, a whole number of MiB."""
    if size > most:
        mebibytes = most // 2**20
        raise Unusable(
            FindingCode.FILE_TOO_LARGE, name=name, bytes=size, wanted=part(expected), most=mebibytes
        )


def _behind_link(file: Path, inside: Path | None, name: str) -> Path:
    if not file.is_symlink():
        return file
    target = file.resolve()
    if inside is None or not target.is_relative_to(inside.resolve()):
        raise not_wanted(name, "is-link-out", "the-file-itself")
    return target


def _require_regular(status: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise not_wanted(name, _NO_FILE.get(stat.S_IFMT(status.st_mode), "is-no-file"), "a-source")


def not_wanted(name: str, what: str, expected: str) -> Unusable:
    """Error for a file that is something else than what is wanted, both by the names of their clauses."""
    return Unusable(FindingCode.FILE_IS, name=name, what=part(what), wanted=part(expected))


def require_text(content: bytes, name: str, expected: str = "source-text") -> None:
    """Raises `Unusable` for what is no text: a program, an archive, a document, NUL bytes."""
    for start, kind in _MAGIC:
        if content.startswith(start):
            raise Unusable(FindingCode.FILE_NO_TEXT, name=name, what=part(kind), wanted=part(expected))
    if b"\0" in content and not _is_utf16(content):
        raise Unusable(FindingCode.FILE_NO_TEXT, name=name, what=part("is-binary"), wanted=part(expected))


def _is_utf16(content: bytes) -> bool:
    if not content.startswith(_UTF16):
        return False
    try:
        return "\0" not in content.decode("utf-16")
    except UnicodeDecodeError:
        return False


def decode(source: bytes) -> str:
    """The text of a source file; never fails.

    UTF-8 with or without a byte order mark, UTF-16 with one, else Latin-1, in which every byte is a
    character. CRLF is a line end like any other.
    """
    return _characters(source).replace("\r\n", "\n")


def lines(source: bytes) -> list[str]:
    """The lines of a source file as nvcc counts them: a form feed or a lone CR ends none."""
    return decode(source).split("\n")


def stored_sources(submission: Submission) -> dict[str, bytes]:
    """The files that were handed in, by the harmless names under which they are kept beside a grade."""
    graded = ((submission.file, submission.source),) if submission.source else ()
    return {safe(name): content for name, content in (*submission.headers, *graded)}


def further_lines(submission: Submission) -> dict[str, list[str]]:
    """The lines of the files that were handed in beside the graded one, by their names."""
    return {name: lines(text) for name, text in submission.headers}


def _characters(source: bytes) -> str:
    encoding = "utf-16" if source.startswith(_UTF16) else "utf-8-sig"
    try:
        return source.decode(encoding)
    except UnicodeDecodeError:
        return source.decode("latin-1")


ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
"""Endings of archives that are opened."""

UNREAD_ARCHIVES = (".7z", ".rar", ".xz", ".bz2", ".zst", ".gz")
"""Endings of archives that are not opened; a message says so."""

MAX_CHARACTERS = 60
"""Most characters, of at most four bytes each: an id with a suffix still fits into a file name."""


_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Fillers and selectors: letters and marks that are invisible."""


_LATIN = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјһӏорсухԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧαιοορυν",
    "ABESIJKMHOPCTYXaesijhlopcyxdqwABEZHIKMNOPTYXaioopuv",
)
"""Letters of Cyrillic and Greek, and the Latin ones that they look like."""


_LAST_NUMBER = re.compile(r"[_-]\d{1,20}$", re.ASCII)


def ending(name: str) -> str:
    """The ending of a file name in small letters, ``.cu`` or ``.tar.gz``; empty where it has none."""
    suffixes = PurePosixPath(name).suffixes[-2:]
    compound = "".join(suffixes).lower()
    return compound if compound in ARCHIVES else "".join(suffixes[-1:]).lower()


def stem(name: str) -> str:
    """The name without its ending."""
    return name[: len(name) - len(ending(name))]


def ids(labels: Mapping[str, str]) -> dict[str, str]:
    """An id for each key, made from its label; unique by its looks, so that case and script do not count.

    The order of ``labels`` does not matter. Labels that need no change get their id first, and of those
    the ones without letters that look like others; of those that would share one the later, in alphabetical
    order of the keys, get ``-2``, ``-3`` …, but never the id that another label makes.
    """
    used: set[str] = set()
    by_key: dict[str, str] = {}
    wishes = {key: safe(label) for key, label in labels.items()}
    taken = {looks(wish) for wish in wishes.values()}
    for key in sorted(
        labels, key=lambda key: (wishes[key] != labels[key], bool(disguised(labels[key])), key)
    ):
        wish = unique = wishes[key]
        number = 1
        while looks(unique) in used or (number > 1 and looks(unique) in taken):
            number += 1
            unique = f"{wish}-{number}"
        used.add(looks(unique))
        by_key[key] = unique
    return by_key


def looks(name: str) -> str:
    """Look of a name: readers cannot distinguish two names that give the same.

    Letters of Cyrillic and Greek that look like Latin ones count as those (Unicode's confusables, UTS 39).
    """
    return unicodedata.normalize("NFKC", name).translate(_LATIN).casefold().translate(_LATIN)


def disguised(name: str) -> str:
    """The characters of a name that look like one of ASCII and are none, each once."""
    return "".join(
        character
        for character in dict.fromkeys(name)
        if not character.isascii() and looks(character).isascii()
    )


_COUNTED = re.compile(r"(?P<wish>.+)-[1-9][0-9]{0,5}", re.DOTALL)
_PLAIN = re.compile(rf"[A-Za-z0-9_](?:[A-Za-z0-9._-]{{0,{MAX_CHARACTERS - 2}}}[A-Za-z0-9_-])?")
"""Pattern of most ids."""


def is_id(text: str) -> bool:
    """True if `ids` may have made this: one component of a path, of visible characters."""
    if _PLAIN.fullmatch(text):
        return True
    counted = _COUNTED.fullmatch(text)
    return safe(text) == text or (counted is not None and safe(counted["wish"]) == counted["wish"])


def safe(label: str) -> str:
    """``label`` with ``_`` for all but letters, digits, ``.``, ``-`` and ``_``, and no dot or dash first.

    A long one is cut before the number that it ends with, by which a platform tells students apart.
    """
    composed = unicodedata.normalize("NFC", label)
    name = "".join(character if _is_safe(character) else "_" for character in composed).lstrip(".-")
    if len(name) > MAX_CHARACTERS and (number := _LAST_NUMBER.search(name)):
        name = name[: MAX_CHARACTERS - len(number[0])] + number[0]
    return name[:MAX_CHARACTERS].rstrip(".") or "submission"


def _is_safe(character: str) -> bool:
    visible = unicodedata.category(character)[0] in "LMN" and not _UNSEEN.match(character)
    return visible or character in "._-"
