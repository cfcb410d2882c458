"""The protocol of timed rounds, on a device whose clock and kernels a test chooses."""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.toolchain.gpu.fake_clock import L2_BYTES, QUIET, Call, Kernel, adds, device_with
from tests.toolchain.gpu.timed_experiment import SETS, Experiment

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.toolchain.gpu.fake_clock import Clocks

WARM_S = 0.1


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    """C = A + B against a baseline of 0.42 ms, settling 1.25."""
    return Experiment.make(tmp_path)


def _by_round(answer: dict[str, Any], column: str) -> NDArray[Any]:
    """A column as one row per round."""
    values = np.array(answer["columns"][column])
    return values.reshape(answer["rounds"], -1)


# rounds


def test_a_round_launches_every_kernel_once_in_random_order_on_one_set(experiment: Experiment) -> None:
    """The baseline is there twice; orders and sets change from round to round."""
    answer = experiment.run(device_with())
    kernels, sets = _by_round(answer, "kernel"), _by_round(answer, "set")
    assert all(sorted(row) == ["again", "naive", "solution", "student"] for row in kernels)
    assert len({tuple(row) for row in kernels}) > 8
    assert (sets == sets[:, :1]).all()
    assert set(sets[:, 0]) == set(range(SETS))


def test_the_true_ratio_lies_in_the_interval_and_settles_the_question_at_the_first_look(
    experiment: Experiment,
) -> None:
    """1.5 against 1.25 needs no more than the least number of rounds."""
    answer, timing = experiment.both(device_with())
    assert (answer["stopped"], answer["rounds"]) == ("settled", 20)
    assert timing.settled
    assert timing.speedup is not None
    assert timing.control is not None
    assert timing.speedup.low < 1.49 < timing.speedup.high
    assert timing.control.low < 1 < timing.control.high
    assert (timing.launches, timing.verified, timing.findings) == (20, 20, ())


def test_more_rounds_are_made_until_a_close_ratio_is_settled(experiment: Experiment) -> None:
    """0.4 % above the threshold takes several looks."""
    experiment.plan["settle"] = [[1.494, 0.0]]
    answer, timing = experiment.both(device_with(Kernel(0.28)))
    assert answer["rounds"] > 30 or answer["stopped"] == "budget"
    assert timing.rounds == answer["rounds"]


def test_a_ratio_at_the_threshold_ends_with_the_budget_and_is_not_settled(experiment: Experiment) -> None:
    """A ratio that is not settled in the given time is reported as open, and the device is held no longer."""
    device = device_with(Kernel(0.28))
    true = (0.42 + 0.0053) / (0.28 + 0.0053)
    experiment.plan["settle"] = [[true, 0.0]]
    answer, timing = experiment.both(device)
    assert answer["stopped"] == "budget"
    assert 20 < answer["rounds"] < 400
    assert not timing.settled
    assert answer["held_s"] < 0.6 + 0.25 + 0.05


def test_a_slow_kernel_is_timed_only_a_few_times(experiment: Experiment) -> None:
    """One that takes the whole budget gets the fewest rounds, and they are enough to see that it is slow."""
    answer, timing = experiment.both(device_with(Kernel(900.0)))
    assert (answer["rounds"], answer["warm_rounds"]) == (5, 1)
    assert timing.settled
    assert timing.speedup is not None
    assert timing.speedup.high < 0.001


def test_rounds_end_at_their_greatest_number(experiment: Experiment) -> None:
    """They end even if much of the budget is left."""
    experiment.plan |= {"settle": [[1.4907, 0.0]], "most_rounds": 25, "budget_seconds": 1e9}
    answer = experiment.run(device_with())
    assert answer["rounds"] == 25
    assert answer["stopped"] == "rounds"


def test_a_share_of_the_model_solution_is_settled_by_its_own_times(experiment: Experiment) -> None:
    """0.9 of a solution that is as fast as the submission."""
    experiment.plan["settle"] = [[0.0, 0.9]]
    answer, timing = experiment.both(device_with())
    assert answer["stopped"] == "settled"
    assert timing.settled


