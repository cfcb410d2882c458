"""Further runs of a wrong kernel on the emulator, to explain what is wrong with it.

`with_smallest` looks for the smallest shape at which it still fails (`grader.kinds.attempts.smaller`), on
inputs of the case's own kind and seed, first in large steps, then one by one. `with_order` says whether the
kernel is right when its parameters come in another order (`grader.kinds.attempts.orders`). Only an order that
makes every visible case right is believed.

All of it is within a budget of work that is counted (`Run.work`), so that every machine says the same. It is
a courtesy: it changes no verdict, and where anything goes wrong nothing is said.
"""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.base.errors import log_swallowed
from grader.base.precision import numbers
from grader.base.records import frozen, mutable
from grader.grading.oracle import OracleStoppedError, are_right, expected_of
from grader.kinds.attempts.orders import right_order
from grader.kinds.attempts.smaller import SmallestShapes, at_sizes, shrunk
from grader.kinds.comparing.examples import MOST_NUMBERS, example_of
from grader.kinds.kernel.planning import arguments
from grader.model import Finding, Visibility
from grader.model.compare import compare
from grader.toolchain.nvcc.launch import plan_launch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.grading.oracle import Oracle
    from grader.kinds.attempts.orders import Order
    from grader.kinds.attempts.smaller import Sizes
    from grader.model import (
        Argument,
        Assignment,
        Case,
        CaseEvidence,
        ExampleArray,
        Launch,
        Named,
        Parameter,
    )
    from grader.running.backends.emulated_kernel import EmulatedKernel


STEPS = 20_000
"""Vector steps that each launch may take."""

MISTAKE = "parameter-order"

WORK = 20_000
"""Work that all attempts for one submission may take together: about half a second."""

LEAST = 50
"""Work of an attempt however small it is: inputs are drawn, and the answer is computed."""


