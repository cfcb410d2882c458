"""A bubblewrap: a job sees this machine's programs, an empty folder of its own, and nothing else.

No network, no other process, no file of any user, none of the system's daemons: new namespaces of every kind,
made by an ordinary user (bwrap(1)). What it does not do: limit all processes of a job together, in number or
in memory (each has limits of its own), or count the files in its folder; a job that tries ends with its wall
time, as everything in the namespace does. It has no GPU. A container does all this.

Jobs of one stage follow each other in one bubblewrap, each in a new folder and after all processes of the one
before have ended; where one leaves anything behind, the next gets another bubblewrap. Its supervisor, a
process of its own, may answer too much, too late or never: what is read is bounded in bytes and in seconds.
"""

from __future__ import annotations

import marshal
import os
import selectors
import shutil
import subprocess
import sys
import threading
import time
from binascii import b2a_base64
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from grader.base.errors import OurError, ToolMissing
from grader.base.records import frozen
from grader.base.text import one_line
from grader.toolchain.sandbox import exchange, supervisor
from grader.toolchain.sandbox.exchange import announced
from grader.toolchain.sandbox.job import Equipment, Job, Limits, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.toolchain.sandbox.job import Result, Sandbox

HOW_TO_GET = "`apt-get install bubblewrap`"
JOB = "/job"
NOBODY = "65532"

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
_SETTINGS_OF_ALL = ("/proc/sys", "/proc/sysrq-trigger")
_FACTS_OF_ALL = (
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/keys",
    "/proc/key-users",
    "/proc/sched_debug",
    "/proc/timer_list",
)
_SMALL = 16 * 2**20
_WRITABLE = ("/tmp", "/dev/shm")  # noqa: S108 - the job's own
"""Folders that the jobs of a stage share beside their folder."""


@frozen
class BubblewrapSandbox:
    """Runs jobs in bubblewraps; ``folders`` are those that they may read beside the system's programs."""

    folders: tuple[str, ...] = ()
    name: ClassVar[str] = "bubblewrap"
    shuts_in: ClassVar[bool] = True
    equipment: ClassVar[Equipment] = Equipment()

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[_InBubblewrap]:
        """A sandbox whose jobs share a bubblewrap; the folder of a channel is in it, where there is one."""
        folders = (*self.folders, stage.channel) if stage.channel else self.folders
        inside = _InBubblewrap(replace(self, folders=folders))
        try:
            yield inside
        finally:
            inside.close()

    def run(self, job: Job) -> Result:
        """Run ``job`` in a bubblewrap of its own; raises as `Sandbox.run` says."""
        with self.stage(Stage()) as inside:
            return inside.run(job)


class _InBubblewrap:
    """The sandbox of one stage: its jobs follow each other in one bubblewrap, as long as they leave nothing.

    A bubblewrap ends with the thread that began it, so that jobs of other threads get one each.
    """

    name, shuts_in = BubblewrapSandbox.name, BubblewrapSandbox.shuts_in
    equipment = BubblewrapSandbox.equipment

    def __init__(self, sandbox: BubblewrapSandbox) -> None:
        self._sandbox, self._thread = sandbox, threading.get_ident()
        self._supervision: Supervision | None = None
        self._limits: Limits | None = None

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[Sandbox]:
        """Sandbox of a stage: this one within a stage, which shares its bubblewrap; another for a channel."""
        if not stage.channel:
            yield self
            return
        with self._sandbox.stage(stage) as inside:
            yield inside

    def run(self, job: Job) -> Result:
        """Run ``job`` in the bubblewrap; raises as `Sandbox.run` says.

        If the bubblewrap is dead, a job before may have ended it: then this job gets a new bubblewrap.
        """
        if job.gpu:
            raise OurError("a GPU cannot be used in a bubblewrap; use --sandbox docker")
        if threading.get_ident() != self._thread:
            return self._sandbox.run(job)
        began, reused = time.monotonic(), self._fits(job)
        try:
            return self._tried(job)
        except exchange.CutShort:
            pass
        try:
            return self._tried(job) if reused else exchange.ended_by_itself(time.monotonic() - began)
        except exchange.CutShort:
            return exchange.ended_by_itself(time.monotonic() - began)

    def close(self) -> None:
        """End the bubblewrap, if there is one."""
        supervision, self._supervision = self._supervision, None
        if supervision is not None:
            supervision.end()

    def _fits(self, job: Job) -> bool:
        """True if there is a bubblewrap whose folder has the size that the job's may have."""
        return self._supervision is not None and self._limits == job.limits

    def _tried(self, job: Job) -> Result:
        """A job's result; where it gives none, or leaves something, the bubblewrap is given up."""
        if self._supervision is None or not self._fits(job):
            self.close()
            command = (*_wrap(self._sandbox.folders, job.limits), _python(), *_supervisor())
            self._supervision, self._limits = Supervision(command), job.limits
        cleared = False
        try:
            result, cleared = _conversed(self._supervision, job)
        finally:
            if not cleared:
                self._supervision.kill()
                self._supervision = None
        return result


