"""One of the slots that a machine has for harnesses, which are shared by all graders on it.

It is taken after everything is loaded and before there is a context: work that needs no GPU holds no slot.
Outside the same files are locked in the same order (`grader.toolchain.gpu.devices.slot`).
"""

from __future__ import annotations

import fcntl
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_POLL = 0.02


@dataclass(frozen=True)
class Slot:
    """A slot that is held, and for how many seconds it was waited for."""

    waited: float
    file: IO[bytes] | None

    def release(self) -> None:
        """Give it back before its time; a fork of the holder may do that as well, for both share the lock."""
        if self.file:
            fcntl.flock(self.file, fcntl.LOCK_UN)


@contextmanager
def slot(paths: Sequence[str]) -> Iterator[Slot]:
    """Hold one of the files ``paths`` but the first, which is that of the queue.

    Without files there is no waiting. Raises OSError for a file that cannot be opened.
    """
    begun = time.monotonic()
    with ExitStack() as stack:
        taken = None
        if paths:
            queue, *slots = (stack.enter_context(Path(path).open("rb")) for path in paths)
            fcntl.flock(queue, fcntl.LOCK_EX)  # the first in the queue looks for a slot, the others wait
            while (taken := next((file for file in slots if try_lock(file, fcntl.LOCK_EX)), None)) is None:
                time.sleep(_POLL)
            queue.close()
        yield Slot(time.monotonic() - begun, taken)


def try_lock(lock: IO[bytes], kind: int) -> bool:
    """Take a file's lock (LOCK_EX, or LOCK_SH beside others) if it is to be had at once; whether it was."""
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
