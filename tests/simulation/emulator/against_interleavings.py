"""The race detector beside brute force.

`python -m tests.simulation.emulator.against_interleavings [KERNELS [SEED]]` runs it.

Random small kernels are run by the scalar interpreter under many schedules, with preemption at every access,
and each schedule is judged by PTX's causality order (`tests.simulation.emulator.causality`). The detector
sees one run of the vectorised emulator, two where locks or tickets decide. Both look at the same PTX.

- miss: a kernel that races in some schedule, in which the detector finds no race;
- false alarm: a kernel in which the detector finds a race, and no schedule has one;
- missed pairs, extra pairs: the same by pairs of lines, in kernels that both call racy.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from grader.model import Argument, FindingKind
from grader.simulation.emulator.launch import run
from tests.simulation.emulator import nvcc
from tests.simulation.emulator.causality import Race, races
from tests.simulation.emulator.interleaved import Interleaved
from tests.simulation.emulator.random_kernels import RandomKernel, random_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.ptx import Module

SCHEDULES = 60
ENOUGH = 10
AT_ONCE = 25
"""Kernels in one file."""


@dataclass
class Comparison:
    """The agreement of the detector with all interleavings on a number of kernels."""

    kernels: int = 0
    racy: int = 0
    hanging: int = 0
    misses: list[str] = field(default_factory=list)
    false_alarms: list[str] = field(default_factory=list)
    missed_pairs: list[str] = field(default_factory=list)
    extra_pairs: list[str] = field(default_factory=list)

    def add(self, label: str, expected: set[Race], got: set[Race]) -> None:
        """Count one kernel."""
        self.kernels += 1
        self.racy += bool(expected)
        if expected and not got:
            self.misses.append(label)
        elif got and not expected:
            self.false_alarms.append(label)
        else:
            self.missed_pairs += [f"{label} {tuple(race)}" for race in sorted(expected - got)]
            self.extra_pairs += [f"{label} {tuple(race)}" for race in sorted(got - expected)]


def arguments() -> tuple[Argument, ...]:
    """The arrays that every kernel gets."""
    sizes = (("data", 4), ("flags", 16), ("out", 128))
    return tuple(Argument(name, "inout", np.zeros(size, np.int32)) for name, size in sizes)


def source_of(kernels: list[RandomKernel]) -> tuple[str, dict[str, int]]:
    """A file with all of them, and before which line each begins."""
    lines: list[str] = []
    before = {}
    for kernel in kernels:
        before[kernel.name] = len(lines)
        lines += kernel.lines
    return "\n".join(lines) + "\n", before


def by_interleaving(
    module: Module, kernel: RandomKernel, before: int, schedules: int, sought: set[Race]
) -> set[Race] | None:
    """The races of all schedules, lines counted from the kernel's first; None if one does not end.

    Once all that is ``sought`` is found, ten schedules are enough.
    """
    awaited = {before + number for number, line in enumerate(kernel.lines, 1) if "while (polled" in line}
    found: set[Race] = set()
    rng = Random(kernel.name)  # noqa: S311 - no secret
    for number in range(schedules):
        machine = Interleaved(module, kernel.name, kernel.launch, arguments())
        # The first schedules favour one thread after the other: it runs until it waits.
        favourite = number if number < min(len(machine.threads), schedules // 4) else None
        if not machine.run(_choice(favourite, rng)):
            if favourite is None:
                return None
            continue  # it spins for ever if it alone runs
        found |= {
            Race(race.line - before, race.other_line - before) for race in races(machine.trace, awaited)
        }
        if found and sought <= found and number > ENOUGH:
            break
    return found


def _choice(favourite: int | None, rng: Random) -> Callable[[int], int]:
    """Whose turn it is: always the same thread's, or anybody's."""
    if favourite is None:
        return rng.randrange
    return lambda ready: min(favourite, ready - 1)


def by_detector(module: Module, kernel: RandomKernel, before: int) -> set[Race] | None:
    """The races that the emulator finds, lines counted from the kernel's first; None if it does not end."""
    result = run(module, kernel.name, kernel.launch, arguments(), detect=True, source="kernels.cu")
    if not result.completed:
        return None
    found = set()
    for finding in result.findings:
        if finding.kind is FindingKind.RACE:
            assert finding.line
            lines = sorted((finding.line, finding.other_line or finding.line))
            found.add(Race(lines[0] - before, lines[1] - before))
    return found


def compare(count: int, seed: int, schedules: int = SCHEDULES) -> Comparison:
    """Compare over a number of random kernels."""
    comparison = Comparison()
    for first in range(0, count, AT_ONCE):
        kernels = [
            random_kernel(f"k{seed}_{number}", Random(f"{seed}/{number}"))  # noqa: S311 - no secret
            for number in range(first, min(first + AT_ONCE, count))
        ]
        source, before = source_of(kernels)
        module = nvcc.compile_one(source, ("-lineinfo",), name="kernels.cu")
        for kernel in kernels:
            got = by_detector(module, kernel, before[kernel.name])
            expected = by_interleaving(module, kernel, before[kernel.name], schedules, got or set())
            if expected is None or got is None:
                comparison.hanging += 1
                if (expected is None) != (got is None):
                    comparison.misses.append(f"{kernel.name}: only one of the two comes to its end")
                continue
            comparison.add(kernel.name, expected, got)
    return comparison


def main() -> int:
    """Print the comparison."""
    count, seed = (*map(int, sys.argv[1:]), 300, 1)[:2] if len(sys.argv) < 3 else map(int, sys.argv[1:3])
    result = compare(count, seed)
    print(  # noqa: T201
        f"{result.kernels} kernels, {result.racy} of them racy, {result.hanging} that do not end"
    )
    for name in ("misses", "false_alarms", "missed_pairs", "extra_pairs"):
        listed = getattr(result, name)
        print(f"{name.replace('_', ' ')}: {len(listed)}", *listed[:40], sep="\n  ")  # noqa: T201
    return bool(result.misses or result.false_alarms)


if __name__ == "__main__":
    sys.exit(main())
