"""Time as events show it: a stated model of a device, so that it is never 0 and the same every time.

A launch takes `LAUNCH_SECONDS` and the longer of its traffic at `DRAM_BYTES_PER_SECOND` and its instructions
at `LANES_PER_SECOND`, those of an H200; a copy takes `COPY_SECONDS` and its bytes at `LINK_BYTES_PER_SECOND`.
"""

from __future__ import annotations

from dataclasses import dataclass

LAUNCH_SECONDS = 5e-6
DRAM_BYTES_PER_SECOND = 3.35e12
LANES_PER_SECOND = 28.7e12
COPY_SECONDS = 8e-6
LINK_BYTES_PER_SECOND = 25e9
_RECORD_SECONDS = 1e-6


@dataclass(slots=True)
class Clock:
    """Seconds since the device was first used."""

    now: float = 0.0

    def launch(self, dram_bytes: int, lane_instructions: int) -> None:
        """Let a launch pass."""
        busy = max(dram_bytes / DRAM_BYTES_PER_SECOND, lane_instructions / LANES_PER_SECOND)
        self.now += LAUNCH_SECONDS + busy

    def copy(self, moved: int) -> None:
        """Let a copy or a fill of so many bytes pass."""
        self.now += COPY_SECONDS + moved / LINK_BYTES_PER_SECOND

    def record(self) -> float:
        """When an event is recorded."""
        self.now += _RECORD_SECONDS
        return self.now
