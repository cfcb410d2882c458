"""Sentences for what stops a launch: traps, calls that lead nowhere, variables too large for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Finding

SENTENCES: Mapping[FindingCode, str] = {
    FindingCode.TRAP: "stops the whole launch with a trap (a failed assert, or __trap())",
    FindingCode.ASSERTION: "stops the whole launch: the assertion `{assertion}` does not hold",
    FindingCode.STACK_OVERFLOW: (
        "calls {function} from within itself until the thread's stack is full: does the recursion end?"
    ),
    FindingCode.CALL_OF_OTHER_TYPE: "calls {function} through a pointer to another type",
    FindingCode.CALL_OF_NOTHING: (
        "calls a function at address {address}, where there is none: was the pointer ever set?"
    ),
    FindingCode.BAD_FREE: "frees an address that malloc or new did not give, or that was freed before",
    FindingCode.VARIABLES_TOO_LARGE: (
        "the variables of the file take {bytes:,} bytes of device memory, of {most:,}"
    ),
}
"""What is said of a visible case, by code, with places for the finding's data."""


def sentence(finding: Finding) -> str:
    """One sentence for a stop; KeyError for a finding with another code, or without its data."""
    details = dict(finding.details)
    name = details.pop("function", "")
    return SENTENCES[finding.code].format(**details, function=f"`{name}`" if name else "a function")
