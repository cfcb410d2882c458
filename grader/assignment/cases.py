"""Case plans → concrete cases, the same for the same seed on every machine and with every library version."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from grader.model import Assignment, Case, CasePlan

if TYPE_CHECKING:
    from collections.abc import Iterator


def expand_cases(assignment: Assignment, seed: int) -> tuple[Case, ...]:
    """Every case of the assignment with a concrete shape and a seed of its own, in the assignment's order.

    Shapes of random cases depend on the seed, the plan's id and the number of the draw alone; drawn cases
    carry their plan's id as a further tag. Seeds are below 2**63. Hashes are drawn from, not a generator:
    NumPy does not promise that a generator's stream stays as it is (NEP 19).
    """
    return tuple(case for plan in assignment.cases for case in _cases(plan, seed))


def drawn_ids(plan_id: str, draws: int) -> tuple[str, ...]:
    """The ids of the cases that a plan stands for: its own, or ``random-1``, ``random-2`` … if it draws."""
    return tuple(f"{plan_id}-{number}" for number in range(1, draws + 1)) or (plan_id,)


def _cases(plan: CasePlan, seed: int) -> Iterator[Case]:
    for number, case_id in enumerate(drawn_ids(plan.id, plan.draws), start=1):
        shape = tuple(
            (name, low + _hashed("shape", seed, plan.id, number, name) % (high - low + 1))
            for name, (low, high) in plan.shape
        )
        yield Case(
            id=case_id,
            shape=shape,
            tags=tuple(dict.fromkeys((*plan.tags, plan.id))) if plan.draws else plan.tags,
            visibility=plan.visibility,
            inputs=plan.inputs,
            seed=_hashed("inputs", seed, case_id) % 2**63,
            offset=plan.offset,
            arguments=plan.arguments,
            stdin=plan.stdin,
            kernel=plan.kernel,
        )


def _hashed(*parts: str | int) -> int:
    # 256 bits against ranges of at most 31: no value is likelier than another by anything measurable.
    return int.from_bytes(sha256(repr(parts).encode()).digest(), "big")
