"""The smallest shape at which a wrong function still fails, looked for by calling it again.

As for a kernel (`grader.kinds.kernel.further_runs`), but each attempt is a run in the sandbox: attempts are
few, and those that begin at one shape share a stage. It is a courtesy: it changes no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.device.observation import Observation
from grader.errors import log_swallowed
from grader.kinds.program.running import run_cases
from grader.model import Visibility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.kinds.program.running import Task
    from grader.model import Build, Case, CaseEvidence, ExampleArray, Named, Submission
    from grader.nvcc import Tools
    from grader.plan import Plan

    Sizes = tuple[int, ...]

CALLS = 48
"""Calls of the function that all attempts for one submission may take together."""

SECONDS, EMULATOR_SECONDS = 1.0, 0.2
"""What each of them may take: smaller shapes take less than the case."""


@dataclass(eq=False, slots=True)
class SmallerCalls:
    """Calls of one submission's function at smaller shapes than those of its cases."""

    plan: Plan
    submission: Submission
    built: Build
    tools: Tools
    task: Callable[[Plan, Build], Task]
    left: int = CALLS
    smallest: dict[tuple[str, str], Named[int]] = field(default_factory=dict)
    """The smallest shapes so far, by kind of inputs and mistake."""
    examples: dict[tuple[str, Named[int]], tuple[ExampleArray, ...]] = field(default_factory=dict)
    """The numbers of the calls that failed, by kind of inputs and shape."""

    def with_smallest(self, cases: tuple[CaseEvidence, ...]) -> tuple[CaseEvidence, ...]:
        """The cases, those that are visible and wrong with the smallest shape that fails."""
        try:
            return tuple(self._with_smallest(case) if _is_shown(case) else case for case in cases)
        except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
            log_swallowed("calling a function at a smaller shape")
            return cases

    def _with_smallest(self, case: CaseEvidence) -> CaseEvidence:
        smallest = self._smallest(case)
        return replace(
            case, smallest=smallest, example=self.examples.get((case.case.inputs, smallest), case.example)
        )

    def _smallest(self, evidence: CaseEvidence) -> Named[int]:
        """The smallest shape found to fail; empty where none is smaller than the case's own."""
        case, mistake = evidence.case, next(c.mistake for c in evidence.comparisons if c.wrong)
        sizes = tuple(size for _, size in case.shape)
        before = self.smallest.get((case.inputs, mistake))
        if before is not None and all(size <= at for (_, size), at in zip(before, sizes, strict=True)):
            return before if before != case.shape else ()
        smaller = self._shrunk(case, sizes)
        shape = tuple((name, size) for (name, _), size in zip(case.shape, smaller, strict=True))
        self.smallest[case.inputs, mistake] = shape
        return shape if smaller != sizes else ()

    def _shrunk(self, case: Case, sizes: Sizes) -> Sizes:
        """Sizes none of which can be made smaller by a step, as far as the calls last."""
        tried = {sizes}
        while True:
            attempts = [smaller for smaller in dict.fromkeys(_smaller(sizes)) if smaller not in tried]
            attempts = attempts[: self.left]
            if not attempts:
                return sizes
            tried.update(attempts)
            failing = self._failing(case, attempts)
            if not failing:
                return sizes
            sizes = failing[0]

    def _failing(self, case: Case, attempts: list[Sizes]) -> list[Sizes]:
        """Those of some shapes at which an output is wrong; nobody tells of those that cannot be called."""
        self.left -= len(attempts)
        cases = tuple(
            replace(case, id=f"smaller-{number}", shape=_shape(case, sizes))
            for number, sizes in enumerate(attempts)
        )
        interface = self.plan.assignment.function
        program = replace(interface.program, seconds=SECONDS, emulator_seconds=EMULATOR_SECONDS)
        assignment = replace(self.plan.assignment, interface=replace(interface, program=program))
        plan = replace(self.plan, assignment=assignment, cases=cases, feedback=False)
        task = self.task(plan, self.built)
        observation = Observation(count_only=True)
        ran = run_cases(plan, self.submission, self.built, self.tools, task, observation=observation)
        failing = [pair for pair in zip(attempts, ran.cases, strict=True) if _is_wrong(pair[1])]
        self.examples |= {(case.inputs, one.case.shape): one.example for _, one in failing}
        return [sizes for sizes, _ in failing]


def _shape(case: Case, sizes: Sizes) -> Named[int]:
    return tuple((name, size) for (name, _), size in zip(case.shape, sizes, strict=True))


def _is_shown(case: CaseEvidence) -> bool:
    """Whether a smaller shape is worth looking for: nothing that the host did explains the result."""
    of_host = any(c.wrong and c.explanation and not c.mistake for c in case.comparisons)
    return case.case.visibility is Visibility.VISIBLE and _is_wrong(case) and not of_host


def _is_wrong(case: CaseEvidence) -> bool:
    """Whether a call came to its end and left something wrong that a kernel computed."""
    computed = case.completed and not case.error and not case.too_much_work and case.launches != 0
    return computed and any(comparison.wrong for comparison in case.comparisons)


def _smaller(sizes: Sizes) -> Iterator[Sizes]:
    """Shapes with one size smaller, the smallest sizes first."""
    for axis, size in enumerate(sizes):
        for less in sorted({1, size // 4, size // 2, size - size // 4, size - 1}):
            if 0 < less < size:
                yield (*sizes[:axis], less, *sizes[axis + 1 :])
