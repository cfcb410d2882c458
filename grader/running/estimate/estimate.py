"""Speedup of a kernel over a baseline on a device, as estimated; what limits it, and what would help.

The ratio's interval is what the model's own error leaves: the share by which nine in ten ratios were off at
most when they were compared with measurements of kernels that nothing was calibrated on
(`docs/estimate.md`).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from grader.base.errors import GraderError
from grader.base.records import frozen
from grader.model import LIMITS, EstimatedChange, KernelEstimate, LimitShare, Ratio, ordered_limits
from grader.running.estimate.devices import DEVICES
from grader.running.estimate.kernel_time import time_of
from grader.running.estimate.machine_code_launch import machine_code_launch
from grader.running.estimate.sampling import sample
from grader.running.estimate.warps import Changed, WarpTraces
from grader.simulation.emulator.memory.layout import VariablesTooLargeError, VariableTooSmallError
from grader.simulation.native.library import NoLibraryError
from grader.simulation.sass.listing import Label, UnknownCodeError
from grader.simulation.sass.machine import StepLimitError, StrayError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from grader.model import Argument, Build, Detail, Launch, Named
    from grader.running.estimate.devices import GpuModel
    from grader.running.estimate.kernel_time import ModelledTime
    from grader.running.estimate.sampling import SampledBlocks
    from grader.simulation.sass.listing import SassInstruction
    from grader.toolchain.nvcc import MachineCode

ERROR_BOUND = 0.37
"""The share by which nine in ten ratios were off at most, of kernels that the model had never been compared
with when they were measured: `python -m tests.bench.estimate --held-out`."""

MOST_CHANGES = 2
_MATTERS = 0.1
"""The share of a kernel's time from which a limit is worth a change."""

_LOW_OCCUPANCY = 0.5
"""The share of a multiprocessor's warps below which it is worth asking what twice as many would do."""


_SHORT_TURN = 16
"""A loop with fewer instructions is not unrolled: a multiply-add with its loads takes four, and compilers
unroll four times at least."""


class NotEstimatedError(GraderError):
    """Error for a kernel without an estimate: a code of `grader.model.PROBLEMS`, with details."""

    def __init__(self, problem: str, details: Named[Detail] = ()) -> None:
        """The code and its details."""
        super().__init__(problem)
        self.problem, self.details = problem, details


@frozen
class EstimatedKernel:
    """A kernel that was run and simulated, and what came of it."""

    sampled: SampledBlocks
    traces: WarpTraces
    time: ModelledTime
    estimate: KernelEstimate


def estimate_kernel(
    code: MachineCode, build: Build, launch: Launch, arguments: tuple[Argument, ...], device: GpuModel
) -> EstimatedKernel:
    """The time of one launch of a build that has become ``code``; raises NotEstimatedError."""
    with reasons():
        sampled = sample(machine_code_launch(code, build, launch, arguments, device.architecture), device)
        traces = WarpTraces(sampled)
        time = time_of(sampled, traces=traces)
    return EstimatedKernel(sampled, traces, time, _as_estimate(sampled, time, device))


@contextmanager
def reasons() -> Iterator[None]:
    """Turn what keeps blocks from being run into a NotEstimatedError with its code."""
    try:
        yield
    except UnknownCodeError as problem:
        raise NotEstimatedError("machine-code", (("opcode", problem.opcode),)) from problem
    except NoLibraryError as problem:
        raise NotEstimatedError("no-core") from problem
    except StepLimitError as problem:
        raise NotEstimatedError("too-much-work") from problem
    except (StrayError, VariablesTooLargeError, VariableTooSmallError) as problem:
        raise NotEstimatedError("wrong") from problem


def _as_estimate(sampled: SampledBlocks, time: ModelledTime, device: GpuModel) -> KernelEstimate:
    """The kernel's time with its limits, the largest first."""
    launching = min(1.0, device.launch_us / time.microseconds)
    tail = time.tail * (1 - launching)
    lines: dict[str, dict[int, float]] = {"launch": {0: launching}, "tail": {0: tail}}
    for (cause, line), share in time.shares.items():
        of_cause = lines.setdefault(cause, {})
        of_cause[line] = of_cause.get(line, 0.0) + share * (1 - launching - tail)
    shares = {cause: sum(by_line.values()) for cause, by_line in lines.items() if cause in LIMITS}
    return KernelEstimate(time.microseconds / 1000, ordered_limits(shares, lines), sampled.occupancy)


