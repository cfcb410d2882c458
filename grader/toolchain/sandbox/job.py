"""The records of a sandbox and its protocol."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from grader.base.records import frozen

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from grader.model import Named

MEBIBYTE = 2**20


@frozen
class Limits:
    """Limits of a job.

    Seconds count for the whole job (wall) and for each process (CPU), bytes of memory for each process's
    address space, bytes of a file for each file written or returned, bytes of output for each of the two
    streams, and processes (threads among them) for all that live at once. ``total_bytes`` is what all
    processes and all files of the job may hold together; ``disk_bytes`` and ``disk_files`` are what its
    folder may hold. A container enforces them all; what a sandbox cannot enforce it says where it is
    defined. With ``memory_bytes`` 0 the address space has no limit: a CUDA driver reserves far more of it
    than there is memory. ``own_seconds`` is what a job may take of its wall time by itself. Where others
    serve it, they signal by its `Job.stop_file` that it did. A job without such a file is ended then, but for
    one that is kept from a processor: that goes on until it has had its share, or its wall time is over.
    """

    wall_seconds: float = 60.0
    cpu_seconds: int = 20
    memory_bytes: int = 2048 * MEBIBYTE
    file_bytes: int = 64 * MEBIBYTE
    output_bytes: int = 1 * MEBIBYTE
    processes: int = 64
    open_files: int = 256
    total_bytes: int = 4096 * MEBIBYTE
    disk_bytes: int = 256 * MEBIBYTE
    disk_files: int = 4096
    own_seconds: float = 0.0


COMPILING = Limits(wall_seconds=600.0, own_seconds=60.0)
"""Limits of a compiler, of which a clock does not decide what is too much for it. On a busy machine it may
wait; a file with which it is not done in 20 s of a processor takes too long."""


class Status(StrEnum):
    """Status of an ended job."""

    EXIT = "exit"
    """End by itself; the return code gives the status."""
    SIGNAL = "signal"
    """Killed by a signal that no limit explains; the return code is its number, negative."""
    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output-limit"
    """End for printing too much, or for writing too large a file."""


@frozen
class Outcome:
    """End of a job: its status, its output (each stream cut at its limit) and its wall time in seconds.

    ``starved`` is True for one whose time ran out while it wanted a processor, and had hardly had any. A
    student's program can bring that about; a compiler is kept waiting by this machine.
    """

    status: Status
    returncode: int
    stdout: bytes
    stderr: bytes
    seconds: float
    starved: bool = False

    @property
    def ok(self) -> bool:
        """True if it ended by itself and well."""
        return self.status is Status.EXIT and self.returncode == 0


@frozen
class Job:
    """A program to run: an argument list, never a shell's line.

    ``files`` are written into the job's empty folder first; their names may have folders (``a/b.h``) but
    never leave it. ``wanted`` names the files to bring back. Of the environment the job sees a minimal
    one and ``environment``.
    """

    argv: tuple[str, ...]
    files: Named[bytes] = ()
    wanted: tuple[str, ...] = ()
    limits: Limits = Limits()
    environment: Named[str] = ()
    gpu: str = ""
    """The GPU that it may use, by its UUID; none where this is empty."""
    locks: tuple[str, ...] = ()
    """Files of the host that the job may lock (`flock`), under these same paths, and not write to."""
    stdin: bytes = b""
    stop_file: str = ""
    """A file of the host that ends the job once it is there, under this same path, and the job has had its
    ``own_seconds``; not as long as it is kept from a processor."""


@frozen
class Result:
    """Result of a job; ``files`` has those of the wanted files that are there and fit."""

    outcome: Outcome
    files: Named[bytes] = ()

    def file(self, name: str) -> bytes | None:
        """A file that came back, or None."""
        return dict(self.files).get(name)


@frozen
class Equipment:
    """Paths of programs inside a sandbox; an empty text means: to be looked up on this machine."""

    nvcc: str = ""
    compiler: str = ""
    python: str = ""
    sanitizer: str = ""
    image: str = ""
    """The image that these are in, by its digest: its files never change. Empty where that is not certain."""


@frozen
class Stage:
    """Resources that the jobs of one stage (building, running) of one submission share, such as a container.

    ``limits`` are the container's; each job has its own below them. ``gpu`` and ``locks`` are as in `Job`;
    ``processors`` is the number of the machine's that all jobs together may keep busy.
    """

    limits: Limits = Limits()
    gpu: str = ""
    locks: tuple[str, ...] = ()
    processors: int = 2
    channel: str = ""
    """A folder of the host that jobs see under this same path: with sockets, or files that come later."""


class Sandbox(Protocol):
    """Runs jobs; calls may come from several threads. It can be pickled: a batch's processes share it."""

    @property
    def name(self) -> str:
        """Name in `--sandbox`: ``docker``, ``bubblewrap`` or ``local``."""

    @property
    def shuts_in(self) -> bool:
        """True if strangers' code may run in it: no network, no file of this machine but programs."""

    @property
    def equipment(self) -> Equipment:
        """Paths of its programs."""

    def run(self, job: Job) -> Result:
        """Run ``job`` to its end or to its limits.

        Raises ToolMissing where the program does not exist, StorageError where its folder cannot be
        written, OurError where the sandbox itself fails, and ValueError for a file name that leaves the
        folder.
        """

    def stage(self, stage: Stage) -> AbstractContextManager[Sandbox]:
        """The sandbox for the jobs of one stage; what is left of them ends with it."""
