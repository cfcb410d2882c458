"""Words that all records share: verdicts, kinds of findings, and the finding itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Dim3: TypeAlias = tuple[int, int, int]
"""x, y, z, as CUDA orders them."""

Named: TypeAlias = tuple[tuple[str, T], ...]
"""An immutable mapping: pairs of name and value, in the order of the assignment."""


class Verdict(StrEnum):
    """What became of a rubric item, a case or a whole grade."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    SKIP = "skip"
    """Could not be evaluated here (a speedup without a GPU); its points are shown apart."""
    ERROR = "error"
    """Ours: never counts against the student."""


class Visibility(StrEnum):
    """Who may see a case or an item, and from when."""

    VISIBLE = "visible"
    HIDDEN = "hidden"
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"


class FindingKind(StrEnum):
    """The `kind` of a finding, as written to grade.json."""

    COMPILE = "compile"
    WRONG_OUTPUT = "wrong-output"
    RACE = "race"
    OUT_OF_BOUNDS = "out-of-bounds"
    MISALIGNED = "misaligned"
    UNINITIALISED = "uninitialised"
    BARRIER_DIVERGENCE = "barrier-divergence"
    FAULT = "fault"
    TIMEOUT = "timeout"
    SLOW = "slow"
    TRAFFIC = "traffic"
    MISTAKE = "mistake"
    STRUCTURE = "structure"
    ANSWER = "answer"
    UNDEFINED = "undefined"
    UNSUPPORTED = "unsupported"
    """An instruction that the student wrote by hand and that is not interpreted; ``hazard`` names it."""


class SourceRemark(StrEnum):
    """The ``hazard`` of what a build finds in the student's text alone."""

    CONSTANT = "constant"
    """A constant that the assignment does not allow."""
    ONE_ADDRESS = "one-address"
    """A name of dynamic shared memory, of several that a kernel uses."""
    STEPPED_TWICE = "stepped-twice"
    """A loop that steps its variable in its header, and again in its body."""


class Severity(StrEnum):
    """How sure a finding is to hurt."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


SEVERITIES = (Severity.INFO, Severity.WARNING, Severity.ERROR)
"""From the least to the gravest."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and where.

    ``line`` counts from 1 in the student's ``file``; ``address`` is the element as a student would write
    it, ``A_tile[3][5]``; ``count`` is how many times the same thing happened.
    """

    kind: FindingKind
    message: str
    hazard: str = ""
    file: str = ""
    line: int | None = None
    other_line: int | None = None
    case: str = ""
    block: Dim3 | None = None
    thread: Dim3 | None = None
    other_thread: Dim3 | None = None
    address: str = ""
    severity: Severity = Severity.ERROR
    count: int = 1
    other_block: Dim3 | None = None
    """The block of ``other_thread`` where it is not ``block`` (a race between blocks)."""
    witnesses: tuple[str, ...] = ()
    """Who saw it where several look: ``emulator``, ``gpu``, ``memcheck``, ``racecheck`` …"""
    repair: str = ""
    """What was tried and removes it, as a clause: "add `__syncthreads()` between lines 13 and 14: …"."""
    wrong_map: tuple[str, ...] = ()
    """Where an output is wrong, as in `Comparison`; so for the next. Only of visible cases."""
    map_cell: tuple[int, int] = (1, 1)
    smallest: Named[int] = ()
    """The smallest shape that was found to fail, as in `CaseEvidence`."""
    steps: tuple[str, ...] = ()
    """A worked explanation, step by step."""
    withheld: bool = False
    """Whether ``steps`` are for the staff alone until grades are published."""

    @property
    def array(self) -> str:
        """The name in ``address`` without its indices: of an array, or what else was accessed."""
        return self.address.partition("[")[0]


class AdviceKind(StrEnum):
    """The `kind` of a piece of advice, as written to grade.json."""

    COALESCING = "coalescing"
    REDUNDANT_LOADS = "redundant-loads"
    BANK_CONFLICTS = "bank-conflicts"
    DIVERGENCE = "divergence"
    UNNEEDED_BARRIER = "unneeded-barrier"


@dataclass(frozen=True, slots=True)
class Advice:
    """What could be better about a right kernel, and where; it never costs points.

    ``message`` is one sentence that names the line and says what to change; ``weight`` orders advice by how
    much there is to gain, as a share of the kernel's requests, loads or branches.
    """

    kind: AdviceKind
    message: str
    file: str = ""
    line: int | None = None
    array: str = ""
    weight: float = 0.0
