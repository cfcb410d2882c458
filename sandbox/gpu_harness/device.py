"""The device, through the parts of CuPy that need no compiler: memory, modules, launches, events.

This is the only file that imports CuPy: of it no more than bindings of CUDA, and the rest where processes are
forked that may want cuBLAS. `load_library` does so without touching a device, so that a process may do it and
then fork; a `Device` is made in the process that uses it, and makes its context.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import uuid
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from context import Context
from device_fault import DeviceFault
from nvml import Meter, driver_version

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Device", "DeviceFault", "load_library"]

_SPIN, _SLEEP = 1, 4
"""``CU_CTX_SCHED_SPIN``, ``CU_CTX_SCHED_BLOCKING_SYNC`` (CUDA Driver API, `cuDevicePrimaryCtxSetFlags`)."""

_KEPT = 64
"""Bytes that stay allocated as long as a context lives: else the driver gives memory back with the last array
of each launch and gets it anew for the next one, which takes long where others make contexts."""

SHARED_BYTES = 48 * 1024
"""Shared memory that a block gets without asking for more (CUDA C++ Programming Guide, "Shared Memory")."""


class PackedArguments(NamedTuple):
    """A kernel's arguments as `cuLaunchKernel` takes them: the address of the addresses of the values."""

    address: int
    values: list[NDArray[Any]]
    pointers: NDArray[np.uintp]


def load_library() -> None:
    """Import all of CuPy. It does not open the driver yet, so a fork is still allowed afterwards."""
    importlib.import_module("cupy")


