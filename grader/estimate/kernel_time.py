"""The time of one launch: the warps of one multiprocessor are simulated, and scaled to the whole grid."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.estimate.multiprocessor import Multiprocessor
from grader.estimate.operations import operation_of
from grader.estimate.sampling import l1_bytes
from grader.estimate.warps import AS_IS, WarpTraces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.estimate.multiprocessor import Operation, Outcome, WarpTrace
    from grader.estimate.sampling import SampledBlocks
    from grader.estimate.warps import Changed

SIMULATED = 30_000
"""Instructions of warps that are simulated; what comes after them goes on as the last of them."""

ROUNDS = 3
"""So many rounds of blocks are simulated where they are short, to see how one follows another."""

_ELSEWHERE = 1 << 40
"""So many lines further on is what blocks of another round access."""

_FEW_ROUNDS = 12
"""With fewer rounds it matters that the blocks of the last have a multiprocessor to themselves."""


@dataclass(frozen=True, slots=True)
class KernelTime:
    """What the model says of a launch, in microseconds and cycles of one multiprocessor.

    ``shares`` are the parts of its time by what warps wait for and line; ``busy`` how long each unit is
    busy, of ``cycles``.
    """

    microseconds: float
    cycles: float
    shares: Mapping[tuple[str, int], float] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)


def time_of(sampled: SampledBlocks, changed: Changed = AS_IS) -> KernelTime:
    """Simulate the sampled blocks, with one thing changed where that is asked for, and scale to the grid."""
    launch, device = sampled.launch, sampled.device
    operations = tuple(operation_of(instruction, device) for instruction in launch.listing.instructions)
    if changed.no_barriers:
        operations = tuple(replace(one, kind="") if one.kind == "barrier" else one for one in operations)
    simulation = _Simulation(sampled, operations, changed)
    cycles = max(simulation.cycles(), launch.blocks * device.block_ns * device.clock_ghz)
    outcome = simulation.outcome
    total = sum(outcome.waits.cycles.values()) or 1.0
    return KernelTime(
        cycles / device.clock_ghz / 1000 + device.launch_us,
        cycles,
        {key: waited / total for key, waited in outcome.waits.cycles.items()},
        outcome.busy | {"cycles": outcome.cycles},
    )


class _Simulation:
    """One simulation of sampled blocks, and how it goes on."""

    def __init__(self, sampled: SampledBlocks, operations: Sequence[Operation], changed: Changed) -> None:
        self.sampled, self.operations = sampled, operations
        self.issues = [
            (last - first) * int(sampled.warps_of(lanes).sum()) for first, last, lanes in sampled.trace.runs
        ]
        ends = np.cumsum(self.issues)
        self.whole = bool(ends[-1] <= SIMULATED)
        """Whether all of the blocks is simulated."""
        self.window = len(ends) if self.whole else max(1, int(np.searchsorted(ends, SIMULATED)))
        traces = WarpTraces(sampled, operations, changed).of_runs(self.window)
        per_block = sampled.warps_per_block
        self.blocks = [traces[at : at + per_block] for at in range(0, len(traces), per_block)]
        self.rounds = max(1.0, sampled.launch.blocks / sampled.device.multiprocessors / len(self.blocks))
        self.outcome: Outcome

    def cycles(self) -> float:
        """The cycles that one multiprocessor takes for its share of the grid."""
        count, gap = len(self.blocks), self.sampled.device.block_gap
        if self.whole and self.rounds > 1:
            return self._of_short_blocks()
        self.outcome = self._run(self.blocks)
        one = self._to_the_end(self.outcome)
        full = int(self.rounds)
        rest = min(count, int(np.ceil((self.rounds - full) * count - 0.01)))
        if not rest:
            return one * full + gap * (full - 1)
        if full >= _FEW_ROUNDS:
            return one * self.rounds + gap * full
        return one * full + gap * full + self._to_the_end(self._run(self.blocks[:rest]))

    def _of_short_blocks(self) -> float:
        """The cycles where blocks follow each other within what is simulated."""
        count, all_issues = len(self.blocks), sum(self.issues)
        repeats = max(1, min(ROUNDS, int(np.ceil(self.rounds)), SIMULATED // max(1, all_issues)))
        following_blocks = [
            [replace(trace, shift=number * _ELSEWHERE) for trace in block]
            for number in range(repeats)
            for block in self.blocks
        ]
        self.outcome = outcome = self._run(following_blocks)
        if repeats == 1:
            return outcome.cycles * self.rounds + self.sampled.device.block_gap * (self.rounds - 1)
        ends = [float(np.mean(outcome.ends[at : at + count])) for at in range(0, len(outcome.ends), count)]
        busiest = max(outcome.busy[unit] for unit in ("l1", "l2", "dram")) / repeats
        following = max((ends[-1] - ends[0]) / (repeats - 1), busiest)
        return outcome.cycles + following * (self.rounds - repeats)

    def _run(self, blocks: Sequence[Sequence[WarpTrace]]) -> Outcome:
        sampled, device = self.sampled, self.sampled.device
        active = min(sampled.launch.blocks, device.multiprocessors)
        cache = l1_bytes(sampled.launch, device, sampled.resident)
        return Multiprocessor(device, self.operations, cache, active).run(blocks, len(self.blocks))

    def _to_the_end(self, outcome: Outcome) -> float:
        """The cycles of blocks of which only the first runs were simulated.

        A run that comes later takes as long as the last of its like that were simulated did; one that was
        never simulated as long for each instruction as all of those.
        """
        runs = self.sampled.trace.runs
        if self.whole:
            return outcome.cycles
        starts = self._starts(outcome)
        durations: dict[tuple[int, int], list[float]] = {}
        for number in range(self.window - 1):
            first, last, _ = runs[number]
            durations.setdefault((first, last), []).append(starts[number + 1] - starts[number])
        later = {key: float(np.nanmean(values[len(values) // 2 :])) for key, values in durations.items()}
        middle = self.window // 2
        issued = sum(self.issues[middle : self.window - 1])
        pace = (starts[self.window - 1] - starts[middle]) / max(1, issued)
        return outcome.cycles + sum(
            later.get((first, last), pace * self.issues[number])
            for number, (first, last, _) in enumerate(runs[self.window :], self.window)
        )

    def _starts(self, outcome: Outcome) -> list[float]:
        """When warps begin each run that was simulated, on average."""
        began: list[list[float]] = [[] for _ in range(self.window)]
        runs_of_warp: list[list[int]] = [[] for _ in outcome.marks]
        for number, (_, _, lanes) in enumerate(self.sampled.trace.runs[: self.window]):
            for warp in np.flatnonzero(self.sampled.warps_of(lanes)).tolist():
                if warp < len(runs_of_warp):
                    runs_of_warp[warp].append(number)
        for numbers, marks in zip(runs_of_warp, outcome.marks, strict=True):
            for number, time in zip(numbers, marks, strict=False):
                began[number].append(time)
        last, starts = 0.0, []
        for times in began:
            last = float(np.mean(times)) if times else last
            starts.append(last)
        return starts
