"""The supervisor of a job: puts down its files, starts its program with limits, reads what it leaves.

This one file needs nothing but Python's standard library; `pathlib` and `tempfile` take too long to load.
`LocalSandbox` calls it; into a container or a bubblewrap its text is sent (`python3 -c`), where `main` takes
a request from standard input and answers on standard output (`exchange` is the other end).

What it does not do: hide files or the network, or limit all processes together. That is what it is put into a
container for.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import selectors
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

LIMITER = "prlimit"
"""Sets limits and becomes the program, so that they hold from its first instruction on.

`preexec_fn` is not safe beside threads, and limits set after the start would miss what a compiler driver
has forked by then.
"""

POLL_SECONDS = 0.02
"""Seconds until the end of a process is seen whose streams another process keeps open."""

OWN = "job-"
"""Prefix of the names of jobs' folders."""

HEAD = struct.Struct(">Q")
"""Number of bytes of a request's or an answer's JSON, which stands before it."""

_NEARLY = 0.9
"""Share of a limit on CPU time: the kernel enforces it by other clock ticks than it accounts for."""

_STARVED = 1 / 3
"""Share of a processor below which a process that wants to run was kept waiting by others."""

_PIECE = 65536
_CLEARING_SECONDS = 5.0
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 4, 36  # prctl(2)
_OOM_COUNTERS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")

EXIT, SIGNAL, TIME, MEMORY, OUTPUT = "exit", "signal", "time", "memory", "output-limit"


class ProcessBounds(NamedTuple):
    """Limits of a job that are enforced here; 0 bytes of memory: any; see `Job.stop_file`."""

    wall_seconds: float
    cpu_seconds: int
    memory_bytes: int
    file_bytes: int
    output_bytes: int
    open_files: int
    own_seconds: float = 0.0
    stop_file: str = ""


class Ending(NamedTuple):
    """End of a program: its status, its output (each stream cut at its limit) and its wall time in seconds.

    ``starved`` is True for one whose time ran out while it wanted a processor, and had hardly had any.
    """

    status: str
    returncode: int
    stdout: bytes
    stderr: bytes
    seconds: float
    starved: bool = False


class MissingError(Exception):
    """A program that is not there; its name is the argument."""


# --- files ---------------------------------------------------------------------------------------------


def place(folder: Path | str, files: Iterable[tuple[str, bytes]]) -> None:
    """Write ``files`` into ``folder``; raises ValueError for a name that leaves it."""
    for name, content in files:
        path = f"{folder}/{inside(name)}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)


def fetch(folder: Path | str, names: Iterable[str], most: int) -> tuple[tuple[str, bytes], ...]:
    """Files among ``names`` that are there, regular, no links, and at most ``most`` bytes long."""
    contents = ((name, _read(folder, name, most)) for name in names)
    return tuple((name, content) for name, content in contents if content is not None)


def inside(name: str) -> str:
    """A file's name as a path below the job's folder; raises ValueError for one that leaves it."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if not parts or name.startswith("/") or ".." in parts or "\0" in name:
        raise ValueError(f"{name!r} is no name for a file in a job's folder")
    return "/".join(parts)


def _read(folder: Path | str, name: str, most: int) -> bytes | None:
    """The file's bytes; None for what is missing, behind a link, not regular, linked twice or too long."""
    path = f"{folder}/{inside(name)}"
    if not f"{os.path.realpath(os.path.dirname(path))}/".startswith(f"{os.path.realpath(folder)}/"):
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        about = os.fstat(descriptor)
        # A second name may be that of a file which the job could reach and we would not show.
        if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1 or about.st_size > most:
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


# --- a program with limits -----------------------------------------------------------------------------


def supervise(
    argv: Sequence[str],
    *,
    cwd: Path | str,
    env: Mapping[str, str],
    bounds: ProcessBounds,
    stdin: bytes = b"",
    before: Sequence[str] = (),
) -> Ending:
    """Run a program in ``cwd`` until it ends or meets a limit; its whole process group ends with it.

    ``env`` is the whole environment; ``before`` is a command that becomes the limited program. Raises
    MissingError where a program does not exist.
    """
    command = [*before, *_limiter(bounds), _program(argv[0], env, cwd), *argv[1:]]
    began = time.monotonic()
    with (
        _readable(stdin) as source,
        subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(env),
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process,
    ):
        _first_to_go(process.pid)
        streams = _Streams(process, bounds.output_bytes)
        try:
            stopped = _watch(process, streams, began, bounds)
            own = min(bounds.own_seconds or bounds.wall_seconds, bounds.wall_seconds)
            starved = stopped == TIME and _is_starved(process.pid, own)
        finally:
            cpu_seconds = _end(process)
        stdout, stderr = streams.drained()
    status = stopped or _status(process.returncode)
    if process.returncode and cpu_seconds >= _NEARLY * bounds.cpu_seconds:
        status = stopped or TIME
    return Ending(status, process.returncode, stdout, stderr, time.monotonic() - began, starved)


