"""What is known of a submission, what was decided, and the grade."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.model.terms import Verdict
from grader.model.work import Counters

if TYPE_CHECKING:
    from fractions import Fraction

    from grader.model.assignment import AnswerEvidence, Case, RubricItem
    from grader.model.course import Adjustment, HandIn
    from grader.model.estimate import Estimate
    from grader.model.findings import Clause, Finding
    from grader.model.terms import Advice, Named
    from grader.model.trace import TraceScene
    from grader.model.work import Build, KernelCounters, LineCounters, ProgramRun, Structure, Timing


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
class HeatSample:
    """The first wrong element behind a cell of a heat map, which is counted in cells from the top left."""

    row: int
    column: int
    element: WrongElement


@dataclass(frozen=True, slots=True)
class HeatMap:
    """How far an output is off, and where: a character of `grader.compare.HEAT` for each cell of it.

    ``cell`` is how many rows and columns of elements a cell stands for; ``block`` how many a block of the
    launch computes, (0, 0) where nobody knows. A vector is folded into lines.
    """

    rows: tuple[str, ...]
    cell: tuple[int, int] = (1, 1)
    samples: tuple[HeatSample, ...] = ()
    block: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class ExampleArray:
    """An array of a run that is small enough to be followed on paper, in C order.

    ``expected`` and ``states`` are those of an output: what should be there, and a character of
    `grader.compare.MAP_CHARACTERS` for each element. Of an input both are empty.
    """

    name: str
    shape: tuple[int, ...]
    values: tuple[float, ...]
    expected: tuple[float, ...] = ()
    states: str = ""


@dataclass(frozen=True, slots=True)
class Amounts:
    """What a kernel moves in the visible cases, beside a kernel of the staff: the numbers behind a sentence.

    ``asked`` is the share of the baseline's that earns all points, None where there is no upper limit.
    """

    metric: str
    submission: int
    baseline_name: str
    baseline: int
    asked: Fraction | None = None
    unit: str = ""
    """What is counted, in the course's language."""


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
    max_relative_error: float = 0.0
    """The largest |got - expected| / |expected| (infinity for NaN) of elements that should not be 0."""
    fitting: tuple[str, ...] = ()
    """The ids of all mistakes that would have produced this; `mistake` is the one that fits all cases."""
    telling: bool = True
    """Whether the case can tell mistakes apart: not with one row, one column or one number everywhere."""
    label: str = ""
    """What the student's kernel calls the array; empty where nobody knows."""
    kernel: str = ""
    """The kernel whose launch left it in device memory; empty for what was handed back."""
    heat: HeatMap | None = None
    """How far it is off, and where; only of visible cases."""


