"""A file, a folder, an archive or a learning platform's download → `Submission` records.

Whatever one student handed in never keeps another's from being read: what cannot be graded becomes a
submission with a ``problem``, which its grade will say.

    files, archives   bytes, from disk and out of an archive, and their text
    items             both as one tree of folders and files
    platforms         which of them are whose
    folders           which of one student's files is the source, or holds the answers
    names             ids that are safe to be shown
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.model import Finding, FindingKind, Named, Submission
from grader.submission.archives import opened_class
from grader.submission.files import ARCHIVES, Unusable, decode, ending, ids, lines, safe, stem
from grader.submission.folders import ANSWERS, MAX_DEPTH, SOURCE, read_item
from grader.submission.items import Bundle, OnDisk, dotted, entries
from grader.submission.platforms import by_student, is_download
from grader.text import escaped

if TYPE_CHECKING:
    from pathlib import Path

    from grader.submission.folders import Wanted
    from grader.submission.items import Item

__all__ = ["ANSWERS", "SOURCE", "decode", "lines", "read_submission", "read_submissions"]


def read_submissions(path: Path, wanted: Wanted = SOURCE) -> tuple[Submission, ...]:
    """What was handed in at ``path``, sorted by id.

    A file is one submission. In a folder each file is one, and so is each folder: its one ``.cu`` file (else
    its one ``.c``, ``.cpp`` or ``.cuh`` file, else its one ``.h`` file) with the headers beside it, or else
    what its one archive holds. What a learning platform named after a student is that student's. A
    folder that begins with a dot is a student's where it holds such a file itself. An
    archive at ``path`` is a class like a folder, unless it holds one ``.cu`` file and headers. Where
    `ANSWERS` are ``wanted`` it is the one ``.yaml``, ``.yml`` or ``.json`` file of a folder.
    Ids come from the names, are unique and are safe as names of folders.

    Raises `UsageError` if there is nothing at ``path``, or nothing in it.
    """
    with ExitStack() as stack:
        items = _items_at(path, stack, wanted)
        if not items:
            shown = escaped(str(path))
            raise UsageError(
                f"there is nothing in `{shown}`; expected {wanted.one}s, or a folder for each student"
            )
        keyed = {f"{item.name}\0{number}": item for number, item in enumerate(items)}  # two may share a name
        given = ids({key: item.name if item.is_folder else stem(item.name) for key, item in keyed.items()})
        return tuple(
            sorted((_read(item, given[key], wanted) for key, item in keyed.items()), key=lambda one: one.id)
        )


def read_submission(path: Path, wanted: Wanted = SOURCE) -> Submission:
    """What one student handed in at ``path``: a file, a folder or an archive.

    Its ``problem`` says what is wrong, and its id is the source's name without the ending.
    """
    whole = path.resolve()
    read = _read(OnDisk(whole), "", wanted)
    return replace(read, id=safe(stem(read.file)))


def _items_at(path: Path, stack: ExitStack, wanted: Wanted) -> list[Item]:
    """An item for each submission; the archive of a class stays open as long as ``stack``."""
    try:
        if path.is_dir():
            of_students = [*entries(path), *dotted(path, (*wanted.endings, *ARCHIVES))]
            return by_student([OnDisk(entry) for entry in of_students])
        path.stat()
        whole = path.resolve()
        if ending(whole.name) not in ARCHIVES or not OnDisk(whole).is_file:
            return [OnDisk(whole)]
        return _in_archive(
            whole.name, opened_class(whole.name, stack.enter_context(whole.open("rb"))), wanted
        )
    except (OSError, RuntimeError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not a usable path").lower()
        raise UsageError(f"cannot read submissions from `{escaped(str(path))}`: {reason}") from error
    except Unusable as unusable:
        raise UsageError(f"cannot read submissions from `{escaped(str(path))}`: {unusable}") from unusable


def _in_archive(name: str, items: list[Item], wanted: Wanted) -> list[Item]:
    """What is in the archive, or in the only folder in it: one student's files, or a class."""
    for _ in range(MAX_DEPTH):
        if len(items) != 1 or not items[0].is_folder or is_download(items):
            break
        items = items[0].items()
    endings = [ending(item.name) for item in items if not item.is_folder]
    if (
        wanted is SOURCE
        and len(endings) == len(items) > 1
        and endings.count(".cu") == 1
        and set(endings) <= {*wanted.endings} - {".c", ".cpp"}
    ):
        return [Bundle(stem(name), tuple(items))]
    return by_student(items)


def _read(item: Item, submission_id: str, wanted: Wanted) -> Submission:
    name, source, problem = item.name, b"", None
    headers: Named[bytes] = ()
    try:
        name, source, headers = read_item(item, wanted)
    except Unusable as unusable:
        problem = Finding(kind=FindingKind.COMPILE, message=str(unusable), file=escaped(name))
    return Submission(
        id=submission_id,
        file=escaped(name),
        source=source,
        digest=_digest(source, headers, problem),
        problem=problem,
        headers=headers,
    )


def _digest(source: bytes, headers: Named[bytes], problem: Finding | None) -> str:
    """SHA-256 of the source; with headers, or where something is wrong, of all of it together."""
    digest = sha256(source)
    for name, header in headers:
        digest.update(f"\0{name}\0{len(header)}\0".encode())
        digest.update(header)
    if problem:
        digest.update(problem.message.encode())
    return digest.hexdigest()
