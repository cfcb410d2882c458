"""What a kind is asked for where speed is estimated without a GPU, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.errors import ToolMissing
from grader.estimate import NotEstimatedError, device_of
from grader.nvcc import machine_code

if TYPE_CHECKING:
    from concurrent.futures import Future

    from grader.estimate.estimate import EstimatedKernel
    from grader.model import Assignment, Build, KernelEstimate, TimingPlan
    from grader.nvcc import MachineCode, Tools


@dataclass(frozen=True, slots=True)
class EstimateRequest:
    """What files of an assignment are estimated for: a shape with its inputs, and a device by its key."""

    assignment: Assignment
    seed: int
    timing: TimingPlan
    tools: Tools
    device: str


@dataclass(frozen=True, slots=True)
class Estimated:
    """What a file takes, and the launch that takes most of it, as it was simulated.

    The launch is made ``times`` times, and for each of them ``others_us`` microseconds go to everything else.
    """

    estimate: KernelEstimate
    longest: EstimatedKernel
    times: int = 1
    others_us: float = 0.0


def code_for(tools: Tools, built: Build, device: str) -> MachineCode:
    """The machine code of a build for a device; raises ToolMissing and OurError as `machine_code` does."""
    return machine_code(tools, built.ptx, device_of(device).architecture)


def code_of(request: EstimateRequest, built: Build, code: Future[MachineCode] | None) -> MachineCode:
    """The machine code of ``code``, or made here; raises NotEstimatedError where nothing reads it."""
    try:
        return code.result() if code else code_for(request.tools, built, request.device)
    except ToolMissing as problem:
        raise NotEstimatedError("no-disassembler") from problem