def test_without_a_model_solution_there_are_three_launches_in_a_round(experiment: Experiment) -> None:
    """Baseline, control, submission."""
    experiment.plan["solution"] = None
    answer, timing = experiment.both(device_with())
    assert set(answer["columns"]["kernel"]) == {"naive", "again", "student"}
    assert timing.solution is None


# what comes before a launch


def test_before_each_launch_persisting_lines_are_reset_and_l2_is_overwritten_last(
    experiment: Experiment,
) -> None:
    """Twice its size at least, on a drained device; only then come the events."""
    device = device_with()
    experiment.run(device)
    timed = [log for name, log, _ in device.timed if name in device.kernels]
    assert len(timed) >= 4 * 20
    for log in timed:
        assert log[-3:-1] == [("reset",), ("drain",)]
        assert log[-1][0] == "fill"
        assert log[-1][1] >= 2 * L2_BYTES
        assert log.count(("copy",)) == 2, "each input is copied anew"


def test_no_launch_can_be_identified_by_its_arguments(experiment: Experiment) -> None:
    """Places change from launch to launch, at multiples of 256 bytes, and never are those of all before."""
    device = device_with()
    experiment.run(device)
    places = [arguments[:3] for name, _, arguments in device.timed if name == "student"]
    assert max(Counter(places).values()) == 1
    assert all(place % 256 == 0 for three in places for place in three)
    assert all(len({three[position] for three in places}) > 20 for position in range(3))


def test_an_offset_that_is_asked_for_is_kept(experiment: Experiment) -> None:
    """One element past a multiple of 256 bytes, wherever the array lies."""
    for arguments in experiment.plan["sets"]:
        arguments[0]["offset"] = 1
    device = device_with()
    _, timing = experiment.both(device)
    places = [arguments[0] % 256 for name, _, arguments in device.timed if name == "student"]
    assert set(places) == {4}
    assert timing.verified == timing.launches


def test_a_scalar_is_as_wide_as_the_kernel_takes_it(experiment: Experiment) -> None:
    """A `size_t` where the assignment has an int."""
    seen: dict[str, set[type]] = {}

    def notes(name: str) -> Kernel:
        def body(call: Call) -> None:
            seen.setdefault(name, set()).add(type(call.arguments[3]))
            adds(call)

        return Kernel(0.3, body)

    experiment.plan["widths"] = {"student": {"n": "uint64"}}
    device = device_with(notes("student"))
    device.kernels["naive"] = notes("naive")
    experiment.run(device)
    assert seen == {"student": {np.uint64}, "naive": {np.int32}}


def test_no_right_answer_is_ever_left_in_device_memory(experiment: Experiment) -> None:
    """A kernel that looks through all memory for one finds none, whoever launched before it."""
    answers = [each.tobytes() for each in experiment.expected]
    found: list[bool] = []

    def looks(call: Call) -> None:
        memory = call.device.everything()
        found.extend(answer in memory for answer in answers)
        adds(call)

    experiment.plan |= {"least_rounds": 5, "most_rounds": 5, "library": LIBRARY}
    experiment.run(device_with(Kernel(0.28, looks), library=2.5e-4))
    assert found
    assert not any(found)


# the lock, the warm-up, and what is measured beside


def test_the_lock_is_held_while_rounds_are_timed_and_not_while_code_is_loaded(
    experiment: Experiment, tmp_path: Path
) -> None:
    """First launches need no quiet device; everything after them does."""
    lock = tmp_path / "lock"
    lock.touch()
    free: list[bool] = []

    def asks(call: Call) -> None:
        other = os.open(lock, os.O_RDONLY)
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free.append(True)
        except BlockingIOError:
            free.append(False)
        finally:
            os.close(other)
        adds(call)

    experiment.plan["lock"] = str(lock)
    answer = experiment.run(device_with(Kernel(0.28, asks)))
    assert free == [True] + [False] * (len(free) - 1)
    assert len(free) == 1 + answer["warm_rounds"] + answer["rounds"]
    assert answer["held_s"] > 0


