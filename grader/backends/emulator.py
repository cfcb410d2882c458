"""The emulator as a backend: it sees every access of every thread, and gives the same result each time."""

from __future__ import annotations

import resource
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from grader.backends import Backend, CaseRun, Runs
from grader.errors import OurError, described_bug
from grader.model import Clause, Finding, Run, given_up_because
from grader.steps import Step, begin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.backends import PreparedCase
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
        meanwhile: Callable[[], object] | None = None,  # noqa: ARG002 - nothing is waited for
    ) -> Runs:
        """Run the cases one after the other."""
        return Runs(tuple(map(emulated_alone, emulated_one_by_one(cases))), built, self.device)


def emulated_one_by_one(cases: tuple[PreparedCase, ...]) -> Iterator[Run]:
    """The runs of all cases on the emulator, each said to begin."""
    for number, prepared in enumerate(cases, start=1):
        begin(Step("case", prepared.case.id, number, len(cases)))
        yield emulated(prepared)


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
        return Run(completed=False, too_much_work=given_up_because(Clause("more-memory")))
    except Exception as problem:  # noqa: BLE001 - a bug of ours must not become a student's zero
        return Run(completed=False, error=described_bug("the emulator", problem))


def emulated_alone(run: Run) -> CaseRun:
    """The run of a case that only the emulator ran."""
    return CaseRun(run, too_much_work=run.too_much_work)


EMULATOR = EmulatorBackend()
"""The backend where no other is asked for."""

MOST_BYTES = 4 << 30
"""Bytes of address space beside those already in use; what was measured stays below 2 GiB."""

_STATM = Path("/proc/self/statm")


@contextmanager
def limited(most: int = MOST_BYTES) -> Iterator[None]:
    """Within, what takes more than ``most`` bytes of address space ends in MemoryError.

    Start no process within: it would inherit the limit. Where the system does not tell how much is in use
    (no Linux) there is no limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    in_use = _in_use()
    allowed = in_use + most
    if not in_use or (soft != resource.RLIM_INFINITY and soft <= allowed):
        yield
        return
    resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _in_use() -> int:
    """Bytes of address space in use (proc(5), statm); 0 where nobody tells."""
    try:
        return int(_STATM.read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0
