"""Merges the emulator's and the GPU's run of one case.

Outputs are the GPU's, for that is where a kernel has to be right. Counters are the emulator's, for only it
sees every access. Findings are everybody's, each told once with all who saw it (`witnesses`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.gpu.witnesses import SANITIZER, merged
from grader.model import FindingKind, Run

if TYPE_CHECKING:
    from grader.gpu.sanitizer import ToolReport
    from grader.model import Named


@dataclass(frozen=True, slots=True)
class Both:
    """One run of a case to be judged.

    ``uncounted`` says why its counters mean nothing, ``undecided`` which kinds of findings nobody could rule
    out; both are empty where the emulator alone ran it. ``followed`` and ``too_much_work`` as in
    `CaseEvidence`.
    """

    run: Run
    uncounted: str = ""
    undecided: Named[str] = ()
    followed: bool = False
    too_much_work: str = ""


def merge_runs(
    emulated: Run, on_device: Run, index: int, reports: tuple[ToolReport, ...], races: str
) -> Both:
    """One run out of two; ``index`` is the case's number, ``races`` as in `Station`.

    Where the GPU failed us there is nothing to judge. Where the emulator did, the GPU's run stands alone.
    """
    if on_device.error:
        return Both(on_device)
    gave_up = _gave_up(emulated, on_device)
    findings, undecided = merged(
        emulated=None if gave_up else emulated,
        emulator_error=gave_up,
        device=on_device.findings,
        reports=reports,
        index=index,
        mode=races,
    )
    run = replace(on_device, findings=findings)
    if gave_up:
        too_much_work = "" if emulated.error else gave_up
        return Both(run, uncounted=gave_up, undecided=undecided, too_much_work=too_much_work)
    run = replace(
        run,
        counters=emulated.counters,
        lines=emulated.lines,
        printed=emulated.printed,
        unoptimised=emulated.unoptimised,
        warp_by_warp=emulated.warp_by_warp,
        steps=emulated.steps,
        completed=on_device.completed and emulated.completed,
        changed_inputs=tuple(dict.fromkeys((*on_device.changed_inputs, *emulated.changed_inputs))),
    )
    followed = emulated.completed and on_device.launched and races != SANITIZER
    return Both(run, undecided=undecided, followed=followed and not run.completed)


def _gave_up(emulated: Run, on_device: Run) -> str:
    """Why the emulator has no say in this case: it failed, or its budget ended and the GPU's run did not."""
    if emulated.error or emulated.too_much_work:
        return emulated.error or emulated.too_much_work
    timed_out = any(finding.kind is FindingKind.TIMEOUT for finding in emulated.findings)
    if timed_out and not emulated.completed and on_device.completed:
        return "the kernel takes more steps than the emulator follows"
    return ""
