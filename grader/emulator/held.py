"""What is kept of a launch while it runs has a bound, for memory and for the time that judging it takes."""

from __future__ import annotations


class TooMuchHeldError(Exception):
    """A launch is given up for what would have to be kept of it; the text says what the kernel does."""
