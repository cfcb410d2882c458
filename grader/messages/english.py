"""Threads and blocks as people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.model import Dim3


def spell(index: Dim3) -> str:
    """``(3, 5)``: a thread or block index without a z that is 0."""
    x, y, z = index
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"
