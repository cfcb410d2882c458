"""The table of all named mistakes, and what is asked of it.

The modules that recognise mistakes are loaded here, so that all records are there. Tests are asked in the
order of `MODULES`, and of the functions in each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.explaining import (
    deviations,
    facts,
    inputs_left_out,
    misplaced_values,
    other_inputs,
    patterns,
    places,
    right_numbers_elsewhere,
    stores,
    threads_in_range,
)
from grader.explaining.formulas import changes, sums
from grader.explaining.mistake import MISTAKES, TESTS, Mistake, Rank, Says, register

if TYPE_CHECKING:
    from grader.explaining.facts import Tests
    from grader.explaining.mistake import Shows

MODULES = (
    stores,
    threads_in_range,
    misplaced_values,
    deviations,
    places,
    right_numbers_elsewhere,
    patterns,
    facts,
    inputs_left_out,
    other_inputs,
    changes,
    sums,
)

OF_RUNS = (
    Mistake("parameter-order", Rank.PREDICTED, Says.ALL, at_accesses="sizes-exchanged"),
    Mistake("input-changed", Rank.CERTAIN),
)
"""Mistakes that show when a kernel runs again, or by what it has changed."""

OF_OPERATIONS = (
    Mistake("a-leading-dimension", Rank.PREDICTED),
    Mistake("b-leading-dimension", Rank.PREDICTED),
    Mistake("both-leading-dimensions", Rank.PREDICTED, Says.ALL),
    Mistake("a-transposed", Rank.PREDICTED, Says.ALL),
    Mistake("b-transposed", Rank.PREDICTED, Says.ALL),
    Mistake("both-transposed", Rank.PREDICTED, Says.ALL),
    Mistake("tile-loop-bound", Rank.PREDICTED, Says.ALL),
    Mistake("elementwise-product", Rank.PREDICTED, Says.ALL),
    Mistake("another-rule-for-bins", Rank.PREDICTED, Says.ALL),
    Mistake("updates-lost", Rank.APPEARANCE, Says.HOW),
)
"""Mistakes that ``reference/*/hypotheses.py`` recognise: of several operations, or other than `Says.WHY`."""

register(*OF_RUNS, *OF_OPERATIONS)


def saying(*strengths: Says) -> frozenset[str]:
    """The mistakes that explain as much as this."""
    return frozenset(one.id for one in MISTAKES.values() if one.says in strengths)


def showing(outputs: Shows) -> frozenset[str]:
    """The mistakes that show in these outputs."""
    return frozenset(one.id for one in MISTAKES.values() if one.shows is outputs)


def at_accesses(suggested: str) -> frozenset[str]:
    """The mistakes of outputs where accesses show the ``suggested`` one."""
    return frozenset(one.id for one in MISTAKES.values() if one.at_accesses == suggested)


def excluded_by(name: str) -> str:
    """The mistake that cannot be together with this one; empty where there is none."""
    record = MISTAKES.get(name)
    return "" if record is None else record.excludes


def in_vectors(name: str) -> str:
    """Name of a mistake where there are no rows and columns."""
    record = MISTAKES.get(name)
    return name if record is None else record.in_vectors or name


def tests(*ranks: Rank) -> Tests:
    """The tests of these ranks in the order of asking, each with the id of its mistake."""
    modules = [module.__name__ for module in MODULES]
    selected = [one for one in TESTS if one.mistake.rank in ranks]
    selected.sort(key=lambda one: modules.index(one.module))
    return tuple((one.mistake.id, one.test) for one in selected)
