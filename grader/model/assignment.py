"""Description of an assignment by staff: interface, cases, rubric; and known facts about an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.base.errors import OurError
from grader.base.records import frozen
from grader.model.estimate import DEVICES
from grader.model.interfaces import AnswersInterface, FunctionInterface, KernelInterface, ProgramInterface
from grader.model.terms import OutputJudge, Visibility

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from grader.model.interfaces import Parameter
    from grader.model.terms import Named


@frozen
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
    """Files that a program finds, each with the name of the array in it."""
    sizes: Named[int] = ()
    """Sizes that a program is built with (`ProgramInterface.sizes`)."""


@frozen
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

    @property
    def is_visible(self) -> bool:
        """True if students may see it."""
        return self.visibility is Visibility.VISIBLE


@frozen
class TimingPlan:
    """Timing plan (on a GPU): the shape, and kernels in ``reference/<operation>/`` to time beside it.

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


@frozen
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


@frozen
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
    """True if its points are taken off where it fails, and are in no maximum."""
    message_pass: str = ""
    """Message of the staff for a student whose work passes the item; so for the next."""
    message_fail: str = ""

    @property
    def counts(self) -> bool:
        """True if its points are part of what can be reached: neither extra credit nor a penalty."""
        return not (self.extra or self.penalty)

    def looks_at(self, case: Case) -> bool:
        """True if a case is among those that it names by tag or id; all are where it names none."""
        return not self.cases or bool({case.id, *case.tags} & set(self.cases))


@frozen
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
    """Part of ``digest`` for the reference: the oracle and the staff's kernels."""
    feedback: Named[Named[str]] = ()
    """Texts about mistakes beside those of `grader.model.mistakes`: those of the operation's mistakes, and
    any replacements by staff; an id, and fields with texts."""
    advice: bool = True
    """True if students get advice on what could be better about a right kernel."""
    undefined_outputs: OutputJudge = OutputJudge.EMULATOR
    """Judge on a GPU of elements of outputs that are undefined."""

    @property
    def kernel(self) -> KernelInterface:
        """The interface of an assignment of kind ``kernel``; raises OurError where it is of another kind."""
        if not isinstance(self.interface, KernelInterface):
            raise OurError(f"the assignment {self.id} asks for {self.interface.noun}, not for a kernel")
        return self.interface

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of a kernel or a function; empty where neither is asked for."""
        interface = self.interface
        return interface.parameters if isinstance(interface, KernelInterface | FunctionInterface) else ()

    @property
    def function(self) -> FunctionInterface:
        """The interface of an assignment of kind ``function``; raises OurError where it has another."""
        if not isinstance(self.interface, FunctionInterface):
            raise OurError(f"the assignment {self.id} asks for {self.interface.noun}, not for a function")
        return self.interface

    @property
    def called(self) -> KernelInterface | FunctionInterface:
        """Interface of what is called with arguments, a kernel or a function; raises OurError for neither."""
        return self.interface if isinstance(self.interface, FunctionInterface) else self.kernel

    @property
    def program(self) -> ProgramInterface:
        """Interface of what is run: a program, or what calls a function; raises OurError for another kind."""
        if isinstance(self.interface, FunctionInterface):
            return self.interface.program
        if not isinstance(self.interface, ProgramInterface):
            raise OurError(f"the assignment {self.id} asks for {self.interface.noun}, not for a program")
        return self.interface

    @property
    def answers(self) -> AnswersInterface:
        """The interface of an assignment of kind ``answers``; raises OurError where it is of another kind."""
        if not isinstance(self.interface, AnswersInterface):
            raise OurError(f"the assignment {self.id} asks for {self.interface.noun}, not for answers")
        return self.interface


@frozen
class AnswerEvidence:
    """Evidence of the answer to one question.

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
