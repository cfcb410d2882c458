"""Evidence of a submission, the decisions on it, and the grade."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.model.findings import Clause
from grader.model.terms import Verdict
from grader.model.work import Counters

if TYPE_CHECKING:
    from fractions import Fraction

    from grader.model.assignment import AnswerEvidence, Case, RubricItem
    from grader.model.course import Adjustment, HandIn
    from grader.model.estimate import Estimate
    from grader.model.findings import Finding
    from grader.model.terms import Advice, Named
    from grader.model.trace import TraceScene
    from grader.model.work import Build, KernelCounters, LineCounters, ProgramRun, Structure, Timing


@frozen
class WrongElement:
    """The first element, in C order, that is outside its error bound."""

    index: tuple[int, ...]
    expected: float
    got: float
    bound: float
    unwritten: bool = False
    """True if it still holds the poison: no thread stored here."""


@frozen
class HeatSample:
    """The first wrong element behind a cell of a heat map, which is counted in cells from the top left."""

    row: int
    column: int
    element: WrongElement


@frozen
class HeatMap:
    """Map of an output's error: a character of `grader.model.compare.HEAT` for each cell of it.

    ``cell`` is the number of rows and columns of elements per cell; ``block`` the number that a block of the
    launch computes, (0, 0) where unknown. A vector is folded into lines.
    """

    rows: tuple[str, ...]
    cell: tuple[int, int] = (1, 1)
    samples: tuple[HeatSample, ...] = ()
    block: tuple[int, int] = (0, 0)


@frozen
class ExampleArray:
    """An array of a run that is small enough to be followed on paper, in C order.

    ``expected`` and ``states`` belong to an output: what should be there, and a character of
    `grader.model.compare.MAP_CHARACTERS` for each element. Of an input both are empty.
    """

    name: str
    shape: tuple[int, ...]
    values: tuple[float, ...]
    expected: tuple[float, ...] = ()
    states: str = ""


@frozen
class Amounts:
    """Traffic of a kernel in the visible cases, beside a kernel of the staff: the numbers of a sentence.

    ``asked`` is the share of the baseline's that earns all points, None where there is no upper limit.
    """

    metric: str
    submission: int
    baseline_name: str
    baseline: int
    asked: Fraction | None = None
    unit: str = ""
    """Unit of what is counted, in the course's language."""


@frozen
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
    max_relative_error: float = 0.0
    """The largest |got - expected| / |expected| (infinity for NaN) of elements that should not be 0."""
    fitting: tuple[str, ...] = ()
    """The ids of all mistakes that would have produced this; `mistake` is the one that fits all cases."""
    telling: bool = True
    """True if the case can distinguish mistakes: not with one row, one column or one number everywhere."""
    label: str = ""
    """Name of the array in the student's kernel; empty where unknown."""
    kernel: str = ""
    """The kernel whose launch left it in device memory; empty for what was handed back."""
    heat: HeatMap | None = None
    """Heat map of the error; only of visible cases."""
    undefined: int = 0
    """Number of elements that the emulator proves undefined, and decides, beside a GPU."""
    wrong_on_device: int | None = None
    """Number of elements of such an output that the GPU left wrong; None where all is defined, or it left
    none."""
    unproved: bool = False
    """True if it is right, and it is not known whether the kernel has computed it or the host."""


@frozen
class Cause:
    """Cause of the other findings of a submission: to be repaired first, and reported first.

    ``code`` is the id of a mistake in `grader.model.mistakes`, ``item`` that of the rubric item that it
    costs. ``line`` counts from 1 in the student's file, None where no line is to blame; ``names_line`` says
    whether the message names it.
    """

    code: str
    message: str
    hint: str
    item: str = ""
    line: int | None = None
    names_line: bool = False
    title: str = ""
    """Name of the mistake in the course; empty in grades of earlier versions."""


UNKNOWN_AUTHOR = Clause("unknown-who-computes")
"""Reason why a right result earns nothing yet: kernels or the host may have computed it."""