def _coarse(size: int) -> Iterator[int]:
    """1, then from an eighth upwards."""
    yield from sorted(
        {candidate for candidate in (1, size // 8, size // 4, size // 2) if 0 < candidate < size}
    )


def _fine(size: int) -> Iterator[int]:
    """Every smaller one, the smallest first."""
    yield from range(1, size)


STEPS_DOWN = (_coarse, _fine)
"""Smaller values that are tried for a size: large steps, then single ones."""

MOST_CASES = 4
"""Cases that are made smaller at most: the others mostly fail in the same way."""


def with_smallest(
    assignment: Assignment, oracle: Oracle, cases: tuple[CaseEvidence, ...], kernels: list[EmulatedKernel]
) -> tuple[CaseEvidence, ...]:
    """The cases, those that are visible and wrong with the smallest shape that fails; a kernel for each."""
    budget = Budget()
    results = []
    for case, kernel in zip(cases, kernels, strict=True):
        wrong = next((comparison for comparison in case.comparisons if comparison.wrong), None)
        if wrong is None or not case.completed or case.case.visibility is not Visibility.VISIBLE:
            results.append(case)
        else:
            attempts = Attempts(assignment, kernel, oracle, case.case, budget)
            smallest = attempts.smallest(wrong.mistake)
            example = attempts.example(smallest or case.case.shape)
            results.append(replace(case, smallest=smallest, example=example))
    return tuple(results)


@mutable
class Budget:
    """Work and cases that are left of the budget, and the smallest shapes so far."""

    work_left: int = WORK
    cases: int = MOST_CASES
    shapes: SmallestShapes = field(default_factory=SmallestShapes)


@frozen
class Attempts:
    """Attempts to run a case at other shapes, with all that they need."""

    assignment: Assignment
    kernel: EmulatedKernel
    oracle: Oracle
    case: Case
    budget: Budget

    def smallest(self, mistake: str) -> Named[int]:
        """Smallest shape seen to fail; empty where none is smaller, or enough cases were made smaller."""
        return self.budget.shapes.of(self.case, mistake, self._searched)

    def _searched(self, sizes: Sizes) -> Sizes | None:
        if self.budget.cases <= 0:
            return None
        self.budget.cases -= 1
        smallest = shrunk(sizes, STEPS_DOWN, lambda attempts: next(filter(self.fails, attempts), None))
        return smallest if smallest != sizes else None

    def example(self, shape: Named[int]) -> tuple[ExampleArray, ...]:
        """The numbers of a run at this shape, which is run for them if it is small and was not run before."""
        sizes = tuple(size for _, size in shape)
        if self.budget.shapes.example(self.case, shape) is None and math.prod(sizes) <= MOST_NUMBERS:
            self.fails(sizes)
        return self.budget.shapes.example(self.case, shape) or ()

    def fails(self, sizes: Sizes) -> bool:
        """True if some output is wrong at these sizes; False if that is unknown, or the budget is spent."""
        if self.budget.work_left <= 0:
            return False
        self.budget.work_left -= LEAST
        try:
            return self._is_wrong(at_sizes(self.case, sizes))
        except OracleStoppedError:
            self.budget.work_left = 0
            return False
        except Exception:  # noqa: BLE001 - a shape that the oracle or the launch does not take is no smaller one
            log_swallowed("running a smaller shape")
            return False

    def _is_wrong(self, case: Case) -> bool:
        shape = dict(case.shape)
        launch = plan_launch(self.assignment.kernel, self.kernel.build, shape)
        if isinstance(launch, Finding):
            return False
        arguments_of_case = arguments(self.assignment, self.kernel.build, case, self.oracle)
        run = self.kernel.again(launch, arguments_of_case, max(1, self.budget.work_left))
        self.budget.work_left -= run.work
        if not run.completed:
            return False
        read = {
            a.name: numbers(np.asarray(a.value))
            for a in arguments_of_case
            if a.direction in ("in", "inout") and _is_array(a.value)
        }
        expected = expected_of(self.oracle, read, shape, [name for name, _ in run.outputs])
        if not any(compare(name, output, *expected[name]).wrong for name, output in run.outputs):
            return False
        arrays = example_of(
            arguments_of_case, read, [(name, output, *expected[name]) for name, output in run.outputs]
        )
        self.budget.shapes.keep_example(case, arrays)
        return True


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def with_order(
    parameters: Sequence[Parameter],
    oracle: Oracle,
    cases: tuple[CaseEvidence, ...],
    launches: Sequence[tuple[EmulatedKernel, Launch | Finding, tuple[Argument, ...]]],
) -> tuple[CaseEvidence, ...]:
    """The cases, the wrong ones with this mistake in front if another order makes all visible ones right."""
    wrong = [
        index
        for index, case in enumerate(cases)
        if case.case.visibility is Visibility.VISIBLE
        and any(comparison.wrong for comparison in case.comparisons)
    ]
    if not wrong:
        return cases
    names = launches[wrong[0]][0].build.parameters

    def is_right(order: Order) -> bool:
        return all(_is_right(cases[index], oracle, launches[index], order) for index in wrong)

    order = right_order(parameters, names, is_right)
    return cases if order is None else tuple(_marked(case) for case in cases)


def _is_right(
    case: CaseEvidence,
    oracle: Oracle,
    launched: tuple[EmulatedKernel, Launch | Finding, tuple[Argument, ...]],
    order: Order,
) -> bool:
    """True if all outputs of a case are right with the arguments in this order."""
    kernel, launch, arguments = launched
    if isinstance(launch, Finding):
        return False
    run = kernel.again(launch, tuple(arguments[position] for position in order), STEPS)
    if not run.completed or not run.outputs:
        return False
    return are_right(oracle, arguments, case.case, run.outputs)


def _marked(case: CaseEvidence) -> CaseEvidence:
    return replace(
        case,
        comparisons=tuple(
            replace(comparison, fitting=(MISTAKE, *comparison.fitting)) if comparison.wrong else comparison
            for comparison in case.comparisons
        ),
    )
