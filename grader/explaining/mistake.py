"""The record of a named mistake, and decorators that put it on the function that recognises the mistake.

To add a mistake is to write one such function, in the module of its subject, and the texts of its id in
``grader/model/mistakes/texts.yaml``. `table` reads all records.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F")
Test = TypeVar("Test", bound="Callable[..., bool]")
"""A function that looks at a `WrongOutput`."""


class Rank(Enum):
    """Order in which mistakes of an output are looked for, the surest first."""

    CERTAIN = auto()
    """Nothing else could look like it."""
    PREDICTED = auto()
    """Its output is computed, from the right numbers or by the oracle of other inputs."""
    LIKELY = auto()
    """An output passes a test of its own."""
    FORMULA = auto()
    """A mutant of the oracle has it; asked where nothing above fits."""
    APPEARANCE = auto()
    """An output passes a test that says only what it looks like: a mutant explains it better."""


class Says(Enum):
    """Strength of a mistake as an explanation, beside findings with a line and other mistakes."""

    ALL = auto()
    """It makes accesses go astray as well: reported before findings about those."""
    WHY = auto()
    """It is reported before a finding that only some of the wrong cases have."""
    HOW = auto()
    """An output shows it whatever made it so: any finding with a line says more."""
    WHERE = auto()
    """It says only where an output is wrong: it displaces no other mistake either."""


class Shows(Enum):
    """Outputs in which a mistake shows."""

    OF_SOME_SHAPES = auto()
    OF_ANY_SHAPE = auto()
    """A right output rules it out for smaller ones."""
    IN_ALL_CASES = auto()
    """A wrong output without it rules it out for all."""
    IN_PARTIAL_BLOCKS = auto()
    """It is known only where outputs with whole blocks are right, or wrong at their edge."""
    AT_EDGES = auto()
    """At the edge of arrays that have whole blocks as well."""
    IN_SMALL_ERRORS = auto()
    """Wherever errors are small, whatever made them: it contradicts no other mistake."""


@frozen
class Mistake:
    """A mistake that outputs show: its id, under which its texts stand, and how it is weighed."""

    id: str
    rank: Rank
    says: Says = Says.WHY
    shows: Shows = Shows.OF_SOME_SHAPES
    excludes: str = ""
    """Mistake that it cannot be together with: where both fit, neither is named."""
    in_vectors: str = ""
    """Name of the same mistake where there are no rows and columns."""
    at_accesses: str = ""
    """Mistake that accesses outside arrays, or races, show where outputs show this one."""


class Asked(NamedTuple):
    """A test of outputs, and the mistake that they have if they pass it."""

    mistake: Mistake
    test: Callable[..., bool]
    module: str


MISTAKES: dict[str, Mistake] = {}
"""The mistakes of all modules that were loaded: use `table`, which loads them all."""

TESTS: list[Asked] = []
"""Their tests, each module's in the order in which it defines them."""


def register(*mistakes: Mistake | str) -> None:
    """Enter mistakes, a bare id as a predicted one; ValueError for a second record of an id."""
    for one in mistakes:
        record = Mistake(one, Rank.PREDICTED) if isinstance(one, str) else one
        if record.id in MISTAKES:
            raise ValueError(record.id)
        MISTAKES[record.id] = record
        if record.in_vectors:
            register(replace(record, id=record.in_vectors, in_vectors=""))


def named(
    name: str,
    rank: Rank,
    says: Says = Says.WHY,
    shows: Shows = Shows.OF_SOME_SHAPES,
    *,
    excludes: str = "",
    in_vectors: str = "",
    at_accesses: str = "",
) -> Callable[[Test], Test]:
    """Enter a mistake with its test, which is asked where it stands in its module."""
    register(Mistake(name, rank, says, shows, excludes, in_vectors, at_accesses))
    return another_test(name)


def another_test(name: str) -> Callable[[Test], Test]:
    """Enter one more test of a mistake, which is asked after the first one."""

    def enter(test: Test) -> Test:
        TESTS.append(Asked(MISTAKES[name], test, test.__module__))
        return test

    return enter


def predicts(*mistakes: Mistake | str) -> Callable[[F], F]:
    """Enter the mistakes that a generator of predictions yields; those with a test are entered with it."""

    def enter(function: F) -> F:
        register(*mistakes)
        return function

    return enter
