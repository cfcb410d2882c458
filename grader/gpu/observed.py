"""What the harness says of a launch → a `Run` with its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.errors import OurError
from grader.gpu import WITNESS
from grader.gpu.answer import read_array
from grader.gpu.request import SECONDS, output_file
from grader.messages import worded
from grader.model import Clause, Finding, FindingCode, FindingKind, Run

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
    outside = tuple(_written_outside(hit, case, file) for hit in answered.outside)
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
    if answered.state not in _STOPS:
        return None
    kind, code = _STOPS[answered.state]
    reason = f"{answered.message} ({answered.error})" if answered.error else answered.message
    details = (("reason", reason),)
    if kind is FindingKind.TIMEOUT:
        details = (("seconds", f"{SECONDS['case']:.0f}"),)
    return worded(Finding(kind, file=file, witnesses=(WITNESS,), code=code, details=details))


_STOPS = {
    "timeout": (FindingKind.TIMEOUT, FindingCode.DEVICE_TIMEOUT),
    "refused": (FindingKind.FAULT, FindingCode.LAUNCH_REFUSED),
    "fault": (FindingKind.FAULT, FindingCode.DEVICE_STOPPED),
}
"""States of a launch that did not come to its end."""


def _written_outside(hit: Outside, case: DeviceCase, file: str) -> Finding:
    """A red zone was written to; nobody saw which line did it."""
    arrays = {a.name: (a.label, a.value.size) for a in case.arguments if isinstance(a.value, np.ndarray)}
    array, size = arrays.get(hit.array, ("an array", 0))
    more = (Clause("and-more", (("number", hit.count - 1),)),) if hit.count > 1 else ()
    details = (
        ("side", (Clause("before-array" if hit.element < 0 else "beyond-array"),)),
        ("elements", size),
        ("index", hit.element),
        ("more", more),
    )
    finding = Finding(
        FindingKind.OUT_OF_BOUNDS,
        file=file,
        address=f"{array}[{hit.element}]",
        count=max(1, hit.count),
        witnesses=(WITNESS,),
        code=FindingCode.WRITTEN_AROUND_ARRAY,
        details=details,
    )
    return worded(finding)


def _outputs(case: DeviceCase, result: Result) -> Named[NDArray[Any]]:
    arrays: Iterable[tuple[str, NDArray[Any]]] = (
        (a.name, a.value)
        for a in case.arguments
        if a.direction in ("out", "inout") and isinstance(a.value, np.ndarray)
    )
    return tuple((name, read_array(result, output_file(case.index, name), like)) for name, like in arrays)
