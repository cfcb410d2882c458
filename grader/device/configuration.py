"""The configuration of a launch, ``<<<grid, block, shared memory>>>``: what a device refuses of it.

Limits are those of the CUDA C++ guide, "Technical Specifications per Compute Capability".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from grader.device.errors import CudaError
from grader.emulator.machine.geometry import SMS
from grader.model import MOST_IN_BLOCK, MOST_IN_GRID, MOST_THREADS, Launch

if TYPE_CHECKING:
    from grader.device.device import LoadedKernel
    from grader.device.requests import LaunchKernel


class Refusal(NamedTuple):
    """What a program is told of a launch that never ran, and why that is so, as a word."""

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
    """Why a device refuses a launch of a kernel; None if it does not.

    ``shared_limit`` is how many bytes of dynamic shared memory the kernel may ask for.
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
    """Whether a device holds all blocks of a launch at once, so that they may wait for each other."""
    blocks = kernel.resident_blocks(math.prod(launch.block), launch.shared_bytes)
    return math.prod(launch.grid) <= SMS * blocks


def shape(launch: Launch) -> tuple[tuple[str, int | str], ...]:
    """A configuration as the details of a mistake."""
    extents = {"grid": launch.grid, "block": launch.block}
    texts = tuple((name, ", ".join(map(str, extent))) for name, extent in extents.items())
    return (*texts, ("shared_bytes", launch.shared_bytes))
