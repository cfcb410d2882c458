"""A process on this machine: its own session, an empty folder, limits set by the kernel.

What it does not do: hide files or the network from the job, or find a process that leaves the session.
So nothing but compilers runs here, and what they may read is checked by who calls them.
``Limits.processes`` is not enforced: RLIMIT_NPROC counts every process of the user, the grader's too.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import StorageError, ToolMissing
from grader.sandbox.files import fetch, place
from grader.sandbox.job import Job, Limits, Outcome, Result, Status
from grader.sandbox.streams import Streams

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LIMITER = "prlimit"
"""Sets limits and becomes the program, so that they hold from its first instruction on.

`preexec_fn` is not safe beside threads, and limits set after the start would miss what a compiler driver
has forked by then.
"""

POLL_SECONDS = 0.02
"""How soon we see the end of a process whose streams somebody else keeps open."""

_NEARLY = 0.9
"""Of a limit on CPU time: the kernel enforces it by other clock ticks than it accounts for."""

_TOLD = (
    (Status.TIME, re.compile(rb"CPU time limit exceeded")),
    (Status.OUTPUT, re.compile(rb"File size limit exceeded|File too large")),
    (Status.MEMORY, re.compile(rb"out of memory|memory exhausted|std::bad_alloc|Cannot allocate memory")),
)
"""How a program's last words name the limit that ended it, where a driver hides its child's signal."""


class LocalSandbox:
    """Runs jobs as processes of this machine."""

    def run(self, job: Job) -> Result:
        """Run ``job`` in a temporary folder that is gone afterwards; raises as `Sandbox.run` says."""
        try:
            with tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True) as name:
                folder = Path(name)
                place(folder, job.files)
                outcome = run(
                    job.argv, cwd=folder, limits=job.limits, env=_for_device(job) | dict(job.environment)
                )
                return Result(outcome, fetch(folder, job.wanted, job.limits.file_bytes))
        except OSError as problem:
            raise StorageError(
                f"the temporary folder {tempfile.gettempdir()} cannot be used: {problem.strerror}; "
                "free some space there, or set TMPDIR to another folder"
            ) from None


def _for_device(job: Job) -> dict[str, str]:
    """What lets a job see the one GPU that it may use."""
    if not job.gpu:
        return {}
    folders = os.environ.get("LD_LIBRARY_PATH", "")  # where the driver lies outside the usual folders
    return {"CUDA_VISIBLE_DEVICES": job.gpu} | ({"LD_LIBRARY_PATH": folders} if folders else {})


def run(argv: Sequence[str], *, cwd: Path, limits: Limits, env: Mapping[str, str]) -> Outcome:
    """Run a program in ``cwd`` until it ends or meets a limit; its whole process group ends with it.

    ``env`` is added to a minimal environment (PATH, HOME, TMPDIR, LC_ALL); standard input is empty.
    Raises ToolMissing where the program, or `prlimit` of util-linux, does not exist.
    """
    command = [*_limiter(limits), _program(argv[0]), *argv[1:]]
    began = time.monotonic()
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=_environment(cwd) | dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        streams = Streams(process, limits.output_bytes)
        try:
            stopped = _watch(process, streams, began + limits.wall_seconds)
        finally:
            cpu_seconds = _end(process)
        streams.drain()
    seconds = time.monotonic() - began
    status = stopped or _status(process.returncode, streams.stderr)
    if process.returncode and cpu_seconds >= _NEARLY * limits.cpu_seconds:
        status = stopped or Status.TIME
    return Outcome(status, process.returncode, streams.stdout, streams.stderr, seconds)


def _limiter(limits: Limits) -> list[str]:
    limiter = shutil.which(LIMITER)
    if limiter is None:
        raise ToolMissing(f"`{LIMITER}` is not installed; get it with `apt-get install util-linux`")
    cpu = _within(resource.RLIMIT_CPU, limits.cpu_seconds)
    return [
        limiter,
        f"--cpu={cpu}:{_within(resource.RLIMIT_CPU, cpu + 1)}",
        *([f"--as={_within(resource.RLIMIT_AS, limits.memory_bytes)}"] if limits.memory_bytes else []),
        f"--fsize={_within(resource.RLIMIT_FSIZE, limits.file_bytes)}",
        "--core=0",
        "--",
    ]


def _within(kind: int, wanted: int) -> int:
    """``wanted``, or the hard limit that the grader itself runs under where that is lower."""
    hard = resource.getrlimit(kind)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ToolMissing(f"the program `{name}` is not installed, or may not be executed")
    return str(Path(found).absolute())


def _environment(cwd: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(cwd),
        "TMPDIR": str(cwd),
        "LC_ALL": "C.UTF-8",
    }


def _watch(process: subprocess.Popen[bytes], streams: Streams, deadline: float) -> Status | None:
    """Read until the process has ended (None) or must be stopped (why)."""
    while not _has_ended(process):
        left = deadline - time.monotonic()
        if left <= 0:
            return Status.TIME
        if not streams.read(min(left, POLL_SECONDS)):
            return Status.OUTPUT
    return None


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process is over, without reaping it: its group's number must stay ours until `_end`."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> float:
    """Kill all that is left of the process's group and reap the process; gives its CPU time in seconds.

    The CPU time tells what a signal does not: a compiler may catch SIGXCPU, and its driver hides SIGKILL.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _status(returncode: int, stderr: bytes) -> Status:
    if returncode == 0:
        return Status.EXIT
    if returncode == -signal.SIGXFSZ:
        return Status.OUTPUT
    last_words = stderr[-2000:]
    told = (status for status, words in _TOLD if words.search(last_words))
    return next(told, Status.SIGNAL if returncode < 0 else Status.EXIT)
