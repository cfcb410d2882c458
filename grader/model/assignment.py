"""What staff describe: the kernel's interface, cases, rubric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from grader.errors import OurError
from grader.model.estimate import DEVICES
from grader.model.findings import Clause
from grader.model.terms import Visibility

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from grader.arithmetic import Expression
    from grader.model.terms import Named


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel parameter: ``A: in float32[M, K]`` or ``M: int32``.

    ``direction`` is ``in``, ``out`` or ``inout`` for an array and ``value`` for a scalar.
    ``dtype`` is a NumPy name (``float32``, ``int32``, ``uint64`` …).
    ``value`` is what a scalar is given, an expression over the shape and the constants: its own name
    unless the assignment says ``M: int32 = N``.
    A struct passed by value has the direction ``value``, its C++ name as ``dtype``, and ``fields``, which are
    scalars and, for pointers to arrays, arrays.
    """

    name: str
    direction: str
    dtype: str
    extents: tuple[Expression, ...] = ()
    value: Expression | None = None
    fields: tuple[Parameter, ...] = ()

    @property
    def arrays(self) -> tuple[Parameter, ...]:
        """The arrays behind it: itself, or those that its fields point to.

        The only one of a struct is called what the struct is called, of several ``A.elements``.
        """
        if not self.fields:
            return () if self.direction == "value" else (self,)
        pointed = [field for field in self.fields if field.direction != "value"]
        names = [self.name] if len(pointed) == 1 else [f"{self.name}.{field.name}" for field in pointed]
        return tuple(replace(field, name=name) for field, name in zip(pointed, names, strict=True))


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that the student's source may define (``TILE_SIZE``).

    ``aliases`` are other names it goes by; ``default`` serves when the source defines none of them.
    """

    name: str
    default: int
    aliases: tuple[str, ...] = ()
    multiple_of: int = 1
    """What every value of it must be a multiple of; so for the next two."""
    at_most: int | None = None
    power_of_two: bool = False

    def wanted_instead_of(self, value: int) -> Clause | None:
        """What this assignment needs in place of ``value``: a multiple of 32, say; None where it will do."""
        if value % self.multiple_of:
            return Clause("multiple-of", (("number", self.multiple_of),))
        if self.power_of_two and (value < 1 or value & (value - 1)):
            return Clause("power-of-two")
        if self.at_most is not None and value > self.at_most:
            return Clause("no-more-than", (("number", self.at_most),))
        return None


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
    symbols: tuple[Parameter, ...] = ()
    """Variables of the student's file that are filled before a launch and read after it: arrays, and
    scalars (``value``), which are arrays of one element."""
    inline_asm: bool = False
    """Whether an instruction that students write by hand and that is not interpreted is an error of ours."""
    others: tuple[str, ...] = ()
    """Further kernels of the file that cases name: they have the same parameters and the same launch."""
    sizes: Named[tuple[str, ...]] = ()
    """Dimensions that the file writes down as macros, with other names that these may have."""
    given: Named[int] = ()
    """What those dimensions are to be in this build; without them they are what the file says."""

    @property
    def arrays(self) -> tuple[Parameter, ...]:
        """All arrays that it is given, in whatever way."""
        given = (*self.parameters, *self.symbols)
        return tuple(array for parameter in given for array in parameter.arrays)


@dataclass(frozen=True, slots=True)
class ProgramInterface:
    """What a submission of kind ``program`` is: a file with ``main`` that is run as it is.

    ``seconds`` is wall time for one run, ``memory_bytes`` what all its processes may hold together.
    ``include`` holds headers that the course ships: pairs of file name and text.
    """

    include: Named[str] = ()
    seconds: float = 10.0
    memory_bytes: int = 2**30
    device_bytes: int = 2**29
    """Device memory that it has on the emulator."""
    emulator_seconds: float = 20.0
    """What its launches may take there, beside its own time."""
    sizes: Named[int] = ()
    """Macros and constants of the student's file, and what they are to be in this build."""


@dataclass(frozen=True, slots=True)
class FunctionInterface:
    """What a submission of kind ``function`` must contain: one function of the host, which a program calls.

    ``pointers`` says what its arrays are when it is called, memory of the ``device`` or of the ``host``, and
    ``outputs`` what `out` arrays hold then: ``poison`` or ``zeros``. ``program`` is how far a run may go.
    """

    function: str
    parameters: tuple[Parameter, ...]
    pointers: str
    outputs: str
    program: ProgramInterface
    symbols: tuple[Parameter, ...] = ()
    """None: only kernels have variables that are filled."""

    @property
    def include(self) -> Named[str]:
        """Headers that the course ships: pairs of file name and text."""
        return self.program.include

    @property
    def arrays(self) -> tuple[Parameter, ...]:
        """All arrays that it is given."""
        return tuple(parameter for parameter in self.parameters if parameter.direction != "value")


