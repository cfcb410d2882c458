"""Whether a kernel is right when its parameters come in another order: tried, not guessed.

Where outputs are wrong, the kernel is launched again with the arguments in the order of the names that the
file gives its parameters; where the names tell nothing, with its sizes in every other order, if they are few.
Only an order that makes every visible case right is believed.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, TypeAlias

from grader.model import Finding, Visibility
from grader.oracle import are_right

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.backends.emulated_kernel import EmulatedKernel
    from grader.model import Argument, CaseEvidence, Launch, Parameter
    from grader.oracle import Oracle

Order: TypeAlias = tuple[int, ...]
"""For each parameter of the kernel the place of what it is given among those of the hand-out."""

MOST_SIZES = 3
"""Sizes up to which all their orders are tried."""

STEPS = 20_000
"""Vector steps that each launch may take."""

MISTAKE = "parameter-order"


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
        if case.case.visibility is Visibility.VISIBLE and any(each.wrong for each in case.comparisons)
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
    wanted = [each.name.casefold() for each in parameters]
    given = [name.casefold() for name in names]
    if given == wanted:
        return
    usual = tuple(range(len(parameters)))
    if sorted(given) == sorted(wanted) and len(set(wanted)) == len(wanted):
        named = tuple(wanted.index(name) for name in given)
        if all(parameters[place].dtype == each.dtype for place, each in zip(named, parameters, strict=True)):
            yield named
        return
    sizes = [place for place in usual if parameters[place].direction == "value"]
    alike = len({parameters[place].dtype for place in sizes}) == 1
    if not alike or not 1 < len(sizes) <= MOST_SIZES:
        return
    for places in permutations(sizes):
        exchanged = dict(zip(sizes, places, strict=True))
        order = tuple(exchanged.get(place, place) for place in usual)
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
    run = kernel.again(launch, tuple(arguments[place] for place in order), STEPS)
    if not run.completed or not run.outputs:
        return False
    return are_right(oracle, arguments, dict(case.case.shape), run.outputs)


def _marked(case: CaseEvidence) -> CaseEvidence:
    return replace(
        case,
        comparisons=tuple(
            replace(each, fitting=(MISTAKE, *each.fitting)) if each.wrong else each
            for each in case.comparisons
        ),
    )
