"""What runs a built kernel case by case: what every backend has in common, and the table of them.

A backend is a class derived from `Backend`, in a file of its own, and a line in `BACKENDS`. It gets cases and
gives back a run for each. Nobody outside this package compares a backend's name: what it can do is an
attribute of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, ClassVar, cast

from grader.errors import ToolMissing, UsageError
from grader.gpu import RaceJudge

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Self

    from grader.backends.emulated_kernel import EmulatedKernel
    from grader.gpu.devices import Gpu
    from grader.gpu.pool import GpuPool, Observed
    from grader.gpu.timing_job import TimingJob
    from grader.model import Argument, Build, Case, Clause, Finding, Launch, Named, Run
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
    too_much_work: Clause | None = None


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

    def awaiting(self, trial: str) -> Self:  # noqa: ARG002 - for GPUs
        """The backend that uses no GPU before that trial is over; see `grader.gpu.fitness`."""
        return self

    def prestarted(self, tools: Tools) -> AbstractContextManager[Self]:  # noqa: ARG002 - for GPUs
        """The backend for one submission that is not built yet, with all started that can be before it is."""
        return nullcontext(self)

    @abstractmethod
    def run(
        self,
        built: Build,
        cases: tuple[PreparedCase, ...],
        tools: Tools,
        timing: TimingJob | None,
        meanwhile: Callable[[], object] | None = None,
    ) -> Runs:
        """Run a submission's cases; what fails on our side is in the ``error`` of the case's run.

        ``built`` is the build of the assignment's own kernel, and ``timing`` what is timed beside it. While a
        device is waited for, if there is one, ``meanwhile`` is called in a thread of its own, which has ended
        when this returns.
        """


AUTO = "auto"
"""The choice of the first backend that fits this machine."""


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """A line of the table: where a backend's class is, and what has to be known before it is loaded."""

    cls: str
    """The class as ``module:name``."""
    needs_gpu: bool = False

    def load(self) -> type[Backend]:
        """The class; loading it takes what running a kernel on the backend takes."""
        return cast("type[Backend]", resolve_name(self.cls))


BACKENDS = {
    "emulator": BackendEntry("grader.backends.emulator:EmulatorBackend"),
    "gpu": BackendEntry("grader.backends.gpu:GpuBackend", needs_gpu=True),
}
"""The backends by what `--backend` and a grade call them."""

CHOICES = (AUTO, *BACKENDS)
"""What `--backend` may say."""


def may_use_gpu(choice: str) -> bool:
    """Whether a choice of `--backend` looks for GPUs at all."""
    return choice == AUTO or BACKENDS[choice].needs_gpu


def must_use_gpu(choice: str) -> bool:
    """Whether a choice of `--backend` is an error where no GPU can be used."""
    return choice != AUTO and BACKENDS[choice].needs_gpu


def usable_gpus(choice: str) -> tuple[tuple[Gpu, ...], str]:
    """The GPUs that a choice of `--backend` grades on, and why none of those that there are, if so.

    There are none if the backend needs none, and with `auto` where they cannot be used. For a backend that
    needs GPUs it raises UsageError where there is none, ToolMissing where something else is missing.
    """
    if not may_use_gpu(choice):
        return (), ""
    from grader.gpu import devices  # noqa: PLC0415 - where nobody asks for it, nothing is loaded

    required, asked = must_use_gpu(choice), f"--backend {choice}"
    missing = devices.missing_libraries()
    visible = () if "nvidia-ml-py" in missing else devices.visible(devices.find_gpus())
    if required and missing:
        raise ToolMissing(f"{asked} needs {' and '.join(missing)}; {devices.HOW_TO_GET_CUPY}")
    if required and not visible:
        raise UsageError(f"{asked}: no NVIDIA GPU was found here; `grader doctor` says what is missing")
    fit = tuple(gpu for gpu in visible if not devices.unfit(gpu))
    if not visible or (fit and not missing):
        return fit, ""
    why = f"{missing[0]} is missing; {devices.HOW_TO_GET_CUPY}" if missing else devices.unfit(visible[0])
    if required:
        raise ToolMissing(f"{asked}: {visible[0].name}: {why}")
    return (), f"{visible[0].name}: {why}"


def prepare(choice: str, tools: Tools, gpus: tuple[Gpu, ...], races: str = RaceJudge.BOTH) -> Backend:
    """The backend of that choice, ready to run; ``auto`` is the first that needs GPUs where there are some.

    Raises ToolMissing or OurError where something that it needs is missing or does not build.
    """
    fitting = next(name for name, entry in BACKENDS.items() if entry.needs_gpu == bool(gpus))
    backend = BACKENDS[fitting if choice == AUTO else choice].load()
    return backend.prepare(tools, gpus, RaceJudge(races))