def test_a_device_that_gets_faster_is_warmed_up_until_it_stays_the_same(experiment: Experiment) -> None:
    """Rounds of the first 100 ms, in which everything takes longer and longer less so, are not counted."""
    device = device_with(noise=0.001, slowness=lambda now: 1 + 2 * max(0.0, WARM_S - now) / WARM_S)
    answer, timing = experiment.both(device)
    assert answer["converged"]
    assert answer["warm_rounds"] > 20
    assert dict(timing.milliseconds)["naive"] == pytest.approx(0.42, rel=0.03)


def test_a_device_that_never_settles_down_is_timed_all_the_same(experiment: Experiment) -> None:
    """Ratios are paired; that it did not converge is on record."""
    device = device_with(noise=0.0, slowness=lambda now: 1 + 3 * now)
    answer, timing = experiment.both(device)
    assert not answer["converged"]
    assert timing.speedup is not None
    assert timing.speedup.median == pytest.approx(1.49, abs=0.02)


def test_what_the_device_can_do_is_measured(experiment: Experiment) -> None:
    """Reading may be faster than copying; the launch itself takes a little of it."""
    answer = experiment.run(device_with())
    assert answer["bandwidth_gb_s"] == pytest.approx(3300, rel=0.08)
    assert answer["fp32_gflop_s"] == pytest.approx(60000, rel=0.08)
    assert answer["event_overhead_ms"] == pytest.approx(0.0013)


LIBRARY = {"call": "sgemm", "m": 1, "n": 1, "k": 1, "a": "A", "b": "B", "c": "C"}


def test_the_library_is_timed_after_the_rounds_under_the_same_conditions(experiment: Experiment) -> None:
    """A handful of samples; none where there is no library."""
    experiment.plan["library"] = LIBRARY
    answer, timing = experiment.both(device_with(library=2.5e-4))
    assert len(answer["library_ms"]) == 7
    assert dict(timing.milliseconds)["library"] == pytest.approx(0.25, rel=0.03)
    other = experiment.run(device_with())
    assert other["library_ms"] == []


# a device that throttles


def _hot(begin: float, end: float, reasons: int = 0x40) -> tuple[Any, Any]:
    """Twice as slow between two times, with NVML's reason for it."""

    def reading(now: float) -> Clocks:
        return {**QUIET, "reasons": reasons if begin <= now < end else 0}

    return (lambda now: 2.0 if begin <= now < end else 1.0), reading


def test_rounds_in_which_the_device_throttled_are_dropped_and_counted(experiment: Experiment) -> None:
    """They stay in the columns with their reason, and do not count."""
    slowness, reading = _hot(0.04, 0.055)
    answer, timing = experiment.both(device_with(slowness=slowness, reading=reading))
    why = _by_round(answer, "tainted")[:, 0]
    tainted = [number for number, reason in enumerate(why) if reason]
    assert 0 < len(tainted) <= 10
    assert timing.dropped == len(tainted)
    assert "hardware thermal slowdown" in dict(timing.details)["dropped_for"]
    assert dict(timing.milliseconds)["naive"] == pytest.approx(0.42, rel=0.03)


def test_a_device_that_throttles_most_of_the_time_is_not_fit_and_that_is_ours(experiment: Experiment) -> None:
    """No verdict on a submission comes of it."""
    slowness, reading = _hot(0.035, 10.0)
    answer, timing = experiment.both(device_with(slowness=slowness, reading=reading))
    assert answer["stopped"] == "throttled"
    assert "slower than it can" in timing.error
    assert "hardware thermal slowdown" in timing.error


def test_a_lower_clock_spoils_a_round_without_any_reason_reported(experiment: Experiment) -> None:
    """4 % below the fastest one seen."""
    device = device_with(reading=lambda now: {**QUIET, "sm_mhz": 1900 if now < 0.038 else 1980})
    answer, timing = experiment.both(device)
    assert timing.dropped > 0
    assert answer["rounds"] == timing.rounds


def test_without_nvml_no_round_is_dropped_and_the_answer_notes_it(experiment: Experiment) -> None:
    """Its absence is on record."""
    answer, timing = experiment.both(device_with(reading=lambda _now: None))
    assert answer["clocks"] == []
    assert dict(timing.details)["clock_note"] == "nvml is not there"
