"""Records of validation: a mutant, the outcome of a trial, and the whole report."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from grader.base.records import frozen

if TYPE_CHECKING:
    from fractions import Fraction

    from grader.model import Named, Verdict


@frozen
class Mutant:
    """The model solution with one thing wrong.

    ``id`` stays the same as long as the changed line does. ``line`` counts from 1. ``barrier`` is the number
    of the barrier that is taken out of the PTX, from 0; -1 where it is the ``source`` that is changed.
    """

    id: str
    kind: str
    line: int
    what: str
    source: bytes
    diff: str
    barrier: int = -1


@frozen
class Trial:
    """A file to be graded on all cases with one seed.

    ``quick`` gives up sooner on what does not end, where no marks depend on it: on mutants. ``feedback`` also
    makes what a student would read, which no verdict depends on. ``barrier`` as in `Mutant`.
    """

    name: str
    file: str
    source: bytes
    seed: int
    quick: bool = False
    barrier: int = -1
    feedback: bool = False


class Made(NamedTuple):
    """Build of a file by nvcc.

    ``program`` is a mark that files share which are the same program; empty without a build. ``unchanged``
    says that the default build is the same as that of the model solution.
    """

    program: str = ""
    unchanged: bool = False
    seconds: float = 0.0


@frozen
class LargeCase:
    """A case that takes long: its run took this number of ``seconds``.

    ``given_up`` says why the emulator did not follow it to its end; empty where it did.
    """

    case: str
    shape: Named[int]
    seconds: float
    given_up: str = ""


@frozen
class TrialOutcome:
    """Outcome of a trial.

    ``failed`` are the items that it lost, ``charged`` the ones among them that cost points and are no matter
    of style, ``kills`` the items that failed in each case (a plan's id stands for all cases drawn from it).
    ``unchanged`` says that nvcc's default build made the same of it as of the model solution. ``first_loss``
    is the message of the first item that it lost. ``large`` are cases that took long. ``error`` is ours.
    ``same_as`` names the mutant that this one is the same program as: only that one ran.
    """

    name: str
    seed: int
    verdict: Verdict
    score: Fraction
    max_score: Fraction
    skipped: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    charged: tuple[str, ...] = ()
    kills: Named[tuple[str, ...]] = ()
    built: bool = True
    unchanged: bool = False
    seconds: float = 0.0
    first_loss: str = ""
    large: tuple[LargeCase, ...] = ()
    error: str = ""
    same_as: str = ""


@frozen
class StaffMistake:
    """One of the staff's mistakes: its file, what it is about, and the items that it must lose."""

    file: str
    title: str
    loses: tuple[str, ...]
    source: bytes


@frozen
class Explained:
    """Statement of staff on a mutant that is no mistake: no program can tell it from the model solution."""

    mutant: str
    why: str


@frozen
class Staff:
    """The staff's files of an assignment; ``skeleton`` is empty where there is none."""

    solution_file: str
    solution: bytes
    skeleton: bytes
    mistakes: tuple[StaffMistake, ...]
    explained: tuple[Explained, ...]
    problems: tuple[str, ...] = ()
    """Inconsistencies: a mistake that no table names, an entry without a file."""


@frozen
class CaseUse:
    """Use of a case (or of all that one plan draws).

    ``caught`` counts what fails in it, ``alone`` what would get through without it. ``spare`` is true where
    the other cases that are kept catch all of that.
    """

    case: str
    caught: int
    alone: tuple[str, ...]
    spare: bool


@frozen
class Control:
    """A tolerance control: results in one order of summation, or of one precision.

    ``inside`` says whether all cases stay within the bound, ``wanted`` whether they should; ``cases`` are
    those that do not.
    """

    name: str
    array: str
    inside: bool
    wanted: bool
    cases: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if the bound has the effect on it that it should."""
        return self.inside == self.wanted


@frozen
class Stability:
    """Results with other seeds: how many were tried, and each trial that came out differently, in words."""

    solution_seeds: int = 0
    mistake_seeds: int = 0
    strays: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


@frozen
class Report:
    """Result of a validation.

    ``problems`` make the assignment unsound; ``warnings`` are reported; ``errors`` are ours; ``unjudged`` are
    mistakes that can only be judged where there is a GPU.
    """

    assignment: str
    title: str
    kind: str
    digest: str
    seed: int
    cases: int
    points: Fraction
    solution: TrialOutcome
    skeleton: TrialOutcome | None
    mistakes: tuple[tuple[StaffMistake, TrialOutcome], ...]
    mutants: tuple[tuple[Mutant, TrialOutcome], ...] = ()
    explained: tuple[Explained, ...] = ()
    uses: tuple[CaseUse, ...] = ()
    controls: tuple[Control, ...] = ()
    uncontrolled: str = ""
    """Reason why there is no tolerance control; empty where there is one, or no float output."""
    stability: Stability = field(default_factory=Stability)
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    baselines: tuple[TrialOutcome, ...] = ()
    """Outcomes of the kernels that submissions are compared with, by the names of their files."""
    device: str = ""
    on_gpu: TrialOutcome | None = None
    """Outcome of the model solution on the GPU ``device``, where there is one."""
    seconds: Named[float] = ()
    """Seconds of a submission on each backend, and of the whole validation; wall time."""
    spent: Named[float] = ()
    """Seconds by stage; added up over the processes."""

    @property
    def sound(self) -> bool:
        """True if the assignment proved itself."""
        return not self.problems and not self.errors and not self.unjudged

    def living(self) -> tuple[tuple[Mutant, TrialOutcome], ...]:
        """The mutants that compile, differ from the model solution, and lose nothing."""
        return tuple((m, o) for m, o in self.mutants if is_counted(o) and not o.charged)

    def counted(self) -> int:
        """Number of mutants that compile and differ from the model solution."""
        return sum(is_counted(outcome) for _, outcome in self.mutants)


def is_counted(outcome: TrialOutcome) -> bool:
    """True if a mutant counts: it compiles, is another program, and could be judged."""
    return outcome.built and not outcome.unchanged and not outcome.error
