"""A clock that two processes share: since when the device has been busy with what it was asked to do."""

from __future__ import annotations

import mmap
import time


class BusyClock:
    """Begun by the process that launches, read by its parent, which ends it when a kernel takes too long.

    Eight bytes of memory shared across a fork hold the monotonic time of the first launch that was not
    waited for yet, or zero. A message through the pipe instead would cost a system call in each timed round.
    """

    def __init__(self) -> None:
        self._since = memoryview(mmap.mmap(-1, 8)).cast("d")

    def begin(self) -> None:
        """Something was launched; what was launched before and is not waited for keeps its time."""
        if not self._since[0]:
            self._since[0] = time.monotonic()

    def end(self) -> None:
        """Everything launched has come to its end, one way or the other."""
        self._since[0] = 0.0

    def busy_seconds(self) -> float:
        """Seconds since the first launch that was not waited for; zero where there is none."""
        since = self._since[0]
        return time.monotonic() - since if since else 0.0
