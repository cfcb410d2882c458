"""What all subjects have in common: parameters, quantities with their steps, and misconceptions."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from grader.errors import UsageError
from grader.model import Clause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from grader.model import Detail

MOST = 10**6
"""No number of a subject is larger."""

Number: TypeAlias = Fraction | int
Steps: TypeAlias = tuple[Clause, ...]
"""Sentences as their names in `grader.messages.answers`, and the numbers in them."""


def step(name: str, **values: Detail) -> Clause:
    """A step of an explanation, by the name of its sentence without ``step-``."""
    return Clause(f"step-{name}", tuple(values.items()))


def slip(name: str, **values: Detail) -> Clause:
    """What somebody did wrong, by the name of its sentence without ``slip-``."""
    return Clause(f"slip-{name}", tuple(values.items()))


class AnalysisProblem(UsageError):  # noqa: N818 - the numbers' problem, not ours
    """A subject cannot be studied with these numbers; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with its unit, and how one gets there."""

    name: str
    value: Fraction
    unit: str
    steps: Steps


@dataclass(frozen=True, slots=True)
class Definition:
    """A quantity of a subject: its unit, its value, and its steps, both functions of the situation."""

    unit: str
    value: Callable[[Any], Number]
    steps: Callable[[Any], Steps]


@dataclass(frozen=True, slots=True)
class Misconception:
    """A step done wrong, and what it makes of the subject: another situation, or one quantity for another."""

    slip: Clause
    situation: Any = None
    instead: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question can be about.

    ``parameters`` are its numbers: the lowest that each may be, and what it is where nobody says (None: it
    must be said). ``situation`` makes of them what the definitions look at; it raises `AnalysisProblem`.
    ``quantities`` are the definitions by name, and ``misconceptions`` gives those for a situation.
    """

    parameters: Mapping[str, tuple[int, int | None]]
    situation: Callable[[Mapping[str, int]], Any]
    quantities: Mapping[str, Definition]
    misconceptions: Callable[[Any], Iterable[Misconception]]


def parameters(subject: Subject, given: Mapping[str, int]) -> dict[str, int]:
    """All numbers of a subject; raises `AnalysisProblem` for one that is unknown, missing or out of range."""
    for name in given:
        if subject.parameters and name not in subject.parameters:
            names = ", ".join(subject.parameters)
            raise AnalysisProblem(f"no number is called `{name}` here; expected {names}")
    complete = {name: default for name, (_, default) in subject.parameters.items() if default is not None}
    complete.update(given)
    for name, (lowest, _) in subject.parameters.items():
        if name not in complete:
            raise AnalysisProblem(f"the number `{name}` is missing")
        if not lowest <= complete[name] <= MOST:
            raise AnalysisProblem(f"expected `{name}` from {lowest} to {MOST:,}, found {complete[name]:,}")
    return complete


def quantity_names(subject: Subject, given: Iterable[str]) -> tuple[str, ...]:
    """All that an answer may speak of: the subject's quantities, and its numbers by their names."""
    return tuple(dict.fromkeys((*subject.quantities, *subject.parameters, *given)))


def study(subject: Subject, given: Mapping[str, int], name: str) -> Quantity:
    """One quantity of the subject, with its steps."""
    numbers = parameters(subject, given)
    if name not in subject.quantities:
        return Quantity(name, Fraction(numbers[name]), "", ())
    definition = subject.quantities[name]
    situation = subject.situation(numbers)
    return Quantity(name, Fraction(definition.value(situation)), definition.unit, definition.steps(situation))


def value(
    subject: Subject, given: Mapping[str, int], name: str, wrong: Misconception | None = None
) -> Fraction:
    """The value alone; as somebody who is ``wrong`` in this way gets it, where that is given."""
    numbers = parameters(subject, given)
    if name not in subject.quantities:
        return Fraction(numbers[name])
    situation = wrong.situation if wrong and wrong.situation is not None else subject.situation(numbers)
    name = wrong.instead.get(name, name) if wrong else name
    return Fraction(subject.quantities[name].value(situation))


def shown(number: Number) -> str:
    """A number as people write it: `64,704`, `0.25`, `1/3` where it has no short decimal form."""
    exact = Fraction(number)
    if exact.denominator == 1:
        return f"{exact.numerator:,}"
    for digits in range(1, 7):
        if exact * 10**digits == int(exact * 10**digits):
            return f"{float(exact):,.{digits}f}"
    return f"{float(exact):,.6g} ({exact.numerator:,}/{exact.denominator:,})"
