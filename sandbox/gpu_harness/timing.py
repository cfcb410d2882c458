"""Timed rounds: kernels beside each other in one process, until the speedups in question are settled.

A round launches every kernel once, in a new random order, all on one input set chosen at random; the baseline
runs twice, as a control. Each launch works on fresh copies at places of their own (`buffers`). Just before it
lines of L2 that a kernel made persistent are reset, the device is drained, and L2 is overwritten. That last
is still under way when the events and the launch are queued behind it, so that between the two events
there is the kernel alone, not the time that the host takes to launch it (`bench`).

The harness knows which speedups are in question, not what they mean. All is decided outside, from the raw
columns, and by the same `speedup_statistics`.
"""

from __future__ import annotations

import fcntl
import gc
import os
import random
import statistics
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import STUDENT, Bench
from device import DeviceFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bench import Images, Plan
    from buffers import LaunchEffects
    from device import Device

    from grader.toolchain.gpu import speedup_statistics
else:
    import speedup_statistics  # the same file, laid beside this one in a job's folder

WARM_WINDOW = 5
WARM_AGREEMENT = 0.005
"""Warm: the medians of two consecutive windows of rounds differ by no more than this share."""

DEFAULT_ANSWER = {
    "first_ms": {},
    "warm_rounds": 0,
    "converged": False,
    "stopped": "",
    "fault": "",
    "event_overhead_ms": 0.0,
    "bandwidth_gb_s": 0.0,
    "fp32_gflop_s": 0.0,
    "library_ms": [],
    "clock_note": "",
    "lock_waited_s": 0.0,
    "held_s": 0.0,
}
"""The fields of an answer that the run did not come to."""


class Sample(NamedTuple):
    """One timed launch."""

    round: int
    kernel: str
    set: int
    ms: float
    left: LaunchEffects


def run(
    device: Device,
    plan: Plan,
    kernels: Images,
    folder: Path,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Any]:
    """Time the kernels as ``plan`` (TIMING of the request) says, and give the timing part of the answer.

    ``kernels`` holds image and entry of each; ``folder`` is where their files lie, and where outputs go. A
    fault once all is prepared ends the rounds, and the answer names it and the kernel that was running.

    Raises:
        DeviceFault: the device has no room for the arrays, or a kernel cannot be loaded.
        OSError: the lock cannot be opened, or a file not be read or written.

    """
    rng = random.Random(plan["seed"])  # noqa: S311 - an order to try, no secret
    bench = Bench(device, plan, kernels, folder, rng)
    session = TimingSession(bench, device, plan, rng, clock)
    try:
        session.start()
        with _exclusive(plan.get("lock"), clock, session.answer):
            session.measure()
        bench.close()
    except DeviceFault as fault:
        session.answer |= {"stopped": "fault", "fault": f"{bench.running}: {fault}"}
    return session.answer | session.columns() | {"outputs": bench.kept.write(folder)}


@contextmanager
def _exclusive(path: str | None, clock: Callable[[], float], answer: dict[str, Any]) -> Iterator[None]:
    """Hold the lock of the device; note how long it took to get it, and how long it was held."""
    began = clock()
    descriptor = os.open(path, os.O_RDONLY) if path else -1
    try:
        if path:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        got = clock()
        answer["lock_waited_s"] = got - began
        try:
            yield
        finally:
            answer["held_s"] = clock() - got
    finally:
        if path:
            os.close(descriptor)