@dataclass(frozen=True, slots=True)
class CasePlan:
    """A case as the assignment describes it.

    ``shape`` holds for each dimension the lowest and highest value; they differ only where ``draws``
    counts how many random cases to draw. ``inputs`` names the oracle's kind of inputs (``random``…).
    ``offset`` is how many elements after a multiple of 256 bytes the arrays begin. A program gets
    ``arguments`` and ``stdin`` instead; where it has a shape, the arrays of ``files`` are drawn for it.
    """

    id: str
    shape: Named[tuple[int, int]]
    tags: tuple[str, ...] = ()
    visibility: Visibility = Visibility.VISIBLE
    inputs: str = "random"
    draws: int = 0
    offset: int = 0
    arguments: tuple[str, ...] = ()
    stdin: str = ""
    kernel: str = ""
    """The kernel that it launches, where that is not the interface's."""
    files: Named[str] = ()
    """Of a program: files that it finds, each with the name of the array in it."""
    sizes: Named[int] = ()
    """Of a program: what it is built with (`ProgramInterface.sizes`)."""


@dataclass(frozen=True, slots=True)
class Case:
    """One launch, or one run of a program, to be judged: a concrete shape and a concrete seed."""

    id: str
    shape: Named[int]
    tags: tuple[str, ...]
    visibility: Visibility
    inputs: str
    seed: int
    offset: int = 0
    """See `CasePlan`; so for the next five."""
    arguments: tuple[str, ...] = ()
    stdin: str = ""
    kernel: str = ""
    files: Named[str] = ()
    sizes: Named[int] = ()


@dataclass(frozen=True, slots=True)
class TimingPlan:
    """What to time (on a GPU): the shape, and the kernels in ``reference/<operation>/`` to time beside it.

    ``solution`` is the model solution, empty where there is none. ``inputs`` names the oracle's kind of
    inputs. ``budget_seconds`` bounds the timed rounds of one submission. ``estimate_for`` is the device for
    which the speed is estimated, one of `grader.model.estimate.DEVICES`.
    """

    shape: Named[int]
    baseline: str = "naive"
    solution: str = "solution"
    inputs: str = "random"
    budget_seconds: float = 0.6
    estimate_for: str = DEVICES[0]


@dataclass(frozen=True, slots=True)
class ExpectedNumber:
    """A number that a program must print, and where: the ``nth`` number after the text ``after``.

    It may be off by ``within``, absolute or, where ``relative``, as a share of what is expected.
    """

    name: str
    after: str
    value: Fraction
    within: Fraction
    relative: bool = False
    nth: int = 1


@dataclass(frozen=True, slots=True)
class RubricItem:
    """One line of the rubric.

    ``cases`` are tags or case ids, empty for all. ``options`` holds what only this check knows
    (``metric``, ``at_most``, ``steps`` …) with numbers as ``Fraction``.
    """

    id: str
    title: str
    points: Fraction
    check: str
    cases: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    partial: str = ""
    """``per-case`` for credit by the share of cases that pass, ``per-number`` by that of the numbers that are
    right; empty for all or nothing."""
    visibility: Visibility = Visibility.VISIBLE
    hint: str = ""
    options: Named[Any] = ()
    extra: bool = False
    """Extra credit: its points are added to the score and are in no maximum."""
    penalty: bool = False
    """Its points are taken off where it fails, and are in no maximum."""
    message_pass: str = ""
    """What the staff say to a student whose work passes the item; so for the next."""
    message_fail: str = ""

    @property
    def counts(self) -> bool:
        """Whether its points are part of what can be reached: neither extra credit nor a penalty."""
        return not (self.extra or self.penalty)

    def looks_at(self, case: Case) -> bool:
        """Whether a case is among those that it names by tag or id; all are where it names none."""
        return not self.cases or bool({case.id, *case.tags} & set(self.cases))


