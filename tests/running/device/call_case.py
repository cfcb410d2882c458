"""The calls of a program, and their expected results."""

from __future__ import annotations

from typing import NamedTuple

ARRAYS = "float h[1000] = {1, 2, 3}; float *d; cudaMalloc(&d, sizeof h);"
"""An array of the host, and one of the device."""


class Case(NamedTuple):
    """The body of a program, what it prints, and the codes of its mistakes."""

    body: str
    printed: str
    mistakes: tuple[str, ...] = ()
