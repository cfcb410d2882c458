"""The verification of what timed launches left: in full where it came back, by its digest where not.

A launch counts as verified only if its digest is that of an output that came back, was compared, and is
right. Outputs that did not come back (a sum by float atomics differs from launch to launch) are not held
against anybody as long as everything that did come back is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.compare import compare
from grader.errors import OurError
from grader.gpu import WITNESS
from grader.messages import worded
from grader.model import Clause, Comparison, Finding, FindingCode, FindingKind
from grader.precision import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from grader.gpu.rounds import Row
    from grader.model import Detail

    Array: TypeAlias = NDArray[Any]
    Outputs: TypeAlias = Mapping[tuple[int, str], Mapping[str, Array]]
    """What came back of the student's kernel: arrays by name, by input set and digest."""

    Expected: TypeAlias = Mapping[str, tuple[Array, Array]]
    """For each output its values and how far a right one may be from them, elementwise."""


@dataclass(frozen=True, slots=True)
class Verification:
    """How many timed launches were made, how many of them are known to be right, and what was wrong."""

    launches: int
    verified: int
    findings: tuple[Finding, ...]


def verify(
    launches: tuple[Row, ...], outputs: Outputs, expected: Sequence[Expected], file: str
) -> Verification:
    """Judge every timed launch of the student's kernel.

    Raises:
        OurError: an output that came back is not one that the oracle knows.

    """
    compared = {key: _first_wrong(key[0], arrays, expected) for key, arrays in outputs.items()}
    wrong = {key: found for key, found in compared.items() if found is not None}
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
        _changed(changed, len(launches), file),
    )
    return Verification(len(launches), verified, tuple(each for each in findings if each is not None))


def _key(row: Row) -> tuple[int, str]:
    return row.set, row.digest


def _first_wrong(which: int, arrays: Mapping[str, Array], expected: Sequence[Expected]) -> Comparison | None:
    """The comparison of the first array that is wrong, if any is; OurError for what was not asked for."""
    if not 0 <= which < len(expected) or set(arrays) != set(expected[which]):
        raise OurError("the outputs that came back of a timed launch are not those that were asked for")
    for name, (values, bound) in expected[which].items():
        try:
            comparison = compare(name, arrays[name], values, bound)
        except ValueError as problem:
            raise OurError(f"an output of a timed launch cannot be compared: {problem}") from None
        if comparison.wrong:
            return comparison
    return None


def _poison_proves(outputs: Outputs) -> bool:
    """Whether an element that holds poison is unwritten for certain: NaN is, an integer may be right."""
    arrays = [array for each in outputs.values() for array in each.values()]
    return bool(arrays) and all(np.issubdtype(numbers(array).dtype, np.floating) for array in arrays)


def _wrong(
    rows: list[Row], wrong: Mapping[tuple[int, str], Comparison], total: int, file: str
) -> Finding | None:
    if not rows:
        return None
    comparison = wrong[_key(rows[0])]
    details = (_launches(rows, total), ("output", comparison.array), ("example", _example(comparison)))
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


def _unwritten(rows: list[Row], total: int, file: str) -> Finding | None:
    """Elements nobody wrote; or added to, where the device keeps a NaN's payload, as for doubles."""
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


def _changed(rows: list[Row], total: int, file: str) -> Finding | None:
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


def _launches(rows: list[Row], total: int) -> tuple[str, Detail]:
    """How many of the timed launches a finding is about."""
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
