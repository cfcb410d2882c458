"""The calls that the device's wrapper makes to CuPy, with a CuPy that only records them."""

from __future__ import annotations

import ctypes
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from device import Device, DeviceFault

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {1: "cudaErrorInvalidValue: invalid argument", 700: "cudaErrorIllegalAddress: an illegal access"}


class RuntimeLikeError(RuntimeError):
    """As CuPy's CUDARuntimeError."""

    def __init__(self, status: int) -> None:
        super().__init__(NAMES.get(status, "unrecognized error code: unrecognized error code"))
        self.status = status


class DriverLikeError(RuntimeError):
    """As CuPy's CUDADriverError."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Listening:
    """The driver and the runtime in one: notes every call; ``raises`` maps a name to what it raises."""

    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
    memcpyHostToDevice = 1  # noqa: N815 - CuPy's name
    memcpyDeviceToHost = 2  # noqa: N815 - CuPy's name
    CUDARuntimeError = RuntimeLikeError

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.raises: dict[str, Exception] = {}
        self.passed: list[bytes] = []
        self.sizes: tuple[int, ...] = ()
        self.statuses: dict[str, int] = {"cuModuleLoadData": 0, "cuCtxSetFlags": 0}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any function of CuPy's
        def call(*arguments: Any) -> int:  # noqa: ANN401 - its arguments
            self.calls.append((name, arguments))
            if name == "launchKernel" and self.sizes:
                pointers = ctypes.cast(arguments[9], ctypes.POINTER(ctypes.c_void_p))
                self.passed = [ctypes.string_at(pointers[at], size) for at, size in enumerate(self.sizes)]
            if name in self.raises:
                raise self.raises[name]
            return self.statuses.get(name, 5)

        return call

    def named(self, name: str) -> list[tuple[Any, ...]]:
        """The arguments of the calls of one function."""
        return [arguments for called, arguments in self.calls if called == name]


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Listening:
    """A CuPy that only listens, in the place of the real one."""
    listening = Listening()
    package = ModuleType("cupy_backends.cuda.api")
    package.__dict__.update(driver=listening, runtime=listening)
    monkeypatch.setitem(sys.modules, "cupy_backends.cuda.api", package)
    monkeypatch.setattr(Device, "_libcuda", listening)
    for name in ("cupy", "cupy.cuda", "cupy_backends", "cupy_backends.cuda"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    return listening


def test_arguments_are_passed_by_their_own_width(cuda: Listening) -> None:
    """The launch gets pointers to the bytes of each scalar."""
    arguments = (np.uintp(0x7F0000001100), np.int32(-2), np.float32(1.5), np.int64(1 << 40), np.uint8(7))
    cuda.sizes = (8, 4, 4, 8, 1)
    Device().launch(3, (4, 5, 6), (7, 8, 9), 16, arguments)
    assert cuda.passed == [argument.tobytes() for argument in arguments]
    (called,) = cuda.named("launchKernel")
    assert called[:9] == (3, 4, 5, 6, 7, 8, 9, 16, 0)
    assert len(called) == 11


def test_much_shared_memory_is_asked_for_as_a_host_program_would(cuda: Listening) -> None:
    """48 KiB come by themselves; one byte more needs the function's attribute."""
    device = Device()
    device.launch(3, (1, 1, 1), (1, 1, 1), 48 * 1024, ())
    assert cuda.named("funcSetAttribute") == []
    device.launch(3, (1, 1, 1), (1, 1, 1), 48 * 1024 + 1, ())
    assert cuda.named("funcSetAttribute") == [(3, 8, 48 * 1024 + 1)]


def test_an_error_of_the_driver_has_the_runtimes_name(cuda: Listening) -> None:
    """Their numbers are the same, and the runtime's names are what students know."""
    cuda.raises["launchKernel"] = DriverLikeError(1, "CUDA_ERROR_INVALID_VALUE: invalid argument")
    with pytest.raises(DeviceFault) as caught:
        Device().launch(3, (1, 1, 1), (1, 1, 1), 0, ())
    assert (caught.value.name, caught.value.message) == ("cudaErrorInvalidValue", "invalid argument")


def test_a_module_is_loaded_by_the_driver_itself(cuda: Listening, tmp_path: Path) -> None:
    """CuPy's binding of this call imports all of CuPy, in each process that a tool watches."""
    (tmp_path / "image").write_bytes(b"a cubin")
    Device().load(tmp_path / "image")
    assert [content for _, content in cuda.named("cuModuleLoadData")] == [b"a cubin"]
    assert cuda.named("moduleLoadData") == []
    cuda.statuses["cuModuleLoadData"] = 209
    with pytest.raises(DeviceFault):
        Device().load(tmp_path / "image")


