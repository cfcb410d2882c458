"""The frozen records that cross a stage.

    Assignment, Submission ─build▶ Build ─backend▶ Run ─compare▶ CaseEvidence
                                                                  ─checks▶ CheckResult ─score▶ Grade

Collections in records are tuples (mappings are tuples of pairs), so that a record can be shared between
stages and processes without anybody changing it under somebody else's feet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    import numpy as np

    from grader.arithmetic import Expression

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


class Severity(StrEnum):
    """How sure a finding is to hurt."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


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


# --- an assignment -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel parameter: ``A: in float32[M, K]`` or ``M: int32``.

    ``direction`` is ``in``, ``out`` or ``inout`` for an array and ``value`` for a scalar.
    ``dtype`` is a NumPy name (``float32``, ``int32``, ``uint64`` …).
    ``value`` is what a scalar is given, an expression over the shape and the constants: its own name
    unless the assignment says ``M: int32 = N``.
    """

    name: str
    direction: str
    dtype: str
    extents: tuple[Expression, ...] = ()
    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that the student's source may define (``TILE_SIZE``).

    ``aliases`` are other names it goes by; ``default`` serves when the source defines none of them.
    """

    name: str
    default: int
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelInterface:
    """What a submission of kind ``kernel`` must contain, and how it is launched.

    ``block`` and ``grid`` hold one to three expressions (x, y, z); ``shared`` gives the dynamic shared
    memory in bytes. ``include`` holds headers that the course ships: pairs of file name and text.
    """

    kernel: str
    parameters: tuple[Parameter, ...]
    constants: tuple[Constant, ...]
    block: tuple[Expression, ...]
    grid: tuple[Expression, ...]
    shared: Expression | None = None
    include: Named[str] = ()


@dataclass(frozen=True, slots=True)
class CasePlan:
    """A case as the assignment describes it.

    ``shape`` holds for each dimension the lowest and highest value; they differ only where ``draws``
    counts how many random cases to draw. ``inputs`` names the oracle's kind of inputs (``random``…).
    """

    id: str
    shape: Named[tuple[int, int]]
    tags: tuple[str, ...] = ()
    visibility: Visibility = Visibility.VISIBLE
    inputs: str = "random"
    draws: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    """One launch to be judged: a concrete shape and a concrete seed."""

    id: str
    shape: Named[int]
    tags: tuple[str, ...]
    visibility: Visibility
    inputs: str
    seed: int


@dataclass(frozen=True, slots=True)
class TimingPlan:
    """What to time (on a GPU): the shape, and the baseline kernel in ``reference/<operation>/``."""

    shape: Named[int]
    baseline: str = "naive"


@dataclass(frozen=True, slots=True)
class RubricItem:
    """One line of the rubric.

    ``cases`` are tags or case ids, empty for all. ``options`` holds what only this check knows
    (``metric``, ``at_most``, ``none_below`` …) with numbers as ``Fraction``.
    """

    id: str
    title: str
    points: Fraction
    check: str
    cases: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    partial: str = ""
    """``per-case`` for credit by the share of cases that pass; empty for all or nothing."""
    visibility: Visibility = Visibility.VISIBLE
    hint: str = ""
    options: Named[Any] = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """A sound assignment; ``digest`` changes when anything that decides a grade changes."""

    id: str
    title: str
    reference: str
    """The folder with the oracle and the staff's kernels: ``reference/<operation>``."""
    interface: KernelInterface
    cases: tuple[CasePlan, ...]
    rubric: tuple[RubricItem, ...]
    timing: TimingPlan | None
    path: Path
    digest: str


# --- a submission ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Submission:
    """What one student handed in.

    ``source`` is the ``.cu`` file's bytes as they were read (once; never again from disk), ``file`` its
    name for messages. Where nothing gradable was handed in ``problem`` says why and ``source`` is empty.
    """

    id: str
    file: str
    source: bytes
    digest: str
    problem: Finding | None = None
    headers: Named[bytes] = ()
    """Files handed in beside it that its ``#include "…"`` lines may name."""


# --- a build -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Resources:
    """What ptxas says the kernel uses, per thread (registers, stack, spills) or block (shared), in bytes."""

    registers: int = 0
    shared_bytes: int = 0
    stack_bytes: int = 0
    spill_bytes: int = 0
    constant_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Build:
    """The outcome of compiling: PTX for the emulator, or findings that say why there is none.

    ``ptx`` comes from the default build (outputs, counters), ``hazard_ptx`` from ``-Xcicc -O0 -lineinfo``
    (hazards, lines). ``entry`` is the kernel's name in the PTX. ``constants`` are the student's own values.
    ``warnings`` are compiler warnings worth telling (they cost nothing).
    ``error`` is set, and nothing else means anything, where *we* failed.
    """

    ok: bool
    findings: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    ptx: str = ""
    hazard_ptx: str = ""
    entry: str = ""
    constants: Named[int] = ()
    resources: Resources | None = None
    log: str = ""
    toolkit: str = ""
    seconds: Named[float] = ()
    error: str = ""
    parameter_bytes: tuple[int, ...] = ()
    """What each kernel parameter takes in the PTX: 8 where a student's `size_t` stands for an int32."""
    source_name: str = ""
    """What the student's file is called in the PTX."""
    shared_shapes: Named[tuple[int, ...]] = ()
    """Extents of the kernel's shared arrays by their names in the source, where they are known."""


