"""Our end of the exchange with a supervisor that runs in an enclosure: the request, and its answer.

The supervisor may answer too much, too late or never: what is read is bounded in bytes and in seconds.

The answer is hostile: the job ran as the supervisor's user. It is a head of known size, then exactly the
bytes that it announces, of files that were asked for, each within its limit; nothing else is believed.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.errors import StorageError, ToolMissing
from grader.sandbox import supervisor
from grader.sandbox.job import Outcome, Result, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model import Named
    from grader.sandbox.job import Job, Limits

MOST_HEAD = 2**20
SLACK_SECONDS = 15.0
"""What starting, clearing up and carrying files may take beside the job's own wall time."""


class CutShort(Exception):  # noqa: N818 - says what became of the answer
    """The supervisor's answer does not come to its end, or is none."""


def supervisor_command() -> tuple[str, ...]:
    """What to start in an enclosure, after the name of its Python."""
    return "-I", "-S", "-B", "-c", Path(supervisor.__file__).read_text(encoding="utf-8")


def bounds(limits: Limits) -> supervisor.ProcessBounds:
    """What the supervisor enforces of a job's limits."""
    return supervisor.ProcessBounds(
        limits.wall_seconds,
        limits.cpu_seconds,
        limits.memory_bytes,
        limits.file_bytes,
        limits.output_bytes,
        limits.open_files,
    )


def request(job: Job, folder: str, environment: Named[str], writable: tuple[str, ...] = ()) -> bytes:
    """What the supervisor reads; ``folder`` is where it makes the job's. Raises ValueError for a bad name.

    ``writable`` are folders that jobs share: what one leaves there is told.
    """
    for name in (*(name for name, _ in job.files), *job.wanted):
        supervisor.inside(name)
    head = json.dumps(
        {
            "argv": job.argv,
            "environment": dict(environment) | dict(job.environment),
            "folder": folder,
            "writable": writable,
            "files": [[name, len(content)] for name, content in job.files],
            "stdin": len(job.stdin),
            "wanted": job.wanted,
            "bounds": bounds(job.limits),
        }
    ).encode()
    return b"".join(
        (supervisor.HEAD.pack(len(head)), head, *(content for _, content in job.files), job.stdin)
    )


def most_bytes(job: Job) -> int:
    """The longest answer that a supervisor may give."""
    limits = job.limits
    files = min(len(job.wanted) * limits.file_bytes, limits.disk_bytes)
    return supervisor.HEAD.size + MOST_HEAD + 2 * limits.output_bytes + files


def read(answer: bytes, job: Job) -> tuple[Result, bool]:
    """The result in an answer, and whether nothing of the job is left, running or lying about.

    Raises ToolMissing where the program is not there, StorageError where the job's folder was full before the
    job began, and CutShort where the answer is not what a supervisor says.
    """
    view = memoryview(answer)
    head = _head(view)
    if isinstance(head.get("missing"), str):
        raise ToolMissing(f"the program `{Path(job.argv[0]).name}` is not in the sandbox")
    if isinstance(head.get("problem"), str):
        raise StorageError(f"a job's files do not fit into the sandbox: {head['problem'][:100]}")
    try:
        return _result(head, view[supervisor.HEAD.size + _size(view) :], job), head["cleared"] is True
    except (KeyError, TypeError, ValueError) as problem:
        raise CutShort(f"not an answer of the supervisor: {type(problem).__name__}") from None


def _size(view: memoryview) -> int:
    if len(view) < supervisor.HEAD.size:
        raise CutShort("it ended before its answer")
    return int(supervisor.HEAD.unpack(view[: supervisor.HEAD.size])[0])


def _head(view: memoryview) -> dict[str, Any]:
    size = _size(view)
    if size > MOST_HEAD or len(view) < supervisor.HEAD.size + size:
        raise CutShort("it ended within its answer")
    try:
        head = json.loads(bytes(view[supervisor.HEAD.size : supervisor.HEAD.size + size]))
    except (ValueError, RecursionError):
        raise CutShort("its answer is no JSON") from None
    if not isinstance(head, dict):
        raise CutShort("its answer is no object")
    return head


