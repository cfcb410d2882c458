"""A device in the memory of a process: its kernels are Python functions (`fake_kernels`).

What a kernel is given are addresses and scalars, as on a real device, and it may read and write anywhere.
A fault makes the context useless until the process ends; a hang ends only with the process.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from busy_clock import BusyClock
from device import Device, DeviceFault

from tests.toolchain.gpu.fake_kernels import KERNELS, START, Machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

IMAGE = b"an image for the fake device"
UUID = "GPU-11111111-2222-4333-8444-555555555555"
SPACE = 1 << 25
VARIABLE = 4096
"""Bytes of a variable of any module."""


@dataclass
class _Loaded:
    folder: Path
    variables: dict[str, int] = field(default_factory=dict)


class FakeDevice(Device):
    """The device of a folder: ``folder/hidden`` makes it impossible to open."""

    def __init__(self, folder: Path) -> None:
        if (folder / "hidden").exists():
            raise DeviceFault("cudaErrorNoDevice", "no CUDA-capable device is detected")
        self.watch = BusyClock()
        self._memory = np.zeros(SPACE, np.uint8)
        self._next = START
        self._handles: list[Any] = [None]
        self._modules: dict[Path, int] = {}
        self._queued: list[Callable[[], None]] = []
        self._streams: list[int] = []
        self._dead: DeviceFault | None = None
        self.released: list[int] = []
        self.allocated: list[int] = []
        self.spins = False

    def spin(self) -> None:
        """Note it."""
        self._alive()
        self.spins = True

    def properties(self) -> dict[str, Any]:
        """Made up."""
        return {"name": "a fake device", "uuid": UUID, "compute_capability": [9, 0]}

    def allocate(self, size: int) -> int:
        """Memory is handed out once and never again."""
        self._alive()
        if not size:
            return 0
        address = self._next
        if address + size > START + SPACE:
            raise DeviceFault("cudaErrorMemoryAllocation", "out of memory")
        self._next += -(-size // 256) * 256 + 4096
        self.allocated.append(address)
        return address

    def holds_nothing(self) -> bool:
        """Return whether every allocation was released and nothing is queued."""
        return sorted(self.allocated) == sorted(self.released) and not self._queued

    def free(self, address: int) -> None:
        """Note it."""
        self._alive()
        self.released.append(address)

    def upload(self, address: int, array: NDArray[Any]) -> None:
        """Copy."""
        self._alive()
        self._bytes(address, array.nbytes)[:] = array.reshape(-1).view(np.uint8)

    def download(self, address: int, array: NDArray[Any]) -> None:
        """Copy, after everything that was asked for."""
        self.synchronize()
        array.reshape(-1).view(np.uint8)[:] = self._bytes(address, array.nbytes)

    def fill(self, address: int, byte: int, size: int) -> None:
        """Set bytes."""
        self._bytes(address, size)[:] = byte

    def _bytes(self, address: int, size: int) -> NDArray[np.uint8]:
        return self._memory[address - START : address - START + size]

    def load(self, image: Path) -> int:
        """A module whose variables are new."""
        self._alive()
        if image.read_bytes() != IMAGE:
            raise DeviceFault("cudaErrorNoKernelImageForDevice", "no kernel image is available for execution")
        return self._handle(_Loaded(image.parent))

    def unload(self, module: int) -> None:
        """Its variables are gone."""
        for address in self._handles[module].variables.values():
            self.free(address)

    def entry(self, module: int, name: str) -> int:
        """A kernel with its module."""
        if name not in KERNELS:
            raise DeviceFault("cudaErrorSymbolNotFound", "named symbol not found")
        return self._handle((KERNELS[name], self._handles[module]))

    def make_ready(self, function: int) -> None:
        """Nothing to do."""

    def symbol(self, module: int, name: str) -> int:
        """Memory for a variable, zeros as long as the module is loaded."""
        variables = self._handles[module].variables
        if name == "missing":
            raise DeviceFault("cudaErrorSymbolNotFound", "named symbol not found")
        if name not in variables:
            variables[name] = self.allocate(VARIABLE)
        address: int = variables[name]
        return address

    def function(self, image: Path, entry: str) -> int:
        """The same, of a module that is loaded once and for good."""
        if image not in self._modules:
            self._modules[image] = self.load(image)
        return self.entry(self._modules[image], entry)

    def resources(self, function: int, threads: int, shared: int) -> dict[str, int]:
        """Made up, but for what was asked."""
        kernel, _ = self._handles[function]
        return {"registers": len(kernel.__name__), "shared_bytes": shared, "max_threads": 1024} | {
            "local_bytes": 0,
            "blocks_per_multiprocessor": 2048 // threads,
        }

    def launch(
        self,
        function: int,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        arguments: Sequence[np.generic],
        stream: int = 0,
    ) -> None:
        """Refuse blocks that are too large; queue the others."""
        assert not stream or stream in self._streams
        self._alive()
        if np.prod(block) > 1024 or shared > 227 * 1024 or not np.prod(grid):
            raise DeviceFault("cudaErrorInvalidValue", "invalid argument")
        kernel, module = self._handles[function]
        machine = Machine(self._memory, module.variables, module.folder)
        values = [argument.item() for argument in arguments]
        self.watch.begin()
        self._queued.append(lambda: kernel(machine, *values))

    def streams(self, count: int) -> list[int]:
        """Numbers: everything is queued in one order."""
        self._streams = list(range(1, count + 1))
        return self._streams

    def synchronize(self) -> None:
        """Do what was queued."""
        self._alive()
        try:
            while self._queued:
                self._queued.pop(0)()
        except DeviceFault as fault:
            if fault.name != "cudaErrorLaunchFailure":
                self._dead = fault
            raise
        finally:
            self.watch.end()

    def events(self) -> tuple[int, int]:
        """Two places for times."""
        return self._handle(0.0), self._handle(0.0)

    def record(self, event: int) -> None:
        """Queue the question what time it is."""
        self._queued.append(lambda: self._handles.__setitem__(event, time.perf_counter()))

    def between_ms(self, start: int, stop: int) -> float:
        """Between two answers."""
        return 1000 * float(self._handles[stop] - self._handles[start])

    def _handle(self, thing: Any) -> int:  # noqa: ANN401 - whatever a handle stands for
        self._handles.append(thing)
        return len(self._handles) - 1

    def _alive(self) -> None:
        if self._dead is not None:
            raise self._dead
