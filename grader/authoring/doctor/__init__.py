"""Abilities of this machine, tried rather than assumed: compiler, emulator, sandboxes and GPUs.

Each trial becomes a `ReportLine`: `examination` has the whole, `containers` and `gpus` a part each.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Mark(StrEnum):
    """Result of an examination: the word that a line begins with."""

    OK = "ok"
    """Examined, and as it should be."""
    NONE = "none"
    """Missing or not to be used, after a search; others can do without."""
    UNKNOWN = "unknown"
    """Not examined."""
    PROBLEM = "problem"
    """Missing where it is needed, or there and not fit."""


class ReportLine(NamedTuple):
    """Examined part and its state; ``fix`` says how to mend a flaw.

    A part that is not ``needed`` does not prevent what the line is about: the emulator grades without it.
    """

    mark: Mark
    subject: str
    state: str
    fix: str = ""
    needed: bool = True

    @property
    def stops(self) -> bool:
        """True if it has to be mended before going on."""
        return self.needed and self.mark is Mark.PROBLEM
