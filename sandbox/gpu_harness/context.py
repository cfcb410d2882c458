"""This process's context on a device: its memory, and its errors. CuPy is given to it, not imported."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from busy_clock import BusyClock
from device_fault import DeviceFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


class Context:
    """The context that ``runtime`` has made. Every method may raise DeviceFault.

    Addresses are plain integers. All work goes to the default stream.
    """

    def __init__(self, driver: Any, runtime: Any) -> None:  # noqa: ANN401 - modules without types
        self._driver, self._runtime = driver, runtime
        self.watch = BusyClock()

    def allocate(self, size: int) -> int:
        """The address of ``size`` new bytes, a multiple of 256; 0 for no bytes."""
        with self._faults():
            return int(self._runtime.malloc(size)) if size else 0

    def free(self, address: int) -> None:
        """Give back what `allocate` gave."""
        with self._faults():
            self._runtime.free(address)

    def upload(self, address: int, array: NDArray[Any]) -> None:
        """Copy an array, contiguous in C order, to the device; waits for what is running."""
        self._memcpy(address, array.ctypes.data, array, self._runtime.memcpyHostToDevice)

    def download(self, address: int, array: NDArray[Any]) -> None:
        """Fill an array, contiguous in C order, from the device; waits for what is running."""
        self._memcpy(array.ctypes.data, address, array, self._runtime.memcpyDeviceToHost)

    def _memcpy(self, to: int, source: int, array: NDArray[Any], kind: int) -> None:
        if not array.flags.c_contiguous:
            raise ValueError("the array is not contiguous")
        if not array.nbytes:
            return
        try:
            with self._faults():
                self._runtime.memcpy(to, source, array.nbytes, kind)
        finally:
            self.watch.end()

    def copy(self, to: int, source: int, size: int) -> None:
        """Copy bytes in the order of the stream; addresses say what is on the device and what on the host."""
        with self._faults():
            self._runtime.memcpyAsync(to, source, size, self._runtime.memcpyDefault, 0)

    def fill(self, address: int, byte: int, size: int) -> None:
        """Set bytes on the device, in the order of the stream."""
        with self._faults():
            self._runtime.memsetAsync(address, byte, size, 0)

    def synchronize(self) -> None:
        """Wait until everything is done; a DeviceFault says what a kernel did."""
        try:
            with self._faults():
                self._runtime.deviceSynchronize()
        finally:
            self.watch.end()

    def reset_persisting_l2(self) -> None:
        """Make lines of L2 that were marked as persisting ordinary ones again."""
        self._require(self._libcuda.cuCtxResetPersistingL2Cache())

    def _require(self, status: int) -> None:
        """Raise DeviceFault for what the driver, asked without CuPy, gives back where it did not do it."""
        if status:
            raise self._fault(self._runtime.CUDARuntimeError(status))

    @cached_property
    def _libcuda(self) -> ctypes.CDLL:
        return ctypes.CDLL("libcuda.so.1")

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Turn CuPy's errors into DeviceFault."""
        try:
            yield
        except RuntimeError as problem:
            raise self._fault(problem) from None

    def _fault(self, problem: RuntimeError) -> DeviceFault:
        """Both of CUDA's interfaces number their errors alike: the runtime's names are for all."""
        status = getattr(problem, "status", None)
        text = str(problem)
        if status is not None:
            named = str(self._runtime.CUDARuntimeError(status))
            text = named if named.startswith("cudaError") else text
        name, separator, message = text.partition(": ")
        return DeviceFault(name, message) if separator else DeviceFault(type(problem).__name__, text)
