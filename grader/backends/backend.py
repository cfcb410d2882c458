"""What every backend has in common: the cases that it gets, what it gives back, and what it can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from typing import Self

    from grader.backends.emulated_kernel import EmulatedKernel
    from grader.gpu import RaceJudge
    from grader.gpu.devices import Gpu
    from grader.gpu.pool import GpuPool, Observed
    from grader.gpu.request import TimingJob
    from grader.model import Argument, Build, Case, Finding, Launch, Named, Run
    from grader.nvcc import Tools


@dataclass(frozen=True, slots=True)
class PreparedCase:
    """A case with what it takes to launch it, or why it cannot be launched.

    ``kernel`` is the one that the case launches. The emulator may do ``steps`` of work for it, and with
    ``profile`` it counts what each line does.
    """

    case: Case
    kernel: EmulatedKernel
    launch: Launch | Finding
    arguments: tuple[Argument, ...]
    steps: int = 0
    profile: bool = False


@dataclass(frozen=True, slots=True)
class CaseRun:
    """The run of a case that is judged.

    ``uncounted`` says why its counters mean nothing, ``undecided`` which kinds of findings nobody could rule
    out; both are empty where the emulator alone ran it. ``followed`` and ``too_much_work`` as in
    `CaseEvidence`.
    """

    run: Run
    uncounted: str = ""
    undecided: Named[str] = ()
    followed: bool = False
    too_much_work: str = ""


@dataclass(frozen=True, slots=True)
class Runs:
    """What a backend gives back for a submission: a run per case, in their order, and the ``device``.

    ``build`` is the build as it is on that device. ``timed`` holds what a GPU observed of the build that is
    timed, None where nothing was timed, and ``problem`` says what of ours kept it from being observed.
    ``witnesses`` and ``seconds`` as in `Evidence` and `Grade`.
    """

    cases: tuple[CaseRun, ...]
    build: Build
    device: str
    timed: Observed | None = None
    problem: str = ""
    witnesses: Named[str] = ()
    seconds: Named[float] = ()


class Backend(ABC):
    """What runs a built kernel; a frozen record that travels to the processes of a batch."""

    __slots__ = ()

    name: ClassVar[str]
    """What a grade calls it: its key in the table."""
    measures_time: ClassVar[bool] = False
    """Whether `speedup` can be judged."""
    is_deterministic: ClassVar[bool] = False
    """Whether the same build gives the same run each time: an assignment is validated on such a backend."""
    runs_any_ptx: ClassVar[bool] = False
    """Whether instructions run that the emulator does not interpret, such as those in inline assembly."""

    @property
    @abstractmethod
    def device(self) -> str:
        """What a grade calls that on which it runs."""

    @property
    def pool(self) -> GpuPool | None:
        """The GPUs that it uses, on which whole programs run as well; None where it uses none."""
        return None

    @property
    def architectures(self) -> tuple[str, ...]:
        """What nvcc calls its GPUs, such as ``sm_90``, each once."""
        return self.pool.architectures if self.pool else ()

    @property
    def architecture(self) -> str:
        """The architecture of all its GPUs; empty where it uses none, or where PTX must do for several."""
        return self.architectures[0] if len(self.architectures) == 1 else ""

    @classmethod
    def prepare(cls, tools: Tools, gpus: tuple[Gpu, ...], races: RaceJudge) -> Self:  # noqa: ARG003 - for GPUs
        """A backend that is ready to run on these GPUs.

        Raises ToolMissing or OurError where something that it needs is missing or does not build.
        """
        return cls()

    def tried(self, tools: Tools) -> tuple[Self, tuple[str, ...]]:  # noqa: ARG002 - for GPUs
        """The backend with what passed a trial run, and what was wrong with the rest.

        Raises OurError where nothing of it can be trusted with grades.
        """
        return self, ()

    @abstractmethod
    def run(
        self, built: Build, cases: tuple[PreparedCase, ...], tools: Tools, timing: TimingJob | None
    ) -> Runs:
        """Run a submission's cases; what fails on our side is in the ``error`` of the case's run.

        ``built`` is the build of the assignment's own kernel, and ``timing`` what is timed beside it.
        """
