"""What this machine can do, tried rather than assumed: the compiler, the emulator, sandboxes and GPUs.

Whatever is tried becomes a `ReportLine`: `examination` has the whole, `containers` and `gpus` a part each.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Mark(StrEnum):
    """What came of looking: the word that a line begins with."""

    OK = "ok"
    """It was tried or seen, and is as it should be."""
    NONE = "none"
    """It was looked for and is not there, or not to be used; others can do without."""
    UNKNOWN = "unknown"
    """It was not looked for."""
    PROBLEM = "problem"
    """It is missing where it is needed, or there and not fit."""


class ReportLine(NamedTuple):
    """What was examined and its state; ``fix`` says how to mend what is not as it should be.

    What is not ``needed`` keeps nobody from what the line is about: the emulator grades without it.
    """

    mark: Mark
    subject: str
    state: str
    fix: str = ""
    needed: bool = True

    @property
    def stops(self) -> bool:
        """Whether nobody can go on before it is mended."""
        return self.needed and self.mark is Mark.PROBLEM
