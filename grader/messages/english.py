"""Words that sentences are put together with: lists, lines, threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import Dim3

_MOST = 3
"""Lines that are named."""


def spell(index: Dim3) -> str:
    """``(3, 5)``: a thread or block index without a z that is 0."""
    x, y, z = index
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def on_lines(lines: Iterable[int], last: str = "and") -> str:
    """``on line 3``, ``on lines 3, 5 and 9``; no more than three are named, each once."""
    words = [str(line) for line in sorted(set(lines))]
    if len(words) > _MOST:
        words[_MOST:] = ["others"]
    return f"on line{'s' if len(words) > 1 else ''} {listed(words, last)}"
