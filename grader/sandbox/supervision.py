"""A supervisor in a process of its own, which is asked for one job after another.

It may answer too much, too late or never: what is read is bounded in bytes and in seconds.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from grader.sandbox.exchange import announced

if TYPE_CHECKING:
    from collections.abc import Sequence

_PIECE = 2**18
_MOST_WORDS = 4096
_PATIENCE_SECONDS = 1.0


class Answer(NamedTuple):
    """What a supervisor said, all of it unless it was late, said too much or ended."""

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
        """Give it all of ``request``, and take at most ``most`` bytes in so many seconds."""
        return _talk(self._process, request, most, time.monotonic() + seconds)

    def end(self) -> None:
        """Tell it that no job follows, and see to it that it ends."""
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
    """Write what fits; what is left of it, nothing where nobody reads any more."""
    try:
        return left[os.write(descriptor, left[:_PIECE]) :]
    except BrokenPipeError:
        return left[:0]
