"""The raw columns of a timing answer → rows, each number checked for its type and range.

The answer comes out of a sandbox and is believed only as far as its numbers can be what they say they are;
whatever cannot is our error. What it sums up is not looked at: everything is computed again from the rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.errors import OurError
from grader.gpu import paired
from grader.text import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

STUDENT = "student"
AGAIN = "again"
"""The baseline a second time in each round: the control."""

COLUMNS = ("round", "kernel", "set", "ms", "digest", "unwritten", "inputs")
MOST_ROWS = 100_000
MOST = 1e12
"""No time, rate, temperature or power is as large, in whatever unit."""

_MOST_WORDS = 300
_WHOLE_CLOCKS = ("round", "sm_mhz", "reasons")


@dataclass(frozen=True, slots=True)
class Row:
    """One timed launch: which input set it had, what it took, what it left."""

    round: int
    kernel: str
    set: int
    ms: float
    digest: str
    unwritten: int
    inputs: bool


@dataclass(frozen=True, slots=True)
class Rounds:
    """All rows, what the device said of itself in each round, and which rounds do not count, and why."""

    rows: tuple[Row, ...]
    count: int
    clocks: tuple[dict[str, float | None], ...] = ()
    spoilt: Mapping[int, str] = field(default_factory=dict)

    def launches(self, kernel: str) -> tuple[Row, ...]:
        """Every launch of a kernel, those of spoilt rounds too: what it leaves must be right in any case."""
        return tuple(row for row in self.rows if row.kernel == kernel)

    def times_ms(self, kernel: str) -> NDArray[np.float64]:
        """The kernel's times in the rounds that count, in their order."""
        return np.array([row.ms for row in self.launches(kernel) if row.round not in self.spoilt], np.float64)


def read_rounds(answer: Mapping[str, Any], kernels: tuple[str, ...], sets: int) -> Rounds:
    """The rounds of an answer in which each of ``kernels`` was launched once per round, on one of ``sets``.

    Raises:
        OurError: the answer is not of the form that it must have.

    """
    columns = answer.get("columns", {})
    if not isinstance(columns, dict) or (columns and not set(COLUMNS) <= set(columns)):
        raise OurError("the timing has no columns")
    lists = [columns.get(name, []) for name in COLUMNS]
    if not all(isinstance(each, list) and len(each) == len(lists[0]) for each in lists):
        raise OurError("the timing's columns do not belong together")
    if len(lists[0]) > MOST_ROWS:
        raise OurError(f"the timing has {len(lists[0])} rows")
    rows = tuple(_row(values, kernels, sets) for values in zip(*lists, strict=True))
    count = _check_rounds(rows, kernels)
    clocks = tuple(_clock(each, count) for each in _listed(answer, "clocks"))
    return Rounds(rows, count, clocks, paired.spoilt(clocks))


def _row(values: tuple[Any, ...], kernels: tuple[str, ...], sets: int) -> Row:
    number, kernel, which, ms, digest, unwritten, inputs = values
    sound = (
        _is_whole(number, MOST_ROWS)
        and kernel in kernels
        and _is_whole(which, sets)
        and _is_amount(ms)
        and ms > 0
        and _is_digest(digest)
        and _is_whole(unwritten, 2**63)
        and isinstance(inputs, bool)
    )
    if not sound:
        raise OurError("the timing has a row that cannot be")
    return Row(number, kernel, which, float(ms), digest, unwritten, inputs)


def _check_rounds(rows: tuple[Row, ...], kernels: tuple[str, ...]) -> int:
    """How many rounds there are; each must be complete, on one input set, and in its place."""
    size = len(kernels)
    for start in range(0, len(rows), size):
        group = rows[start : start + size]
        alike = {(row.round, row.set) for row in group}
        if {row.kernel for row in group} != set(kernels) or alike != {(start // size, group[0].set)}:
            raise OurError(f"round {start // size} of the timing is not complete")
    return len(rows) // size


def _clock(said: Any, rounds: int) -> dict[str, float | None]:  # noqa: ANN401 - JSON
    names = ("round", "sm_mhz", "memory_mhz", "celsius", "watts", "reasons")
    if not isinstance(said, dict):
        raise OurError("the timing has clocks that cannot be")
    values = {name: said.get(name) for name in names}
    sound = _is_whole(values["round"], rounds) and all(
        each is None or (_is_whole(each, 2**63) if name in _WHOLE_CLOCKS else _is_amount(each))
        for name, each in values.items()
    )
    if not sound:
        raise OurError("the timing has clocks that cannot be")
    return values


def amount(answer: Mapping[str, Any], name: str) -> float:
    """A number of the answer, 0 where it is not there; raises OurError for what is no number from 0 up."""
    value = answer.get(name, 0)
    if not _is_amount(value):
        raise OurError(f"the timing's {name} is no number")
    return float(value)


def amounts(answer: Mapping[str, Any], name: str) -> list[float]:
    """A list of such numbers."""
    values = _listed(answer, name)
    if not all(map(_is_amount, values)):
        raise OurError(f"the timing's {name} are no numbers")
    return [float(value) for value in values]


def words(answer: Mapping[str, Any], name: str) -> str:
    """A text of the answer, short, without control characters."""
    value = answer.get(name, "")
    if not isinstance(value, str):
        raise OurError(f"the timing's {name} is no text")
    return escaped(value, _MOST_WORDS)


def _listed(answer: Mapping[str, Any], name: str) -> list[Any]:
    values = answer.get(name, [])
    if not isinstance(values, list) or len(values) > MOST_ROWS:
        raise OurError(f"the timing's {name} are no list")
    return values


def _is_digest(value: Any) -> bool:  # noqa: ANN401 - JSON
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{16}", value) is not None


def _is_whole(value: Any, end: int) -> bool:  # noqa: ANN401 - JSON
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < end


def _is_amount(value: Any) -> bool:  # noqa: ANN401 - JSON
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MOST
