"""Traces that attacks may leave on this machine: containers, processes, files, memory of all kinds.

Nothing is removed here; it is only looked for.
"""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from attacks.world import World

FLAT_BYTES = 64 * 2**20
"""Limit of the growth of our memory after the first round: allocators keep some."""

GPU_BYTES = 64 * 2**20
"""Limit of the growth of a GPU's memory in use over the battery."""

_PLACES = (  # looked through, never written to
    "/",
    "/tmp",  # noqa: S108
    "/var/tmp",  # noqa: S108
    "/dev/shm",  # noqa: S108
    "/dev/mqueue",
    "/run",
    "/run/lock",
    "/usr/bin",
    "/etc",
    "/opt",
)
_KEYS = range(0x6AD0, 0x6AD0 + 64)
"""Keys of the System V segments and queues that attacks make."""


def traces(world: World, sandbox: str) -> Iterator[str]:
    """Traces that should be gone, a line each; raises OurError where an engine does not answer."""
    if sandbox == "docker":
        yield from (f"a container is left: {name[:12]}" for name in _containers())
    yield from (f"a process is left: {name}" for name in _processes(world.mark))
    yield from (f"a file is left: {name}" for name in _files(world))
    yield from (f"System V memory is left: {name}" for name in _segments())


def _containers() -> list[str]:
    """Containers that belong to this process, running or not."""
    from grader.toolchain.sandbox import containers, engine  # noqa: PLC0415 - Docker's library takes time to load

    labels = [f"{name}={value}" for name, value in containers.owner_label().items()]
    with engine.speaking():
        return [
            str(container.id)
            for container in engine.connect().containers.list(all=True, filters={"label": labels})
        ]


def _processes(mark: str) -> Iterator[str]:
    """Processes that were started by an attack: its mark is among their arguments."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes()
            if mark.encode() in words:
                yield f"{path.parent.name} {words.decode(errors='replace').split(mark)[1].split(chr(0))[0]}"


def _files(world: World) -> Iterator[str]:
    """Files with an attack's mark anywhere that programs write to, and all in our own temporary folder."""
    for folder in (*_PLACES, str(Path.home()), str(Path.cwd())):
        with suppress(OSError):
            paths = [path for path in Path(folder).iterdir() if path.name.startswith(world.mark)]
            yield from map(str, paths)
    yield from map(str, world.temporary.iterdir())


def _segments() -> Iterator[str]:
    for kind in ("shm", "msg"):
        with suppress(OSError):
            rows = Path(f"/proc/sysvipc/{kind}").read_text(encoding="ascii").splitlines()[1:]
            yield from (f"{kind} {key}" for key in (int(row.split()[0]) for row in rows) if key in _KEYS)


def own_bytes() -> int:
    """Bytes that this process has allocated and holds in memory (RssAnon of proc_pid_status(5)).

    Pages of its libraries do not count: they come and go with what else the machine does. Bounded caches are
    emptied, and freed memory that the C library keeps for later is given back (malloc_trim(3)).
    """
    for cache in [thing for thing in gc.get_objects() if isinstance(thing, _lru_cache_wrapper)]:
        if cache.cache_info().maxsize is not None and str(cache.__module__).startswith("grader.simulation."):
            cache.cache_clear()
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def gpu_bytes() -> int:
    """Memory in use on all GPUs together; 0 where there is none, or no library to ask."""
    try:
        import pynvml  # noqa: PLC0415 - only where there is a GPU
    except ImportError:
        return 0
    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        return sum(int(pynvml.nvmlDeviceGetMemoryInfo(handle).used) for handle in handles)
    except pynvml.NVMLError:
        return 0
