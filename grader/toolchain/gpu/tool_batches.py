"""Runs of a tool that several submissions share: the fast path where it will probably be silent.

    submission ─its launches▶ queue ─the holder of the turn takes all that wait▶ one run ─▶ silent, or not

Making a context under a tool takes most of what a run takes. So while one run goes on, the next ones wait and
are then done as one; no launch waits for company. Only silence counts, for all that share a run: one kernel
may have disturbed the tool's reports on the others. Where it is not silent each is looked at by itself.

The queue is a folder that only this user can open. A submission's file there is locked by the process that
waits for it, and renamed by the process that has done it; locks are the system's and end with their process,
so what a killed process leaves is known and removed. The folder is made by the first and removed by the last
one in it.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import stat
import tempfile
import time
import uuid
import zipfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.base.errors import OurError
from grader.toolchain.gpu.devices import try_lock
from grader.toolchain.gpu.request import JobLaunches, harness_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import IO

    from grader.toolchain.gpu.request import Where

_WAITING, _SILENT, _DOUBTFUL = ".waiting", ".silent", ".doubtful"
LISTED = "launches.json"
"""The member of an archive that lists kernels and cases; all others are files that they name."""

_POLL = 0.05
_ATTEMPTS = 10


def ran_silently(
    folder: Path | None, launches: JobLaunches, run: Callable[[Sequence[JobLaunches]], bool], most: int
) -> bool:
    """True if a run of these launches, perhaps beside others', was silent.

    ``run`` does those of ``most`` submissions at most, this one's first, and returns True if nothing at all
    came of it; an OurError there counts as no. Without a ``folder`` nothing is shared.
    """
    if folder is not None:
        with suppress(OSError):  # there is no room in the folder, or another process has removed it
            return _in_queue(folder, launches, run, most)
    return _has_run(run, [launches])


def queue_folder(where: Where, sandbox: str, tool: tuple[str, ...], company: str) -> Path | None:
    """The queue of all that can share a run: with one GPU, sandbox, tool and version.

    None where this user cannot have a folder that no other user
    may open.
    """
    digest = hashlib.sha256(repr((where, sandbox, tool, company, harness_files())).encode()).hexdigest()[:24]
    own = Path(tempfile.gettempdir(), f"cuda-grader-{os.geteuid()}")
    try:
        own.mkdir(mode=0o700, exist_ok=True)
        status = own.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
            return None
    except OSError:
        return None
    return own / digest


def merged(members: Sequence[JobLaunches]) -> JobLaunches:
    """The launches of several submissions as one, each submission's with names of their own."""
    kernels: dict[str, Any] = {}
    cases: list[dict[str, Any]] = []
    files: list[tuple[str, bytes]] = []
    for number, member in enumerate(members):
        names = {name: f"{number}-{name}" for name in member.kernels}
        kernels |= {
            names[name]: kernel | {"image": f"{number}/{kernel['image']}"}
            for name, kernel in member.kernels.items()
        }
        cases += [_of_member(number, names, case) for case in member.cases]
        files += [(f"{number}/{name}", content) for name, content in member.files]
    return JobLaunches(kernels, cases, tuple(files))


def packed(launches: JobLaunches) -> bytes:
    """Launches as the bytes of an archive, which `unpacked` reads."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(LISTED, json.dumps([launches.kernels, launches.cases], allow_nan=False))
        for name, content in launches.files:
            archive.writestr(name, content)
    return stream.getvalue()


def unpacked(content: bytes) -> JobLaunches:
    """The launches in an archive; raises ValueError or BadZipFile for what is none."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        kernels, cases = json.loads(archive.read(LISTED))
        names = (name for name in archive.namelist() if name != LISTED)
        return JobLaunches(kernels, cases, tuple((name, archive.read(name)) for name in names))


