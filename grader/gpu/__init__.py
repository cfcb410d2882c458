"""The host's side of a run on a GPU: the jobs, what comes back of them, and what it says.

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
    """Whose word counts for races and barriers on a GPU: what `--races` may say."""

    BOTH = "both"
    SANITIZER = "sanitizer"
    EMULATOR = "emulator"

    @property
    def asks_tools(self) -> bool:
        """Whether the word of compute-sanitizer's tools counts."""
        return self is not RaceJudge.EMULATOR

    @property
    def asks_emulator(self) -> bool:
        """Whether the emulator's word counts."""
        return self is not RaceJudge.SANITIZER
