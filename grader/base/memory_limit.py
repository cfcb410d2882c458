"""A limit of the memory that this process may take for a while."""

from __future__ import annotations

import resource
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 4 << 30
"""Bytes of address space beside those already in use; what was measured stays below 2 GiB."""

_STATM = Path("/proc/self/statm")


@contextmanager
def limited(most: int = MOST_BYTES) -> Iterator[None]:
    """Limit the address space within to ``most`` more bytes; beyond them MemoryError is raised.

    Start no process within: it would inherit the limit. Where the system does not report how much is in use
    (no Linux) there is no limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    in_use = _in_use()
    allowed = in_use + most
    if not in_use or (soft != resource.RLIM_INFINITY and soft <= allowed):
        yield
        return
    resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _in_use() -> int:
    """Bytes of address space in use (proc(5), statm); 0 where that is unknown."""
    try:
        return int(_STATM.read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0
