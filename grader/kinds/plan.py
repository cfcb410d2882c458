"""Data that all submissions of one grading run share, worked out once before the first of them.

Assignment, seed ─make_plan▶ Plan: concrete cases, what the staff's kernels moved, what is timed beside them
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from grader.base.records import frozen
from grader.grading.assignment import expand_cases
from grader.model import Visibility
from grader.running.backends.emulator import EMULATOR
from grader.simulation.emulator.launch import STEPS

if TYPE_CHECKING:
    from grader.model import Assignment, Case, Counters, Named, Threshold
    from grader.running.backends import Backend
    from grader.toolchain.gpu.timing_job import StaffKernel

    Baselines = Named[Named[Counters]]


ALL_WORK = 8_000_000
"""Work that the emulator shares out among the cases of a submission: some four minutes, for each build."""

LEAST_WORK = 300_000
"""Work that every case may take at least, however small it is beside others."""


@frozen
class TimingStaff:
    """Files timed beside every submission, and the least time and work of the operation.

    ``thresholds`` are the speedups that decide about points; ``flops`` and ``library`` come from the oracle.
    """

    baseline: StaffKernel
    solution: StaffKernel | None
    thresholds: tuple[Threshold, ...]
    flops: int | None = None
    library: Named[Any] = ()


@frozen
class Plan:
    """Data that all submissions of one grading run share.

    ``cases`` are concrete; ``baselines`` holds, per case, what the staff's kernels moved. ``backend`` runs
    the submissions, and ``timing`` is there where something is timed on it. ``steps`` limits how far the
    emulator follows a launch; without ``feedback`` there are verdicts and no explanations, which saves time.
    With ``estimates`` speed is estimated where it is not measured, also where no points depend on it.
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
    compares_work: bool = True
    """True if cases that are given up are run with the model solution (`own_work`)."""
    everything: int = 0
    """The sizes of all cases together, of hidden ones, too, where only visible ones are run."""

    @property
    def has_hidden_cases(self) -> bool:
        """True if it runs cases that are kept secret from students."""
        return not all(case.is_visible for case in self.cases)

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
