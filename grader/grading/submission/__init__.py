"""The files that one student handed in, a file, a folder or an archive → a `Submission`.

Files that cannot be graded become a submission with a ``problem``, which its grade will say. The owner of a
submission in a class is `grader.classroom.course`'s business.

    items      a tree of folders and files, on disk or in an archive; their bytes and their text
    archives   bytes out of an archive
    folders    which folder of a student's counts, which of its files is the source or holds the answers
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from grader.base.text import escaped
from grader.grading.submission.folders import ANSWERS, PROGRAM, SOURCE, read_item
from grader.grading.submission.items import OnDisk, Unusable, decode, further_lines, lines, safe, stem
from grader.model import Finding, Named, Submission

if TYPE_CHECKING:
    from pathlib import Path

    from grader.grading.submission.folders import Wanted
    from grader.grading.submission.items import Item
    from grader.model import Interface

__all__ = [
    "ANSWERS",
    "PROGRAM",
    "SOURCE",
    "decode",
    "further_lines",
    "lines",
    "read_as",
    "read_submission",
    "wanted_by",
]


def read_submission(path: Path, wanted: Wanted = SOURCE) -> Submission:
    """Submission of one student at ``path``: a file, a folder or an archive.

    Of a folder it is its one ``.cu`` file (else its one ``.c``, ``.cpp`` or ``.cuh`` file, else its one
    ``.h`` file) with the headers beside it, or what its one archive holds. Where a `PROGRAM` is ``wanted``
    there may be several: it is the one with ``main``, and the others count as headers. Where `ANSWERS` are
    ``wanted`` it is the one ``.yaml``, ``.yml`` or ``.json`` file. Its ``problem`` says what is wrong, and
    its id is the source's name without the ending.
    """
    read = read_as(OnDisk(path.resolve()), "", wanted)
    return replace(read, id=safe(stem(read.file)))


def wanted_by(interface: Interface) -> Wanted:
    """Kind of the files that count for an interface."""
    if interface.links_files:
        return PROGRAM
    return ANSWERS if interface.asks_questions else SOURCE


def read_as(item: Item, submission_id: str, wanted: Wanted = SOURCE) -> Submission:
    """Submission of one student, under an id that is given."""
    name, source, problem = item.name, b"", None
    headers: Named[bytes] = ()
    try:
        name, source, headers = read_item(item, wanted)
    except Unusable as unusable:
        problem = replace(unusable.finding, file=escaped(name))
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
