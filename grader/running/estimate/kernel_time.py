"""The time of one launch: the warps of one multiprocessor are simulated, and scaled to the whole grid."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen
from grader.running.estimate.multiprocessor import PARTITIONS, JoinedBlocks, Multiprocessor
from grader.running.estimate.sampling import l1_bytes
from grader.running.estimate.turns import BlockRuns
from grader.running.estimate.warps import AS_IS, WarpTraces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.running.estimate.multiprocessor import SimulatedTime, WarpTrace
    from grader.running.estimate.sampling import SampledBlocks
    from grader.running.estimate.turns import Kind
    from grader.running.estimate.warps import Changed

SIMULATED = 30_000
"""Instructions of warps that are simulated; what comes after them goes on as the last of its like."""

ROUNDS = 3
"""Rounds of blocks that are simulated where they are short, to see how one follows another."""

_ELSEWHERE = 1 << 40
"""Distance in lines to what blocks of another round access."""

_FEW_ROUNDS = 12
"""Rounds below which it matters that the blocks of the last have a multiprocessor to themselves."""


@frozen
class ModelledTime:
    """Time of a launch by the model, in microseconds and cycles of one multiprocessor.

    ``shares`` are the parts of its time by what warps wait for and line; ``busy`` how long each unit is
    busy, of ``cycles``. ``tail`` is the part of these that blocks spread evenly would have saved, 0 to 1.
    """

    microseconds: float
    cycles: float
    shares: Mapping[tuple[str, int], float] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)
    tail: float = 0.0


def time_of(
    sampled: SampledBlocks, changed: Changed = AS_IS, traces: WarpTraces | None = None
) -> ModelledTime:
    """Simulate the sampled blocks, with one thing changed where that is asked for, and scale to the grid.

    ``traces`` are theirs, where they were made for another change.
    """
    launch, device = sampled.launch, sampled.device
    simulation = _Simulation(sampled, changed, traces or WarpTraces(sampled))
    cycles = max(simulation.cycles(), launch.blocks * device.block_ns * device.clock_ghz)
    outcome = simulation.outcome
    total = sum(outcome.waits.cycles.values()) or 1.0
    return ModelledTime(
        cycles / device.clock_ghz / 1000 + device.launch_us,
        cycles,
        {key: waited / total for key, waited in outcome.waits.cycles.items()},
        outcome.busy | {"cycles": outcome.cycles},
        simulation.tail / cycles,
    )


def _elsewhere(blocks: Sequence[Sequence[WarpTrace]], times: int) -> list[list[WarpTrace]]:
    """``times`` copies of the blocks, which do the same in other places of memory."""
    return [
        [replace(trace, shift=trace.shift + number * _ELSEWHERE * len(blocks)) for trace in block]
        for number in range(times)
        for block in blocks
    ]


class _Simulation:
    """One simulation of sampled blocks, and how it goes on."""

    def __init__(self, sampled: SampledBlocks, changed: Changed, traces: WarpTraces) -> None:
        self.sampled, self.operations = sampled, traces.operations
        if changed.no_barriers:
            self.operations = tuple(
                replace(operation, kind="") if operation.kind == "barrier" else operation
                for operation in traces.operations
            )
        self.takes_part = np.array([sampled.warps_of(lanes) for _, _, lanes in sampled.trace.runs])
        """Warps that take part in each run."""
        codes = [(first, last) for first, last, _ in sampled.trace.runs]
        lengths = np.array([last - first for first, last in codes])
        self.issues: list[int] = (lengths * self.takes_part.sum(axis=1)).tolist()
        self.turns = BlockRuns(codes, self.issues, SIMULATED, lambda: traces.demands(self.issues))
        warps = traces.of_runs(self.turns.chosen, changed)
        per_block = sampled.warps_per_block
        blocks = [warps[at : at + per_block] for at in range(0, len(warps), per_block)]
        self.blocks = _elsewhere(blocks, changed.times_the_blocks)
        self.rounds = max(1.0, sampled.launch.blocks / sampled.device.multiprocessors / len(self.blocks))
        self.tail = 0.0
        """The cycles that would be saved if all multiprocessors had as much of the last round to do."""
        self.outcome: SimulatedTime

    def cycles(self) -> float:
        """The cycles that one multiprocessor takes for its share of the grid."""
        count, gap = len(self.blocks), self.sampled.device.block_gap
        if self.turns.whole and self.rounds > 1:
            return self._of_short_blocks()
        joined = JoinedBlocks(self.blocks)
        self.outcome = self._run(joined)
        a_round = self._to_the_end(self.outcome)
        full = int(self.rounds)
        rest = min(count, int(np.ceil((self.rounds - full) * count - 0.01)))
        if rest and full >= _FEW_ROUNDS:
            return a_round * self.rounds + gap * full
        working = a_round * full + (self._to_the_end(self._run(joined, first=rest)) if rest else 0.0)
        if rest:
            self.tail = max(0.0, working - a_round * self.rounds)
        return working + gap * (full if rest else full - 1)

    def _of_short_blocks(self) -> float:
        """The cycles where blocks follow each other within what is simulated.

        After some rounds no two begin at once: they are simulated as far apart as one of them issues alone.
        """
        count, all_issues = len(self.blocks), sum(self.issues)
        repeats = max(1, min(ROUNDS, int(np.ceil(self.rounds)), SIMULATED // max(1, all_issues)))
        is_long = repeats == ROUNDS < self.rounds
        apart = all_issues / count / PARTITIONS if is_long else 0.0
        self.outcome = outcome = self._run(JoinedBlocks(_elsewhere(self.blocks, repeats)), apart)
        if repeats == 1:
            return outcome.cycles * self.rounds + self.sampled.device.block_gap * (self.rounds - 1)
        if is_long:  # a round while all its blocks have others beside them
            ends = sorted(outcome.ends)
            following = ends[2 * count - 1] - ends[count - 1]
        else:
            ends = [
                float(np.mean(outcome.ends[at : at + count])) for at in range(0, len(outcome.ends), count)
            ]
            following = (ends[-1] - ends[0]) / (repeats - 1)
        busiest = max(outcome.busy[unit] for unit in ("l1", "l2", "dram")) / repeats
        return outcome.cycles + max(following, busiest) * (self.rounds - repeats)

    def _run(self, blocks: JoinedBlocks, apart: float = 0.0, first: int | None = None) -> SimulatedTime:
        sampled, device = self.sampled, self.sampled.device
        active = min(sampled.launch.blocks, device.multiprocessors)
        cache = l1_bytes(sampled.launch, device, sampled.resident)
        multiprocessor = Multiprocessor(device, self.operations, cache, active)
        return multiprocessor.run(blocks, len(self.blocks), apart, first)

    def _to_the_end(self, outcome: SimulatedTime) -> float:
        """The cycles of blocks of which only some runs were simulated.

        Each warp goes on with its own: another run takes as long as the last of its like that were simulated
        did (`BlockRuns`); one that is like none of them as long for each instruction as all of those.
        """
        if self.turns.whole:
            return outcome.cycles
        costs = self.turns.costs(self._durations(outcome))
        of_warps = np.array(costs) @ self.takes_part
        of_blocks = of_warps.reshape(-1, self.sampled.warps_per_block).max(axis=1)
        ends = np.array(outcome.ends)
        return float((ends + np.resize(of_blocks, len(ends))).max())

    def _durations(self, outcome: SimulatedTime) -> dict[Kind, list[float]]:
        """Average time that warps took for each run that was simulated, by kind and in their order."""
        numbers = np.flatnonzero(self.turns.chosen)
        of_run: dict[int, list[float]] = {}
        of_last: dict[int, list[float]] = {}
        for warp, marks in enumerate(outcome.marks):
            runs_of_warp = numbers[self.takes_part[numbers, warp % self.takes_part.shape[1]]].tolist()
            for number, begin, end in zip(runs_of_warp, marks, marks[1:], strict=False):
                of_run.setdefault(number, []).append(end - begin)
            if runs_of_warp:
                end = outcome.ends[warp // self.sampled.warps_per_block]
                of_last.setdefault(runs_of_warp[-1], []).append(end - marks[-1])
        durations: dict[Kind, list[float]] = {}
        for number in sorted(of_run):
            durations.setdefault(self.turns.kinds[number], []).append(float(np.mean(of_run[number])))
        for number, values in of_last.items():  # what comes last waits for the end of its block, too
            durations.setdefault(self.turns.kinds[number], [float(np.mean(values))])
        return durations
