"""Memory of which only the pages that are touched take memory of this machine."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NO_RESERVE = 0x4000
"""``MAP_NORESERVE`` of Linux: what is never touched must not count against the memory of this machine."""


def untouched(size: int) -> NDArray[np.uint8]:
    """Zeros ``[size]`` that take memory of this machine page by page, when they are touched.

    The pages stay small: arrays of NumPy ask for pages of 2 MiB, each of which is taken whole. Raises
    MemoryError.
    """
    try:
        memory = mmap.mmap(-1, max(1, size), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    except OSError:
        raise MemoryError from None
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        with suppress(OSError):  # a kernel that has no such pages
            memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.uint8, size)