def _conversed(supervision: Supervision, job: Job) -> tuple[Result, bool]:
    """The result of a job, and whether nothing of it is left; raises CutShort where there is none."""
    began = time.monotonic()
    variables = (("PATH", os.environ.get("PATH", os.defpath)), ("LC_ALL", "C.UTF-8"))
    answer = supervision.ask(
        exchange.request(job, JOB, variables, _WRITABLE, follows=True),
        most=exchange.most_bytes(job),
        seconds=job.limits.wall_seconds + exchange.SLACK_SECONDS,
    )
    seconds = time.monotonic() - began
    if answer.late:
        return exchange.out_of_time(seconds), False
    if answer.overlong:
        return exchange.too_much(seconds), False
    try:
        return exchange.read(answer.stdout, job)
    except exchange.CutShort:
        if answer.stderr.startswith(b"bwrap:"):
            raise OurError(_cannot(answer.stderr)) from None
        raise


def load() -> None:
    """Find out now what all bubblewraps have in common, where there are any."""
    bwrap = shutil.which("bwrap")
    if bwrap is not None:
        with suppress(OSError, subprocess.SubprocessError):  # the error is reported when one is needed
            _no_more_namespaces(bwrap)
        _supervisor()


def trouble() -> str:
    """Reason why bubblewraps cannot be made on this machine, with what to do; empty where they can."""
    if shutil.which("bwrap") is None:
        return f"bubblewrap is not installed; get it with {HOW_TO_GET}"
    try:
        result = BubblewrapSandbox().run(Job(("true",), limits=Limits(wall_seconds=10.0)))
    except OurError as problem:
        return str(problem)
    return "" if result.outcome.ok else "a bubblewrap could be made, but no program runs in it"


def _cannot(words: bytes) -> str:
    reason = one_line(words.decode(errors="replace"))
    return (
        f"no bubblewrap can be made: {reason}; the system may not let users make namespaces "
        "(sysctl kernel.apparmor_restrict_unprivileged_userns on Ubuntu)"
    )


