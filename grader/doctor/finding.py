"""One line of the doctor's report."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """What was looked at and what was found; ``fix`` says how to mend what is not fine.

    What is not ``needed`` may be missing: the emulator grades without it.
    """

    fine: bool
    what: str
    found: str
    fix: str = ""
    needed: bool = True
