"""Time that a program takes by itself: while its device has nothing to do for it and gets no request of it.

Launches are paid for by work, which is the same on every machine. Host code that never comes to its end asks
the device for nothing: so the time is counted in which nothing comes, and where that is more than a run may
take, a file signals it to the process that supervises the program.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from grader.base.records import mutable

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event

_TICK_SECONDS = 0.05
"""Polling interval: the time of a program between calls that follow each other faster is not counted."""


@mutable
class HostClock:
    """State of the program: if the device waits for it, and the requests so far; the server updates both."""

    is_waiting: bool = True
    received: int = 0

    def run(self, allowed_seconds: float, stop_file: Path, over: Event) -> None:
        """Make the file as soon as the program has taken more than it may; ends when all is ``over``.

        Only a tick in which nothing came counts, and for no longer than a tick should last: the grader itself
        may have been stopped meanwhile.
        """
        own_seconds, received, before = 0.0, -1, time.monotonic()
        while own_seconds < allowed_seconds:
            if over.wait(_TICK_SECONDS):
                return
            now = time.monotonic()
            if self.is_waiting and self.received == received:
                own_seconds += min(now - before, 2 * _TICK_SECONDS)
            received, before = self.received, now
        stop_file.touch()
