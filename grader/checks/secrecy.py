"""What an item's check may know of hidden cases, so that no message of it can tell what they hold.

A kernel chooses by its data on which line, in which of its own arrays, how often and with which words it
fails. Whoever hands in a file with a race of its own line for each value of M learns every hidden M from
the lines. So of a finding of a hidden case the kind and the assignment's array are left, and of each pair of
them one; of an error of ours, that there was one; of a wrong output, that it is wrong. An item that says
``hidden_lines: true`` keeps the lines and the named mistakes, and tells students as much.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.checks.cases import is_visible
from grader.messages import text_of
from grader.messages.hidden import PLACES
from grader.model import SEVERITIES, Evidence, Finding, FindingKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.checks.check import Check
    from grader.model import CaseEvidence

PROGRAM = "program"
"""The hazard of a hidden finding about how the program ended: that it did, and not how."""


def visible_evidence(check: Check, evidence: Evidence) -> Evidence:
    """The evidence as a check may see it; verdicts do not depend on what is left out."""
    if check.shows_hidden_lines:
        return evidence
    arrays = (*evidence.array_parameters, *check.arrays)
    cases = tuple(case if is_visible(case) else _veiled(case, arrays) for case in evidence.cases)
    return replace(evidence, cases=cases)


def _veiled(case: CaseEvidence, arrays: tuple[str, ...]) -> CaseEvidence:
    """A hidden case without anything that the student's code could have chosen by the case's data.

    Of an error nothing is told but that there was one: its text names instructions that the kernel chose.
    """
    hidden_error = text_of("grader-error-hidden")
    return replace(
        case,
        findings=_kinds_and_arrays(case.findings, arrays),
        comparisons=tuple(
            replace(c, explanation="", mistake="", hint="", label="") for c in case.comparisons
        ),
        error=hidden_error if case.error else "",
        undecided=tuple((kind, hidden_error) for kind, _ in case.undecided),
    )


def _kinds_and_arrays(findings: Iterable[Finding], arrays: tuple[str, ...]) -> tuple[Finding, ...]:
    """A finding for each kind and array, as severe as the gravest of them, in an order of their own."""
    gravest: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        address = finding.array if finding.array in (*arrays, *PLACES) else ""
        ended = bool(finding.hazard) and finding.kind in (FindingKind.FAULT, FindingKind.TIMEOUT)
        veiled = Finding(
            finding.kind, address=address, severity=finding.severity, hazard=PROGRAM if ended else ""
        )
        previous = gravest.setdefault((finding.kind, address), veiled)
        if SEVERITIES.index(veiled.severity) > SEVERITIES.index(previous.severity):
            gravest[finding.kind, address] = veiled
    return tuple(gravest[key] for key in sorted(gravest))