class TimingSession:
    """The rounds of one run; ``answer`` grows as it goes."""

    def __init__(
        self, bench: Bench, device: Device, plan: Plan, rng: random.Random, clock: Callable[[], float]
    ) -> None:
        self._bench, self._device, self._plan, self._rng, self._clock = bench, device, plan, rng, clock
        self._samples: list[Sample] = []
        self._clocks: list[dict[str, Any]] = []
        self.answer: dict[str, Any] = DEFAULT_ANSWER | {"first_ms": {}}

    def start(self) -> None:
        """Launch everything once: code is loaded, and others may use the device meanwhile."""
        if self._plan.get("library"):
            self._bench.prepare_library(self._plan["library"])
        for name in self._bench.names:
            self.answer["first_ms"][name] = self._bench.launch(name, 0)[0]
        self._bench.wait()

    def measure(self) -> None:
        """All that wants the device to itself: warm-up, what the device can do, the rounds, the library."""
        self.answer["event_overhead_ms"] = self._bench.overhead_ms()
        self._warm_up()
        self.answer |= self._bench.rates()
        gc.collect()
        gc.disable()  # a collection in a round would let the device run dry
        try:
            self.answer["stopped"] = self._rounds()
        finally:
            gc.enable()
        self.answer["library_ms"] = self._bench.library_ms()

    def _warm_up(self) -> None:
        """Rounds that do not count, until two consecutive windows of them took the same."""
        totals: list[float] = []
        end = self._clock() + self._plan["warm_seconds"]
        while not self.answer["converged"] and (not totals or self._clock() < end):
            totals.append(sum(sample.ms for sample in self._round(-1)))
            self.answer["warm_rounds"] = len(totals)
            self.answer["converged"] = _converged(totals)

    def _rounds(self) -> str:
        """The rounds that count; gives the reason for which they ended."""
        plan = self._plan
        looks = speedup_statistics.look_rounds(plan["least_rounds"], plan["most_rounds"])
        end = self._clock() + plan["budget_seconds"]
        for rounds in range(1, plan["most_rounds"] + 1):
            self._samples.extend(self._round(rounds - 1, keep=True))
            self._note_clocks(rounds - 1)
            over = rounds >= speedup_statistics.FEWEST_ROUNDS and self._clock() >= end
            if rounds in looks or over:
                spoilt = speedup_statistics.spoilt_rounds(self._clocks)
                if speedup_statistics.is_unfit(rounds, len(spoilt)):
                    return "throttled"
                if self._settled(rounds, spoilt):
                    return "settled"
            if over:
                return "budget"
        return "rounds"

    def _settled(self, rounds: int, spoilt: dict[int, str]) -> bool:
        """True if the rounds that count so far settle what is asked for."""
        plan = self._plan

        def times(kernel: str) -> list[float]:
            return [
                sample.ms
                for sample in self._samples
                if sample.kernel == kernel and sample.round not in spoilt
            ]

        base = times(plan["baseline"])
        solution = speedup_statistics.ratios(base, times(plan["solution"])) if plan["solution"] else None
        return speedup_statistics.is_settled(
            speedup_statistics.ratios(base, times(STUDENT)),
            solution,
            plan["settle"],
            speedup_statistics.look_level(plan["level"], plan["least_rounds"], plan["most_rounds"]),
            plan["resamples"],
            speedup_statistics.stream(plan["seed"], rounds),
        )

    def _round(self, number: int, *, keep: bool = False) -> list[Sample]:
        which = self._rng.randrange(len(self._plan["sets"]))
        names = self._bench.names
        samples = []
        for name in self._rng.sample(names, len(names)):
            ms, effects = self._bench.launch(name, which, keep=keep and name == STUDENT)
            samples.append(Sample(number, name, which, ms, effects))
        return samples

    def _note_clocks(self, number: int) -> None:
        read = self._device.clocks()
        if read is None:
            self.answer["clock_note"] = "nvml is not there"
        else:
            self._clocks.append({"round": number, **read})

    def columns(self) -> dict[str, Any]:
        """The raw columns, one row per launch of a round that came to its end."""
        samples, spoilt = self._samples, speedup_statistics.spoilt_rounds(self._clocks)
        columns = {
            "round": [sample.round for sample in samples],
            "kernel": [sample.kernel for sample in samples],
            "set": [sample.set for sample in samples],
            "ms": [sample.ms for sample in samples],
            "digest": [sample.left.digest for sample in samples],
            "unwritten": [sample.left.unwritten for sample in samples],
            "inputs": [sample.left.inputs for sample in samples],
            "tainted": [spoilt.get(sample.round, "") for sample in samples],
        }
        rounds = samples[-1].round + 1 if samples else 0
        return {"rounds": rounds, "columns": columns, "clocks": self._clocks}


def _converged(totals: list[float]) -> bool:
    if len(totals) < 2 * WARM_WINDOW:
        return False
    before = statistics.median(totals[-2 * WARM_WINDOW : -WARM_WINDOW])
    now = statistics.median(totals[-WARM_WINDOW:])
    return abs(now - before) <= WARM_AGREEMENT * before
