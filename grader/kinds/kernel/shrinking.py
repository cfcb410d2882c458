"""The smallest shape at which a kernel still fails: what a student can follow on paper.

One dimension after the other is made as small as it can be while some output stays wrong, on inputs of the
case's own kind and seed: first in large steps, then one by one. All of it runs on the emulator, within a
budget of work that is counted (`Run.work`), so that every machine says the same. It is a courtesy: it changes
no verdict, and where anything goes wrong nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.compare import compare
from grader.debug import log_swallowed
from grader.kinds.kernel.planning import arguments
from grader.model import Finding, Visibility
from grader.nvcc.launch import plan_launch
from grader.precision import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.backends.emulated_kernel import EmulatedKernel
    from grader.model import Assignment, Case, CaseEvidence, Named
    from grader.oracle import Oracle

    Sizes = tuple[int, ...]

WORK = 20_000
"""Work that all attempts for one submission may take together: about half a second."""

LEAST = 50
"""Work of an attempt however small it is: inputs are drawn, and the answer is computed."""

MOST_CASES = 4
"""Cases that are made smaller at most: the others mostly fail in the same way."""


def with_smallest(
    assignment: Assignment, oracle: Oracle, cases: tuple[CaseEvidence, ...], kernels: list[EmulatedKernel]
) -> tuple[CaseEvidence, ...]:
    """The cases, those that are visible and wrong with the smallest shape that fails; a kernel for each."""
    budget = Budget()
    told = []
    for case, kernel in zip(cases, kernels, strict=True):
        wrong = next((each for each in case.comparisons if each.wrong), None)
        if wrong is None or not case.completed or case.case.visibility is not Visibility.VISIBLE:
            told.append(case)
        else:
            attempts = Attempts(assignment, kernel, oracle, case.case, budget)
            told.append(replace(case, smallest=attempts.smallest(wrong.mistake)))
    return tuple(told)


@dataclass(slots=True)
class Budget:
    """What is left of the work and of the cases, and what was found with the rest."""

    left: int = WORK
    cases: int = MOST_CASES
    known: dict[tuple[str, str, str], Named[int]] = field(default_factory=dict)
    """The smallest shapes so far, by kernel, kind of inputs and mistake."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """What it takes to run a case at another shape."""

    assignment: Assignment
    kernel: EmulatedKernel
    oracle: Oracle
    case: Case
    budget: Budget

    def smallest(self, mistake: str) -> Named[int]:
        """The smallest shape found to fail; empty where none is smaller than the case's own.

        ``mistake`` is the case's, so that what was found for another case with the same one serves again.
        """
        names = [name for name, _ in self.case.shape]
        own = tuple(size for _, size in self.case.shape)
        key = (self.case.kernel, self.case.inputs, mistake)
        before = self.budget.known.get(key)
        if before is not None and all(size <= at for (_, size), at in zip(before, own, strict=True)):
            return before if before != self.case.shape else ()
        if self.budget.cases <= 0:
            return ()
        self.budget.cases -= 1
        found = shrunk(own, self.fails)
        if found == own:
            return ()
        self.budget.known[key] = tuple(zip(names, found, strict=True))
        return self.budget.known[key]

    def fails(self, sizes: Sizes) -> bool:
        """Whether some output is wrong at these sizes; not if nobody can tell, or the budget is spent."""
        if self.budget.left <= 0:
            return False
        names = (name for name, _ in self.case.shape)
        case = replace(self.case, shape=tuple(zip(names, sizes, strict=True)))
        self.budget.left -= LEAST
        try:
            return self._is_wrong(case)
        except Exception:  # noqa: BLE001 - a shape that the oracle or the launch does not take is no smaller one
            log_swallowed("running a smaller shape")
            return False

    def _is_wrong(self, case: Case) -> bool:
        shape = dict(case.shape)
        launch = plan_launch(self.assignment.kernel, self.kernel.build, shape)
        if isinstance(launch, Finding):
            return False
        given = arguments(self.assignment, self.kernel.build, case, self.oracle)
        run = self.kernel.again(launch, given, max(1, self.budget.left))
        self.budget.left -= run.work
        if not run.completed:
            return False
        read = {
            a.name: numbers(np.asarray(a.value))
            for a in given
            if a.direction in ("in", "inout") and _is_array(a.value)
        }
        expected = self.oracle.expected(read, shape)
        return any(compare(name, got, *expected[name]).wrong for name, got in run.outputs)


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def shrunk(sizes: Sizes, fails: Callable[[Sizes], bool]) -> Sizes:
    """Sizes none of which can be made smaller by itself, as far as ``fails`` can tell."""
    known: dict[Sizes, bool] = {sizes: True}

    def asked(tried: Sizes) -> bool:
        if tried not in known:
            known[tried] = fails(tried)
        return known[tried]

    for candidates in (_coarse, _fine):
        while True:
            smaller = next((t for t in _tried(sizes, candidates) if asked(t)), None)
            if smaller is None:
                break
            sizes = smaller
    return sizes


def _tried(sizes: Sizes, candidates: Callable[[int], Iterator[int]]) -> Iterator[Sizes]:
    for axis, size in enumerate(sizes):
        for smaller in candidates(size):
            yield (*sizes[:axis], smaller, *sizes[axis + 1 :])


def _coarse(size: int) -> Iterator[int]:
    """1, then from an eighth upwards."""
    yield from sorted({each for each in (1, size // 8, size // 4, size // 2) if 0 < each < size})


def _fine(size: int) -> Iterator[int]:
    """Every smaller one, the smallest first."""
    yield from range(1, size)
