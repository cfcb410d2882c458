"""Timed rounds: their raw columns, checked number by number, and the verification of what they left.

The answer comes out of a sandbox and is believed only as far as its numbers can be what they say they are:
each is checked for its type and range, and any impossible value is our error. What it sums up is not looked
at: everything is computed again from the rows.

Outputs of timed launches are verified in full where they came back, by their digest where not.

A launch counts as verified only if its digest is that of an output that came back, was compared, and is
right. Outputs that did not come back (a sum by float atomics differs from launch to launch) do not count
as wrong as long as everything that did come back is right.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.base.errors import OurError
from grader.base.precision import numbers
from grader.base.records import frozen
from grader.base.text import escaped
from grader.model import Clause, Comparison, Finding, FindingCode, FindingKind
from grader.model.compare import compare, plainly_right
from grader.model.messages import worded
from grader.toolchain.gpu import WITNESS, speedup_statistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from grader.model import Detail

    Array: TypeAlias = NDArray[Any]
    Outputs: TypeAlias = Mapping[tuple[int, str], Mapping[str, Array]]
    """Outputs of the student's kernel that came back: arrays by name, by input set and digest."""

    Expected: TypeAlias = Mapping[str, tuple[Array, Array]]
    """For each output its values and how far a right one may be from them, elementwise."""

STUDENT = "student"
AGAIN = "again"
"""The baseline a second time in each round: the control."""

COLUMNS = ("round", "kernel", "set", "ms", "digest", "unwritten", "inputs")
MOST_ROWS = 100_000
MOST_AMOUNT = 1e12
"""Limit that every time, rate, temperature or power stays below, in any unit."""

_MOST_WORDS = 300
_WHOLE_CLOCKS = ("round", "sm_mhz", "reasons")


@frozen
class TimedLaunch:
    """One timed launch: which input set it had, what it took, what it left."""

    round: int
    kernel: str
    set: int
    ms: float
    digest: str
    unwritten: int
    inputs: bool


@frozen
class Rounds:
    """Rows of all rounds, the device's readings in each, and the rounds that do not count, with reasons."""

    rows: tuple[TimedLaunch, ...]
    count: int
    clocks: tuple[dict[str, float | None], ...] = ()
    spoilt: Mapping[int, str] = field(default_factory=dict)

    def launches(self, kernel: str) -> tuple[TimedLaunch, ...]:
        """Every launch of a kernel, also in spoilt rounds: what it leaves must be right in any case."""
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
    if not all(isinstance(column, list) and len(column) == len(lists[0]) for column in lists):
        raise OurError("the timing's columns do not belong together")
    if len(lists[0]) > MOST_ROWS:
        raise OurError(f"the timing has {len(lists[0])} rows")
    rows = tuple(_row(values, kernels, sets) for values in zip(*lists, strict=True))
    count = _check_rounds(rows, kernels)
    clocks = tuple(_clock(column, count) for column in _listed(answer, "clocks"))
    return Rounds(rows, count, clocks, speedup_statistics.spoilt_rounds(clocks))


def _row(values: tuple[Any, ...], kernels: tuple[str, ...], sets: int) -> TimedLaunch:
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
    return TimedLaunch(number, kernel, which, float(ms), digest, unwritten, inputs)