# --- a run -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch configuration; ``shared_bytes`` is dynamic shared memory per block."""

    grid: Dim3
    block: Dim3
    shared_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Argument:
    """A kernel argument: an array (C order, its shape as the assignment names it) or a scalar.

    For ``out`` arrays the values are what the buffer holds before the launch (poison); a backend copies,
    and never writes into them.
    """

    name: str
    direction: str
    value: np.ndarray[Any, Any] | np.generic


@dataclass(frozen=True, slots=True)
class Counters:
    """What a launch did, summed over all threads.

    Bytes are those that threads asked for; sectors are the distinct 32-byte pieces per warp request;
    ``shared_bank_conflicts`` counts extra passes per warp request (0: conflict-free); ``flops`` counts an
    fma as two; ``instructions`` and ``barriers`` count per thread.
    """

    global_load_bytes: int = 0
    global_store_bytes: int = 0
    global_load_sectors: int = 0
    global_store_sectors: int = 0
    shared_load_bytes: int = 0
    shared_store_bytes: int = 0
    shared_bank_conflicts: int = 0
    flops: int = 0
    instructions: int = 0
    barriers: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """What one launch gave.

    ``outputs`` are the ``out`` and ``inout`` arrays after it; ``changed_inputs`` names ``in`` arrays that
    it wrote to. ``completed`` is false where it was stopped (fault, time-out), and then a finding says why.
    """

    outputs: Named[np.ndarray[Any, Any]] = ()
    changed_inputs: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    counters: Counters = field(default_factory=Counters)
    seconds: float = 0.0
    completed: bool = True
    error: str = ""
    """Ours: an instruction we do not interpret, a budget of our own…"""


# --- evidence, checks, grade -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WrongElement:
    """The first element, in C order, that is outside its error bound."""

    index: tuple[int, ...]
    expected: float
    got: float
    bound: float
    unwritten: bool = False
    """It still holds the poison: nobody stored here."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output array against the oracle.

    ``max_error`` is the largest |got - expected| (infinity for NaN) and ``error_bound`` the bound at that
    element. ``unwritten`` counts elements that still hold the poison. ``wrong_map`` draws where it is
    wrong, a row of characters per row of elements or of tiles, empty where nothing is.
    ``explanation`` names the mistake that would have produced exactly this, if one does; ``mistake`` is its
    id and ``hint`` what to try. ``map_cell`` is how many rows and columns a character of the map stands for.
    """

    array: str
    total: int
    wrong: int
    unwritten: int
    max_error: float
    error_bound: float
    first: WrongElement | None = None
    wrong_map: tuple[str, ...] = ()
    explanation: str = ""
    mistake: str = ""
    hint: str = ""
    map_cell: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class CaseEvidence:
    """All that is known of one case: what checks decide on, and what `rescore` needs.

    ``baseline`` holds the counters of the staff's kernel on the same case, where an item asks for them.
    """

    case: Case
    comparisons: tuple[Comparison, ...] = ()
    findings: tuple[Finding, ...] = ()
    changed_inputs: tuple[str, ...] = ()
    counters: Counters = field(default_factory=Counters)
    baselines: Named[Counters] = ()
    seconds: float = 0.0
    completed: bool = True
    error: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of one submission on one backend."""

    backend: str
    build: Build
    cases: tuple[CaseEvidence, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check decided for one rubric item; ``fraction`` of its points, 0 to 1.

    ``message`` is one complete sentence or two for the student; ``hint`` says what to try.
    ``case_verdicts`` holds a verdict per case that the item looked at, for reports with one line per case.
    """

    item: RubricItem
    verdict: Verdict
    fraction: Fraction
    message: str
    hint: str = ""
    findings: tuple[Finding, ...] = ()
    case_verdicts: Named[Verdict] = ()


@dataclass(frozen=True, slots=True)
class ItemGrade:
    """A rubric item with its points: exact, rounded only where it is shown."""

    result: CheckResult
    points: Fraction
    max_points: Fraction


@dataclass(frozen=True, slots=True)
class CaseGrade:
    """A case as the grade shows it."""

    case: Case
    verdict: Verdict
    max_error: float | None
    error_bound: float | None
    seconds: float
    counters: Counters


@dataclass(frozen=True, slots=True)
class Grade:
    """The whole outcome for one submission.

    ``max_score`` leaves out the points of skipped items; those are ``skipped_points``.
    """

    assignment_id: str
    assignment_title: str
    assignment_digest: str
    submission_id: str
    submission_file: str
    submission_digest: str
    backend: str
    device: str
    toolkit: str
    seed: int
    verdict: Verdict
    score: Fraction
    max_score: Fraction
    skipped_points: Fraction
    items: tuple[ItemGrade, ...]
    cases: tuple[CaseGrade, ...]
    timing: Named[Any] = ()
    versions: Named[str] = ()
    seconds: Named[float] = ()
    """Where the wall time went, by stage."""
    error: str = ""
