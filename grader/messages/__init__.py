"""Sentences about findings, made of their codes and data in one place.

The emulator and the readers of a device's answers say what is wrong as a code with its data
(`grader.model.Finding`); `sentence` says it to people, before a finding leaves them. No stage reads a
sentence back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.messages.sentences import ENGLISH, Sentences

if TYPE_CHECKING:
    from grader.model import Clause, Finding

__all__ = ["ENGLISH", "Sentences", "clause", "remarked", "sentence", "worded"]


def sentence(finding: Finding) -> str:
    """What a finding says, in lower case and without a full stop; empty where its code has no sentence."""
    return ENGLISH.sentence(finding)


def worded(finding: Finding) -> Finding:
    """The finding with its sentence, if it has none yet."""
    return finding if finding.message else ENGLISH.worded(finding)


def remarked(finding: Finding, remark: Clause) -> Finding:
    """The finding with a remark around its sentence."""
    return ENGLISH.remarked(finding, remark)


def clause(part: Clause) -> str:
    """The text of a part of a sentence."""
    return ENGLISH.clause(part)
