"""Limits of a run of a program: time, memory, processes, threads."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.toolchain.sandbox import Limits

if TYPE_CHECKING:
    from grader.model import ProgramInterface

SLOWER = 3.0
"""The wall time that launches have, in multiples of what the work that they may do usually takes: both builds
are run, and the machine may be busy. The work decides, which is the same everywhere."""

PROCESSES = 64
_STACK_BYTES = 8 * 2**20
"""Bytes of address space that each thread reserves, and hardly ever uses (pthread_create(3))."""

_DRIVER_BYTES = 2**30
"""Memory of the host that a CUDA context takes, the driver's, beside the program's own."""

_CORES = 4
"""Processor time counts for all threads: this many may be busy all the time."""

THREADS = (
    ("OMP_NUM_THREADS", str(_CORES)),
    ("OMP_THREAD_LIMIT", str(PROCESSES // 2)),
    ("OMP_DYNAMIC", "false"),
    ("OMP_WAIT_POLICY", "passive"),
)
"""The environment of a program that uses OpenMP (its specification, "Environment Variables"): as many threads
everywhere, never more than there may be, and none that waits at the cost of processor time."""

_AFTER_HANGS, _AT_LEAST_SECONDS = 0.25, 1.0
"""The share of its time that a case then still gets, and its launches with it."""


def limits_of(interface: ProgramInterface, *, on_gpu: bool, emulated: bool = False) -> Limits:
    """Limits of a run.

    Memory is limited for all its processes together, where the sandbox can; and beside a GPU, whose driver
    reserves far more than there is, also each process's address space. The memory that an ``emulated`` device
    shares with the host lies there, too, and is not part of the program's own memory.
    """
    stacks, driver = PROCESSES * _STACK_BYTES, _DRIVER_BYTES if on_gpu else 0
    shared = interface.device_bytes if emulated else 0
    return Limits(
        wall_seconds=interface.seconds,
        cpu_seconds=cpu_seconds(interface.seconds),
        memory_bytes=0 if on_gpu else interface.memory_bytes + stacks + shared,
        total_bytes=interface.memory_bytes + driver + shared,
        processes=PROCESSES,
    )


def cpu_seconds(seconds: float) -> int:
    """Processor time of a run that may take some seconds; a process can ask for it (getrlimit(2))."""
    return math.ceil(seconds * _CORES)


def shorter(interface: ProgramInterface, limits: Limits) -> Limits:
    """The limits of a case that comes after some that did not end."""
    seconds = min(max(_AFTER_HANGS * interface.seconds, _AT_LEAST_SECONDS), interface.seconds)
    return replace(limits, wall_seconds=seconds, cpu_seconds=cpu_seconds(seconds))


def with_launches(limits: Limits, interface: ProgramInterface) -> Limits:
    """The limits of a run whose launches are emulated.

    The wall time is longer by what they may take; a program that is accused had all of its own.
    """
    seconds = limits.wall_seconds
    emulating = SLOWER * interface.emulator_seconds * seconds / interface.seconds
    return replace(
        limits,
        wall_seconds=max(seconds + emulating, interface.seconds + _AT_LEAST_SECONDS),
        cpu_seconds=max(limits.cpu_seconds, cpu_seconds(interface.seconds)),
        own_seconds=seconds,
    )