@dataclass(frozen=True, slots=True)
class Cause:
    """What explains the other findings of a submission: to be repaired first, and told first.

    ``code`` is the id of a mistake in `grader.mistakes`, ``item`` that of the rubric item that it costs.
    ``line`` counts from 1 in the student's file, None where no line is to blame; ``names_line`` says whether
    the message names it.
    """

    code: str
    message: str
    hint: str
    item: str = ""
    line: int | None = None
    names_line: bool = False
    title: str = ""
    """What the course calls the mistake; empty in grades of earlier versions."""


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
    lines: tuple[LineCounters, ...] = ()
    """What each line moved, in the one visible case that was looked at so closely."""
    seconds: float = 0.0
    completed: bool = True
    followed: bool = False
    """Whether the emulator saw the launch to its end although it stopped on a device: hazards are judged."""
    launched: bool = True
    """False where the launch itself was refused."""
    error: str = ""
    too_much_work: Clause | None = None
    """Why the emulator gave the launch up, with lines: what it alone knows is not judged."""
    uncounted: str = ""
    """Why ``counters`` mean nothing (only the emulator counts, and it could not run this kernel)."""
    undecided: Named[str] = ()
    """Kinds of findings that nobody could rule out here (``race`` …), each with the reason; ours."""
    program: ProgramRun | None = None
    """What a submission of kind ``program`` or ``function`` did."""
    kernels: tuple[KernelCounters, ...] = ()
    """What the kernels of a program did, those that were launched; `counters` has the sum of all."""
    launches: int | None = None
    """How many kernels a program launched, none of them refused; None where nobody counted."""
    streams: int | None = None
    """How many of its streams got both kernels and asynchronous copies that overlap; None: nobody counted."""
    staged_streams: int = 0
    """How many got kernels, and asynchronous copies only of memory that is not pinned."""
    of_host: bool = False
    """Whether right results of a function are none of its kernels': they are right without them, too."""
    answer: AnswerEvidence | None = None
    """What is known of an answer, in a submission of kind ``answers``: there each question is a case."""
    smallest: Named[int] = ()
    """The smallest shape that was found to fail in the same way, where there is a smaller one; visible cases
    only."""
    example: tuple[ExampleArray, ...] = ()
    """The run at that shape, or of the case itself where it is small: inputs and outputs. As above."""
    skipped: str = ""
    """Why the case was not run and nobody is to blame: it needs a GPU, and there is none."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of one submission on one backend.

    ``device`` names what ran it. ``measures_time`` says whether anything can be timed there; ``timing`` is
    there where something was. ``witnesses`` says of each that looked (``emulator``, ``racecheck`` …) whether
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
    """What was run, piece by piece, each with a digest: `grader.assignment.execution_digests`."""
    structures: Named[Structure] = ()
    """How each kernel is built, the assignment's own first; nothing where nobody could look at it."""
    array_parameters: tuple[str, ...] = ()
    """What findings call the arrays that the kernels are given: no name that depends on a case's data."""
    measures_time: bool = False
    estimate: Estimate | None = None
    """How fast a model says that the submission would be; None where nobody asked."""

    def build_of(self, case: CaseEvidence) -> Build:
        """The build of the kernel that a case launches."""
        return dict(self.build.others).get(case.case.kernel, self.build)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check decided for one rubric item; ``fraction`` of its points, 0 to 1.

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
    """What the staff say about this outcome in their own words, to be shown before ``message``."""
    judged: bool = True
    """False for a fail of which nothing is known but that something else it needs has failed."""
    needs_gpu: bool = False
    """Whether it was skipped because it needs a GPU, and there is none."""
    estimated: bool = False
    """Whether it was decided by an estimated speed, where nothing was measured."""
    amounts: Amounts | None = None
    """What a traffic item compared, in the visible cases."""


@dataclass(frozen=True, slots=True)
class ItemGrade:
    """A rubric item with its points: exact, rounded only where it is shown.

    ``points`` of a penalty are what it takes off, negative or 0, and ``max_points`` the most it may take.
    """

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
    ending: str = ""
    """How the run of a program ended, as in `ProgramRun`; empty where none ran. So for the next."""
    returncode: int | None = None
    elements: int = 0
    """How many elements of its outputs were compared."""
    max_relative_error: float | None = None
    """As in `Comparison`, over all outputs; None where nothing was compared."""
    too_much_work: bool = False
    """Whether the emulator gave it up, so that what it alone knows is not judged."""


@dataclass(frozen=True, slots=True)
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
    """What was timed; None where nothing was."""
    estimate: Estimate | None = None
    """How fast a model says that it would be; None where nobody asked."""
    versions: Named[str] = ()
    seconds: Named[float] = ()
    """Where the wall time went, by stage."""
    error: str = ""
    advice: tuple[Advice, ...] = ()
    """What could be better where all is right, the most rewarding first."""
    witnesses: Named[str] = ()
    """Who looked (``emulator``, ``racecheck`` …), and ``ok`` or what went wrong."""
    rescored: str = ""
    """The digest of the assignment that it was graded with, where a changed rubric was applied afterwards."""
    evidence: Evidence | None = field(default=None, compare=False, repr=False)
    """What it was decided on, as far as that is kept (staff only); None where nobody has it any more."""
    cause: Cause | None = None
    """What to repair first where something failed and one finding explains the others."""
    hand_in: HandIn | None = None
    """Whose it is and how it came in; None where it was graded for itself."""
    adjustments: tuple[Adjustment, ...] = ()
    """What staff decided about it afterwards; ``score`` holds their points."""
    words: Named[str] = ()
    """What the course says otherwise in reports: texts of `grader.messages.reports` by their names."""
    trace: TraceScene | None = field(default=None, compare=False, repr=False)
    """The block in which what explains most happened, of what was graded just now; kept beside the record."""

    @property
    def excused(self) -> bool:
        """Whether staff said that it does not count."""
        return any(one.kind == "excused" for one in self.adjustments)

    @property
    def took_too_much_work(self) -> bool:
        """Whether items are not judged because the emulator gave cases up: a question to the staff."""
        skipped = any(item.result.verdict is Verdict.SKIP for item in self.items)
        return skipped and any(case.too_much_work for case in self.cases)
