"""What a launch that came to no good end gives the host when it waits for the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.device.errors import CudaError
from grader.model import FindingKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Finding, Run

_ENDS: Mapping[str, CudaError] = {
    "assertion": CudaError.ASSERT,
    "trap": CudaError.LAUNCH_FAILURE,
    "stack-overflow": CudaError.HARDWARE_STACK_ERROR,
    "never-ends": CudaError.LAUNCH_TIMEOUT,
    "block-hangs": CudaError.LAUNCH_TIMEOUT,
}
"""What a launch that stops with a finding of this code gives the host."""


def code_of(run: Run) -> CudaError:
    """What the host is told of a launch when it waits for it."""
    codes = [_ENDS[str(finding.code)] for finding in run.findings if str(finding.code) in _ENDS]
    if codes and not run.completed:
        return codes[0]
    if run.too_much_work:
        return CudaError.LAUNCH_TIMEOUT
    if any(_far(finding) for finding in run.findings):
        return CudaError.ILLEGAL_ADDRESS
    if any(finding.kind is FindingKind.MISALIGNED for finding in run.findings):
        return CudaError.MISALIGNED_ADDRESS
    return CudaError.SUCCESS


def _far(finding: Finding) -> bool:
    """Whether an access goes where a device has no memory; one just beyond an array it does not notice."""
    return finding.kind is FindingKind.OUT_OF_BOUNDS and str(finding.code) in (
        "null-pointer",
        "stray-pointer",
        "number-as-pointer",
        "no-array",
        "unset-pointer",
    )