class Device(Context):
    """The first visible device, and this process's context on it. Every method may raise DeviceFault.

    Modules, functions and events are plain integers, like addresses. Whoever waits for the device sleeps
    meanwhile, until `spin` is called.
    """

    def __init__(self) -> None:
        from cupy_backends.cuda.api import driver, runtime  # noqa: PLC0415 - only where a device is used

        super().__init__(driver, runtime)
        self._modules: dict[Path, int] = {}
        self._functions: dict[tuple[Path, str], int] = {}
        with suppress(OSError):  # where there is no driver, the next call says so
            self._libcuda.cuInit(0)
            self._libcuda.cuDevicePrimaryCtxSetFlags_v2(0, _SLEEP)
        with self._faults():
            runtime.setDevice(0)
            runtime.free(0)  # makes the context, on every version of CUDA
            runtime.malloc(_KEPT)
            self._known: dict[str, Any] = runtime.getDeviceProperties(0)

    def spin(self) -> None:
        """Wait without sleeping from now on: it takes a processor, but being woken takes a while."""
        self._require(self._libcuda.cuCtxSetFlags(_SPIN))

    # what it is

    def properties(self) -> dict[str, Any]:
        """Properties of the device and of the software between it and us, for the record of a run."""
        with self._faults():
            driver_cuda, runtime = self._runtime.driverGetVersion(), self._runtime.runtimeGetVersion()
        return {
            "name": self._known["name"].decode(errors="replace"),
            "uuid": self.uuid,
            "compute_capability": [self._known["major"], self._known["minor"]],
            "driver": driver_version(),
            "driver_cuda": driver_cuda,
            "runtime": runtime,
            "cupy": getattr(sys.modules.get("cupy"), "__version__", ""),
            "numpy": np.__version__,
            "multiprocessors": self._known["multiProcessorCount"],
            "l2_bytes": self.l2_bytes,
            "memory_bytes": self._known["totalGlobalMem"],
        }

    @property
    def uuid(self) -> str:
        """As NVML writes it. From the driver: what CuPy gives ends at the first zero byte."""
        content, number = (ctypes.c_ubyte * 16)(), ctypes.c_int()
        status = self._libcuda.cuDeviceGet(ctypes.byref(number), 0)
        self._require(status or self._libcuda.cuDeviceGetUuid_v2(content, number))
        return f"GPU-{uuid.UUID(bytes=bytes(content))}"

    @property
    def l2_bytes(self) -> int:
        """Bytes of the L2 cache."""
        return int(self._known["l2CacheSize"])

    @cached_property
    def _meter(self) -> Meter:
        return Meter(self.uuid)

    def clocks(self) -> dict[str, float | None] | None:
        """See `nvml.Meter.read`."""
        return self._meter.read()

    # kernels

    def load(self, image: Path) -> int:
        """The module in a cubin, its variables as they are in the file.

        From the driver: CuPy's binding of this call imports all of CuPy, which takes 0.2 s.
        """
        content, module = image.read_bytes(), ctypes.c_void_p()
        self._require(self._libcuda.cuModuleLoadData(ctypes.byref(module), content))
        return module.value or 0

    def unload(self, module: int) -> None:
        """Forget a module."""
        with self._faults():
            self._driver.moduleUnload(module)

    def entry(self, module: int, name: str) -> int:
        """The kernel of this name in a module."""
        with self._faults():
            return int(self._driver.moduleGetFunction(module, name))

    def symbol(self, module: int, name: str) -> int:
        """The address of a module's variable, what `cudaGetSymbolAddress` gives."""
        with self._faults():
            return int(self._driver.moduleGetGlobal(module, name))

    def make_ready(self, function: int) -> None:
        """Have a kernel's code loaded now, and not with its first launch (CUDA's lazy loading)."""
        with self._faults():
            self._driver.funcGetAttribute(self._driver.CU_FUNC_ATTRIBUTE_NUM_REGS, function)

    def function(self, image: Path, entry: str) -> int:
        """The kernel ``entry`` of a cubin, which is loaded once, whatever its kernels, and stays loaded."""
        if image not in self._modules:
            self._modules[image] = self.load(image)
        if (image, entry) not in self._functions:
            self._functions[image, entry] = self.entry(self._modules[image], entry)
        return self._functions[image, entry]

    def resources(self, function: int, threads: int, shared: int) -> dict[str, int]:
        """Resources of a kernel, and how many blocks of ``threads`` a multiprocessor holds at once."""
        driver = self._driver
        attributes = {
            "registers": driver.CU_FUNC_ATTRIBUTE_NUM_REGS,
            "shared_bytes": driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
            "local_bytes": driver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
            "max_threads": driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        }
        with self._faults():
            amounts = {
                name: int(driver.funcGetAttribute(number, function)) for name, number in attributes.items()
            }
        return amounts | {
            "blocks_per_multiprocessor": self.blocks_per_multiprocessor(function, threads, shared)
        }

    def blocks_per_multiprocessor(self, function: int, threads: int, shared: int) -> int:
        """Theoretical occupancy in blocks; 0 where a block does not fit at all."""
        try:
            with self._faults():
                self._allow_shared(function, shared)
                ask = self._driver.occupancyMaxActiveBlocksPerMultiprocessor
                return int(ask(function, threads, shared))
        except DeviceFault:
            return 0

    def _allow_shared(self, function: int, shared: int) -> None:
        """Allow shared memory as a host program does, by `cudaFuncSetAttribute` before such a launch."""
        if shared > SHARED_BYTES:
            attribute = self._driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._driver.funcSetAttribute(function, attribute, shared)

    def launch(
        self,
        function: int,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        arguments: Sequence[np.generic],
        stream: int = 0,
    ) -> None:
        """Launch a kernel; ``arguments`` are NumPy scalars of the widths of its parameters.

        ``stream`` is one of `streams`, or 0 for the default stream. A DeviceFault here means that the launch
        was refused; what the kernel does comes with `synchronize`.
        """
        packed = _packed(arguments)
        with self._faults():
            self._allow_shared(function, shared)
            self.watch.begin()
            try:
                self._driver.launchKernel(function, *grid, *block, shared, stream, packed.address, 0)
            except RuntimeError:
                self.watch.end()
                raise

    def streams(self, count: int) -> list[int]:
        """New streams; what is in them waits for what the default stream was given before."""
        with self._faults():
            return [int(self._runtime.streamCreate()) for _ in range(count)]

    # time

    def events(self) -> tuple[int, int]:
        """Two events, to be recorded again and again."""
        with self._faults():
            return int(self._runtime.eventCreate()), int(self._runtime.eventCreate())

    def record(self, event: int) -> None:
        """Note the time when everything before is done."""
        with self._faults():
            self._runtime.eventRecord(event, 0)

    def between_ms(self, start: int, stop: int) -> float:
        """Milliseconds from one recorded event to another; both must be done."""
        with self._faults():
            return float(self._runtime.eventElapsedTime(start, stop))

    def prepared(
        self,
        function: int,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        arguments: Sequence[np.generic],
    ) -> Callable[[], None]:
        """A launch of which all that can be made ready is, for `elapsed_of_ms`."""
        packed = _packed(arguments)
        numbers = (*grid, *block, shared, 0)
        with self._faults():
            self._allow_shared(function, shared)
        launch = self._driver.launchKernel

        def work() -> None:
            launch(function, *numbers, packed.address, 0)

        return work

    def elapsed_of_ms(self, start: int, stop: int, work: Callable[[], object]) -> float:
        """Milliseconds of what ``work`` asks the device to do."""
        record, runtime = self._runtime.eventRecord, self._runtime
        self.watch.begin()
        try:
            with self._faults():
                record(start, 0)
                work()
                record(stop, 0)
                runtime.eventSynchronize(stop)
                return float(runtime.eventElapsedTime(start, stop))
        finally:
            self.watch.end()

    def sgemm(self, m: int, n: int, k: int, a: int, b: int, c: int) -> Callable[[], None] | None:
        """A call of cuBLAS that multiplies row-major float32 matrices, C = A·B; None where it is missing."""
        try:
            from cupy.cuda import cublas  # noqa: PLC0415 - 0.1 s and more, and only for timing

            handle = cublas.create()
        except (ImportError, RuntimeError):
            return None
        one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
        plain = cublas.CUBLAS_OP_N

        def multiply() -> None:
            # Column-major, as cuBLAS reads them, the three are their transposes: Cᵀ = Bᵀ·Aᵀ.
            factors = (one.ctypes.data, b, n, a, k, zero.ctypes.data, c, n)
            with self._faults():
                cublas.sgemm(handle, plain, plain, n, m, k, *factors)

        return multiply


def _packed(arguments: Sequence[np.generic]) -> PackedArguments:
    """Arguments in memory that stays where it is as long as the result lives."""
    values = [np.asarray(argument) for argument in arguments]
    pointers = np.array([value.ctypes.data for value in values], np.uintp)
    return PackedArguments(pointers.ctypes.data, values, pointers)
