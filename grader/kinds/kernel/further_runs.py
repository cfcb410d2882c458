"""Further runs of a wrong kernel on the emulator, to explain what is wrong with it.

`with_smallest` looks for the smallest shape at which it still fails, which a student can follow on paper: one
dimension after the other is made as small as it can be while some output stays wrong, on inputs of the case's
own kind and seed, first in large steps, then one by one. `with_order` says whether the kernel is right when
its parameters come in another order. It is launched again with the arguments in the order of the names that
the file gives its parameters; where the names tell nothing, with its sizes in every other order, if they are
few. Only an order that makes every visible case right is believed.

All of it is within a budget of work that is counted (`Run.work`), so that every machine says the same. It is
a courtesy: it changes no verdict, and where anything goes wrong nothing is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.compare import compare, data_of, states, untouched
from grader.errors import log_swallowed
from grader.kinds.kernel.planning import arguments
from grader.model import ExampleArray, Finding, Visibility
from grader.nvcc.launch import plan_launch
from grader.oracle import OracleStoppedError, are_right, expected_of
from grader.precision import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from grader.backends.emulated_kernel import EmulatedKernel
    from grader.model import Assignment, Case, CaseEvidence, Named
    from grader.oracle import Oracle

    Sizes = tuple[int, ...]
    Reals = NDArray[Any]
    from collections.abc import Sequence

    from grader.model import Argument, Launch, Parameter

MOST_SIZES = 3
"""Sizes up to which all their orders are tried."""

STEPS = 20_000
"""Vector steps that each launch may take."""

MISTAKE = "parameter-order"

WORK = 20_000
"""Work that all attempts for one submission may take together: about half a second."""

LEAST = 50
"""Work of an attempt however small it is: inputs are drawn, and the answer is computed."""

MOST_NUMBERS = 256
"""Elements of an array up to which its numbers are shown."""

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


@dataclass(slots=True)
class Budget:
    """What is left of the work and of the cases, and what was found with the rest."""

    left: int = WORK
    cases: int = MOST_CASES
    smallest: dict[tuple[str, str, str], Named[int]] = field(default_factory=dict)
    """The smallest shapes so far, by kernel, kind of inputs and mistake."""
    examples: dict[tuple[str, str, Named[int]], tuple[ExampleArray, ...]] = field(default_factory=dict)
    """The arrays of runs that went wrong and are small, by kernel, kind of inputs and shape."""


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
        sizes = tuple(size for _, size in self.case.shape)
        key = (self.case.kernel, self.case.inputs, mistake)
        before = self.budget.smallest.get(key)
        if before is not None and all(size <= at for (_, size), at in zip(before, sizes, strict=True)):
            return before if before != self.case.shape else ()
        if self.budget.cases <= 0:
            return ()
        self.budget.cases -= 1
        smallest_sizes = shrunk(sizes, self.fails)
        if smallest_sizes == sizes:
            return ()
        self.budget.smallest[key] = tuple(zip(names, smallest_sizes, strict=True))
        return self.budget.smallest[key]

    def example(self, shape: Named[int]) -> tuple[ExampleArray, ...]:
        """The numbers of a run at this shape, which is run for them if it is small and was not run before."""
        key = (self.case.kernel, self.case.inputs, shape)
        sizes = tuple(size for _, size in shape)
        if key not in self.budget.examples and math.prod(sizes) <= MOST_NUMBERS:
            self.fails(sizes)
        return self.budget.examples.get(key, ())

    def fails(self, sizes: Sizes) -> bool:
        """Whether some output is wrong at these sizes; not if nobody can tell, or the budget is spent."""
        if self.budget.left <= 0:
            return False
        names = (name for name, _ in self.case.shape)
        case = replace(self.case, shape=tuple(zip(names, sizes, strict=True)))
        self.budget.left -= LEAST
        try:
            return self._is_wrong(case)
        except OracleStoppedError:
            self.budget.left = 0
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
        run = self.kernel.again(launch, arguments_of_case, max(1, self.budget.left))
        self.budget.left -= run.work
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
        self.budget.examples[case.kernel, case.inputs, case.shape] = arrays
        return True


def example_of(
    launched: tuple[Argument, ...], read: dict[str, Reals], outputs: list[tuple[str, Reals, Reals, Reals]]
) -> tuple[ExampleArray, ...]:
    """The inputs and outputs of a run that are small, under the student's own names."""
    arguments = {argument.name: argument for argument in launched}
    arrays = [
        ExampleArray(arguments[name].label, array.shape, _floats(array))
        for name, array in read.items()
        if array.size <= MOST_NUMBERS
    ]
    for name, output, expected, bound in outputs:
        if output.size <= MOST_NUMBERS:
            before = np.asarray(arguments[name].value)
            picture = states(output, expected, bound, poison=untouched(output, before))
            values = numbers(output)
            label = arguments[name].label
            arrays.append(
                ExampleArray(label, output.shape, _floats(values), _floats(data_of(expected)), picture)
            )
    return tuple(arrays)


def _floats(array: Reals) -> tuple[float, ...]:
    return tuple(float(value) for value in array.flat)


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def shrunk(sizes: Sizes, fails: Callable[[Sizes], bool]) -> Sizes:
    """Sizes none of which can be made smaller by itself, as far as ``fails`` can tell."""
    outcomes: dict[Sizes, bool] = {sizes: True}

    def still_fails(sizes: Sizes) -> bool:
        if sizes not in outcomes:
            outcomes[sizes] = fails(sizes)
        return outcomes[sizes]

    for candidates in (_coarse, _fine):
        while True:
            smaller = next((t for t in _tried(sizes, candidates) if still_fails(t)), None)
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
    yield from sorted(
        {candidate for candidate in (1, size // 8, size // 4, size // 2) if 0 < candidate < size}
    )


def _fine(size: int) -> Iterator[int]:
    """Every smaller one, the smallest first."""
    yield from range(1, size)


Order: TypeAlias = tuple[int, ...]
"""For each parameter of the kernel the place of what it is given among those of the hand-out."""


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
    for order in orders(parameters, names):
        if all(_is_right(cases[index], oracle, launches[index], order) for index in wrong):
            return tuple(_marked(case) for case in cases)
    return cases


def orders(parameters: Sequence[Parameter], names: Sequence[str]) -> Iterator[Order]:
    """The orders to try: that of the names, or of a few sizes every one where the names tell nothing."""
    expected = [parameter.name.casefold() for parameter in parameters]
    student_names = [name.casefold() for name in names]
    if student_names == expected:
        return
    usual = tuple(range(len(parameters)))
    if sorted(student_names) == sorted(expected) and len(set(expected)) == len(expected):
        by_name = tuple(expected.index(name) for name in student_names)
        if all(
            parameters[position].dtype == parameter.dtype
            for position, parameter in zip(by_name, parameters, strict=True)
        ):
            yield by_name
        return
    sizes = [position for position in usual if parameters[position].direction == "value"]
    alike = len({parameters[position].dtype for position in sizes}) == 1
    if not alike or not 1 < len(sizes) <= MOST_SIZES:
        return
    for places in permutations(sizes):
        exchanged = dict(zip(sizes, places, strict=True))
        order = tuple(exchanged.get(position, position) for position in usual)
        if order != usual:
            yield order


def _is_right(
    case: CaseEvidence,
    oracle: Oracle,
    launched: tuple[EmulatedKernel, Launch | Finding, tuple[Argument, ...]],
    order: Order,
) -> bool:
    """Whether all outputs of a case are right with the arguments in this order."""
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
