"""Timing job beside a submission, as the harness reads it: kernels, inputs, and questions to settle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.base.records import frozen
from grader.model import Launch
from grader.toolchain.gpu.request import STUDENT, described

if TYPE_CHECKING:
    from grader.model import Argument, Named, Threshold
    from grader.toolchain.gpu.replay import Recordings
    from grader.toolchain.gpu.request import Image

KEPT_OUTPUTS = 4
"""Distinct outputs of the student's kernel per input set that come back to be compared in full."""

WARM_SECONDS = 0.15
LEAST_ROUNDS, MOST_ROUNDS = 20, 400
RESAMPLES = 1000
LEVEL = 0.99


@frozen
class StaffKernel:
    """A kernel of the staff's, ready for the GPUs: its cubins by architecture, and what of it is timed."""

    name: str
    images: Named[Image]
    launch: Launch | Recordings


@frozen
class TimingJob:
    """One submission's timing: what runs, on what, and what has to be settled.

    ``sets`` are arguments as for a launch, several times with other inputs; ``thresholds`` are the speedups
    that decide about points; ``flops`` is what the operation needs, ``library`` a call that does the same.
    ``on_host`` are the arrays of functions that copy them to the device and back themselves.
    """

    baseline: StaffKernel
    solution: StaffKernel | None
    launch: Launch | Recordings
    sets: tuple[tuple[Argument, ...], ...]
    thresholds: tuple[Threshold, ...]
    seed: int
    budget_seconds: float
    widths: Named[str] = ()
    flops: int | None = None
    library: Named[Any] = ()
    on_host: bool = False

    def staff(self) -> tuple[StaffKernel, ...]:
        """The staff's kernels that run beside the student's."""
        return (self.baseline,) if self.solution is None else (self.baseline, self.solution)

    def images(self, architecture: str) -> Named[Image]:
        """Cubins of the kernels."""
        return tuple((kernel.name, dict(kernel.images)[architecture]) for kernel in self.staff())

    def request(self, architecture: str, lock: str) -> tuple[dict[str, Any], Named[bytes], tuple[str, ...]]:
        """The plan as the harness reads it, the files that it names, and those that shall come back."""
        files: dict[str, bytes] = {}
        timed = {kernel.name: kernel.launch for kernel in self.staff()} | {STUDENT: self.launch}
        recordings = {
            name: [one.described(f"{name}-{number}", files) for number, one in enumerate(launch)]
            for name, launch in timed.items()
            if not isinstance(launch, Launch)
        }
        widths = {kernel.name: dict(dict(kernel.images)[architecture].widths) for kernel in self.staff()}
        plan = self.rules() | {
            "launches": {n: _launch(one) for n, one in timed.items() if isinstance(one, Launch)},
            "recordings": recordings,
            "on_host": self.on_host,
            "widths": widths | {STUDENT: dict(self.widths)},
            "sets": [
                described(arguments, f"timed/in-{index}", files) for index, arguments in enumerate(self.sets)
            ],
            "kept_outputs": KEPT_OUTPUTS,
            "library": dict(self.library) or None,
            "lock": lock,
        }
        return plan, tuple(files.items()), self.outputs()

    def rules(self) -> dict[str, Any]:
        """The part of the plan that the rounds are made by and judged by: what runs, and until when."""
        return {
            "baseline": self.baseline.name,
            "solution": self.solution.name if self.solution else None,
            "seed": self.seed,
            "settle": [
                [float(threshold.fixed), float(threshold.of_solution)] for threshold in self.thresholds
            ],
            "budget_seconds": self.budget_seconds,
            "warm_seconds": WARM_SECONDS,
            "least_rounds": LEAST_ROUNDS,
            "most_rounds": MOST_ROUNDS,
            "resamples": RESAMPLES,
            "level": LEVEL,
            "flops": self.flops,
        }

    def outputs(self) -> tuple[str, ...]:
        """The files in which outputs of timed launches may come back."""
        arrays = [a.name for a in self.sets[0] if a.direction in ("out", "inout")]
        return tuple(
            f"timed/{index}-{kept}-{array}.npy"
            for index in range(len(self.sets))
            for kept in range(KEPT_OUTPUTS)
            for array in arrays
        )


def _launch(launch: Launch) -> dict[str, Any]:
    return {"grid": list(launch.grid), "block": list(launch.block), "shared": launch.shared_bytes}
