"""One of the slots that a machine has for harnesses, which are shared by everybody who grades there.

It is held by the process that has a context, and taken after everything is loaded: what needs no GPU keeps
nobody waiting. Outside the same files are locked in the same order (`grader.gpu.devices.slot`).
"""

from __future__ import annotations

import fcntl
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_POLL = 0.02


@contextmanager
def slot(paths: Sequence[str]) -> Iterator[float]:
    """Hold one of the files ``paths`` but the first, which is that of the queue; gives the seconds waited.

    Without files nobody waits for anybody. Raises OSError for a file that cannot be opened.
    """
    begun = time.monotonic()
    with ExitStack() as stack:
        if paths:
            queue, *slots = (stack.enter_context(Path(path).open("rb")) for path in paths)
            fcntl.flock(queue, fcntl.LOCK_EX)  # the first in the queue looks for a slot, the others wait
            while not any(try_lock(file, fcntl.LOCK_EX) for file in slots):
                time.sleep(_POLL)
            queue.close()
        yield time.monotonic() - begun


def try_lock(lock: IO[bytes], kind: int) -> bool:
    """Take a file's lock (LOCK_EX, or LOCK_SH beside others) if it is to be had at once; whether it was."""
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