@frozen
class CaseEvidence:
    """Evidence of one case: what checks decide on, and what `rescore` needs.

    ``baseline`` holds the counters of the staff's kernel on the same case, where an item asks for them.
    """

    case: Case
    comparisons: tuple[Comparison, ...] = ()
    findings: tuple[Finding, ...] = ()
    changed_inputs: tuple[str, ...] = ()
    counters: Counters = field(default_factory=Counters)
    baselines: Named[Counters] = ()
    lines: tuple[LineCounters, ...] = ()
    """Counters of each line, in the one visible case that was looked at so closely."""
    seconds: float = 0.0
    completed: bool = True
    followed: bool = False
    """True if the emulator saw the launch to its end although it stopped on a device: hazards are judged."""
    launched: bool = True
    """False where the launch itself was refused."""
    error: str = ""
    question: str = ""
    """Request of the program itself for what is not done here. What was seen until then is judged; what
    cannot be judged because of it is a question to the staff, whose points stay in the maximum."""
    too_much_work: Clause | None = None
    """Reason why the emulator gave the launch up, with lines: what it alone knows is not judged."""
    is_own_work: bool = False
    """True if the model solution comes to its end there: the submission's own work is a question to staff."""
    uncounted: str = ""
    """Reason why ``counters`` mean nothing (only the emulator counts, and it could not run this kernel)."""
    undecided: Named[str] = ()
    """Kinds of findings that could not be ruled out here (``race`` …), each with the reason; ours."""
    program: ProgramRun | None = None
    """Run of a submission of kind ``program`` or ``function``."""
    kernels: tuple[KernelCounters, ...] = ()
    """Counters of a program's kernels, those that were launched; `counters` has the sum of all."""
    launches: int | None = None
    """Number of kernels that a program launched, none of them refused; None where unknown."""
    streams: int | None = None
    """Number of its streams with both kernels and asynchronous copies that overlap; None where unknown."""
    staged_streams: int = 0
    """Number of streams with kernels, and asynchronous copies only of memory that is not pinned."""
    of_host: bool = False
    """True if right results of a function, or right arrays in a program's files, are none of its kernels'."""
    computed_by: Clause | None = None
    """Evidence that the host has computed them, or why it is unknown whether kernels have; else None."""
    answer: AnswerEvidence | None = None
    """Evidence of an answer, in a submission of kind ``answers``: there each question is a case."""
    smallest: Named[int] = ()
    """The smallest shape known to fail in the same way, where there is a smaller one; visible cases only."""
    example: tuple[ExampleArray, ...] = ()
    """The run at that shape, or of the case itself where it is small: inputs and outputs. As above."""
    skipped: str = ""
    """Reason why the case was not run without a fault: it needs a GPU, and there is none."""

    @property
    def is_for_staff(self) -> bool:
        """True if staff have to look at it because of what the submission does, and not because we failed."""
        asks = bool(self.question) or self.is_own_work
        is_unknown = self.computed_by == UNKNOWN_AUTHOR or any(c.unproved for c in self.comparisons)
        return not self.error and (asks or is_unknown)


@frozen
class Evidence:
    """Evidence of one submission on one backend.

    ``device`` names what ran it. ``measures_time`` says whether anything can be timed there; ``timing`` is
    there where something was. ``witnesses`` has for each that looked (``emulator``, ``racecheck`` …) whether
    it came to an end: ``ok``, or what went wrong.
    """

    backend: str
    build: Build
    cases: tuple[CaseEvidence, ...] = ()
    advice: tuple[Advice, ...] = ()
    device: str = ""
    timing: Timing | None = None
    witnesses: Named[str] = ()
    ran: Named[str] = ()
    """Executed parts, piece by piece, each with a digest: `grader.grading.assignment.execution_digests`."""
    structures: Named[Structure] = ()
    """Structure of each kernel, the assignment's own first; empty where it could not be examined."""
    visible_structures: Named[Structure] | None = None
    """The same with what visible cases alone executed; None where no case is hidden."""
    array_parameters: tuple[str, ...] = ()
    """Names of the kernels' array parameters in findings: no name that depends on a case's data."""
    measures_time: bool = False
    estimate: Estimate | None = None
    """Estimated speed of the submission by a model; None where not requested."""

    def build_of(self, case: CaseEvidence) -> Build:
        """The build of the kernel that a case launches."""
        return dict(self.build.others).get(case.case.kernel, self.build)


