"""The host's side of a run on a GPU: the jobs, what comes back of them, and what it means.

    Build ─request▶ jobs ─sandbox▶ Result ─answer▶ DeviceRun…  ─witnesses▶ Run, findings
                                          ─sanitizer▶ ToolReport ┘
                                          ─timing▶ Timing

What runs inside the sandbox is in the folder ``sandbox/`` at the root. CuPy is imported only there.
"""

from __future__ import annotations

from enum import StrEnum

WITNESS = "gpu"
"""The witness of what the harness on the device saw."""


class RaceJudge(StrEnum):
    """Judge of races and barriers on a GPU: the values of `--races`."""

    BOTH = "both"
    SANITIZER = "sanitizer"
    EMULATOR = "emulator"

    @property
    def asks_tools(self) -> bool:
        """True if the verdicts of compute-sanitizer's tools count."""
        return self is not RaceJudge.EMULATOR

    @property
    def asks_emulator(self) -> bool:
        """True if the emulator's verdict counts."""
        return self is not RaceJudge.SANITIZER
