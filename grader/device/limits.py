"""Limits that a program may set: of the device, and of the dynamic shared memory of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.device.copies import DONE, REFUSED, Reply
from grader.device.device import MOST_PRINTED, PRINTED_BYTES
from grader.device.errors import CudaError
from grader.device.memory import PAGE
from grader.device.protocol import ProtocolError
from grader.emulator.memory.memory import HEAP_BYTES

if TYPE_CHECKING:
    from grader.device.device import Device
    from grader.device.requests import SetLimit

_KERNEL_LIMIT = 0x8000_0000
MOST_DYNAMIC_SHARED, MOST_DYNAMIC_SHARED_OPT_IN = 48 << 10, 163 << 10

_STACK_LIMIT, _PRINTF_LIMIT, _HEAP_LIMIT = 0, 1, 2
"""``cudaLimit``."""

_MOST_STACK = 512 << 10
"""Local memory of a thread (CUDA C++ guide, compute capability 8.0)."""


def set_limit(device: Device, message: SetLimit, caller: int) -> Reply:
    """A limit of the device or of a kernel."""
    del caller
    if not message.which & _KERNEL_LIMIT:
        return _set_limit_of_device(device, message), b""
    kernel = message.which & ~_KERNEL_LIMIT
    if kernel >= len(device.launches.kernels):
        raise ProtocolError(f"there is no kernel {kernel}")
    if message.value > MOST_DYNAMIC_SHARED_OPT_IN:
        return REFUSED
    device.shared_limits[kernel] = message.value
    return DONE


def _set_limit_of_device(device: Device, message: SetLimit) -> CudaError:
    """``cudaDeviceSetLimit``: a device makes more of what is small, and takes what is more than it has."""
    if message.which == _PRINTF_LIMIT:
        device.most_printed = max(PRINTED_BYTES, min(message.value, MOST_PRINTED))
        return CudaError.SUCCESS
    if message.which == _STACK_LIMIT:
        return CudaError.SUCCESS if message.value <= _MOST_STACK else CudaError.INVALID_VALUE
    if message.which != _HEAP_LIMIT:
        return CudaError.SUCCESS
    if device.memory.heap is not None:
        return CudaError.INVALID_VALUE
    asked = min(message.value, device.memory.limit)
    device.memory.heap_bytes = max(HEAP_BYTES, -(-asked // PAGE) * PAGE)
    return CudaError.SUCCESS


def reset_limits(device: Device) -> None:
    """Put the device's own limits back to what they are at the start."""
    device.memory.heap_bytes, device.memory.heap = HEAP_BYTES, None
    device.most_printed = PRINTED_BYTES
