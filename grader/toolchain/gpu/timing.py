"""Timed rounds of the harness → `Timing`, computed again from the raw columns.

The harness stopped by `speedup_statistics`, which judges here again with the same random numbers: both
agree where the answer is honest, and nothing depends on the harness where it is not.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from grader.base.errors import OurError
from grader.base.records import frozen
from grader.model import Clause, Finding, FindingCode, FindingKind, Ratio, Timing
from grader.model.messages import worded
from grader.toolchain.gpu import WITNESS, speedup_statistics
from grader.toolchain.gpu.timing_rounds import AGAIN, STUDENT, amount, amounts, read_rounds, verify, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.model import Detail, Named
    from grader.toolchain.gpu.timing_rounds import Expected, Outputs, Rounds, Verification

LIBRARY = "library"
HUNG = "timeout"
PERCENTILES = (5, 50, 95)

IMPOSSIBLE = 0.95
"""A time below this share of the roofline floor cannot be: the rest is for errors in measuring that."""

MOST_IMPOSSIBLE = 0.05
"""Share of the launches that may take an impossible time before it is a finding."""


@frozen
class TimingQuestion:
    """Timing job as the host knows it: the plan as the harness got it, and what the harness never got.

    ``expected`` holds the oracle's answer for each input set. Any kernel must read ``read_bytes`` and write
    ``written_bytes``, of which up to ``l2_bytes`` may still be in L2 when it ends. ``file`` is the student's.
    """

    plan: Mapping[str, Any]
    expected: tuple[Expected, ...]
    read_bytes: int = 0
    written_bytes: int = 0
    l2_bytes: int = 0
    file: str = ""
    occupancy: float | None = None
    shape: Named[int] = ()

    @property
    def kernels(self) -> tuple[str, ...]:
        """Kernels that each round launches."""
        names = (self.plan["baseline"], AGAIN, STUDENT)
        return (*names, self.plan["solution"]) if self.plan["solution"] else names

    @property
    def level(self) -> float:
        """The level of one look, so that all looks together hold the plan's."""
        return speedup_statistics.look_level(
            self.plan["level"], self.plan["least_rounds"], self.plan["most_rounds"]
        )


def read_timing(answer: Mapping[str, Any], outputs: Outputs, question: TimingQuestion) -> Timing:
    """The timing of one submission from the harness's answer and the outputs that came back.

    ``outputs`` maps (input set, digest) to all output arrays of the launches that left that digest. Never
    raises for what an answer holds: what cannot be is in ``error``.
    """
    baseline = question.plan["baseline"]
    try:
        return _timing_of(answer, outputs, question)
    except OurError as problem:
        return Timing(baseline=baseline, error=str(problem), shape=question.shape)


def _timing_of(answer: Mapping[str, Any], outputs: Outputs, question: TimingQuestion) -> Timing:
    plan = question.plan
    rounds = read_rounds(answer, question.kernels, len(question.expected))
    stopped, fault = words(answer, "stopped"), words(answer, "fault")
    verification = verify(rounds.launches(STUDENT), outputs, question.expected, question.file)
    stop = _stop(fault, question.file) if stopped == "fault" else None
    counted = rounds.count - len(rounds.spoilt)
    if (
        speedup_statistics.is_unfit(rounds.count, len(rounds.spoilt))
        and not verification.findings
        and stop is None
    ):
        raise OurError(_unfit(rounds))
    if counted < speedup_statistics.FEWEST_ROUNDS and stop is None:
        raise OurError(f"the timing ended after {rounds.count} rounds, of which {counted} count")
    _check_staff(rounds, question)
    times = {name: rounds.times_ms(name) for name in question.kernels}
    medians = {
        name: median(finding.tolist()) for name, finding in times.items() if finding.size and name != AGAIN
    }
    library = amounts(answer, "library_ms")
    floor = _floor_ms(answer, question)
    findings = (*verification.findings, stop, _too_fast(rounds, floor, question.file))
    return Timing(
        baseline=plan["baseline"],
        speedup=_ratio(times, STUDENT, rounds, question),
        control=_ratio(times, AGAIN, rounds, question),
        solution=_ratio(times, plan["solution"], rounds, question) if plan["solution"] else None,
        rounds=rounds.count,
        dropped=len(rounds.spoilt),
        settled=_settled(times, rounds, question),
        milliseconds=tuple((medians | _median_of(LIBRARY, library)).items()),
        first_milliseconds=_first_ms(answer),
        launches=verification.launches,
        verified=verification.verified,
        findings=tuple(finding for finding in findings if finding is not None),
        floor_milliseconds=floor,
        gflops=tuple(_gflops(medians | _median_of(LIBRARY, library), plan["flops"])),
        occupancy=question.occupancy,
        details=tuple(_details(answer, rounds, times, verification, question)),
        shape=question.shape,
        level=plan["level"],
    )


def _stop(fault: str, file: str) -> Finding:
    """Finding for a launch of the student's kernel that did not come to its end; else raises OurError."""
    who, _, reported = fault.partition(": ")
    reason: Detail = reported
    if who == HUNG:
        kind, code = FindingKind.TIMEOUT, FindingCode.HUNG_WHILE_TIMED
    elif who == STUDENT:
        kind, code = FindingKind.FAULT, FindingCode.STOPPED_WHILE_TIMED
        name, _, meaning = reported.partition(": ")
        reason = (Clause("stopped-by-gpu", (("meaning", meaning), ("name", name))),) if meaning else reported
    else:
        raise OurError(f"the timing failed: {fault}")
    details = (("reason", reason),)
    return worded(Finding(kind, file=file, witnesses=(WITNESS,), code=code, details=details))


