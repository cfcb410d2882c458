"""A process on this machine: its own session, an empty folder, limits, and no network where that can be had.

What it does not do: hide files from the job, catch a process that leaves the session, or count processes and
memory of all of them together (RLIMIT_NPROC counts every process of the user, the grader's too). So it is for
compilers, for our own harness, and for what a student runs of their own.

Where strangers' code runs in the same container as the grader (Gradescope), which is root there, no namespace
can be made: the container has no right to. What is left are users. Each job of an `OtherUserSandbox` is a
user of its own, so that it reads no file and ends no process of the grader's, nor of another job's,
and all that it leaves running is ended with it. What it does not do: take the network away, hide files that
all users may read, or count processes and memory of all of them together. The numbers are drawn by one
process: two that grade at once on one machine would share users.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

from grader.base.errors import OurError, StorageError, ToolMissing, exhausted
from grader.toolchain.sandbox import supervisor
from grader.toolchain.sandbox.exchange import bounds, outcome_of
from grader.toolchain.sandbox.job import MEBIBYTE, Equipment, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.toolchain.sandbox.job import Job, Sandbox, Stage

_ROOM = 64 * MEBIBYTE
"""Free bytes below which a job, whose one file may take as many, may have failed for want of space."""
_PROBE = 4 * MEBIBYTE

_ENDING_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
"""Prefix of a command that is killed when the thread that waits for it ends (setpriv(1))."""

_WITHOUT_NETWORK = ("unshare", "--user", "--map-current-user", "--net", "--")


class LocalSandbox:
    """Runs jobs as processes of this machine."""

    name = "local"
    shuts_in = False
    equipment = Equipment()

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[Self]:  # noqa: ARG002 - there is nothing to prepare
        """The sandbox itself: each job ends by itself here."""
        yield self

    def run(self, job: Job) -> Result:
        """Run ``job`` in a temporary folder that is gone afterwards; raises as `Sandbox.run` says."""
        with folder_of_a_job() as folder:
            supervisor.place(folder, job.files)
            ending = supervised(job, folder, () if job.gpu else _without_network())
            return result_of(job, folder, ending)


@contextmanager
def folder_of_a_job() -> Iterator[Path]:
    """A temporary folder; what cannot be started or written in it is raised as `Sandbox.run` says."""
    try:
        with tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True) as name:
            yield Path(name)
    except supervisor.MissingError as missing:
        raise ToolMissing(_how_to_get(str(missing))) from None
    except OSError as problem:
        raise _unusable(problem) from None


def check_room(sandbox: Sandbox) -> None:
    """Raise StorageError where a job may have gone wrong because this machine's disk is nearly full.

    A sandbox that shuts its jobs in gives each a disk of its own, which is full by the job's own doing.

    Few programs say so: cicc crashes, g++ speaks of an invalid argument, a student's leaves half a file. A
    quota, or the number of files, may be used up before the disk is.
    """
    if sandbox.shuts_in:
        return
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < _ROOM:
        raise StorageError(
            f"the temporary folder's disk has only {free // MEBIBYTE} MiB left, too little to rely on "
            "what was compiled or run there; free some space, or set TMPDIR to another folder"
        )
    try:
        with tempfile.TemporaryFile() as probe:
            os.posix_fallocate(probe.fileno(), 0, _PROBE)
    except OSError as problem:
        raise _unusable(problem) from None


def _unusable(problem: OSError) -> StorageError:
    if limit := exhausted(problem):
        return StorageError(limit)
    return StorageError(
        f"the temporary folder {tempfile.gettempdir()} cannot be used: {problem.strerror}; "
        "free some space there, or set TMPDIR to another folder"
    )


def supervised(job: Job, folder: Path, before: tuple[str, ...]) -> supervisor.Ending:
    """Run a job whose files lie in its folder; ``before`` is a command that becomes its program.

    Raises StorageError for a program of the job's own on a file system that is mounted ``noexec``: it would
    end as if it were wrong.
    """
    if job.argv[0].startswith("./") and os.statvfs(folder).f_flag & os.ST_NOEXEC:
        raise StorageError(
            f"no program may be run in the temporary folder {tempfile.gettempdir()}, which is mounted "
            "noexec; set TMPDIR to another folder, or give a container `--tmpfs /tmp:exec`"
        )
    return supervisor.supervise(
        job.argv,
        cwd=folder,
        env=_environment(folder) | _for_device(job) | dict(job.environment),
        bounds=bounds(job),
        stdin=job.stdin,
        before=(*before, *_ending_with_us()),
    )


def result_of(job: Job, folder: Path, ending: supervisor.Ending) -> Result:
    """The result of a job that has ended, with the files that are wanted of its folder."""
    return Result(
        outcome_of(*ending[:-1], starved=ending.starved),
        supervisor.fetch(folder, job.wanted, job.limits.file_bytes),
    )


@lru_cache(maxsize=1)
def _without_network() -> tuple[str, ...]:
    """Prefix of a command that has no network; nothing where the kernel does not allow it."""
    return _WITHOUT_NETWORK if _works(_WITHOUT_NETWORK) else ()


@lru_cache(maxsize=1)
def _ending_with_us() -> tuple[str, ...]:
    """Prefix of a command that must not outlive a grader that is killed.

    util-linux has the option since 2.33; where it is older a job ends by itself, or by its limits.
    """
    return _ENDING_WITH_US if _works(_ENDING_WITH_US) else ()


def _works(before: tuple[str, ...]) -> bool:
    """True if a program may be started behind this command."""
    if shutil.which(before[0]) is None:
        return False
    try:
        done = subprocess.run([*before, "true"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _how_to_get(program: str) -> str:
    if program == supervisor.LIMITER:
        return f"`{program}` is not installed; get it with `apt-get install util-linux`"
    return f"the program `{program}` is not installed, or may not be executed"


def _for_device(job: Job) -> dict[str, str]:
    """Environment variables that let a job see the one GPU that it may use."""
    if not job.gpu:
        return {}
    folders = os.environ.get("LD_LIBRARY_PATH", "")  # where the driver lies outside the usual folders
    return {"CUDA_VISIBLE_DEVICES": job.gpu} | ({"LD_LIBRARY_PATH": folders} if folders else {})


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
    }


FIRST = 61_184
"""The range of users that exist for the time of a service (systemd, "Users, Groups, UIDs and GIDs")."""
MANY = 4096

_END_ALL = ("/bin/sh", "-c", "kill -KILL -1")
"""Ends every process that the user may end, itself among them (kill(2))."""

_jobs = itertools.count()


class OtherUserSandbox(LocalSandbox):
    """Runs jobs as users that exist for nothing else; the grader must be root."""

    name = "other-user"

    def run(self, job: Job) -> Result:
        """Run ``job`` in a temporary folder that is its user's; raises as `Sandbox.run` says."""
        if os.geteuid() != 0:
            raise OurError("jobs can be other users only where the grader is root")
        user = FIRST + next(_jobs) % MANY
        with folder_of_a_job() as folder:
            supervisor.place(folder, job.files)
            _give(folder, user)
            try:
                ending = supervised(job, folder, _become(user))
            finally:
                _end_all_of(user)
            return result_of(job, folder, ending)


def _become(user: int) -> tuple[str, ...]:
    """Command that becomes the next one as this user, which never gets more rights (setpriv(1))."""
    return ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", "--")


def _give(folder: Path, user: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)


def _end_all_of(user: int) -> None:
    """End what a job has left running in sessions of its own."""
    subprocess.run(
        _END_ALL,
        user=user,
        group=user,
        extra_groups=[],
        env={},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
