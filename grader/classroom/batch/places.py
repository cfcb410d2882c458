"""Files and folders below ``OUT/``, which may come from another machine: no link in it is followed.

What stands in the place of a file is opened only where it is one: a link may lead to what is no business of
the grader, and a pipe would make it wait for ever.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from grader.base.errors import StorageError, UsageError, exhausted
from grader.base.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MORE = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Error numbers of a full disk: no space left, or none for this user."""


def folder_in(top: Path, *names: str) -> Path:
    """A folder below ``top``, which need not be there yet; raises UsageError where a link leads to it."""
    path = top
    for name in names:
        path /= name
        if path.is_symlink():
            raise UsageError(f"{escaped(str(path))}: is a link; expected a folder of the grader's own")
    return path


def read(path: Path, most: int = -1) -> bytes:
    """The bytes of a file, the first ``most`` where that is given; raises OSError where it is no file."""
    with os.fdopen(_opened(path, _READ), "rb") as file:
        return file.read(most)


def last(path: Path, number: int) -> bytes:
    """Read this number of bytes from a file's end; raise OSError where it is no file, or a shorter one."""
    with os.fdopen(_opened(path, _READ), "rb") as file:
        file.seek(-number, os.SEEK_END)
        return file.read()


def write(path: Path, content: Iterable[bytes]) -> None:
    """Write a file whole or not at all, in the place of what stands there; raises StorageError."""
    part = path.parent / f".{path.name}.part"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)  # of a batch that was killed; of a shard, perhaps a link
        with os.fdopen(os.open(part, _NEW, 0o666), "wb") as file:
            file.writelines(content)
        part.replace(path)
    except OSError as problem:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise StorageError(cannot_write(path, problem)) from None


def append(path: Path, content: bytes) -> None:
    """Write behind what is in a file, to the disk; raises StorageError."""
    try:
        with os.fdopen(_opened(path, _MORE), "ab") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        raise StorageError(cannot_write(path, problem)) from None


def lock_file(path: Path, *, to_write: bool) -> int:
    """The descriptor of a file to lock, whose content stays as it is; raises OSError."""
    return _opened(path, _LOCK if to_write else _READ)


def _opened(path: Path, flags: int) -> int:
    descriptor = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Is no file", str(path))
    return descriptor


def reason(problem: OSError) -> str:
    """Reason why a file cannot be read; for a link, that it is one."""
    return "it is a link" if problem.errno == errno.ELOOP else problem.strerror or "it is no file"


def cannot_write(path: Path, problem: OSError) -> str:
    """Say that a file cannot be written, why, and what to do."""
    limit = exhausted(problem)
    if limit:
        return f"{path}: cannot be written: {limit}"
    hint = "free some space" if problem.errno in FULL else "use a folder that can be written"
    return f"{path}: cannot be written: {reason(problem)}; {hint}"