def ratio_of(baseline: KernelEstimate, submission: KernelEstimate) -> Ratio:
    """Speedup over the baseline, with the interval that the model's error leaves."""
    ratio = baseline.milliseconds / submission.milliseconds
    return Ratio(ratio, ratio / (1 + ERROR_BOUND), ratio * (1 + ERROR_BOUND))


def changes_that_help(
    baseline: KernelEstimate, kernel: EstimatedKernel, *, others_us: float = 0.0
) -> tuple[EstimatedChange, ...]:
    """Changes that would make the kernel faster beyond the model's error, the largest gain first.

    ``others_us`` is the rest of the time, which stays as it is.
    """
    changes = []
    for name, limit, changed in _worth_trying(kernel):
        changed_us = time_of(kernel.sampled, changed, kernel.traces).microseconds + others_us
        gain = (kernel.time.microseconds + others_us) / changed_us
        if gain > 1 + ERROR_BOUND:
            line = limit.lines[0][0] if limit.lines else None
            changes.append(EstimatedChange(name, 1000 * baseline.milliseconds / changed_us, line))
    return tuple(sorted(changes, key=lambda change: -change.ratio)[:MOST_CHANGES])


def _worth_trying(kernel: EstimatedKernel) -> Iterator[tuple[str, LimitShare, Changed]]:
    """Changes of what takes much of the kernel's time."""
    limits = {limit.limit: limit for limit in kernel.estimate.limits if limit.share > _MATTERS}
    if "shared" in limits:
        yield "no-bank-conflicts", limits["shared"], Changed(no_conflicts=True)
        yield "fewer-shared-loads", limits["shared"], Changed(shared_loads=0.5)
    for name in ("l1", "l2", "dram"):
        if name in limits:
            yield "coalesced", limits[name], Changed(coalesced=True)
            break
    waits = next((limits[name] for name in ("memory-latency", "latency") if name in limits), None)
    if waits and kernel.sampled.occupancy < _LOW_OCCUPANCY and kernel.sampled.has_more_blocks:
        yield "more-warps", waits, Changed(times_the_blocks=2)
    if "barrier" in limits:
        yield "no-barriers", limits["barrier"], Changed(no_barriers=True)


def rolled_loop(kernel: EstimatedKernel) -> tuple[int, int] | None:
    """First and last line of the loop that is worth unrolling: it takes time, and its turns are short.

    It is an innermost loop of the machine code. None where no loop takes so much that doing without some of
    it would be beyond the model's error.
    """
    code = kernel.sampled.launch.listing.instructions
    loops = list(_short_loops(code))
    if not loops:
        return None
    numbers = np.array([instruction.line for instruction in code])
    executed = _executed(kernel.sampled)
    best, most = None, 1 - 1 / (1 + ERROR_BOUND)
    for first, at in loops:
        lines = set(numbers[first : at + 1].tolist()) - {0}
        of_lines = executed[np.isin(numbers, list(lines))].sum()
        # What is left over by an unrolled loop is a loop on the same lines, and takes little of their time.
        part = executed[first : at + 1].sum() / of_lines if of_lines else 0.0
        share = part * sum(
            share
            for (cause, line), share in kernel.time.shares.items()
            if line in lines and cause != "barrier"
        )
        if share > most:
            best, most = (min(lines), max(lines)), share
    return best


def _short_loops(code: Sequence[SassInstruction]) -> Iterator[tuple[int, int]]:
    """First and last instruction of each loop of a few."""
    for at, instruction in enumerate(code):
        first = next((o.target for o in instruction.operands if isinstance(o, Label)), at + 1)
        if 0 <= at - first < _SHORT_TURN:
            yield first, at


def _executed(sampled: SampledBlocks) -> NDArray[np.int64]:
    """Number of times that warps issue each instruction."""
    counts = np.zeros(len(sampled.launch.listing.instructions), np.int64)
    for first, last, lanes in sampled.trace.runs:
        counts[first:last] += np.count_nonzero(sampled.warps_of(lanes))
    return counts


def device_of(key: str) -> GpuModel:
    """The device that a key of `grader.model.DEVICES` names."""
    return DEVICES[key]
