"""The memory of the process that writes a class: what it frees, the system gets back."""

from __future__ import annotations

import ctypes

_MMAP_THRESHOLD = -3
"""M_MMAP_THRESHOLD of glibc's malloc.h: mallopt(3)."""

_LARGE = 256 * 1024
"""Bytes from which a block is large: as a grade arrives, not each file of it, which would cost time."""


def give_back_large_blocks() -> None:
    """Have large blocks stay apart from small ones for good, so that the system gets them back when freed.

    By itself glibc takes blocks from its heaps that are as large as those that were freed before. A grade
    arrives as half a megabyte of such blocks, of which some small ones stay for good, and so the heaps of a
    batch grew by 20 kB with each submission, of which 5 were in use. Other C libraries have no such option.
    """
    option = getattr(ctypes.CDLL(None), "mallopt", None)
    if option is not None:
        option(_MMAP_THRESHOLD, _LARGE)