@lru_cache(maxsize=8)
def _wrap(folders: tuple[str, ...], limits: Limits) -> tuple[str, ...]:
    """The command before a job's: new namespaces, the system's programs, folders that are not kept."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise ToolMissing(f"bubblewrap is not installed; get it with {HOW_TO_GET}")
    readable = [*_SETTINGS, *folders, *_python_folders()]
    return (
        bwrap,
        *("--unshare-all", *_no_more_namespaces(bwrap)),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--uid", NOBODY, "--gid", NOBODY, "--hostname", "job"),
        *("--ro-bind", "/usr", "/usr", *_system()),
        *("--proc", "/proc", *_closed_proc(), "--dev", "/dev", "--remount-ro", "/dev"),
        *(option for folder in _WRITABLE for option in ("--size", str(_SMALL), "--tmpfs", folder)),
        # After /tmp: the compiler may be in there.
        *(option for folder in readable for option in ("--ro-bind-try", folder, folder)),
        *("--size", str(limits.disk_bytes), "--tmpfs", JOB, "--chdir", JOB, "--remount-ro", "/"),
        *("--clearenv", "--"),
    )


def _system() -> Iterator[str]:
    """The folders that are links into /usr nowadays, as they are here."""
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)


def _closed_proc() -> Iterator[str]:
    """Options that close the parts of /proc about the whole machine: settings root could write, and facts."""
    for name in _SETTINGS_OF_ALL:
        if Path(name).exists():
            yield from ("--ro-bind", name, name)
    for name in _FACTS_OF_ALL:
        if Path(name).exists():
            yield from ("--ro-bind", "/dev/null", name)


@lru_cache(maxsize=1)
def _no_more_namespaces(bwrap: str) -> tuple[str, ...]:
    """Options that keep a job from making namespaces of its own, in which it would be root (since 0.8)."""
    help_text = subprocess.run([bwrap, "--help"], capture_output=True, text=True, timeout=10, check=False)
    return (
        ("--unshare-user", "--disable-userns")
        if "--disable-userns" in help_text.stdout + help_text.stderr
        else ()
    )


def _python() -> str:
    """The interpreter itself, behind all links: a virtual environment is not in there."""
    return os.path.realpath(sys.executable)


@lru_cache(maxsize=1)
def _supervisor() -> tuple[str, ...]:
    """Arguments of the interpreter: the supervisor as bytecode, for inside there is this very interpreter."""
    code = SourceFileLoader(supervisor.__name__, supervisor.__file__).get_code(supervisor.__name__)
    packed = b2a_base64(marshal.dumps(code), newline=False).decode()
    script = f"import binascii, marshal; exec(marshal.loads(binascii.a2b_base64({packed!r})))"
    return "-I", "-S", "-B", "-c", script


def _python_folders() -> tuple[str, ...]:
    """Folders of the interpreter and its library, if not in the system's folders."""
    prefixes = dict.fromkeys((os.path.realpath(sys.base_prefix), os.path.realpath(sys.base_exec_prefix)))
    return tuple(prefix for prefix in prefixes if prefix not in ("/", "/usr"))


__all__ = ["BubblewrapSandbox", "trouble"]


_PIECE = 2**18
_MOST_WORDS = 4096
_PATIENCE_SECONDS = 1.0


class Answer(NamedTuple):
    """Output of a supervisor, all of it unless it was late, wrote too much or ended."""

    stdout: bytes
    stderr: bytes
    late: bool = False
    overlong: bool = False


class Supervision:
    """The process of a supervisor, until `end` or `kill`."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},  # a job may look into it
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def ask(self, request: bytes, *, most: int, seconds: float) -> Answer:
        """Write all of ``request`` to it, and read at most ``most`` bytes in at most ``seconds`` seconds."""
        return _talk(self._process, request, most, time.monotonic() + seconds)

    def end(self) -> None:
        """Signal that no job follows, and make sure that it ends."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End it, and what it supervises."""
        self._process.kill()
        with self._process:
            pass


def _talk(process: subprocess.Popen[bytes], request: bytes, most: int, deadline: float) -> Answer:
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise ValueError("all streams must be pipes")
    left, answer, words = memoryview(request), bytearray(), bytearray()
    size: int | None = None
    with selectors.DefaultSelector() as selector:
        for stream, event in (
            (stdin, selectors.EVENT_WRITE),
            (stdout, selectors.EVENT_READ),
            (stderr, selectors.EVENT_READ),
        ):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, event)
        while (size is None or len(answer) < size) and stdout in _streams_of(selector):
            remaining = deadline - time.monotonic()
            if remaining <= 0 or len(answer) > most:
                return Answer(bytes(answer[:most]), bytes(words), remaining <= 0, len(answer) > most)
            for key, _ in selector.select(remaining):
                if key.fileobj is stdin:
                    left = _write(stdin.fileno(), left)
                    if not left:
                        selector.unregister(stdin)
                    continue
                piece = os.read(key.fd, _PIECE)
                if not piece:
                    selector.unregister(key.fileobj)
                elif key.fileobj is stdout:
                    answer += piece
                    size = announced(bytes(answer)) if size is None else size
                else:
                    words += piece[: _MOST_WORDS - len(words)]
    return Answer(bytes(answer), bytes(words))


def _streams_of(selector: selectors.BaseSelector) -> set[object]:
    """The streams that are still open."""
    return {key.fileobj for key in selector.get_map().values()}


def _write(descriptor: int, left: memoryview) -> memoryview:
    """Write what fits, and return the rest, which is empty where the reader is gone."""
    try:
        return left[os.write(descriptor, left[:_PIECE]) :]
    except BrokenPipeError:
        return left[:0]
