"""Backends, which run a built kernel case by case: what all of them have in common, and their table.

A backend is a class derived from `Backend`, in a file of its own, and a line in `BACKENDS`. It gets cases and
gives back a run for each. No code outside this package compares a backend's name: what it can do is an
attribute of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, cast

from grader.base.errors import ToolMissing, UsageError
from grader.base.records import frozen
from grader.toolchain.gpu import RaceJudge

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Self

    import numpy as np

    from grader.model import Argument, Build, Case, Clause, Finding, Launch, Named, Run
    from grader.running.backends.emulated_kernel import EmulatedKernel
    from grader.toolchain.gpu.devices import Gpu
    from grader.toolchain.gpu.pool import GpuPool, Observed
    from grader.toolchain.gpu.timing_job import TimingJob
    from grader.toolchain.nvcc import Tools


@frozen
class PreparedCase:
    """A case with what it takes to launch it, or why it cannot be launched.

    ``kernel`` is the one that the case launches. The emulator may do ``steps`` of work for it, and with
    ``profile`` it counts what each line does. With ``gpu_decides`` a GPU has the word about outputs that the
    emulator proves undefined, too.
    """

    case: Case
    kernel: EmulatedKernel
    launch: Launch | Finding
    arguments: tuple[Argument, ...]
    steps: int = 0
    profile: bool = False
    gpu_decides: bool = False


@frozen
class UndefinedOutputs:
    """Elements of a case's outputs that the emulator proves undefined.

    ``elements`` has a mask for each output; None where nothing that the launch does is defined. ``grave``
    is True if an error leaves it so, and not only what hardware often happens to do as it was meant.
    """

    elements: Named[np.ndarray[Any, np.dtype[np.bool_]]] | None
    grave: bool


@frozen
class BothOutputs:
    """Outputs of a launch on the emulator and on a GPU; none of the latter where it did not end there.

    ``proved`` are the elements that the emulator proves undefined; None where all is defined.
    """

    emulated: Named[np.ndarray[Any, Any]]
    on_device: Named[np.ndarray[Any, Any]]
    proved: UndefinedOutputs | None = None


@frozen
class CaseRun:
    """The run of a case that is judged.

    ``uncounted`` is the reason why its counters mean nothing, ``undecided`` which kinds of findings could not
    be ruled out; both are empty where the emulator alone ran it. ``followed`` and ``too_much_work`` as in
    `CaseEvidence`. ``both`` is there where the emulator followed what a GPU ran, and has a say in it.
    """

    run: Run
    uncounted: str = ""
    undecided: Named[str] = ()
    followed: bool = False
    too_much_work: Clause | None = None
    both: BothOutputs | None = None


@frozen
class Runs:
    """Result of a backend for a submission: a run per case, in their order, and the ``device``.

    ``build`` is the build as it is on that device. ``timed`` holds what a GPU observed of the build that is
    timed, None where nothing was timed, and ``problem`` is the failure of ours that kept it from being
    observed. ``witnesses`` and ``seconds`` as in `Evidence` and `Grade`.
    """

    cases: tuple[CaseRun, ...]
    build: Build
    device: str
    timed: Observed | None = None
    problem: str = ""
    witnesses: Named[str] = ()
    seconds: Named[float] = ()


class Backend(ABC):
    """Engine that runs a built kernel; a frozen record that travels to the processes of a batch."""

    __slots__ = ()

    name: ClassVar[str]
    """Name in a grade: its key in the table."""
    measures_time: ClassVar[bool] = False
    """True if `speedup` can be judged."""
    is_deterministic: ClassVar[bool] = False
    """True if the same build gives the same run each time: an assignment is validated on such a backend."""
    runs_any_ptx: ClassVar[bool] = False
    """True if instructions run that the emulator does not interpret, such as those in inline assembly."""

    @property
    @abstractmethod
    def device(self) -> str:
        """Name in a grade of the device on which it runs."""

    @property
    def pool(self) -> GpuPool | None:
        """The GPUs that it uses, on which whole programs run as well; None where it uses none."""
        return None

    @property
    def architectures(self) -> tuple[str, ...]:
        """Names of the architectures of its GPUs in nvcc, such as ``sm_90``, each once."""
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
        """The backend that uses no GPU before that trial is over; see `grader.toolchain.gpu.fitness`."""
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


@frozen
class BackendEntry:
    """A line of the table: where a backend's class is, and what has to be known before it is loaded."""

    cls: str
    """The class as ``module:name``."""
    needs_gpu: bool = False

    def load(self) -> type[Backend]:
        """The class; loading it takes what running a kernel on the backend takes."""
        return cast("type[Backend]", resolve_name(self.cls))


BACKENDS = {
    "emulator": BackendEntry("grader.running.backends.emulator:EmulatorBackend"),
    "gpu": BackendEntry("grader.running.backends.gpu:GpuBackend", needs_gpu=True),
}
"""The backends by what `--backend` and a grade call them."""

CHOICES = (AUTO, *BACKENDS)
"""Values of `--backend`."""


def may_use_gpu(choice: str) -> bool:
    """True if a choice of `--backend` looks for GPUs at all."""
    return choice == AUTO or BACKENDS[choice].needs_gpu


def must_use_gpu(choice: str) -> bool:
    """True if a choice of `--backend` is an error where no GPU can be used."""
    return choice != AUTO and BACKENDS[choice].needs_gpu


def usable_gpus(choice: str) -> tuple[tuple[Gpu, ...], str]:
    """The GPUs that a choice of `--backend` grades on, and why none of those that there are, if so.

    There are none if the backend needs none, and with `auto` where they cannot be used. For a backend that
    needs GPUs it raises UsageError where there is none, ToolMissing where something else is missing.
    """
    if not may_use_gpu(choice):
        return (), ""
    from grader.toolchain.gpu import devices  # noqa: PLC0415 - where it is not asked for, nothing is loaded

    required, option = must_use_gpu(choice), f"--backend {choice}"
    missing = devices.missing_libraries()
    visible = () if "nvidia-ml-py" in missing else devices.visible(devices.find_gpus())
    if required and missing:
        raise ToolMissing(f"{option} needs {' and '.join(missing)}; {devices.HOW_TO_GET_CUPY}")
    if required and not visible:
        raise UsageError(f"{option}: no NVIDIA GPU was found here; `grader doctor` says what is missing")
    fit = tuple(gpu for gpu in visible if not devices.unfit(gpu))
    if not visible or (fit and not missing):
        return fit, ""
    why = f"{missing[0]} is missing; {devices.HOW_TO_GET_CUPY}" if missing else devices.unfit(visible[0])
    if required:
        raise ToolMissing(f"{option}: {visible[0].name}: {why}")
    return (), f"{visible[0].name}: {why}"


def prepare(choice: str, tools: Tools, gpus: tuple[Gpu, ...], races: str = RaceJudge.BOTH) -> Backend:
    """The backend of that choice, ready to run; ``auto`` is the first that needs GPUs where there are some.

    Raises ToolMissing or OurError where something that it needs is missing or does not build.
    """
    fitting = next(name for name, entry in BACKENDS.items() if entry.needs_gpu == bool(gpus))
    backend = BACKENDS[fitting if choice == AUTO else choice].load()
    return backend.prepare(tools, gpus, RaceJudge(races))
