"""Kernels of the fake device: what students' kernels do, right and wrong, as Python functions."""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from device import DeviceFault

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

START = 0x7000_0000_0000
"""The address of the first byte of the device's memory."""

ILLEGAL = DeviceFault("cudaErrorIllegalAddress", "an illegal memory access was encountered")


@dataclass
class Machine:
    """The state that a kernel works on: memory by address, its module's variables, its image's folder."""

    memory: NDArray[np.uint8]
    variables: dict[str, int]
    folder: Path

    def floats(self, address: int, count: int) -> NDArray[np.float32]:
        """A window of memory, to read and to write."""
        at = address - START
        return self.memory[at : at + 4 * count].view(np.float32)


Kernel: TypeAlias = Callable[..., None]
KERNELS: dict[str, Kernel] = {}


def kernel(function: Kernel) -> Kernel:
    """Make a function a kernel of every image."""
    KERNELS[function.__name__] = function
    return function


@kernel
def copies(machine: Machine, a: int, c: int, n: int) -> None:
    """Do what a correct kernel does: C = A."""
    machine.floats(c, n)[:] = machine.floats(a, n)


@kernel
def copies_in_a_struct(machine: Machine, vectors: bytes, n: int) -> None:
    """The same with `struct { int count; float *a, *c; }` by value."""
    _, a, c = struct.unpack("<ixxxxQQ", vectors)
    machine.floats(c, n)[:] = machine.floats(a, n)


@kernel
def copies_between_variables(machine: Machine, n: int) -> None:
    """The same with `__device__ float A[], C[]` of its module."""
    machine.floats(machine.variables["C"], n)[:] = machine.floats(machine.variables["A"], n)


@kernel
def doubles(machine: Machine, a: int, n: int) -> None:
    """A kernel that works in place."""
    machine.floats(a, n)[:] *= 2


@kernel
def writes_beyond(machine: Machine, a: int, c: int, n: int) -> None:
    """Right, and three elements too many, the first of them two past the end."""
    copies(machine, a, c, n)
    machine.floats(c, n + 8)[[n + 2, n + 3, n + 6]] = 1.0


@kernel
def writes_before(machine: Machine, _a: int, c: int, _n: int) -> None:
    """Five elements before the array, and two."""
    machine.floats(c - 20, 5)[[0, 3]] = 1.0


@kernel
def changes_its_input(machine: Machine, a: int, _c: int, _n: int) -> None:
    """Writes where it may only read."""
    machine.floats(a, 1)[0] += 1.0


@kernel
def is_fine(_machine: Machine, *_arguments: float) -> None:
    """Does nothing, whatever it is given."""


@kernel
def prints(_machine: Machine, *_arguments: float) -> None:
    """Writes a line to C's standard output, as a kernel's `printf` does."""
    ctypes.CDLL(None).printf(b"printed by a kernel\n")


@kernel
def counts(machine: Machine, _a: int, c: int, _n: int) -> None:
    """Keeps a number in a variable of its module from launch to launch."""
    machine.variables["launches"] = machine.variables.get("launches", 0) + 1
    machine.floats(c, 1)[0] = machine.variables["launches"]


@kernel
def faults(_machine: Machine, *_arguments: int) -> None:
    """Reads where nothing is."""
    raise ILLEGAL


@kernel
def is_stopped(_machine: Machine, *_arguments: int) -> None:
    """Faults under a tool that takes the kernel alone off the device."""
    raise DeviceFault("cudaErrorLaunchFailure", "unspecified launch failure")


@kernel
def meets_broken_memory(_machine: Machine, *_arguments: int) -> None:
    """Runs on a device whose memory fails."""
    raise DeviceFault("cudaErrorECCUncorrectable", "uncorrectable ECC error encountered")


@kernel
def hangs(_machine: Machine, *_arguments: int) -> None:
    """Never ends."""
    time.sleep(1e6)


@kernel
def hangs_and_records_its_process(machine: Machine, *_arguments: int) -> None:
    """Never ends, and leaves the number of its process."""
    (machine.folder / "process").write_text(str(os.getpid()))
    time.sleep(1e6)


@kernel
def hangs_and_breaks_the_device(machine: Machine, *_arguments: int) -> None:
    """Never ends, and afterwards the device computes nonsense."""
    (machine.folder / "broken").touch()
    time.sleep(1e6)


@kernel
def hangs_and_hides_the_device(machine: Machine, *_arguments: int) -> None:
    """Never ends, and afterwards the device cannot be opened."""
    (machine.folder / "hidden").touch()
    time.sleep(1e6)


@kernel
def dies(_machine: Machine, *_arguments: int) -> None:
    """Takes its process along."""
    os.kill(os.getpid(), signal.SIGKILL)


@kernel
def dies_once(machine: Machine, a: int, c: int, n: int) -> None:
    """Takes its process along, the first time."""
    first = machine.folder / "died"
    if not first.exists():
        first.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    copies(machine, a, c, n)


@kernel
def takes(machine: Machine, a: int, c: int, n: int) -> None:
    """Right, and takes half a second."""
    time.sleep(0.5)
    copies(machine, a, c, n)


@kernel
def probe(machine: Machine, place: int, count: int) -> None:
    """Imitate the kernel of this name in helpers.cu, on a device that may be broken."""
    numbers = np.arange(count, dtype=np.uint32) * 3 + 1
    if (machine.folder / "broken").exists():
        numbers[7] = 0
    machine.floats(place, count).view(np.uint32)[:] = numbers
