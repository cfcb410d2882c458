"""One line of the doctor's report."""

from __future__ import annotations

from typing import NamedTuple


class ReportLine(NamedTuple):
    """What was examined and its state; ``fix`` says how to mend what is not fine.

    What is not ``needed`` may be missing: the emulator grades without it.
    """

    fine: bool
    subject: str
    state: str
    fix: str = ""
    needed: bool = True