def _limiter(bounds: ProcessBounds) -> list[str]:
    limiter = shutil.which(LIMITER)
    if limiter is None:
        raise MissingError(LIMITER)
    cpu = _within(resource.RLIMIT_CPU, bounds.cpu_seconds)
    memory = [f"--as={_within(resource.RLIMIT_AS, bounds.memory_bytes)}"] if bounds.memory_bytes else []
    return [
        limiter,
        f"--cpu={cpu}:{_within(resource.RLIMIT_CPU, cpu + 1)}",
        *memory,
        f"--fsize={_within(resource.RLIMIT_FSIZE, bounds.file_bytes)}",
        f"--nofile={_within(resource.RLIMIT_NOFILE, bounds.open_files)}",
        "--core=0",
        "--",
    ]


def _within(kind: int, limit: int) -> int:
    """``limit``, or the hard limit that we ourselves run under where that is lower."""
    hard = resource.getrlimit(kind)[1]
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)


def _program(name: str, env: Mapping[str, str], cwd: Path | str) -> str:
    """Path of a program; one with a folder in its name is one of the job's own files, or absolute."""
    if "/" in name:
        local = os.path.join(cwd, name)
        if local.startswith(f"{cwd}/") and os.path.isfile(local):
            os.chmod(local, 0o700)  # it was put down as a file among others
        return name
    path = shutil.which(name, path=env.get("PATH"))
    if path is None:
        raise MissingError(name)
    return os.path.abspath(path)


@contextmanager
def _readable(content: bytes) -> Iterator[int]:
    """Source of standard input: a file without a name that no process can change, or nothing."""
    if not content:
        yield subprocess.DEVNULL
        return
    descriptor = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW)
        yield descriptor
    finally:
        os.close(descriptor)


