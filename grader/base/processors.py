"""Number of processors this process may keep busy: those it may run on, or fewer by control groups.

A container or a unit of systemd with a limit of two sees every processor of its machine and may run on any,
but is stopped once it has had the time of two (man 7 cgroups; the kernel's cgroup-v2 and sched-bwc pages).
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_GROUPS = "proc/self/cgroup"
_GROUP = re.compile(r"(?m)^\d+:([^:\n]*):/(.*)$")
_MOUNT = "sys/fs/cgroup"
_LIMITS = (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us"))
"""The files that hold a quota and its period, in version 2 and in version 1."""

_MOST_BYTES = 100


def available(root: Path = Path("/")) -> int:
    """Number of processors, at least one; 1.5 are two, for with one process a third would lie idle."""
    return min([len(os.sched_getaffinity(0)), *_limits(root)])


def _limits(root: Path) -> Iterator[int]:
    for folder in _folders(root):
        for names in _LIMITS:
            # There is no such file, no limit (`max`), or nothing that we understand.
            with suppress(OSError, ValueError):
                quota, period = map(int, b" ".join(_beginning(folder / name) for name in names).split())
                if quota > 0 and period > 0:
                    yield -(-quota // period)


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES)


def _folders(root: Path) -> Iterator[Path]:
    """The groups of this process that limit processors, each before the one above it.

    In a container the path may be the host's, and what is mounted the group itself: its folder is the last.
    """
    text = ""
    with suppress(OSError, ValueError):
        text = (root / _GROUPS).read_text(encoding="utf-8")
    for controllers, path in _GROUP.findall(text):
        group = PurePosixPath(path)
        if ".." not in group.parts and (not controllers or "cpu" in controllers.split(",")):
            for folder in (group, *group.parents):
                yield root / _MOUNT / controllers / folder
