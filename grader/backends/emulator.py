"""The emulator as a backend: it sees every access of every thread, and gives the same result each time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.backends.backend import Backend, CaseRun, Runs
from grader.debug import described_bug
from grader.emulator.stalled import much_work
from grader.errors import OurError
from grader.memory_limit import limited
from grader.model import Finding, Run

if TYPE_CHECKING:
    from grader.backends.backend import PreparedCase
    from grader.gpu.timing_job import TimingJob
    from grader.model import Build
    from grader.nvcc import Tools

DEVICE = "SIMT emulator, compute capability 8.0"


@dataclass(frozen=True, slots=True)
class EmulatorBackend(Backend):
    """Both builds of a kernel on the emulator; nothing is timed."""

    name: ClassVar[str] = "emulator"
    is_deterministic: ClassVar[bool] = True

    @property
    def device(self) -> str:
        """The emulator, and the compute capability whose instructions it interprets."""
        return DEVICE

    def run(
        self,
        built: Build,
        cases: tuple[PreparedCase, ...],
        tools: Tools,  # noqa: ARG002 - nothing is assembled
        timing: TimingJob | None,  # noqa: ARG002 - nothing is timed
    ) -> Runs:
        """Run the cases one after the other."""
        return Runs(tuple(emulated_alone(emulated(case)) for case in cases), built, self.device)


def emulated(prepared: PreparedCase) -> Run:
    """A run on the emulator, of at most so much work; whatever fails on our side is in its ``error``."""
    if isinstance(prepared.launch, Finding):
        return Run(findings=(prepared.launch,), completed=False, launched=False)
    try:
        with limited():
            return prepared.kernel.launch(
                prepared.launch,
                prepared.arguments,
                case=prepared.case,
                profile=prepared.profile,
                steps=prepared.steps,
            )
    except OurError as problem:
        return Run(completed=False, error=str(problem))
    except MemoryError:
        return Run(completed=False, too_much_work=much_work("it takes more memory than there is"))
    except Exception as problem:  # noqa: BLE001 - a bug of ours must not become a student's zero
        return Run(completed=False, error=described_bug("the emulator", problem))


def emulated_alone(run: Run) -> CaseRun:
    """The run of a case that only the emulator ran."""
    return CaseRun(run, too_much_work=run.too_much_work)


EMULATOR = EmulatorBackend()
"""The backend where no other is asked for."""
