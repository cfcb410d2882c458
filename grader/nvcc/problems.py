"""What is wrong with a file, where the compiler has no words for it: a code of ours with its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.messages import worded
from grader.model import Clause, Finding, FindingKind

if TYPE_CHECKING:
    from grader.model import Detail, FindingCode


def problem(code: FindingCode, file: str = "", line: int | None = None, **details: Detail) -> Finding:
    """The finding of a code, with its sentence; whoever knows its place may add it."""
    finding = Finding(FindingKind.COMPILE, file=file, line=line, code=code, details=tuple(details.items()))
    return worded(finding)


def part(name: str, /, **values: Detail) -> tuple[Clause, ...]:
    """A part of a sentence, as the data of a finding hold it."""
    return (Clause(name, tuple(values.items())),)
