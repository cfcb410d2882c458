"""The limit on the work of a launch is known before anything runs, and is the same in a self-check."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import expand_cases
from grader.kinds.plan import ALL_WORK, LEAST_WORK, Plan
from grader.simulation.emulator.launch import STEPS
from tests.bundled import bundled

if TYPE_CHECKING:
    from grader.model import Case

SEED = 7


@pytest.fixture(scope="module")
def plan() -> Plan:
    """A plan with all cases of an assignment."""
    assignment = bundled("tiled-matmul")
    return Plan(assignment, SEED, expand_cases(assignment, SEED), ())


def test_all_cases_together_are_bounded(plan: Plan) -> None:
    """By the work that is shared out, and the least that each case may take."""
    assert sum(map(plan.work_of, plan.cases)) <= ALL_WORK + LEAST_WORK * len(plan.cases)


def test_the_largest_case_may_take_most(plan: Plan) -> None:
    """A single case never takes more than a launch may."""
    works = sorted((dict(case.shape)["M"] * dict(case.shape)["K"], plan.work_of(case)) for case in plan.cases)
    assert works[0][1] == LEAST_WORK
    assert LEAST_WORK < max(work for _, work in works) <= STEPS


def test_a_case_may_take_as_much_where_only_some_are_run(plan: Plan) -> None:
    """A self-check gives up what grading gives up, and nothing else."""
    everything = replace(plan, everything=sum(_volume(case) for case in plan.cases))
    some = replace(everything, cases=plan.cases[:2])
    assert [some.work_of(case) for case in some.cases] == [plan.work_of(case) for case in some.cases]


def _volume(case: Case) -> int:
    return math.prod(size for _, size in case.shape)
