"""The records of a sandbox and its protocol."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from grader.model import Named

MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a job may go.

    Seconds count for the whole job (wall) and for each process (CPU), bytes of memory for each process's
    address space, bytes of a file for each file written or returned, bytes of output for each of the two
    streams, and processes (threads among them) for all that live at once. ``total_bytes`` is what all
    processes and all files of the job may hold together; ``disk_bytes`` and ``disk_files`` are what its
    folder may hold. A container enforces them all; what a sandbox cannot enforce it says where it is
    defined. With ``memory_bytes`` 0 the address space has no limit: a CUDA driver reserves far more of it
    than there is memory. ``own_seconds`` is what a job may take of its wall time by itself where others serve
    it, who tell by its `Job.stop_file` that it did; 0 where nobody does.
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


class Status(StrEnum):
    """How a job ended."""

    EXIT = "exit"
    """By itself; the return code says how."""
    SIGNAL = "signal"
    """Killed by a signal that no limit explains; the return code is its number, negative."""
    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output-limit"
    """It printed too much, or wrote too large a file."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended, what it printed (each stream cut at its limit) and its wall time in seconds.

    ``starved`` says of one whose time ran out that it wanted a processor then, and had hardly had any. A
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
        """Whether it ended by itself and well."""
        return self.status is Status.EXIT and self.returncode == 0


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a job; ``files`` has those of the wanted files that are there and fit."""

    outcome: Outcome
    files: Named[bytes] = ()

    def file(self, name: str) -> bytes | None:
        """A file that came back, or None."""
        return dict(self.files).get(name)


@dataclass(frozen=True, slots=True)
class Equipment:
    """Where programs are inside a sandbox; an empty text means: to be found on this machine."""

    nvcc: str = ""
    compiler: str = ""
    python: str = ""
    sanitizer: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """What the jobs of one stage (building, running) of one submission share, a container where there is one.

    ``limits`` are the container's; each job has its own below them. ``gpu`` and ``locks`` are as in `Job`;
    ``processors`` is how many of the machine's all jobs together may keep busy.
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
        """What `--sandbox` calls it: ``docker``, ``bubblewrap`` or ``local``."""

    @property
    def shuts_in(self) -> bool:
        """Whether strangers' code may run in it: no network, no file of this machine but programs."""

    @property
    def equipment(self) -> Equipment:
        """Where its programs are."""

    def run(self, job: Job) -> Result:
        """Run ``job`` to its end or to its limits.

        Raises ToolMissing where the program does not exist, StorageError where its folder cannot be
        written, OurError where the sandbox itself fails, and ValueError for a file name that leaves the
        folder.
        """

    def stage(self, stage: Stage) -> AbstractContextManager[Sandbox]:
        """The sandbox for the jobs of one stage; what is left of them ends with it."""
