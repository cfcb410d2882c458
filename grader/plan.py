"""What all submissions of one grading run share, worked out once before the first of them.

Assignment, seed ─make_plan▶ Plan: concrete cases, what the staff's kernels moved, what is timed beside them
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.assignment import expand_cases
from grader.backends.emulator import EMULATOR
from grader.emulator.launch import STEPS
from grader.model import Visibility

if TYPE_CHECKING:
    from grader.backends import Backend
    from grader.gpu.timing_job import StaffKernel
    from grader.model import Assignment, Case, Counters, Named, Threshold

    Baselines = Named[Named[Counters]]


ALL_WORK = 8_000_000
"""Work that the emulator shares out among the cases of a submission: some four minutes, for each build."""

LEAST_WORK = 300_000
"""What every case may take, however small it is beside others."""


@dataclass(frozen=True, slots=True)
class TimingStaff:
    """What is timed beside every submission, and what the operation needs at least.

    ``thresholds`` are the speedups that decide about points; ``flops`` and ``library`` come from the oracle.
    """

    baseline: StaffKernel
    solution: StaffKernel | None
    thresholds: tuple[Threshold, ...]
    flops: int | None = None
    library: Named[Any] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What all submissions of one grading run share.

    ``cases`` are concrete; ``baselines`` holds, per case, what the staff's kernels moved. ``backend`` is
    what runs them, and ``timing`` is there where something is timed on it. ``steps`` is how far the emulator
    follows a launch; without ``feedback`` there are verdicts and no explanations, which saves time. With
    ``estimates`` speed is estimated where it is not measured, also where no points depend on it.
    """

    assignment: Assignment
    seed: int
    cases: tuple[Case, ...]
    baselines: Baselines
    backend: Backend = EMULATOR
    timing: TimingStaff | None = None
    steps: int = STEPS
    feedback: bool = True
    estimates: bool = False
    everything: int = 0
    """The sizes of all cases together, of hidden ones, too, where only visible ones are run."""

    def work_of(self, case: Case) -> int:
        """The work that a launch of a case may take: its share by its size, whatever else is run."""
        share = ALL_WORK * size(case) // (self.everything or sum(map(size, self.cases)))
        return min(self.steps, max(LEAST_WORK, share))


def size(case: Case) -> int:
    """The size of a case: the product of its dimensions."""
    return max(1, math.prod(size for _, size in case.shape))


def draw_plan(assignment: Assignment, seed: int, backend: Backend, *, visible_only: bool) -> Plan:
    """A plan with its cases and nothing else: the kind adds what the staff's own files are run for.

    Hidden cases are among them unless only visible ones are asked for.
    """
    every = expand_cases(assignment, seed)
    cases = tuple(case for case in every if not visible_only or case.visibility is Visibility.VISIBLE)
    return Plan(assignment, seed, cases, (), backend, everything=sum(map(size, every)))
