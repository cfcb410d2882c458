"""The emulator as a backend: it sees every access of every thread, and gives the same result each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from grader.base.errors import OurError, UnsupportedPtx, described_bug
from grader.base.memory_limit import limited
from grader.base.records import frozen
from grader.base.steps import Step, begin
from grader.model import Clause, Finding, Run, work_limit_reason
from grader.running.backends import Backend, CaseRun, Runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.model import Build
    from grader.running.backends import PreparedCase
    from grader.running.backends.emulated_kernel import EmulatedKernel
    from grader.toolchain.gpu.timing_job import TimingJob
    from grader.toolchain.nvcc import Tools

DEVICE = "SIMT emulator, compute capability 8.0"


@frozen
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
        meanwhile: Callable[[], object] | None = None,  # noqa: ARG002 - nothing is waited for
    ) -> Runs:
        """Run the cases one after the other."""
        return Runs(tuple(map(emulated_alone, emulated_one_by_one(cases))), built, self.device)


def emulated_one_by_one(cases: tuple[PreparedCase, ...]) -> Iterator[Run]:
    """Runs of all cases on the emulator, each announced when it begins."""
    for number, prepared in enumerate(cases, start=1):
        begin(Step("case", prepared.case.id, number, len(cases)))
        yield emulated(prepared)


def emulated(prepared: PreparedCase) -> Run:
    """Run on the emulator, with a limit of work; a failure on our side is in its ``error``.

    An instruction that is not interpreted is the kernel's ``question``.
    """
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
    except UnsupportedPtx as problem:
        return Run(completed=False, question=_not_interpreted(problem, prepared.kernel))
    except OurError as problem:
        return Run(completed=False, error=str(problem))
    except MemoryError:
        return Run(completed=False, too_much_work=work_limit_reason(Clause("more-memory")))
    except Exception as problem:  # noqa: BLE001 - a bug of ours must not become a student's zero
        return Run(completed=False, error=described_bug("the emulator", problem))


def _not_interpreted(problem: UnsupportedPtx, kernel: EmulatedKernel) -> str:
    """Request of a kernel for what the emulator does not interpret, with the student's line where known."""
    line = next((line for name, line in problem.sources if name == kernel.source), None)
    where = f" (line {line} of {kernel.file})" if line else f" (PTX line {problem.ptx_line})"
    return f"the emulator does not interpret `{problem.instruction}`{where}"


def emulated_alone(run: Run) -> CaseRun:
    """The run of a case that only the emulator ran."""
    return CaseRun(run, too_much_work=run.too_much_work)


EMULATOR = EmulatorBackend()
"""The backend where no other is asked for."""
