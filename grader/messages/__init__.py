"""Sentences about findings, made of their codes and data in one place.

The emulator and the reader of compute-sanitizer say what is wrong as a code with its data
(`grader.model.Finding`); `sentence` says it to people, before a finding leaves them. No stage reads a
sentence back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.messages import faults, memory, races

if TYPE_CHECKING:
    from grader.model import Finding

__all__ = ["sentence", "worded"]


def sentence(finding: Finding) -> str:
    """What a finding says, in lower case and without a full stop; empty where its code has no sentence."""
    if finding.code in memory.SENTENCES:
        return memory.sentence(finding)
    if finding.code in faults.SENTENCES:
        return faults.sentence(finding)
    return races.sentence(finding) if finding.code in races.MISSING else ""


def worded(finding: Finding) -> Finding:
    """The finding with its sentence, if it has none yet."""
    return finding if finding.message else replace(finding, message=sentence(finding))
