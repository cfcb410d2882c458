"""Mistake that a finding suggests, by its kind and by what else is known of the submission.

A race is read as follows (the emulator's convention): ``hazard`` is second access after first, ``line`` and
``thread`` belong to the second access, ``other_line`` and ``other_thread`` to the first. So in a RAW ``line``
reads what ``other_line`` writes, and in a WAR ``line`` overwrites what ``other_line`` reads. What else is
known of the submission is a `SubmissionContext`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.explaining.mistakes_of_findings import BY_CODE, BY_ENDING, BY_KIND, BY_REMARK
from grader.explaining.table import at_accesses
from grader.model import (
    FindingCode,
    FindingKind,
    Severity,
    SourceRemark,
    Visibility,
)
from grader.simulation.ptx.facts import needs_texture

if TYPE_CHECKING:
    from grader.model import Assignment, Evidence, Finding

OPERANDS = ("a-leading-dimension", "b-leading-dimension")
"""Mistakes that outputs show of the first matrix that is read, and of the second."""


@frozen
class SubmissionContext:
    """Arrays without rows and columns, the mistake that the outputs show, and stores that leave their array.

    Arrays have the names of findings, the student's own. ``vectors`` holds those without rows and columns,
    ``arrays`` all that are parameters, ``shown`` the id of the mistake that most wrong elements show,
    ``misread`` the array whose rows the kernel takes to be of another length, if that is it, ``spilled``
    pairs of an array with rows and a line that stores beyond its end, and ``rewritten`` pairs of an array and
    a line on which several threads store to one element.
    """

    vectors: frozenset[str] = frozenset()
    arrays: frozenset[str] = frozenset()
    shown: str = ""
    misread: str = ""
    spilled: frozenset[tuple[str, int | None]] = frozenset()
    rewritten: frozenset[tuple[str, int | None]] = frozenset()
    missized: frozenset[str] = frozenset()
    """Arrays of which the host has allocated or copied too little, so that kernels are not to blame."""
    allocates: bool = False
    """True if host code of the submission allocates device memory: not all of that belongs to parameters."""


SIZES = frozenset({FindingCode.HOST_ALLOCATED_ELEMENTS, FindingCode.HOST_COPIED_ELEMENTS})
"""Sizes that count elements for bytes: whatever else is wrong with the arrays follows from them."""

NO_CONTEXT = SubmissionContext()
"""Context of which nothing is known."""


def context_of_submission(assignment: Assignment, evidence: Evidence) -> SubmissionContext:
    """All that advice about one item may take from the others, of visible cases alone."""
    shown_cases = tuple(case for case in evidence.cases if case.case.visibility is Visibility.VISIBLE)
    evidence = replace(evidence, cases=shown_cases)
    parameters = tuple(one for one in assignment.parameters if one.direction != "value")
    label = evidence.build.label
    matrices = tuple(parameter for parameter in parameters if len(parameter.extents) > 1)
    shown, output = _most_shown_mistake(evidence)
    read = [parameter.name for parameter in matrices if parameter.direction != "out"]
    arrays = {"output-leading-dimension": output} | dict(zip(OPERANDS, read, strict=False))
    return SubmissionContext(
        vectors=frozenset(label(parameter.name) for parameter in parameters if len(parameter.extents) == 1),
        arrays=frozenset(label(parameter.name) for parameter in parameters if parameter.extents),
        shown=shown,
        misread=label(arrays.get(shown, "")),
        spilled=_lines_storing_beyond(evidence, frozenset(label(parameter.name) for parameter in matrices)),
        rewritten=_lines_of_several_writers(evidence),
        missized=frozenset(
            finding.address
            for case in shown_cases
            for finding in case.findings
            if finding.code in SIZES and finding.severity is Severity.ERROR  # a copy back alters no input
        ),
        allocates=assignment.interface.runs_host_code,
    )


def _most_shown_mistake(evidence: Evidence) -> tuple[str, str]:
    """The mistake that most elements show, and in which output: small shapes look like several."""
    weights: Counter[tuple[str, str]] = Counter()
    for case in evidence.cases:
        for comparison in case.comparisons:
            if comparison.mistake:
                weights[comparison.mistake, comparison.array] += comparison.wrong
    return weights.most_common(1)[0][0] if weights else ("", "")


def _lines_of_several_writers(evidence: Evidence) -> frozenset[tuple[str, int | None]]:
    """Arrays and the lines on which several threads store different values to one element."""
    findings = (finding for case in evidence.cases for finding in case.findings)
    return frozenset(
        (finding.array, finding.line)
        for finding in findings
        if finding.kind is FindingKind.RACE
        and finding.hazard == "WAW"
        and finding.line == finding.other_line
        and finding.severity is not Severity.INFO
    )


def _lines_storing_beyond(evidence: Evidence, matrices: frozenset[str]) -> frozenset[tuple[str, int | None]]:
    """Arrays and the lines that store beyond them."""
    stores = (
        (finding.array, finding.line)
        for case in evidence.cases
        for finding in case.findings
        if finding.kind is FindingKind.OUT_OF_BOUNDS and finding.direction == "store"
    )
    return frozenset((array, line) for array, line in stores if array in matrices)


# --- which mistake a finding suggests ------------------------------------------------------------

ARRAY_NAME = re.compile(r"(?!local$|shared$|0x)[A-Za-z_$][\w$]*$", re.ASCII)
"""The name of an array; the emulator also gives addresses and places."""

NO_MEMORY = frozenset({FindingCode.NULL_POINTER, FindingCode.NUMBER_AS_POINTER})
"""Pointers that no guard helps, where host code of the submission says what they are."""


def mistake_behind(finding: Finding, context: SubmissionContext = NO_CONTEXT) -> str:
    """The id of the mistake, empty where a finding suggests none."""
    if finding.hazard in BY_ENDING:
        return BY_ENDING[finding.hazard]
    if finding.kind is FindingKind.MISTAKE and finding.hazard in BY_REMARK:
        return BY_REMARK[SourceRemark(finding.hazard)]
    if finding.kind is FindingKind.OUT_OF_BOUNDS:
        if finding.code in NO_MEMORY and context.allocates:
            return "pointer-without-memory"
        is_negative = finding.access is not None and min(finding.access.index, default=0) < 0
        return "index-before-start" if is_negative else _out_of_bounds(finding, context)
    if finding.kind is FindingKind.RACE:
        # Which order is missing is not known of a hidden case, whose data could have chosen it.
        return _stored_into_next_row(finding, context) or (_race(finding, context) if finding.hazard else "")
    return BY_CODE.get(finding.code) or _by_kind(finding, context)


def _by_kind(finding: Finding, context: SubmissionContext) -> str:
    """Mistake suggested by the kind of a finding, and by the owner of the memory that it is about."""
    if finding.kind is FindingKind.UNINITIALISED and finding.access and finding.access.space == "local":
        return "local-without-value"
    never_filled = finding.array not in context.arrays and _is_allocated_by_host(finding, context)
    if finding.kind is FindingKind.UNINITIALISED and never_filled:
        return "memory-never-filled"
    if finding.kind is FindingKind.UNSUPPORTED and needs_texture(finding.hazard):
        return "texture-fetch"
    return BY_KIND.get(finding.kind, "")


def _is_allocated_by_host(finding: Finding, context: SubmissionContext) -> bool:
    """True if host code of the submission has allocated what is accessed, or may have."""
    return context.allocates and finding.access is not None and finding.access.space == "global"


def _out_of_bounds(finding: Finding, context: SubmissionContext) -> str:
    """A load or a store that leaves its array; or what the output shows."""
    array, way = finding.array, finding.direction
    named = ARRAY_NAME.match(array) and not _is_allocated_by_host(finding, context)
    if way and named and context.arrays and array not in context.arrays:
        return f"{way}-beyond-own-array"
    if context.shown in at_accesses("sizes-exchanged"):
        return "sizes-exchanged"
    if array in context.vectors and way:
        return f"{way}-beyond-vector"
    if context.shown in at_accesses("guard-exchanged"):
        return "guard-exchanged"
    if way and array and array == context.misread:
        return f"row-length-of-{way}"
    return f"{way or 'access'}-out-of-bounds"


def _stored_into_next_row(finding: Finding, context: SubmissionContext) -> str:
    """A race of a store that also leaves its array: what it stores beyond a row lies in the next one."""
    array = finding.array
    if not context.spilled & {(array, finding.line), (array, finding.other_line)}:
        return ""
    return "guard-exchanged" if context.shown in at_accesses("guard-exchanged") else "store-into-next-row"


def _race(finding: Finding, context: SubmissionContext) -> str:
    """Mistake behind a race: the order of accesses that is missing."""
    same = finding.line is not None and finding.line == finding.other_line
    if finding.other_block is not None and finding.other_block != finding.block:
        return "race-between-blocks"
    rewritten = bool(context.rewritten & {(finding.array, finding.line), (finding.array, finding.other_line)})
    of_several_writers = rewritten or finding.hazard == "WAW"
    if finding.severity is Severity.WARNING and not (same and of_several_writers):
        return "race-inside-warp"
    if finding.hazard == "WAW":
        return _stores(same=same or finding.line is None, context=context)
    if rewritten:
        return "unsynchronised-update"  # no barrier helps where several threads store to one element
    return "update-in-place" if same else _barrier(finding)


def _barrier(finding: Finding) -> str:
    """Mistake behind a race of a read and a write on different lines: the barrier that is missing."""
    if finding.hazard == "RAW":
        return "barrier-before-reading"
    return "barrier-before-overwriting" if _is_in_a_loop(finding) else "barrier-between"


def _stores(*, same: bool, context: SubmissionContext) -> str:
    """Two stores to one element, on the same line or not."""
    if not same:
        return "barrier-between-stores"
    return "store-into-next-row" if context.shown in at_accesses("store-into-next-row") else "two-writers"


def _is_in_a_loop(finding: Finding) -> bool:
    """True if the second access stands above the first: then a loop lies between them."""
    return finding.line is None or finding.other_line is None or finding.line < finding.other_line
