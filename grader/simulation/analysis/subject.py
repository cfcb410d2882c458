"""Common parts of all subjects: parameters, quantities with their steps, misconceptions, sectors.

Sectors of 32 bytes are counted warp by warp. A warp is 32 threads that follow each other in the block, x
first (CUDA programming guide, "Thread hierarchy"); a request takes the distinct sectors that its active
threads ask for ("Device memory accesses"). Arrays begin at multiples of 256 bytes, as cudaMalloc gives them,
and hold floats in rows.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from grader.base.errors import UsageError
from grader.base.records import frozen
from grader.model import Clause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from grader.model import Detail

MOST = 10**6
"""Maximum of a number of a subject."""

Number: TypeAlias = Fraction | int
Steps: TypeAlias = tuple[Clause, ...]
"""Sentences as their names in `grader.model.messages.answers`, and the numbers in them."""


def step(name: str, **values: Detail) -> Clause:
    """A step of an explanation, by the name of its sentence without ``step-``."""
    return Clause(f"step-{name}", tuple(values.items()))


def slip(name: str, **values: Detail) -> Clause:
    """Clause that describes a mistake, by the name of its sentence without ``slip-``."""
    return Clause(f"slip-{name}", tuple(values.items()))


class AnalysisProblem(UsageError):  # noqa: N818 - the numbers' problem, not ours
    """A subject cannot be studied with these numbers; the message says what was expected."""


@frozen
class Quantity:
    """A value with its unit, and the steps that lead to it."""

    name: str
    value: Fraction
    unit: str
    steps: Steps


@frozen
class Definition:
    """A quantity of a subject: its unit, its value, and its steps, both functions of the situation."""

    unit: str
    value: Callable[[Any], Number]
    steps: Callable[[Any], Steps]


@frozen
class Misconception:
    """A step done wrong, and its effect on the subject: another situation, or one quantity for another."""

    slip: Clause
    situation: Any = None
    instead: Mapping[str, str] = field(default_factory=dict)


@frozen
class Subject:
    """Subject of a question.

    ``parameters`` are its numbers: the lowest that each may be, and its default value (None: it must be
    given). ``situation`` computes from them the input of the definitions; it raises `AnalysisProblem`.
    ``quantities`` are the definitions by name, and ``misconceptions`` gives the misconceptions for a
    situation.
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
    """All names that an answer may use: the subject's quantities, and its numbers by their names."""
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
    """The value alone; with ``wrong``, the value that follows from this misconception."""
    numbers = parameters(subject, given)
    if name not in subject.quantities:
        return Fraction(numbers[name])
    situation = wrong.situation if wrong and wrong.situation is not None else subject.situation(numbers)
    name = wrong.instead.get(name, name) if wrong else name
    return Fraction(subject.quantities[name].value(situation))


def number_text(number: Number) -> str:
    """A number as people write it: `64,704`, `0.25`, `1/3` where it has no short decimal form."""
    exact = Fraction(number)
    if exact.denominator == 1:
        return f"{exact.numerator:,}"
    for digits in range(1, 7):
        if exact * 10**digits == int(exact * 10**digits):
            return f"{float(exact):,.{digits}f}"
    return f"{float(exact):,.6g} ({exact.numerator:,}/{exact.denominator:,})"


WARP = 32
FLOATS = 8
"""Floats in a sector."""

MOST_PIECES = 4_000_000
"""Maximum number of rows of warps: more would take too long."""

Piece: TypeAlias = tuple[int, int, int]
"""Neighbouring threads of a warp in a row of the block: row, first column, the column behind the last."""


def warps(width: int, height: int) -> list[list[Piece]]:
    """The warps of a block of ``width`` by ``height`` threads, each as pieces of rows."""
    total = width * height
    ranges = []
    for first in range(0, total, WARP):
        last = min(first + WARP, total) - 1
        ranges.append(
            [
                (
                    row,
                    first % width if row == first // width else 0,
                    last % width + 1 if row == last // width else width,
                )
                for row in range(first // width, last // width + 1)
            ]
        )
    return ranges


def of_tiles(rows: int, columns: int, tile: int) -> int:
    """Sectors of requests that cover a matrix once, tile by tile, a thread for each element inside."""
    threads = warps(tile, tile)
    _bounded((-(-rows // tile)) * (-(-columns // tile)) * sum(map(len, threads)))
    corners = product(range(0, rows, tile), range(0, columns, tile))
    return sum(
        _distinct(
            ((top + row) * columns + left + first, (top + row) * columns + min(left + end, columns))
            for row, first, end in warp
            if top + row < rows and left + first < columns
        )
        for top, left in corners
        for warp in threads
    )


def of_naive(m: int, k: int, n: int, tile: int) -> int:
    """Sectors that a naive product loads: at each step of K a thread loads one float of A and one of B."""
    threads = warps(tile, tile)
    _bounded((-(-m // tile)) * (-(-n // tile)) * sum(map(len, threads)) * k)
    total = 0
    for top, left, warp in product(range(0, m, tile), range(0, n, tile), threads):
        inside = [
            (top + row, left + first, min(left + end, n))
            for row, first, end in warp
            if top + row < m and left + first < n
        ]
        for step in range(k):
            total += len({(row * k + step) // FLOATS for row, _, _ in inside})
            columns = sorted((first, end) for _, first, end in inside)
            total += _distinct((step * n + first, step * n + end) for first, end in columns)
    return total


def _distinct(ranges: Iterable[tuple[int, int]]) -> int:
    """Sectors in ranges of elements, each given by its first and the one behind its last, in rising order."""
    count, highest = 0, -1
    for first, end in ranges:
        low, high = max(first // FLOATS, highest + 1), (end - 1) // FLOATS
        count += max(0, high - low + 1)
        highest = max(highest, high)
    return count


def _bounded(pieces: int) -> None:
    if pieces > MOST_PIECES:
        raise AnalysisProblem("the sectors of matrices this large are not counted; expected smaller ones")
