"""What the harness says of a launch → a `Run` with its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.errors import OurError
from grader.gpu import WITNESS
from grader.gpu.answer import read_array
from grader.gpu.request import SECONDS, output_file
from grader.model import Finding, FindingCode, FindingKind, Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grader.gpu.answer import AnsweredCase, Outside
    from grader.gpu.request import DeviceCase
    from grader.model import Named
    from grader.sandbox import Result


def run_of(case: DeviceCase, answered: AnsweredCase | None, result: Result, file: str) -> Run:
    """The run of one case; ``file`` is the student's, for findings. A failure of ours is in its ``error``."""
    if answered is None:
        return Run(completed=False, error="the harness on the GPU did not come to this case")
    if answered.state == "lost":
        return Run(completed=False, error=f"the process on the GPU was lost: {answered.message}")
    stopped = _stopped(answered, file)
    outside = tuple(_written_outside(each, case, file) for each in answered.outside)
    if stopped is not None:
        launched = answered.state != "refused"
        return Run(findings=(*outside, stopped), completed=False, launched=launched, seconds=answered.seconds)
    try:
        outputs = _outputs(case, result)
    except OurError as problem:
        return Run(completed=False, error=str(problem))
    names = {argument.name for argument in case.arguments}
    changed = tuple(name for name in answered.changed if name in names)
    return Run(outputs=outputs, changed_inputs=changed, findings=outside, seconds=answered.seconds)


def _stopped(answered: AnsweredCase, file: str) -> Finding | None:
    """The finding for a launch that did not come to its end."""
    said = f"{answered.message} ({answered.error})" if answered.error else answered.message
    if answered.state == "timeout":
        message = (
            f"the kernel did not end within {SECONDS['case']:.0f} s on the GPU and was stopped; look for a "
            "loop whose condition stays true, or a barrier that some threads never reach"
        )
        code = FindingCode.DEVICE_TIMEOUT
        return Finding(FindingKind.TIMEOUT, message, file=file, witnesses=(WITNESS,), code=code)
    if answered.state == "refused":
        message, code = f"the GPU refused the launch: {said}", FindingCode.LAUNCH_REFUSED
        return Finding(FindingKind.FAULT, message, file=file, witnesses=(WITNESS,), code=code)
    if answered.state == "fault":
        message, code = f"the GPU stopped the kernel: {said}", FindingCode.DEVICE_STOPPED
        return Finding(FindingKind.FAULT, message, file=file, witnesses=(WITNESS,), code=code)
    return None


def _written_outside(found: Outside, case: DeviceCase, file: str) -> Finding:
    """A red zone was written to; nobody saw which line did it."""
    arrays = {a.name: (a.label, a.value.size) for a in case.arguments if isinstance(a.value, np.ndarray)}
    array, size = arrays.get(found.array, ("an array", 0))
    where = "before" if found.element < 0 else "beyond"
    times = f", and {found.count - 1} more" if found.count > 1 else ""
    message = (
        f"wrote {where} the {size} elements of {array}: at element {found.element}{times}; "
        "check the index against the array's size before storing"
    )
    return Finding(
        FindingKind.OUT_OF_BOUNDS,
        message,
        file=file,
        address=f"{array}[{found.element}]",
        count=max(1, found.count),
        witnesses=(WITNESS,),
        code=FindingCode.WRITTEN_AROUND_ARRAY,
    )


def _outputs(case: DeviceCase, result: Result) -> Named[NDArray[Any]]:
    arrays: Iterable[tuple[str, NDArray[Any]]] = (
        (a.name, a.value)
        for a in case.arguments
        if a.direction in ("out", "inout") and isinstance(a.value, np.ndarray)
    )
    return tuple((name, read_array(result, output_file(case.index, name), like)) for name, like in arrays)