def _unfit(rounds: Rounds) -> str:
    reasons = ", ".join(sorted(set(rounds.spoilt.values()))[:3])
    share = f"{len(rounds.spoilt)} of {rounds.count} timed rounds"
    return f"the device ran slower than it can in {share} ({reasons}); time again when it is cool and free"


def _check_staff(rounds: Rounds, question: TimingQuestion) -> None:
    """A kernel of ours that changes its inputs is our error; masters that a student's kernel hit are not."""
    student_did = any(not row.inputs for row in rounds.launches(STUDENT))
    for name in question.kernels:
        if name != STUDENT and not student_did and not all(row.inputs for row in rounds.launches(name)):
            raise OurError(f"the inputs of the {name} kernel were changed while it was timed")


def _ratio(times: Mapping[str, Any], kernel: str, rounds: Rounds, question: TimingQuestion) -> Ratio | None:
    """Speedup over the baseline; None without rounds."""
    plan = question.plan
    if not times[kernel].size:
        return None
    rng = speedup_statistics.stream(plan["seed"], rounds.count)
    values = speedup_statistics.ratio(
        times[plan["baseline"]], times[kernel], question.level, plan["resamples"], rng
    )
    return Ratio(*values)


def _settled(times: Mapping[str, Any], rounds: Rounds, question: TimingQuestion) -> bool:
    plan = question.plan
    base, solution = times[plan["baseline"]], plan["solution"]
    return speedup_statistics.is_settled(
        speedup_statistics.ratios(base, times[STUDENT]),
        speedup_statistics.ratios(base, times[solution]) if solution else None,
        plan["settle"],
        question.level,
        plan["resamples"],
        speedup_statistics.stream(plan["seed"], rounds.count),
    )


def _floor_ms(answer: Mapping[str, Any], question: TimingQuestion) -> float:
    """The roofline: S. Williams, A. Waterman, D. Patterson, CACM 52(4), 2009, by what was measured of it.

    What was written need not have left L2 when a kernel ends, so only what cannot fit counts.
    """
    moved = question.read_bytes + max(0, question.written_bytes - question.l2_bytes)
    bandwidth, peak = amount(answer, "bandwidth_gb_s"), amount(answer, "fp32_gflop_s")
    memory = moved / bandwidth / 1e6 if bandwidth else 0.0
    arithmetic = (question.plan["flops"] or 0) / peak / 1e6 if peak else 0.0
    return max(memory, arithmetic)


def _too_fast(rounds: Rounds, floor: float, file: str) -> Finding | None:
    """Times that no kernel can reach that does all of the work."""
    times = rounds.times_ms(STUDENT)
    impossible = times[times < IMPOSSIBLE * floor]
    if impossible.size <= MOST_IMPOSSIBLE * times.size:
        return None
    finding = Finding(
        FindingKind.MISTAKE,
        file=file,
        count=int(impossible.size),
        witnesses=(WITNESS,),
        code=FindingCode.IMPOSSIBLY_FAST,
        details=(
            ("impossible", int(impossible.size)),
            ("timed", int(times.size)),
            ("floor", f"{floor:.3g}"),
            ("least", f"{impossible.min():.3g}"),
        ),
    )
    return worded(finding)


def _median_of(name: str, samples: list[float]) -> dict[str, float]:
    return {name: median(samples)} if samples else {}


def _gflops(medians: Mapping[str, float], flops: int | None) -> Iterator[tuple[str, float]]:
    if flops:
        yield from ((name, flops / ms / 1e6) for name, ms in medians.items())


def _first_ms(answer: Mapping[str, Any]) -> float:
    first = answer.get("first_ms", {})
    return amount(first, STUDENT) if isinstance(first, dict) else 0.0


def _details(
    answer: Mapping[str, Any],
    rounds: Rounds,
    times: Mapping[str, Any],
    verification: Verification,
    question: TimingQuestion,
) -> Iterator[tuple[str, Any]]:
    """Details that belong on record but decide nothing."""
    yield "stopped", words(answer, "stopped")
    yield "unverified", verification.launches - verification.verified
    yield "warm_rounds", int(amount(answer, "warm_rounds"))
    yield "converged", answer.get("converged") is True
    yield "level_of_a_look", question.level
    for name in ("event_overhead_ms", "bandwidth_gb_s", "fp32_gflop_s", "lock_waited_s", "held_s"):
        yield name, amount(answer, name)
    yield "percentiles", list(PERCENTILES)
    yield (
        "milliseconds_percentiles",
        {name: _percentiles(samples) for name, samples in times.items() if samples.size},
    )
    yield "library_samples", len(amounts(answer, "library_ms"))
    yield "clocks", _clock_ranges(rounds)
    yield "dropped_for", sorted(set(rounds.spoilt.values()))[:10]
    yield "clock_note", words(answer, "clock_note")


def _percentiles(times: Any) -> list[float]:  # noqa: ANN401 - an array
    return [
        float(f"{value:.6g}")
        for value in speedup_statistics.quantiles(times, [percent / 100 for percent in PERCENTILES])
    ]


def _clock_ranges(rounds: Rounds) -> dict[str, list[float]]:
    """Least and greatest of each reading, and all throttle reasons that were reported, as NVML's bits."""
    ranges = {}
    for name in ("sm_mhz", "memory_mhz", "celsius", "watts"):
        readings = [clock[name] for clock in rounds.clocks]
        values = [value for value in readings if value is not None]
        if values:
            ranges[name] = [float(min(values)), float(max(values))]
    reasons = {int(clock["reasons"]) for clock in rounds.clocks if clock["reasons"] is not None}
    return ranges | ({"reasons": [float(value) for value in sorted(reasons)][:10]} if reasons else {})
