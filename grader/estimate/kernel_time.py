"""The time of one launch: the warps of one multiprocessor are simulated, and scaled to the whole grid."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.estimate.dram import DramShares
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
"""Instructions of warps that are simulated; what comes after them goes on as the last of its like."""

UNLIKE = 4
"""So many runs of each kind that is not among those are simulated as well, up to as many instructions."""

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


def time_of(sampled: SampledBlocks, changed: Changed = AS_IS, dram: DramShares | None = None) -> KernelTime:
    """Simulate the sampled blocks, with one thing changed where that is asked for, and scale to the grid.

    ``dram`` is what the blocks fetch from DRAM, if it is known already: no change alters it.
    """
    launch, device = sampled.launch, sampled.device
    operations = tuple(operation_of(instruction, device) for instruction in launch.listing.instructions)
    if changed.no_barriers:
        operations = tuple(replace(one, kind="") if one.kind == "barrier" else one for one in operations)
    simulation = _Simulation(sampled, operations, changed, dram or DramShares(sampled))
    cycles = max(simulation.cycles(), launch.blocks * device.block_ns * device.clock_ghz)
    outcome = simulation.outcome
    total = sum(outcome.waits.cycles.values()) or 1.0
    return KernelTime(
        cycles / device.clock_ghz / 1000 + device.launch_us,
        cycles,
        {key: waited / total for key, waited in outcome.waits.cycles.items()},
        outcome.busy | {"cycles": outcome.cycles},
    )


def _elsewhere(blocks: Sequence[Sequence[WarpTrace]], times: int) -> list[list[WarpTrace]]:
    """Blocks, and so many times as many that do the same in other places of memory."""
    return [
        [replace(trace, shift=trace.shift + number * _ELSEWHERE * len(blocks)) for trace in block]
        for number in range(times)
        for block in blocks
    ]


class _Simulation:
    """One simulation of sampled blocks, and how it goes on."""

    def __init__(
        self, sampled: SampledBlocks, operations: Sequence[Operation], changed: Changed, dram: DramShares
    ) -> None:
        self.sampled, self.operations = sampled, operations
        self.issues = [
            (last - first) * int(sampled.warps_of(lanes).sum()) for first, last, lanes in sampled.trace.runs
        ]
        ends = np.cumsum(self.issues)
        self.whole = bool(ends[-1] <= SIMULATED)
        """Whether all of the blocks is simulated."""
        window = len(ends) if self.whole else max(1, int(np.searchsorted(ends, SIMULATED)))
        self.chosen = self._chosen(window)
        """Whether each run is simulated."""
        traces = WarpTraces(sampled, operations, dram, changed).of_runs(self.chosen)
        per_block = sampled.warps_per_block
        blocks = [traces[at : at + per_block] for at in range(0, len(traces), per_block)]
        self.blocks = _elsewhere(blocks, changed.times_the_blocks)
        self.rounds = max(1.0, sampled.launch.blocks / sampled.device.multiprocessors / len(self.blocks))
        self.outcome: Outcome

    def _chosen(self, window: int) -> list[bool]:
        """The first runs, and some later ones of each kind that is not among them."""
        kinds = [(first, last) for first, last, _ in self.sampled.trace.runs]
        known, taken, left, chosen = set(kinds[: window - 1]), Counter[tuple[int, int]](), SIMULATED, []
        for number, kind in enumerate(kinds):
            is_new = kind not in known and taken[kind] < UNLIKE and left > 0
            chosen.append(number < window or is_new)
            if number >= window and is_new:
                taken[kind] += 1
                left -= self.issues[number]
        return chosen

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
        self.outcome = outcome = self._run(_elsewhere(self.blocks, repeats))
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
        """The cycles of blocks of which only some runs were simulated.

        Another run takes as long as the last of its like that were simulated did; one that is like none of
        them as long for each instruction as all of those.
        """
        if self.whole:
            return outcome.cycles
        kinds = [(first, last) for first, last, _ in self.sampled.trace.runs]
        simulated = np.flatnonzero(self.chosen).tolist()
        starts = self._starts(outcome, simulated)
        durations: dict[tuple[int, int], list[float]] = {}
        for number, begin, end in zip(simulated, starts, starts[1:], strict=False):
            durations.setdefault(kinds[number], []).append(end - begin)
        durations.setdefault(kinds[simulated[-1]], [float(np.mean(outcome.ends)) - starts[-1]])
        later = {key: float(np.nanmean(values[len(values) // 2 :])) for key, values in durations.items()}
        middle = len(simulated) // 2
        issued = sum(self.issues[number] for number in simulated[middle:-1])
        pace = (starts[-1] - starts[middle]) / max(1, issued)
        return outcome.cycles + sum(
            later.get(kind, pace * issues)
            for kind, issues, is_chosen in zip(kinds, self.issues, self.chosen, strict=True)
            if not is_chosen
        )

    def _starts(self, outcome: Outcome, simulated: list[int]) -> list[float]:
        """When warps begin each run that was simulated, on average."""
        began: list[list[float]] = [[] for _ in simulated]
        runs_of_warp: list[list[int]] = [[] for _ in outcome.marks]
        for place, number in enumerate(simulated):
            _, _, lanes = self.sampled.trace.runs[number]
            for warp in np.flatnonzero(self.sampled.warps_of(lanes)).tolist():
                if warp < len(runs_of_warp):
                    runs_of_warp[warp].append(place)
        for places, marks in zip(runs_of_warp, outcome.marks, strict=True):
            for place, time in zip(places, marks, strict=False):
                began[place].append(time)
        last, starts = 0.0, []
        for times in began:
            last = float(np.mean(times)) if times else last
            starts.append(last)
        return starts
