"""What is kept of a launch while it runs has a bound, for memory and for the time that judging it takes."""

from __future__ import annotations

from dataclasses import dataclass


class TooMuchHeldError(Exception):
    """A launch is given up for what would have to be kept of it; the text says what the kernel does."""


@dataclass(eq=False, slots=True)
class Allowance:
    """What work judging the accesses of a launch may take, beside running it."""

    left: int = 1_000_000

    def spend(self, work: int) -> None:
        """Take so much of it; raises TooMuchHeldError where nothing is left."""
        self.left -= work
        if self.left < 0:
            raise TooMuchHeldError(
                "to tell which are ordered, it would have to compare too many accesses to the same elements"
            )
