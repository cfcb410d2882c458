"""A file, a folder of files or a folder of one folder per student → `Submission` records.

Whatever one student handed in never keeps another's from being read: what cannot be graded becomes a
submission with a ``problem``, which its grade will say.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.model import Finding, FindingKind, Named, Submission
from grader.submission.files import Unusable
from grader.submission.folders import entries, is_folder, read_file, read_folder
from grader.submission.names import ids
from grader.submission.text import decode, harmless, lines

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["decode", "harmless", "lines", "read_submissions"]


def read_submissions(path: Path) -> tuple[Submission, ...]:
    """What was handed in at ``path``, sorted by id.

    A file is one submission. In a folder each file is one, and so is each folder: its one ``.cu`` file (else
    its one ``.c``, ``.cpp`` or ``.cuh`` file, else its one ``.h`` file) with the headers beside it.
    Ids come from the names, are unique and are safe as names of folders.

    Raises `UsageError` if there is nothing at ``path``, or nothing in it.
    """
    shown = harmless(str(path))
    try:
        if not path.is_dir():
            path.stat()
            return (_read(path.resolve(), ids({"": path.stem})[""]),)
        found = entries(path)
    except (OSError, RuntimeError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not a usable path").lower()
        raise UsageError(f"cannot read submissions from `{shown}`: {reason}") from error
    if not found:
        raise UsageError(f"there is nothing in `{shown}`; expected .cu files, or a folder for each student")
    given = ids({entry.name: entry.name if is_folder(entry) else entry.stem for entry in found})
    return tuple(sorted((_read(entry, given[entry.name]) for entry in found), key=lambda one: one.id))


def _read(entry: Path, submission_id: str) -> Submission:
    name, source, problem = entry.name, b"", None
    headers: Named[bytes] = ()
    try:
        name, source, headers = read_folder(entry) if is_folder(entry) else read_file(entry)
    except Unusable as unusable:
        problem = Finding(kind=FindingKind.COMPILE, message=str(unusable), file=harmless(name))
    return Submission(
        id=submission_id,
        file=harmless(name),
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