@dataclass(frozen=True, slots=True)
class Assignment:
    """A sound assignment; ``digest`` changes when anything that decides a grade changes."""

    id: str
    title: str
    reference: str
    """The folder with the oracle and the staff's kernels: ``reference/<operation>``; empty for a program
    that needs none."""
    interface: KernelInterface | ProgramInterface | FunctionInterface | AnswersInterface
    cases: tuple[CasePlan, ...]
    rubric: tuple[RubricItem, ...]
    timing: TimingPlan | None
    path: Path
    digest: str
    reference_digest: str = ""
    """What of ``digest`` is the reference's: the oracle and the staff's kernels."""
    feedback: Named[Named[str]] = ()
    """Texts about mistakes beside those of `grader.mistakes`: those of the operation's mistakes, and whatever
    the staff say instead; an id, and fields with texts."""
    advice: bool = True
    """Whether students are told what could be better about a right kernel."""

    @property
    def kernel(self) -> KernelInterface:
        """The interface of an assignment of kind ``kernel``; raises OurError where it is of another kind."""
        if not isinstance(self.interface, KernelInterface):
            raise OurError(f"the assignment {self.id} asks for {self._asked}, not for a kernel")
        return self.interface

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What a kernel or a function is given; nothing where neither is asked for."""
        interface = self.interface
        return interface.parameters if isinstance(interface, KernelInterface | FunctionInterface) else ()

    @property
    def function(self) -> FunctionInterface:
        """The interface of an assignment of kind ``function``; raises OurError where it has another."""
        if not isinstance(self.interface, FunctionInterface):
            raise OurError(f"the assignment {self.id} asks for {self._asked}, not for a function")
        return self.interface

    @property
    def called(self) -> KernelInterface | FunctionInterface:
        """What is called with arguments, a kernel or a function; raises OurError where it is neither."""
        return self.interface if isinstance(self.interface, FunctionInterface) else self.kernel

    @property
    def program(self) -> ProgramInterface:
        """What is run: a program, or what calls a function; raises OurError where it is of another kind."""
        if isinstance(self.interface, FunctionInterface):
            return self.interface.program
        if not isinstance(self.interface, ProgramInterface):
            raise OurError(f"the assignment {self.id} asks for {self._asked}, not for a program")
        return self.interface

    @property
    def answers(self) -> AnswersInterface:
        """The interface of an assignment of kind ``answers``; raises OurError where it is of another kind."""
        if not isinstance(self.interface, AnswersInterface):
            raise OurError(f"the assignment {self.id} asks for {self._asked}, not for answers")
        return self.interface

    @property
    def _asked(self) -> str:
        """What students hand in, with its article."""
        kinds = {
            KernelInterface: "a kernel",
            ProgramInterface: "a program",
            FunctionInterface: "a function",
            AnswersInterface: "answers",
        }
        return kinds[type(self.interface)]


@dataclass(frozen=True, slots=True)
class DrawnNumber:
    """A number that questions speak of: one of ``choices``, else from ``low`` to ``high``, both included.

    Where there is more than one possibility it is drawn for each student.
    """

    name: str
    low: int
    high: int
    choices: tuple[int, ...] = ()

    @property
    def fixed(self) -> bool:
        """Whether it is the same for everybody."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class Setting:
    """What questions are about: one of the subjects of `grader.analysis`, and its numbers."""

    id: str
    subject: str
    numbers: tuple[DrawnNumber, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``text`` may hold ``{M}`` for a number of its setting.

    ``answer`` is an expression over the quantities and numbers of the setting. An answer may be off by
    ``tolerance``, absolute or, where ``relative``, as a share of what is expected.
    """

    id: str
    text: str
    setting: str
    answer: Expression
    unit: str
    tolerance: Fraction
    relative: bool = False
    note: str = ""
    """What the staff add to the worked explanation."""


@dataclass(frozen=True, slots=True)
class AnswersInterface:
    """What a submission of kind ``answers`` is: a file with a number for each question.

    ``seed`` decides, together with the student's id, what is drawn; the same for the sheet and the grade.
    """

    questions: tuple[Question, ...]
    settings: tuple[Setting, ...]
    seed: int = 1


@dataclass(frozen=True, slots=True)
class AnswerEvidence:
    """All that is known of the answer to one question.

    ``given`` is what was written, safe to be shown, and empty where nothing was. ``readings`` are what it may
    mean, in words and as a number in the question's unit: two for a "KB"; where it means nothing ``problem``
    says why. ``numbers`` are the student's own, ``steps`` the worked explanation, and ``misconceptions`` the
    values that known mistakes lead to, each with words for it. ``drawn`` says that the numbers are the
    student's own, ``note`` what is odd about the sheet.
    """

    question: str
    text: str
    given: str
    readings: Named[Fraction]
    problem: str
    expected: Fraction
    unit: str
    tolerance: Fraction
    relative: bool
    numbers: Named[int] = ()
    steps: tuple[str, ...] = ()
    misconceptions: Named[Fraction] = ()
    drawn: bool = False
    note: str = ""