def _in_queue(
    folder: Path, launches: JobLaunches, run: Callable[[Sequence[JobLaunches]], bool], most: int
) -> bool:
    """Do the same in a queue: the holder of the turn does these launches as well, or the turn comes."""
    with _queued(folder, launches) as own:
        while not _is_done(own):
            with _turn(folder) as is_ours:
                if is_ours and not _is_done(own):
                    _run_all(own, launches, run, most)
            if not is_ours:
                time.sleep(_POLL)
        return own.with_suffix(_SILENT).exists()


def _of_member(number: int, kernels: dict[str, str], case: dict[str, Any]) -> dict[str, Any]:
    """A case under a name of its own, with the names that its kernel and its files have now."""
    arguments = [
        argument | {"file": f"{number}/{argument['file']}"} if "file" in argument else argument
        for argument in case["arguments"]
    ]
    renamed = {"name": f"{number}-{case['name']}", "kernel": kernels[case["kernel"]], "arguments": arguments}
    return case | renamed


def _run_all(
    own: Path, launches: JobLaunches, run: Callable[[Sequence[JobLaunches]], bool], most: int
) -> None:
    """Do this submission's launches and others that wait; a file's new name signals that they are done."""
    paths, members = [own], [launches]
    for path in _other_waiting_files(own):
        with suppress(OSError, ValueError, zipfile.BadZipFile):
            members.append(unpacked(path.read_bytes()))
            paths.append(path)
        if len(members) == most:
            break
    suffix = _SILENT if _has_run(run, members) else _DOUBTFUL
    for path in paths:
        with suppress(FileNotFoundError):  # the waiting process is gone
            path.rename(path.with_suffix(suffix))


def _has_run(run: Callable[[Sequence[JobLaunches]], bool], members: Sequence[JobLaunches]) -> bool:
    try:
        return run(members)
    except OurError:
        return False


def _other_waiting_files(own: Path) -> Iterator[Path]:
    """Files that wait besides ``own``, the first come first; those without a waiting process are removed."""
    ages = []
    for path in own.parent.iterdir():
        if path != own and path.suffix in (_WAITING, _SILENT, _DOUBTFUL):
            with suppress(FileNotFoundError), path.open("rb") as file:
                if try_lock(file):
                    path.unlink()
                elif path.suffix == _WAITING:
                    ages.append((os.fstat(file.fileno()).st_mtime_ns, path))
    return (path for _, path in sorted(ages))


@contextmanager
def _queued(folder: Path, launches: JobLaunches) -> Iterator[Path]:
    """Launches in the queue, in a file that is locked as long as a process waits for it."""
    path = folder / f"{uuid.uuid4().hex}{_WAITING}"
    beginning = path.with_suffix("")
    with _new_file(beginning) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(packed(launches))
        file.flush()
        beginning.rename(path)
        try:
            yield path
        finally:
            for suffix in (_WAITING, _SILENT, _DOUBTFUL):
                path.with_suffix(suffix).unlink(missing_ok=True)
            with suppress(OSError):  # others' launches are in it
                folder.rmdir()


def _new_file(path: Path) -> IO[bytes]:
    """A new file in a queue, which is made where it is missing; raises OSError."""
    for _ in range(_ATTEMPTS):
        with suppress(FileExistsError):  # not `exist_ok`: that fails where the folder is removed meanwhile
            path.parent.mkdir(mode=0o700)
        with suppress(FileNotFoundError):  # the last process in the queue has just removed it
            return path.open("xb")
    raise FileNotFoundError(path)


def _is_done(own: Path) -> bool:
    return own.with_suffix(_SILENT).exists() or own.with_suffix(_DOUBTFUL).exists()


@contextmanager
def _turn(folder: Path) -> Iterator[bool]:
    """Try to take the turn, with True if it was free; it is kept for as long as the block lasts.

    It is the lock of the folder itself, which is there as long as any launches are in it.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield try_lock(descriptor)
    finally:
        os.close(descriptor)
