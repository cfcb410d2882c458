"""Tolerance controls: the error bound forgives every order of summation, and no lower precision.

Where an oracle offers them, `orders` must stay within the bound in every case; each of `coarser` must leave
it in at least one. The results come from the oracle, not from a kernel, so they tell of the bound alone.
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING

from grader.assignment import expand_cases, reference_folder
from grader.compare import compare
from grader.oracle import array_types, draw_inputs, load_oracle
from grader.validation.records import Control

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.model import Assignment
    from grader.oracle import Array, Oracle, Results, Shape

    Family = Callable[[Mapping[str, Array], Shape], Results]


def controls(assignment: Assignment, seed: int) -> tuple[tuple[Control, ...], str]:
    """The controls on all cases of a seed; and where there are none why, empty if none is needed."""
    outputs = [p for p in assignment.kernel.arrays if p.direction in ("out", "inout")]
    rounded = {parameter.dtype for parameter in outputs if "float" in parameter.dtype}
    if not rounded:
        return (), ""
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.kernel))
    if oracle.orders is None or oracle.coarser is None:
        file = f"reference/{assignment.reference}/oracle.py"
        return (), f"no tolerance control: {file} gives no `orders` and `coarser`"
    if rounded != {"float32"} and not _follow_types(oracle):
        file = f"reference/{assignment.reference}/oracle.py"
        return (), f"no tolerance control: `orders` and `coarser` of {file} are for float32 alone"
    rights = _family(assignment, oracle, oracle.orders, seed, wanted=True)
    coarse = _family(assignment, oracle, oracle.coarser, seed, wanted=False)
    return (*rights, *coarse), ""


def _follow_types(oracle: Oracle) -> bool:
    """Whether both families are computed in the types of the assignment's arrays."""
    families = (oracle.orders, oracle.coarser)
    return all(family is not None and "types" in signature(family).parameters for family in families)


def _family(
    assignment: Assignment, oracle: Oracle, family: Family, seed: int, *, wanted: bool
) -> tuple[Control, ...]:
    """One control for each result and output: is it inside the bound in every case?"""
    outside: dict[tuple[str, str], list[str]] = {}
    for case in expand_cases(assignment, seed):
        inputs, shape = draw_inputs(oracle, case), dict(case.shape)
        expected = oracle.expected(inputs, shape)
        for name, results in family(inputs, shape):
            for array, got in results.items():
                found = outside.setdefault((name, array), [])
                if compare(array, got, *expected[array]).wrong:
                    found.append(case.id)
    return tuple(
        Control(name, array, inside=not cases, wanted=wanted, cases=tuple(cases))
        for (name, array), cases in outside.items()
    )
