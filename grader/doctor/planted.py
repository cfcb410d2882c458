"""A kernel with a race that we planted: compiled in a sandbox, run on the emulator, and the race demanded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.errors import OurError
from grader.model import Argument, FindingKind, KernelInterface, Launch, Parameter, Submission
from grader.nvcc import build

if TYPE_CHECKING:
    from grader.nvcc import Toolchain
    from grader.sandbox import Sandbox

_PLANTED = b"""
extern "C" __global__ void planted(int *out) {
    __shared__ int cell[64];
    cell[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = cell[63 - threadIdx.x];
}
"""


def find_planted_race(toolchain: Toolchain, sandbox: Sandbox) -> None:
    """Raise OurError unless the kernel compiles in the sandbox and its race is found where it is."""
    import numpy as np  # noqa: PLC0415 - takes long to load

    from grader.backends.emulated_kernel import EmulatedKernel  # noqa: PLC0415 - the same

    interface = KernelInterface("planted", (Parameter("out", "out", "int32"),), (), (), ())
    submission = Submission("planted", "planted.cu", _PLANTED, "")
    built = build(submission, interface, sandbox=sandbox, toolchain=toolchain, cache=None)
    if not built.ok:
        reasons = "; ".join(finding.message for finding in built.findings) or built.error
        raise OurError(f"a known-good kernel does not compile: {reasons}")
    kernel = EmulatedKernel(built, built.source_name, "planted.cu")
    argument = Argument("out", "out", np.zeros(64, np.int32))
    result = kernel.launch(Launch((1, 1, 1), (64, 1, 1)), (argument,))
    races = [finding for finding in result.findings if finding.kind is FindingKind.RACE]
    if len(races) != 1 or (races[0].line, races[0].other_line) != (5, 4):
        raise OurError("a planted race was not found where it is; do not grade with this installation")
