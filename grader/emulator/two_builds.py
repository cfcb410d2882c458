"""Merges the runs of two builds: the -O0 build, in which hazards show, and the graded default build.

The optimiser merges stores, and with them races vanish; so hazards are looked for in the -O0 build first. Yet
what it may assume (that no signed sum overflows, that an index is in range, that an assumption holds) the
-O0 build does not, and a file can be two programs. So the default build is looked at for hazards as well, and
what the two did is compared: threads pass as many barriers, and the default build stores no more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.messages import remarked, worded
from grader.model import SEVERITIES, Clause, Finding, FindingCode, FindingKind, Severity
from grader.ptx import Register

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import Run
    from grader.ptx import Instruction, Module

_STRONG = {"volatile", "relaxed", "acquire", "acq_rel", "sc"}
_CLOCKS = ("%clock", "%globaltimer")


def merge_runs(hazards: Run, graded: Run, *, steady: bool, file: str) -> Run:
    """Outputs and counters of the graded run; the findings of both, each kind and line once.

    ``steady`` tells that a thread's way does not depend on who comes first, so that both runs must take it.
    """
    gravest = _gravest_of_kinds(hazards.findings)
    # The optimiser moves lines about: what the -O0 build already shows of a kind is not told again, unless it
    # is graver. And it computes ahead with what is not set yet, to throw it away: that the -O0 build tells.
    only_graded = [
        _of_optimised(finding)
        for finding in graded.findings
        if SEVERITIES.index(finding.severity) > gravest.get(finding.kind, -1)
        and finding.kind is not FindingKind.UNINITIALISED
    ]
    findings = (*hazards.findings, *only_graded)
    if steady and graded.completed and is_clean(findings):
        findings = (*findings, *_differences(hazards, graded, file))
    return replace(
        graded,
        findings=findings,
        changed_inputs=tuple(dict.fromkeys((*graded.changed_inputs, *hazards.changed_inputs))),
        seconds=hazards.seconds + graded.seconds,
        unoptimised=hazards.outputs,
    )


def _gravest_of_kinds(findings: Iterable[Finding]) -> dict[FindingKind, int]:
    """How grave the gravest finding of each kind is, as its place in `SEVERITIES`."""
    gravest: dict[FindingKind, int] = {}
    for finding in findings:
        gravest[finding.kind] = max(gravest.get(finding.kind, 0), SEVERITIES.index(finding.severity))
    return gravest


def is_clean(findings: Iterable[Finding]) -> bool:
    """Whether findings are remarks at most, behind which nothing else may hide."""
    return all(finding.severity is Severity.INFO for finding in findings)


def _of_optimised(finding: Finding) -> Finding:
    if finding.kind is FindingKind.RACE:
        return remarked(finding, Clause("when-optimised"))
    return finding


def _differences(hazards: Run, graded: Run, file: str) -> list[Finding]:
    """What the optimiser does not explain: it removes stores, but adds none, and leaves barriers alone."""
    before, after = hazards.counters, graded.counters
    if after.barriers != before.barriers:
        return [_undefined("barriers-differ", after.barriers, before.barriers, file)]
    if after.global_store_bytes > before.global_store_bytes:
        return [_undefined("stores-differ", after.global_store_bytes, before.global_store_bytes, file)]
    return []


def _undefined(difference: str, graded: int, unoptimised: int, file: str) -> Finding:
    part = Clause(difference, (("graded", graded), ("unoptimised", unoptimised)))
    details = (("difference", (part,)),)
    finding = Finding(FindingKind.UNDEFINED, file=file, code=FindingCode.BUILDS_DIFFER, details=details)
    return worded(finding)


def is_steady(module: Module) -> bool:
    """Whether nothing in a module can make a thread's way depend on which thread comes first, or on time."""
    return not any(_may_vary(instruction) for function in module.functions for instruction in function.body)


def _may_vary(instruction: Instruction) -> bool:
    if instruction.opcode == "ld":
        return not _STRONG.isdisjoint(instruction.modifiers)
    if instruction.opcode == "mov":
        return any(
            isinstance(operand, Register) and operand.name.startswith(_CLOCKS)
            for operand in instruction.operands
        )
    return instruction.opcode in ("atom", "activemask", "mbarrier")
