"""Our end of the exchange with a supervisor that runs in an enclosure: the request, and its answer.

The answer is hostile: the job ran as the supervisor's user. It is a head of known size, then exactly the
bytes that it announces, of files that were asked for, each within its limit; nothing else is believed.

The limit that ended a program is read here, outside, from the program's last output: a driver hides the
signal that its child got, and what enforces limits inside a sandbox reports only what it saw itself.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.base.errors import StorageError, ToolMissing
from grader.toolchain.sandbox import supervisor
from grader.toolchain.sandbox.job import Outcome, Result, Status

if TYPE_CHECKING:
    from grader.model import Named
    from grader.toolchain.sandbox.job import Job

MOST_HEAD = 2**20
MOST_ANSWER = 2**40
"""Bytes that no stream and no file of an answer has, for any limits of the job."""

SLACK_SECONDS = 15.0
"""Seconds that starting, clearing up and carrying files may take beside the job's own wall time."""


class CutShort(Exception):  # noqa: N818 - says what became of the answer
    """The supervisor's answer does not come to its end, or is none."""


def supervisor_command() -> tuple[str, ...]:
    """Command to start in an enclosure, after the name of its Python."""
    return "-I", "-S", "-B", "-c", Path(supervisor.__file__).read_text(encoding="utf-8")


def bounds(job: Job) -> supervisor.ProcessBounds:
    """Limits of a job that the supervisor enforces."""
    limits = job.limits
    return supervisor.ProcessBounds(
        limits.wall_seconds,
        limits.cpu_seconds,
        limits.memory_bytes,
        limits.file_bytes,
        limits.output_bytes,
        limits.open_files,
        limits.own_seconds,
        job.stop_file,
    )


def request(
    job: Job,
    folder: str,
    environment: Named[str],
    writable: tuple[str, ...] = (),
    *,
    follows: bool = False,
) -> bytes:
    """Request for the supervisor; ``folder`` is the parent of the job's. Raises ValueError for a bad name.

    ``writable`` are folders that jobs share: what one leaves there is reported. ``follows``: another request
    may come after this one, for which the supervisor waits.
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
            "bounds": bounds(job),
            "follows": follows,
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
    """Result in an answer, and True if nothing of the job is left, running or lying about.

    Raises ToolMissing where the program is not there, StorageError where the job's folder was full before the
    job began, and CutShort where the answer is not that of a supervisor.
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


def announced(answer: bytes) -> int | None:
    """Length of an answer in bytes by its own head: None as long as that is not there, 0 where it is none."""
    start = supervisor.HEAD.size
    if len(answer) < start or len(answer) - start < _size(memoryview(answer)) <= MOST_HEAD:
        return None
    try:
        head = _head(memoryview(answer))
        sizes = [*head.get("streams", ()), *(size for _, size in head.get("files", ()))]
        return start + _size(memoryview(answer)) + sum(_length(size, MOST_ANSWER) for size in sizes)
    except (CutShort, TypeError, ValueError):
        return 0


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
    """Result that the head announces; raises KeyError, TypeError or ValueError for what it may not."""
    most = job.limits.output_bytes
    stdout, stderr = (_length(size, most) for size in head["streams"])
    files = [(name, _length(size, job.limits.file_bytes)) for name, size in head["files"]]
    names = [name for name, _ in files]
    if len(set(names)) != len(names) or not set(names) <= set(job.wanted):
        raise ValueError("files that were not asked for")
    if stdout + stderr + sum(size for _, size in files) != len(rest):
        raise CutShort("it ended within its answer")
    outcome = outcome_of(
        head["status"],
        _code(head["returncode"]),
        bytes(rest[:stdout]),
        bytes(rest[stdout : stdout + stderr]),
        _seconds(head["seconds"], job),
        starved=head["starved"] is True,
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


_LIMITS = (
    (Status.TIME, (b"CPU time limit exceeded",)),
    (Status.OUTPUT, (b"File size limit exceeded", b"File too large")),
    (Status.MEMORY, (b"out of memory", b"memory exhausted", b"std::bad_alloc", b"Cannot allocate memory")),
)
_QUOTED = re.compile(rb"^(?:[ \t].*|\S[^:(\n]*(?::\d|\(\d).*)$", re.MULTILINE)
"""Lines of a compiler that quote a source, or speak of a line in it: those words are not its own."""

_MOST_BYTES = 2000


def outcome_of(
    status: str, returncode: int, stdout: bytes, stderr: bytes, seconds: float, *, starved: bool
) -> Outcome:
    """The outcome of a job; one that was not stopped and that failed may name the limit that it met.

    Raises ValueError for a status that there is not.
    """
    ending = Status(status)
    if ending in (Status.EXIT, Status.SIGNAL) and returncode:
        words = own_words(stderr)
        ending = next((limit for limit, signs in _LIMITS if any(text in words for text in signs)), ending)
    return Outcome(ending, returncode, stdout, stderr, seconds, starved)


def own_words(stderr: bytes) -> bytes:
    """End of a program's output, without lines that quote a source: students write those."""
    return _QUOTED.sub(b"", stderr[-_MOST_BYTES:])
