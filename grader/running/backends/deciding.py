"""Choice between outputs where a kernel ran on both: of the GPU where they are defined, else of the emulator.

A race, a value that was never set, or one that is read outside the array that was meant, leaves all that it
reaches undefined: a GPU has another outcome each time, and a grade that cannot be given again cannot be
defended. The emulator runs threads in one order, always the same; so an element of an output that it proves
undefined has the emulator's value, as in a self-check, and what the GPU made of it is a remark. All other
elements have the GPU's value, for that is where a kernel has to be right: a race costs its own item and opens
no door for an output that is wrong for another reason.

Where an undefined value decides what threads do, or threads do not come to a barrier, nothing is defined:
then it is the emulator's word, too, whether the launch ends, and what it does to memory.

Where the order of warps alone makes an output wrong, all of that output is the emulator's (`by_order`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.errors import log_swallowed
from grader.base.memory_limit import limited
from grader.model import Clause, Finding, FindingCode, FindingKind, Severity
from grader.model.compare import compare
from grader.model.messages import remarked
from grader.running.backends import UndefinedOutputs
from grader.simulation.emulator.machine.values import unset

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from grader.model import Launch, Named, Run
    from grader.running.backends import CaseRun, PreparedCase

UNDEFINING = (
    FindingKind.RACE,
    FindingKind.UNINITIALISED,
    FindingKind.BARRIER_DIVERGENCE,
    FindingKind.OUT_OF_BOUNDS,
)
"""The kinds of findings that may leave an output undefined."""

_MARK_BITS = 16
"""Lowest bits of a float that was never set: they give the register that it is."""


def undefined(prepared: PreparedCase, run: Run) -> UndefinedOutputs | None:
    """Undefined outputs of a launch that the emulator followed to its end; None where all is defined."""
    findings = [f for f in run.findings if f.kind in UNDEFINING and f.severity is not Severity.INFO]
    if not findings or isinstance(prepared.launch, Finding):
        return None
    elements = None
    if all(finding.kind is not FindingKind.BARRIER_DIVERGENCE for finding in findings):
        elements = _elements(prepared, prepared.launch, run, findings)
    if elements is not None and not any(mask.any() for _, mask in elements):
        return None
    return UndefinedOutputs(elements, any(map(is_grave, findings)))


def is_grave(finding: Finding) -> bool:
    """True if it is an error for certain: values that some threads had not set may be where any is right."""
    return finding.severity is Severity.ERROR and finding.code is not FindingCode.UNSET_IN_SOME_THREADS


def _elements(
    prepared: PreparedCase, launch: Launch, run: Run, findings: Collection[Finding]
) -> Named[NDArray[np.bool_]] | None:
    races = [finding for finding in findings if finding.kind is FindingKind.RACE]
    lines = {line or 0 for finding in races for line in (finding.line, finding.other_line)}
    try:
        with limited():
            masks = prepared.kernel.undefined(launch, prepared.arguments, lines, prepared.steps)
    except Exception:  # noqa: BLE001 - nothing is known to be defined then
        log_swallowed("looking for what a race reaches")
        return None
    if masks is None or all(f.code is not FindingCode.UNSET_IN_SOME_THREADS for f in findings):
        return masks
    marked = {name: _holds_unset(output) for name, output in run.unoptimised}
    return tuple((name, mask | marked.get(name, False)) for name, mask in masks)


def _holds_unset(output: NDArray[Any]) -> NDArray[np.bool_]:
    """Mask of elements with values that threads had not set, as floats show (`emulator.unset_values`)."""
    size = output.dtype.itemsize
    if output.dtype.kind != "f" or 8 * size <= _MARK_BITS:
        return np.zeros(output.shape, np.bool_)
    kind = np.dtype(f"u{size}")
    high_bits = np.ascontiguousarray(output).view(kind) >> kind.type(_MARK_BITS)
    return np.asarray(high_bits == int(unset(kind)) >> _MARK_BITS, np.bool_)


def decided(emulated: Run, on_device: Run, proved: UndefinedOutputs | None) -> Run:
    """The GPU's run of a launch, with the emulator's values wherever they are proved undefined.

    A launch that the GPU refuses, or that it stops although what threads do is defined, stays as it is.
    """
    if proved is None or not on_device.launched:
        return on_device
    if proved.elements is None:
        return replace(on_device, outputs=emulated.outputs, changed_inputs=(), completed=True)
    values, masks = dict(emulated.outputs), dict(proved.elements)
    outputs = (
        (name, np.where(masks[name], values[name], output) if name in masks else output)
        for name, output in on_device.outputs
    )
    return replace(on_device, outputs=tuple(outputs))


def anew(finding: Finding) -> Finding:
    """Finding of a device or a tool in a launch of which nothing is defined, as a remark."""
    return remarked(replace(finding, severity=Severity.INFO), Clause("decided-anew"))


def by_order(case_run: CaseRun, expected: Mapping[str, tuple[NDArray[Any], NDArray[Any]]]) -> CaseRun:
    """The run with the emulator's outputs wherever the order of the warps alone decides what is right.

    ``expected`` has the values of each output and how far a right one may be from them.
    """
    both, run = case_run.both, case_run.run
    if both is None or (both.proved is not None and both.proved.elements is None):
        return case_run
    emulated = dict(both.emulated)
    ordered = {
        name
        for name, output in run.warp_by_warp
        if name in expected and _depends_on_order(emulated[name], output, *expected[name])
    }
    if not ordered:
        return case_run
    outputs = tuple((name, emulated[name] if name in ordered else output) for name, output in run.outputs)
    before = dict(both.proved.elements or ()) if both.proved else {}
    elements = tuple(
        (name, before.get(name, False) | np.full(output.shape, name in ordered))
        for name, output in both.emulated
    )
    return replace(
        case_run,
        run=replace(run, outputs=outputs),
        both=replace(both, proved=UndefinedOutputs(elements, grave=True)),
    )


def _depends_on_order(
    emulated: NDArray[Any], warp_by_warp: NDArray[Any], values: NDArray[Any], bound: NDArray[Any]
) -> bool:
    """True if an output differs in another order of the warps, and is wrong in one of the two."""
    if emulated.tobytes() == warp_by_warp.tobytes():
        return False
    return any(compare("", output, values, bound).wrong for output in (emulated, warp_by_warp))