def _first_to_go(process: int) -> None:
    """Make the job the first to be ended where memory runs out, and not its supervisor."""
    with suppress(OSError), open(f"/proc/{process}/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def _watch(process: subprocess.Popen[bytes], streams: _Streams, began: float, bounds: ProcessBounds) -> str:
    """Read until the process has ended (nothing) or must be stopped (why)."""
    while not _has_ended(process):
        seconds, own = time.monotonic() - began, bounds.own_seconds
        may_stop = seconds >= own and (os.path.exists(bounds.stop_file) if bounds.stop_file else own > 0)
        if seconds >= bounds.wall_seconds or (may_stop and not _is_starved(process.pid, own)):
            return TIME
        if not streams.read(min(bounds.wall_seconds - seconds, POLL_SECONDS * (10 if may_stop else 1))):
            return OUTPUT
    return ""


def _is_starved(group: int, seconds: float) -> bool:
    """True if a group wants to run (R or D, proc_pid_stat(5)) and had hardly any processor time of these."""
    wants, ticks = False, 0
    for _, about in _processes():
        if int(about[2]) == group:
            wants |= about[0] in "RD"
            ticks += sum(map(int, about[11:15]))  # its own and its children's, in user mode and the kernel
    return wants and ticks < _STARVED * seconds * os.sysconf("SC_CLK_TCK")


def _processes() -> Iterator[tuple[int, list[str]]]:
    """Processes, with the fields of /proc/PID/stat from their state on: then come parent and group."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError), open(f"/proc/{entry}/stat", "rb") as file:
                if about := file.read().rpartition(b")")[2].decode("ascii").split():
                    yield int(entry), about


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """True if the process is over, without reaping it: its group's number must stay ours until `_end`."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> float:
    """Kill all that is left of the process's group and reap the process; gives its CPU time in seconds.

    The CPU time shows what a signal does not: a compiler may catch SIGXCPU, and its driver hides SIGKILL.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _status(returncode: int) -> str:
    if returncode == -signal.SIGXFSZ:
        return OUTPUT
    return SIGNAL if returncode < 0 else EXIT


class _Streams:
    """Output of a process: both streams at once, at most ``cap`` bytes of each are kept."""

    def __init__(self, process: subprocess.Popen[bytes], cap: int) -> None:
        self._cap = cap
        self._kept: dict[int, bytearray] = {}
        self._selector = selectors.DefaultSelector()
        self._stdout, self._stderr = self._register(process.stdout), self._register(process.stderr)

    def _register(self, stream: IO[bytes] | None) -> bytearray:
        if stream is None:
            raise ValueError("both streams must be pipes")
        os.set_blocking(stream.fileno(), False)
        self._selector.register(stream, selectors.EVENT_READ)
        return self._kept.setdefault(stream.fileno(), bytearray())

    def read(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for something to read, and read it; false once a stream is over its cap."""
        if not self._selector.get_map():
            time.sleep(min(seconds, 0.002))
            return True
        for key, _ in self._selector.select(seconds):
            buffer = self._kept[key.fd]
            piece = os.read(key.fd, _PIECE)
            if not piece:
                self._selector.unregister(key.fileobj)
            buffer += piece[: self._cap + 1 - len(buffer)]
        return all(len(buffer) <= self._cap for buffer in self._kept.values())

    def drained(self) -> tuple[bytes, bytes]:
        """Both streams, each cut at its cap, with what is still in the pipes; never waits."""
        while self._selector.get_map() and self._selector.select(0):
            if not self.read(0):
                break
        self._selector.close()
        return bytes(self._stdout[: self._cap]), bytes(self._stderr[: self._cap])


# --- inside an enclosure -------------------------------------------------------------------------------


def main() -> None:
    """Take a job from standard input, run it, answer on standard output; again where another may follow.

    The job has our user: it must not be able to look into us, and what it leaves running becomes our child.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    follows = True
    while follows and (head := sys.stdin.buffer.read(HEAD.size)):
        request, files, stdin = _received(head, sys.stdin.buffer)
        _serve(request, files, stdin)
        follows = request["follows"]


def _serve(request: Mapping[str, Any], files: list[tuple[str, bytes]], stdin: bytes) -> None:
    """Run a job in a folder of its own, and answer."""
    folder = f"{request['folder']}/{OWN}{os.urandom(8).hex()}"
    os.mkdir(folder, 0o700)
    try:
        try:
            place(folder, files)
            ending = _run(request, folder, stdin)
        except MissingError as missing:
            _answer({"missing": str(missing)}, [])
            return
        except OSError as problem:
            _answer({"problem": problem.strerror or "no reason given"}, [])
            return
        cleared = _cleared()
        back = fetch(folder, request["wanted"], request["bounds"][3])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    shared = (name for writable in request["writable"] for name in os.listdir(writable))
    litter = os.path.exists(folder) or not all(name.startswith(OWN) for name in shared)
    about = {name: getattr(ending, name) for name in ("status", "returncode", "seconds", "starved")}
    sizes = [[name, len(content)] for name, content in back]
    streams = [ending.stdout, ending.stderr]
    about |= {"cleared": cleared and not litter, "streams": list(map(len, streams)), "files": sizes}
    _answer(about, [*streams, *(content for _, content in back)])


def _received(head: bytes, stream: IO[bytes]) -> tuple[dict[str, Any], list[tuple[str, bytes]], bytes]:
    """The request whose ``head`` was read, its files, and what the job reads."""
    (size,) = HEAD.unpack(head)
    request: dict[str, Any] = json.loads(stream.read(size))
    files = [(name, stream.read(length)) for name, length in request["files"]]
    return request, files, stream.read(request["stdin"])


def _run(request: Mapping[str, Any], folder: str, stdin: bytes) -> Ending:
    before = _oom_kills()
    env = {**request["environment"], "HOME": folder, "TMPDIR": folder}
    bounds = ProcessBounds(*request["bounds"])
    ending = supervise(request["argv"], cwd=folder, env=env, bounds=bounds, stdin=stdin)
    if ending.returncode and ending.status in (SIGNAL, EXIT) and _oom_kills() > before:
        return ending._replace(status=MEMORY)
    return ending


def _oom_kills() -> int:
    """Number of processes of this container that were ended for want of memory (cgroup v2, or v1)."""
    for path in _OOM_COUNTERS:
        with suppress(OSError, ValueError, KeyError), open(path, encoding="ascii") as file:
            return int(dict(line.split() for line in file)["oom_kill"])
    return 0


def _cleared() -> bool:
    """End all that the job left running, daemons too; false where some are left after a while."""
    deadline = time.monotonic() + _CLEARING_SECONDS
    while True:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        running = _descendants()
        if not running:
            return True
        if time.monotonic() > deadline:
            return False
        for signal_number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, none can replace another
            for process in running:
                with suppress(OSError):
                    os.kill(process, signal_number)
        time.sleep(0.001)


def _descendants() -> set[int]:
    """Descendants of ours: children, their children, and so on."""
    children: dict[int, list[int]] = {}
    for process, about in _processes():
        children.setdefault(int(about[1]), []).append(process)
    descendants: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in descendants:
                descendants.add(child)
                waiting.append(child)
    return descendants


def _answer(about: Mapping[str, Any], pieces: Iterable[bytes]) -> None:
    head = json.dumps(about).encode()
    for piece in (HEAD.pack(len(head)) + head, *pieces):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
    os._exit(0)  # as nothing is left to be done, the interpreter need not be taken down