def _result(head: dict[str, Any], rest: memoryview, job: Job) -> Result:
    """What the head announces; raises KeyError, TypeError or ValueError for what it may not."""
    most = job.limits.output_bytes
    stdout, stderr = (_length(size, most) for size in head["streams"])
    files = [(name, _length(size, job.limits.file_bytes)) for name, size in head["files"]]
    names = [name for name, _ in files]
    if len(set(names)) != len(names) or not set(names) <= set(job.wanted):
        raise ValueError("files that nobody asked for")
    if stdout + stderr + sum(size for _, size in files) != len(rest):
        raise CutShort("it ended within its answer")
    outcome = Outcome(
        Status(head["status"]),
        _code(head["returncode"]),
        bytes(rest[:stdout]),
        bytes(rest[stdout : stdout + stderr]),
        _seconds(head["seconds"], job),
    )
    offset, contents = stdout + stderr, []
    for name, size in files:
        contents.append((name, bytes(rest[offset : offset + size])))
        offset += size
    return Result(outcome, tuple(contents))


def _length(value: object, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError("no length")
    return value


def _code(value: object) -> int:
    if type(value) is not int or not -64 <= value <= 255:  # noqa: PLR2004 - signals, and exit statuses
        raise ValueError("no exit status")
    return value


def _seconds(value: object, job: Job) -> float:
    if not isinstance(value, float | int) or not 0 <= value <= job.limits.wall_seconds + SLACK_SECONDS:
        raise ValueError("no time")
    return float(value)


def ended_by_itself(seconds: float) -> Result:
    """The result of a job that ended its own supervisor: it was killed, and nothing of it comes back."""
    words = b"the program ended the process that watched over it"
    return Result(Outcome(Status.SIGNAL, -9, b"", words, seconds))


def out_of_time(seconds: float) -> Result:
    """The result of a job whose supervisor did not answer in time."""
    return Result(Outcome(Status.TIME, -9, b"", b"", seconds))


def too_much(seconds: float) -> Result:
    """The result of a job whose supervisor answers without end."""
    return Result(Outcome(Status.OUTPUT, -9, b"", b"", seconds))


_PIECE = 2**18
_MOST_WORDS = 4096


class Answer(NamedTuple):
    """What a process said before it ended, or was ended because it was late or said too much."""

    stdout: bytes
    stderr: bytes
    late: bool
    overlong: bool


def ask(command: Sequence[str], request: bytes, *, most: int, seconds: float) -> Answer:
    """Start a process, give it all of ``request``, and take at most ``most`` bytes in so many seconds."""
    with subprocess.Popen(
        command,
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},  # a job may look into it
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            return _talk(process, request, most, time.monotonic() + seconds)
        finally:
            process.kill()


def _talk(process: subprocess.Popen[bytes], request: bytes, most: int, deadline: float) -> Answer:
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise ValueError("all streams must be pipes")
    left, answer, words = memoryview(request), bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        for stream, event in (
            (stdin, selectors.EVENT_WRITE),
            (stdout, selectors.EVENT_READ),
            (stderr, selectors.EVENT_READ),
        ):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, event)
        while stdout in {key.fileobj for key in selector.get_map().values()}:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or len(answer) > most:
                return Answer(bytes(answer[:most]), bytes(words), remaining <= 0, len(answer) > most)
            for key, _ in selector.select(remaining):
                if key.fileobj is stdin:
                    left = _write(stdin.fileno(), left)
                    if not left:
                        selector.unregister(stdin)
                        stdin.close()
                    continue
                piece = os.read(key.fd, _PIECE)
                if not piece:
                    selector.unregister(key.fileobj)
                elif key.fileobj is stdout:
                    answer += piece
                else:
                    words += piece[: _MOST_WORDS - len(words)]
    return Answer(bytes(answer), bytes(words), late=False, overlong=False)


def _write(descriptor: int, left: memoryview) -> memoryview:
    """Write what fits; what is left of it, nothing where nobody reads any more."""
    try:
        return left[os.write(descriptor, left[:_PIECE]) :]
    except BrokenPipeError:
        return left[:0]
