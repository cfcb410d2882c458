"""Predicated execution (PTX ISA section 9.3): `@p` before an instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from grader.emulator.linking.program import ControlStep, Fetch, Step
    from grader.emulator.machine.machine import Group, Machine


def guarded(step: Step, guard: Fetch, flops: int) -> Step:
    """``@p`` before an instruction that does not decide where to go on (section 9.3)."""

    def step_if(machine: Machine) -> None:
        condition = guard(machine, machine.active)
        active, computing = machine.active, machine.computing
        if condition.ndim == 0:
            chosen = active if condition else None
            if not condition:
                return
        else:
            taken = np.flatnonzero(machine.unfold(condition))
            if not taken.size:
                return
            chosen = taken if active is None else active[taken]
        machine.active = machine.computing = chosen
        step(machine)
        machine.observer.count_flops(flops * machine.count)
        machine.active, machine.computing = active, computing

    return step_if


def guarded_control(step: ControlStep, guard: Fetch, pc: int) -> ControlStep:
    """``@p ret`` and the like: the lanes whose predicate holds execute it, the others go on."""

    def step_if(machine: Machine, group: Group) -> list[Group] | None:
        taken, others = machine.split(group, guard(machine, machine.active))
        if others is not None:
            others.pc = pc + 1
        if taken is None:
            group.pc = pc + 1
            return None
        if others is None:
            return step(machine, group)
        machine.active = machine.computing = taken.lanes
        more = step(machine, taken)
        return [others, *([taken] if more is None else more)]

    return step_if
