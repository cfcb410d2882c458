"""Limits of the device: limits that a program may set, and launches that are refused for exceeding them.

The configuration of a launch is ``<<<grid, block, shared memory>>>``. Its limits come from the CUDA C++
guide, "Technical Specifications per Compute Capability".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from grader.model import MOST_IN_BLOCK, MOST_IN_GRID, MOST_THREADS, Launch
from grader.running.device.copies import DONE, REFUSED, Reply
from grader.running.device.device import MOST_PRINTED, PRINTED_BYTES
from grader.running.device.errors import CudaError
from grader.running.device.memory import PAGE
from grader.running.device.protocol import ProtocolError
from grader.simulation.emulator.machine.geometry import SMS
from grader.simulation.emulator.memory.memory import HEAP_BYTES

if TYPE_CHECKING:
    from grader.running.device.device import Device, LoadedKernel
    from grader.running.device.requests import LaunchKernel, SetLimit

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
    limit = min(message.value, device.memory.limit)
    device.memory.heap_bytes = max(HEAP_BYTES, -(-limit // PAGE) * PAGE)
    return CudaError.SUCCESS


def reset_limits(device: Device) -> None:
    """Put the device's own limits back to what they are at the start."""
    device.memory.heap_bytes, device.memory.heap = HEAP_BYTES, None
    device.most_printed = PRINTED_BYTES


class Refusal(NamedTuple):
    """Error that a launch which never ran returns, and the reason of the refusal, as a word."""

    code: CudaError
    reason: str


def launch_of(request: LaunchKernel) -> Launch:
    """The launch that a program asks for."""
    return Launch(
        (request.grid_x, request.grid_y, request.grid_z),
        (request.block_x, request.block_y, request.block_z),
        request.shared_bytes,
    )


def refused(kernel: LoadedKernel, request: LaunchKernel, shared_limit: int) -> Refusal | None:
    """Refusal of a launch of a kernel by a device; None if it is not refused.

    ``shared_limit`` is the most bytes of dynamic shared memory that the kernel may ask for.
    """
    launch = launch_of(request)
    reason = _reason(launch, shared_limit, kernel.most_threads)
    if reason:
        return Refusal(CudaError.INVALID_VALUE, reason)
    if request.cooperative and not _fits_at_once(kernel, launch):
        return Refusal(CudaError.COOPERATIVE_LAUNCH_TOO_LARGE, "cooperative")
    return None


def _reason(launch: Launch, shared_limit: int, most_threads: int) -> str:
    if 0 in launch.grid or 0 in launch.block:
        return "nothing"
    threads = math.prod(launch.block)
    if threads > MOST_THREADS:
        return "threads"
    if threads > most_threads:
        return "bounds"
    if any(extent > most for extent, most in zip(launch.block, MOST_IN_BLOCK, strict=True)):
        return "block"
    if any(extent > most for extent, most in zip(launch.grid, MOST_IN_GRID, strict=True)):
        return "grid"
    return "shared" if launch.shared_bytes > shared_limit else ""


def _fits_at_once(kernel: LoadedKernel, launch: Launch) -> bool:
    """True if a device holds all blocks of a launch at once, so that they may wait for each other."""
    blocks = kernel.resident_blocks(math.prod(launch.block), launch.shared_bytes)
    return math.prod(launch.grid) <= SMS * blocks


def shape(launch: Launch) -> tuple[tuple[str, int | str], ...]:
    """A configuration as the details of a mistake."""
    extents = {"grid": launch.grid, "block": launch.block}
    texts = tuple((name, ", ".join(map(str, extent))) for name, extent in extents.items())
    return (*texts, ("shared_bytes", launch.shared_bytes))
