"""A bubblewrap: a job sees this machine's programs, an empty folder of its own, and nothing else.

No network, no other process, no file of anybody, none of the system's daemons: new namespaces of every
kind, made by an ordinary user (bwrap(1)). What it does not do: limit all processes of a job together, in
number or in memory (each has limits of its own), or count the files in its folder; a job that tries ends
with its wall time, as everything in the namespace does. It has no GPU. A container does all this.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from grader.errors import OurError, ToolMissing
from grader.sandbox import exchange
from grader.sandbox.exchange import ask
from grader.sandbox.job import Equipment, Job, Limits
from grader.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.sandbox.job import Result, Stage

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


@dataclass(frozen=True, slots=True)
class BubblewrapSandbox:
    """Runs jobs in bubblewraps; ``folders`` are those that they may read beside the system's programs."""

    folders: tuple[str, ...] = ()
    name: ClassVar[str] = "bubblewrap"
    shuts_in: ClassVar[bool] = True
    equipment: ClassVar[Equipment] = Equipment()

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[BubblewrapSandbox]:
        """The sandbox itself, for nothing outlives a job; with the folder of a channel where there is one."""
        yield replace(self, folders=(*self.folders, stage.channel)) if stage.channel else self

    def run(self, job: Job) -> Result:
        """Run ``job`` in a bubblewrap of its own; raises as `Sandbox.run` says."""
        if job.gpu:
            raise OurError("a GPU cannot be used in a bubblewrap; use --sandbox docker")
        command = (*_wrap(self.folders, job.limits), _python(), *exchange.supervisor_command())
        began = time.monotonic()
        answer = ask(
            command,
            exchange.request(job, JOB, (("PATH", os.environ.get("PATH", os.defpath)), ("LC_ALL", "C.UTF-8"))),
            most=exchange.most_bytes(job),
            seconds=job.limits.wall_seconds + exchange.SLACK_SECONDS,
        )
        seconds = time.monotonic() - began
        if answer.late:
            return exchange.out_of_time(seconds)
        if answer.overlong:
            return exchange.too_much(seconds)
        try:
            return exchange.read(answer.stdout, job)[0]
        except exchange.CutShort:
            if answer.stderr.startswith(b"bwrap:"):
                raise OurError(_cannot(answer.stderr)) from None
            return exchange.ended_by_itself(seconds)


def trouble() -> str:
    """Why bubblewraps cannot be made on this machine, and what to do about it; empty where they can."""
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
        *("--size", str(_SMALL), "--tmpfs", "/dev/shm"),  # noqa: S108 - the job's own
        *("--size", str(_SMALL), "--tmpfs", "/tmp"),  # noqa: S108 - the same
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
    """Of /proc what is the whole machine's: settings, which root could write, and what tells of others."""
    for name in _SETTINGS_OF_ALL:
        if Path(name).exists():
            yield from ("--ro-bind", name, name)
    for name in _FACTS_OF_ALL:
        if Path(name).exists():
            yield from ("--ro-bind", "/dev/null", name)


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


def _python_folders() -> tuple[str, ...]:
    """Where the interpreter and its library are, if not in the system's folders."""
    prefixes = dict.fromkeys((os.path.realpath(sys.base_prefix), os.path.realpath(sys.base_exec_prefix)))
    return tuple(prefix for prefix in prefixes if prefix not in ("/", "/usr"))


__all__ = ["BubblewrapSandbox", "trouble"]