@frozen
class CheckResult:
    """Decision of a check for one rubric item; ``fraction`` of its points, 0 to 1.

    Of a penalty the fraction is what is not taken off.

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
    message_staff: str = ""
    """Message of the staff about this outcome in their own words, to be shown before ``message``."""
    judged: bool = True
    """False for a fail of which nothing is known but that something else it needs has failed."""
    needs_gpu: bool = False
    """True if it was skipped because it needs a GPU, and there is none."""
    is_question: bool = False
    """True if it is an error because of what the program itself asked for: its points stay in the maximum."""
    estimated: bool = False
    """True if it was decided by an estimated speed, where nothing was measured."""
    amounts: Amounts | None = None
    """Traffic that a traffic item compared, in the visible cases."""


@frozen
class StudentResults:
    """Part of a submission's items that a student may read, where cases are hidden.

    ``results`` are in the order of the rubric. Their sentences, findings and hints come from the visible
    cases, beside one of a few fixed clauses on the hidden ones; so are ``cause`` and ``error``.
    """

    results: tuple[CheckResult, ...]
    cause: Cause | None = None
    error: str = ""


@frozen
class ItemGrade:
    """A rubric item with its points: exact, rounded only where it is shown.

    ``points`` of a penalty are what it takes off, negative or 0, and ``max_points`` the most it may take.
    """

    result: CheckResult
    points: Fraction
    max_points: Fraction


@frozen
class CaseGrade:
    """A case as the grade shows it."""

    case: Case
    verdict: Verdict
    max_error: float | None
    error_bound: float | None
    seconds: float
    counters: Counters
    ending: str = ""
    """Ending of the run of a program, as in `ProgramRun`; empty where none ran. So for the next."""
    returncode: int | None = None
    elements: int = 0
    """Number of elements of its outputs that were compared."""
    max_relative_error: float | None = None
    """The largest relative error as in `Comparison`, over all outputs; None where nothing was compared."""
    too_much_work: bool = False
    """True if the emulator gave it up, so that what it alone knows is not judged."""


@frozen
class Grade:
    """The whole outcome for one submission.

    ``max_score`` leaves out the points of skipped items; those are ``skipped_points``. Extra credit and
    penalties are in neither: with the former ``score`` may be above ``max_score``.
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
    timing: Timing | None = None
    """Timing of the submission; None where nothing was timed."""
    estimate: Estimate | None = None
    """Estimated speed by a model; None where not requested."""
    versions: Named[str] = ()
    seconds: Named[float] = ()
    """Seconds of wall time by stage."""
    error: str = ""
    advice: tuple[Advice, ...] = ()
    """Advice on what could be better where all is right, the most rewarding first."""
    witnesses: Named[str] = ()
    """Tools that looked (``emulator``, ``racecheck`` …), and ``ok`` or what went wrong."""
    rescored: str = ""
    """The digest of the assignment that it was graded with, where a changed rubric was applied afterwards."""
    evidence: Evidence | None = field(default=None, compare=False, repr=False)
    """Evidence that it was decided on, as far as that is kept (staff only); None where it is lost."""
    cause: Cause | None = None
    """Cause to repair first where something failed and one finding explains the others."""
    for_student: StudentResults | None = None
    """Part of the items that a student may read; None where no case is hidden."""
    hand_in: HandIn | None = None
    """Whose it is and how it came in; None where it was graded for itself."""
    adjustments: tuple[Adjustment, ...] = ()
    """Adjustments by staff afterwards; ``score`` holds their points."""
    words: Named[str] = ()
    """Texts that the course says otherwise in reports: of `grader.model.messages.reports` by their names."""
    trace: TraceScene | None = field(default=None, compare=False, repr=False)
    """The block in which what explains most happened, of what was graded just now; kept beside the record."""

    def is_of_earlier(self, mark: Adjustment) -> bool:
        """True if staff set these points for something else that the student had handed in before."""
        return mark.digest not in ("", self.submission_digest)

    @property
    def excused(self) -> bool:
        """True if staff said that it does not count."""
        return any(one.kind == "excused" for one in self.adjustments)

    @property
    def has_question(self) -> bool:
        """True if items are not judged because of what the program asked for: a question to the staff."""
        return any(item.result.is_question for item in self.items)

    @property
    def is_question(self) -> bool:
        """True if it is an error because of nothing else."""
        errors = [item.result for item in self.items if item.result.verdict is Verdict.ERROR]
        return bool(errors) and all(result.is_question for result in errors)

    @property
    def took_too_much_work(self) -> bool:
        """True if items are not judged because the emulator gave cases up: a question to the staff."""
        skipped = any(
            item.result.verdict is Verdict.SKIP and not item.result.needs_gpu for item in self.items
        )
        return skipped and any(case.too_much_work for case in self.cases)