def _check_rounds(rows: tuple[TimedLaunch, ...], kernels: tuple[str, ...]) -> int:
    """Number of rounds; each must be complete, on one input set, and in its place."""
    size = len(kernels)
    for start in range(0, len(rows), size):
        group = rows[start : start + size]
        alike = {(row.round, row.set) for row in group}
        if {row.kernel for row in group} != set(kernels) or alike != {(start // size, group[0].set)}:
            raise OurError(f"round {start // size} of the timing is not complete")
    return len(rows) // size


def _clock(entry: Any, rounds: int) -> dict[str, float | None]:  # noqa: ANN401 - JSON
    names = ("round", "sm_mhz", "memory_mhz", "celsius", "watts", "reasons")
    if not isinstance(entry, dict):
        raise OurError("the timing has clocks that cannot be")
    values = {name: entry.get(name) for name in names}
    sound = _is_whole(values["round"], rounds) and all(
        value is None or (_is_whole(value, 2**63) if name in _WHOLE_CLOCKS else _is_amount(value))
        for name, value in values.items()
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
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MOST_AMOUNT


@frozen
class Verification:
    """Number of timed launches, number of those known to be right, and what was wrong."""

    launches: int
    verified: int
    findings: tuple[Finding, ...]


def verify(
    launches: tuple[TimedLaunch, ...], outputs: Outputs, expected: Sequence[Expected], file: str
) -> Verification:
    """Judge every timed launch of the student's kernel.

    Raises:
        OurError: an output that came back is not one that the oracle knows.

    """
    compared = {key: _first_wrong(key[0], arrays, expected) for key, arrays in outputs.items()}
    wrong = {key: comparison for key, comparison in compared.items() if comparison is not None}
    right = compared.keys() - wrong.keys()
    provable = _poison_proves(outputs)
    bad = [row for row in launches if _key(row) in wrong]
    lost = [row for row in launches if provable and _key(row) not in compared]
    bare = [row for row in (*bad, *lost) if row.unwritten]
    other = [row for row in bad if not row.unwritten]
    changed = [row for row in launches if not row.inputs]
    verified = sum(row.inputs and _key(row) in right for row in launches)
    findings = (
        _wrong(other, wrong, len(launches), file),
        _unwritten(bare, len(launches), file),
        _changed_outputs_finding(changed, len(launches), file),
    )
    return Verification(
        len(launches), verified, tuple(finding for finding in findings if finding is not None)
    )


def _key(row: TimedLaunch) -> tuple[int, str]:
    return row.set, row.digest


def _first_wrong(which: int, arrays: Mapping[str, Array], expected: Sequence[Expected]) -> Comparison | None:
    """The comparison of the first array that is wrong, if any is; OurError for what was not asked for."""
    if not 0 <= which < len(expected) or set(arrays) != set(expected[which]):
        raise OurError("the outputs that came back of a timed launch are not those that were asked for")
    for name, (values, bound) in expected[which].items():
        try:
            if plainly_right(arrays[name], values, bound):
                continue
            comparison = compare(name, arrays[name], values, bound)
        except (OurError, ValueError) as problem:
            raise OurError(f"an output of a timed launch cannot be compared: {problem}") from None
        if comparison.wrong:
            return comparison
    return None


def _poison_proves(outputs: Outputs) -> bool:
    """True if an element that holds poison is unwritten for certain: NaN is, an integer may be right."""
    arrays = [array for output in outputs.values() for array in output.values()]
    return bool(arrays) and all(np.issubdtype(numbers(array).dtype, np.floating) for array in arrays)


def _wrong(
    rows: list[TimedLaunch], wrong: Mapping[tuple[int, str], Comparison], total: int, file: str
) -> Finding | None:
    if not rows:
        return None
    comparison = wrong[_key(rows[0])]
    details = (
        _launches(rows, total),
        ("output", comparison.array),
        ("example", _example(comparison)),
    )
    finding = Finding(
        FindingKind.WRONG_OUTPUT,
        file=file,
        address=_element(comparison),
        count=len(rows),
        witnesses=(WITNESS,),
        code=FindingCode.WRONG_WHILE_TIMED,
        details=details,
    )
    return worded(finding)


def _unwritten(rows: list[TimedLaunch], total: int, file: str) -> Finding | None:
    """Finding for unwritten elements; or added to, where the device keeps a NaN's payload, as for doubles."""
    if not rows:
        return None
    most = max(row.unwritten for row in rows)
    finding = Finding(
        FindingKind.WRONG_OUTPUT,
        file=file,
        count=len(rows),
        witnesses=(WITNESS,),
        code=FindingCode.UNWRITTEN_WHILE_TIMED,
        details=(_launches(rows, total), ("most", most)),
    )
    return worded(finding)


def _changed_outputs_finding(rows: list[TimedLaunch], total: int, file: str) -> Finding | None:
    if not rows:
        return None
    finding = Finding(
        FindingKind.WRONG_OUTPUT,
        file=file,
        count=len(rows),
        witnesses=(WITNESS,),
        code=FindingCode.INPUTS_CHANGED_WHILE_TIMED,
        details=(_launches(rows, total),),
    )
    return worded(finding)


def _launches(rows: list[TimedLaunch], total: int) -> tuple[str, Detail]:
    """Detail with the number of timed launches that a finding is about."""
    name = "all-launches" if len(rows) == total else "some-launches"
    return "launches", (Clause(name, (("bad", len(rows)), ("count", total))),)


def _element(comparison: Comparison) -> str:
    if comparison.first is None:
        return ""
    return comparison.array + "".join(f"[{index}]" for index in comparison.first.index)


def _example(comparison: Comparison) -> tuple[Clause, ...]:
    if comparison.first is None:
        return ()
    values = (("got", f"{comparison.first.got:.6g}"), ("expected", f"{comparison.first.expected:.6g}"))
    return (Clause("example", (("element", _element(comparison)), *values)),)