def test_an_error_that_only_the_driver_knows_keeps_its_name(cuda: Listening) -> None:
    """The runtime would call it unrecognised."""
    cuda.raises["launchKernel"] = DriverLikeError(4711, "CUDA_ERROR_NEW: something new")
    with pytest.raises(DeviceFault, match="CUDA_ERROR_NEW: something new"):
        Device().launch(3, (1, 1, 1), (1, 1, 1), 0, ())


def test_an_error_without_a_number_is_reported_too(cuda: Listening) -> None:
    """Such as a driver that is not installed."""
    cuda.raises["setDevice"] = RuntimeError("there is no libcuda.so.1")
    with pytest.raises(DeviceFault, match=r"RuntimeError: there is no libcuda.so.1"):
        Device()


def test_a_wait_for_the_device_sleeps_until_it_is_set_to_spin(cuda: Listening) -> None:
    """Flags of the context: 4, `CU_CTX_SCHED_BLOCKING_SYNC`, before there is one; 1, `CU_CTX_SCHED_SPIN`."""
    device = Device()
    called = [name for name, _ in cuda.calls]
    assert called[:3] == ["cuInit", "cuDevicePrimaryCtxSetFlags_v2", "setDevice"]
    assert cuda.named("cuDevicePrimaryCtxSetFlags_v2") == [(0, 4)]
    device.spin()
    assert cuda.named("cuCtxSetFlags") == [(1,)]


def test_a_few_bytes_stay_allocated_as_long_as_the_device_is_open(cuda: Listening) -> None:
    """Or the driver gives its memory back with the last array of each launch."""
    Device()
    assert cuda.named("malloc") == [(64,)]
    assert [address for (address,) in cuda.named("free")] == [0]  # which makes the context


def test_the_watch_runs_from_a_launch_until_the_next_wait(cuda: Listening) -> None:
    """Waiting by a copy counts, and so does a wait that ends in a fault."""
    device = Device()
    device.launch(3, (1, 1, 1), (1, 1, 1), 0, ())
    assert device.watch.busy_seconds() > 0
    device.download(4096, np.empty(1, np.float32))
    assert device.watch.busy_seconds() == 0
    device.launch(3, (1, 1, 1), (1, 1, 1), 0, ())
    cuda.raises["deviceSynchronize"] = RuntimeLikeError(700)
    with pytest.raises(DeviceFault, match="cudaErrorIllegalAddress"):
        device.synchronize()
    assert device.watch.busy_seconds() == 0


def test_the_watch_stands_still_after_a_launch_that_was_refused(cuda: Listening) -> None:
    """Nothing runs."""
    device = Device()
    cuda.raises["launchKernel"] = DriverLikeError(1, "CUDA_ERROR_INVALID_VALUE: invalid argument")
    with pytest.raises(DeviceFault):
        device.launch(3, (1, 1, 1), (1, 1, 1), 0, ())
    assert device.watch.busy_seconds() == 0


def test_between_the_events_of_a_timed_launch_lies_nothing_but_the_launch(cuda: Listening) -> None:
    """The call that asks for shared memory comes before the first event."""
    device = Device()
    cuda.calls.clear()
    launch = device.prepared(3, (1, 1, 1), (1, 1, 1), 64 * 1024, (np.int32(1),))
    device.elapsed_of_ms(1, 2, launch)
    called = [name for name, _ in cuda.calls]
    assert called == [
        "funcSetAttribute",
        "eventRecord",
        "launchKernel",
        "eventRecord",
        "eventSynchronize",
        "eventElapsedTime",
    ]


def test_no_bytes_are_neither_allocated_nor_copied(cuda: Listening) -> None:
    """An array without elements has no place."""
    device = Device()
    cuda.calls.clear()
    assert device.allocate(0) == 0
    device.upload(0, np.empty(0, np.float32))
    assert cuda.named("malloc") == cuda.named("memcpy") == []


def test_an_array_in_another_order_is_not_copied(cuda: Listening) -> None:
    """Its bytes are not in the order that a kernel expects."""
    with pytest.raises(ValueError, match="contiguous"):
        Device().upload(4096, np.ones((4, 4), np.float32)[:, 1])
    assert cuda.named("memcpy") == []


@pytest.mark.parametrize("missing", [ImportError("no cuBLAS"), RuntimeError("cuBLAS does not start")])
def test_without_cublas_there_is_no_multiplication(
    cuda: Listening, monkeypatch: pytest.MonkeyPatch, missing: Exception
) -> None:
    """The result is None, both where cuBLAS is not installed and where it does not start."""

    def create() -> int:
        raise missing

    monkeypatch.setitem(sys.modules["cupy.cuda"].__dict__, "cublas", SimpleNamespace(create=create))
    assert Device().sgemm(1, 2, 3, 0, 0, 0) is None
    assert cuda.named("sgemm") == []
