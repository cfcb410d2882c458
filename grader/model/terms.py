"""Words that all records share: verdicts, kinds of findings, severities; and advice."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias, TypeVar

from grader.base.records import frozen

T = TypeVar("T")

Dim3: TypeAlias = tuple[int, int, int]
"""x, y, z, as CUDA orders them."""

Named: TypeAlias = tuple[tuple[str, T], ...]
"""An immutable mapping: pairs of name and value, in the order of the assignment."""


class Verdict(StrEnum):
    """Outcome of a rubric item, a case or a whole grade."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    SKIP = "skip"
    """Could not be evaluated here (a speedup without a GPU); its points are shown apart."""
    ERROR = "error"
    """Ours: never counts against the student."""


class Visibility(StrEnum):
    """Visibility of a case or an item: the readers, and the time from which they may see it."""

    VISIBLE = "visible"
    HIDDEN = "hidden"
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"


class OutputJudge(StrEnum):
    """Judge of undefined outputs on a GPU: the values of `undefined_outputs`."""

    EMULATOR = "emulator"
    GPU = "gpu"


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
    HOST = "host"
    """A mistake of a program's own code, beside its kernels."""
    UNSUPPORTED = "unsupported"
    """An instruction that the student wrote by hand and that is not interpreted; ``hazard`` names it."""


TRACED = (
    FindingKind.OUT_OF_BOUNDS,
    FindingKind.BARRIER_DIVERGENCE,
    FindingKind.RACE,
    FindingKind.UNINITIALISED,
)
"""Kinds of findings that a trace of a block shows, first what explains the others."""


class SourceRemark(StrEnum):
    """The ``hazard`` of what a build finds in the student's text alone."""

    CONSTANT = "constant"
    """A constant that the assignment does not allow."""
    ONE_ADDRESS = "one-address"
    """A name of dynamic shared memory, of several that a kernel uses."""
    STEPPED_TWICE = "stepped-twice"
    """A loop that steps its variable in its header, and again in its body."""
    OTHER_ORDER = "other-order"
    """Parameters of a function that stand in another order than in the assignment: it was called so."""


class Severity(StrEnum):
    """Certainty that a finding hurts."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


SEVERITIES = (Severity.INFO, Severity.WARNING, Severity.ERROR)
"""Severities from the least to the gravest."""


class AdviceKind(StrEnum):
    """The `kind` of a piece of advice, as written to grade.json."""

    COALESCING = "coalescing"
    REDUNDANT_LOADS = "redundant-loads"
    BANK_CONFLICTS = "bank-conflicts"
    DIVERGENCE = "divergence"
    UNNEEDED_BARRIER = "unneeded-barrier"


@frozen
class Advice:
    """Improvement of a right kernel, and its line; it never costs points.

    ``message`` is one sentence that names the line and says what to change; ``weight`` orders advice by the
    possible gain, as a share of the kernel's requests, loads or branches.
    """

    kind: AdviceKind
    message: str
    file: str = ""
    line: int | None = None
    array: str = ""
    weight: float = 0.0
