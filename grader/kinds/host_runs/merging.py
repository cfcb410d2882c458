"""Evidence of a case that ran on a GPU and on the emulator, as one.

Results are the GPU's, for that is where a program has to be right. Findings of launches, memory and calls are
the emulator's, and so is all of a case whose results it proves undefined, as in a self-check: a race costs
its own item, once, and the same class has the same points each time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.model import FindingKind
from grader.model.messages import clause
from grader.running.backends.deciding import UNDEFINING, anew, is_grave

if TYPE_CHECKING:
    from grader.model import CaseEvidence

WATCHED = (
    FindingKind.RACE,
    FindingKind.BARRIER_DIVERGENCE,
    FindingKind.UNDEFINED,
    FindingKind.OUT_OF_BOUNDS,
    FindingKind.MISALIGNED,
    FindingKind.UNINITIALISED,
    FindingKind.HOST,
)
"""Kinds of findings that only the emulator can make about a program."""


def merged(case: CaseEvidence, emulated: CaseEvidence, looked_at: frozenset[str]) -> CaseEvidence:
    """A case as it ran on a GPU, with what the emulator alone sees of it.

    ``looked_at`` are the names of the arrays that kernels leave in device memory and items ask for.
    """
    reason = emulated.error or clause(emulated.too_much_work)
    compared_here = {comparison.array for comparison in case.comparisons}
    findings = tuple(
        finding
        for finding in emulated.findings
        if finding.kind in WATCHED
        or (finding.kind is FindingKind.WRONG_OUTPUT and finding.address in looked_at)
    )
    return replace(
        case,
        comparisons=(*case.comparisons, *(c for c in emulated.comparisons if c.array not in compared_here)),
        findings=(*case.findings, *findings),
        question=case.question or emulated.question,
        too_much_work=case.too_much_work or emulated.too_much_work,
        counters=emulated.counters,
        uncounted=reason,
        kernels=emulated.kernels,
        launches=emulated.launches,
        streams=emulated.streams,
        staged_streams=emulated.staged_streams,
        undecided=(*case.undecided, *((str(kind), reason) for kind in WATCHED if reason)),
    )


def is_undefined(emulated: CaseEvidence) -> bool:
    """True if the emulator followed a case whose results are undefined for certain."""
    if emulated.error or emulated.question or emulated.too_much_work:
        return False
    return any(finding.kind in UNDEFINING and is_grave(finding) for finding in emulated.findings)


def decided(on_gpu: CaseEvidence, emulated: CaseEvidence) -> CaseEvidence:
    """A case as it ran on the emulator, with what a GPU made of its undefined results as a remark.

    A race leaves undefined what the host does with its result, too, so all of the case is the emulator's.
    """
    wrong = {comparison.array: comparison.wrong for comparison in on_gpu.comparisons if on_gpu.completed}
    comparisons = tuple(
        replace(comparison, undefined=comparison.total, wrong_on_device=wrong.get(comparison.array))
        for comparison in emulated.comparisons
    )
    remarks = tuple(anew(f) for f in on_gpu.findings if f.kind in (FindingKind.FAULT, FindingKind.TIMEOUT))
    return replace(
        emulated,
        comparisons=comparisons,
        findings=(*emulated.findings, *remarks),
        seconds=on_gpu.seconds,
        baselines=on_gpu.baselines,
    )
