"""Request to a kind to estimate speed without a GPU, and its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.base.errors import ToolMissing
from grader.base.records import frozen
from grader.running.estimate import NotEstimatedError, device_of
from grader.toolchain.nvcc import machine_code

if TYPE_CHECKING:
    from concurrent.futures import Future

    from grader.model import Assignment, Build, KernelEstimate, TimingPlan
    from grader.running.estimate.estimate import EstimatedKernel
    from grader.toolchain.nvcc import MachineCode, Tools


@frozen
class EstimateRequest:
    """Target of an estimate of an assignment's files: a shape with its inputs, and a device by its key."""

    assignment: Assignment
    seed: int
    timing: TimingPlan
    tools: Tools
    device: str


@frozen
class Estimated:
    """Estimated time of a file, and the launch that takes most of it, as it was simulated.

    The launch is made ``times`` times, and for each of them ``others_us`` microseconds go to everything else.
    ``compared`` is the number of elements of its results that were compared and are right.
    """

    estimate: KernelEstimate
    longest: EstimatedKernel
    times: int = 1
    others_us: float = 0.0
    compared: int = 0


def code_for(tools: Tools, built: Build, device: str) -> MachineCode:
    """The machine code of a build for a device; raises ToolMissing and OurError as `machine_code` does."""
    return machine_code(tools, built.ptx, device_of(device).architecture)


def code_of(request: EstimateRequest, built: Build, code: Future[MachineCode] | None) -> MachineCode:
    """The machine code of ``code``, or made here; raises NotEstimatedError where nothing reads it."""
    try:
        return code.result() if code else code_for(request.tools, built, request.device)
    except ToolMissing as problem:
        raise NotEstimatedError("no-disassembler") from problem
