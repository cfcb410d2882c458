"""An exchange with a process that may answer too much, too late or never: bounded in bytes and seconds."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_PIECE = 2**18
_MOST_WORDS = 4096


class Answer(NamedTuple):
    """What a process said before it ended, or was ended because it was late or said too much."""

    stdout: bytes
    stderr: bytes
    late: bool
    overlong: bool


def talk(command: Sequence[str], request: bytes, *, most: int, seconds: float) -> Answer:
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
    left, said, words = memoryview(request), bytearray(), bytearray()
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
            if remaining <= 0 or len(said) > most:
                return Answer(bytes(said[:most]), bytes(words), remaining <= 0, len(said) > most)
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
                    said += piece
                else:
                    words += piece[: _MOST_WORDS - len(words)]
    return Answer(bytes(said), bytes(words), late=False, overlong=False)


def _write(descriptor: int, left: memoryview) -> memoryview:
    """Write what fits; what is left of it, nothing where nobody reads any more."""
    try:
        return left[os.write(descriptor, left[:_PIECE]) :]
    except BrokenPipeError:
        return left[:0]
