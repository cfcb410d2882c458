"""What is timed: the kernels beside each other, on inputs drawn here, until which speedups are settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.gpu.request import described

if TYPE_CHECKING:
    from grader.gpu.request import Image
    from grader.model import Argument, Launch, Named, Threshold

SETS = 2
"""Input sets that the rounds choose from at random."""

KEPT_OUTPUTS = 4
"""Distinct outputs of the student's kernel per input set that come back to be compared in full."""

WARM_SECONDS = 0.15
LEAST_ROUNDS, MOST_ROUNDS = 20, 400
RESAMPLES = 1000
LEVEL = 0.99


@dataclass(frozen=True, slots=True)
class StaffKernel:
    """A kernel of the staff's, ready for the GPUs: its cubins by architecture, and its launch when timed."""

    name: str
    images: Named[Image]
    launch: Launch


@dataclass(frozen=True, slots=True)
class TimingJob:
    """One submission's timing: what runs, on what, and what has to be settled.

    ``sets`` are arguments as for a launch, several times with other inputs; ``thresholds`` are the speedups
    that decide about points; ``flops`` is what the operation needs, ``library`` a call that does the same.
    """

    baseline: StaffKernel
    solution: StaffKernel | None
    launch: Launch
    sets: tuple[tuple[Argument, ...], ...]
    thresholds: tuple[Threshold, ...]
    seed: int
    budget_seconds: float
    widths: Named[str] = ()
    flops: int | None = None
    library: Named[Any] = ()

    def staff(self) -> tuple[StaffKernel, ...]:
        """The staff's kernels that run beside the student's."""
        return (self.baseline,) if self.solution is None else (self.baseline, self.solution)

    def images(self, architecture: str) -> Named[Image]:
        """Their cubins."""
        return tuple((kernel.name, dict(kernel.images)[architecture]) for kernel in self.staff())

    def request(self, architecture: str, lock: str) -> tuple[dict[str, Any], Named[bytes], tuple[str, ...]]:
        """The plan as the harness reads it, the files that it names, and those that shall come back."""
        files: dict[str, bytes] = {}
        launches = {kernel.name: _launch(kernel.launch) for kernel in self.staff()}
        widths = {kernel.name: dict(dict(kernel.images)[architecture].widths) for kernel in self.staff()}
        plan = self.rules() | {
            "launches": launches | {"student": _launch(self.launch)},
            "widths": widths | {"student": dict(self.widths)},
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
