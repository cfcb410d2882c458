"""Ratios, their intervals, when they settle a question, and which rounds count; no test looks at a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.toolchain.gpu import speedup_statistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST, MOST, LEVEL, RESAMPLES = 20, 400, 0.99, 1000
LOOKS = speedup_statistics.look_rounds(LEAST, MOST)
LOOK_LEVEL = speedup_statistics.look_level(LEVEL, LEAST, MOST)
THRESHOLD = 1.25
NOISE = 0.005  # of a time; 0.7 % of a pair


def _noisy(rng: np.random.Generator, ms: float, rounds: int = MOST) -> NDArray[np.float64]:
    """Times with noise, and one in fifty that something disturbed."""
    times = ms * np.exp(rng.normal(0, NOISE, rounds))
    disturbed = rng.random(rounds) < 0.02
    return np.where(disturbed, times * rng.uniform(1.05, 2, rounds), times)


def _decide(ratio: float, seed: int, asked: float = THRESHOLD) -> tuple[bool | None, int]:
    """Simulate a run with this true ratio: its result (None: never settled), and its number of rounds."""
    rng = np.random.default_rng(seed)
    measured = speedup_statistics.ratios(_noisy(rng, 0.42), _noisy(rng, 0.42 / ratio))
    for rounds in LOOKS:
        seen = measured[:rounds]
        if speedup_statistics.is_settled(
            seen, None, [(asked, 0.0)], LOOK_LEVEL, RESAMPLES, speedup_statistics.stream(seed, rounds)
        ):
            return bool(np.median(seen) >= asked), rounds
    return None, MOST


@pytest.mark.parametrize("ratio", [0.99, 1.01])
def test_a_ratio_one_percent_off_the_threshold_is_hardly_ever_decided_wrongly(ratio: float) -> None:
    """None of 150 simulated runs goes wrong, and nearly all are settled by the third look."""
    decisions = [_decide(ratio * THRESHOLD, seed) for seed in range(150)]
    assert {passed for passed, _ in decisions} == {ratio > 1}
    assert np.mean([rounds <= LOOKS[2] for _, rounds in decisions]) > 0.95


def test_a_ratio_at_the_threshold_is_left_open_although_it_is_looked_at_again_and_again() -> None:
    """The looks together settle what cannot be settled no more often than the level allows."""
    settled = [_decide(THRESHOLD, seed)[0] is not None for seed in range(12)]
    assert sum(settled) <= 1


@pytest.mark.parametrize("rounds", [8, 20, 45])
def test_an_interval_of_a_kernel_against_itself_holds_its_level(rounds: int) -> None:
    """1 lies in a 95 % interval in about 95 of 100 runs."""
    inside = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        one, other = _noisy(rng, 0.42, rounds), _noisy(rng, 0.42, rounds)
        _, low, high = speedup_statistics.ratio(one, other, 0.95, 400, rng)
        inside += low <= 1 <= high
    assert 0.91 <= inside / 400 <= 0.995


def test_the_same_seed_gives_the_same_interval() -> None:
    """Computing the interval again gives the same bits."""
    times = _noisy(np.random.default_rng(3), 0.42, 30), _noisy(np.random.default_rng(4), 0.28, 30)
    first, second = (
        speedup_statistics.ratio(*times, LOOK_LEVEL, RESAMPLES, speedup_statistics.stream(5, 30))
        for _ in range(2)
    )
    assert first == second
    assert first != speedup_statistics.ratio(*times, LOOK_LEVEL, RESAMPLES, speedup_statistics.stream(6, 30))


def test_the_median_of_ratios_ignores_an_outlier() -> None:
    """A time that is ten times too long in one round moves nothing."""
    base, own = [3.0] * 25, [2.0] * 25
    own[7] = 20.0
    median, low, high = speedup_statistics.ratio(
        base, own, LOOK_LEVEL, RESAMPLES, speedup_statistics.stream(1, 25)
    )
    assert (median, low, high) == (1.5, 1.5, 1.5)


def test_a_share_of_the_model_solution_is_settled_within_rounds() -> None:
    """A disturbance of both kernels in the same round does not count as uncertainty."""
    rng = np.random.default_rng(2)
    common = rng.uniform(0.8, 1.2, 30)
    solution = 1.5 * common * np.exp(rng.normal(0, 0.003, 30))
    speedup = 0.95 * solution * np.exp(rng.normal(0, 0.003, 30))
    ask = [(0.0, 0.9)]
    assert speedup_statistics.is_settled(
        speedup, solution, ask, LOOK_LEVEL, RESAMPLES, speedup_statistics.stream(1, 30)
    )
    shuffled = rng.permutation(solution)
    assert not speedup_statistics.is_settled(
        speedup, shuffled, ask, LOOK_LEVEL, RESAMPLES, speedup_statistics.stream(1, 30)
    )


def test_every_speedup_asked_for_must_be_settled() -> None:
    """One that is clear does not settle another one that is not."""
    speedup = _noisy(np.random.default_rng(1), 1.5, 30)
    asked = [(1.0, 0.0), (1.5, 0.0)]
    assert not speedup_statistics.is_settled(
        speedup, None, asked, LOOK_LEVEL, RESAMPLES, speedup_statistics.stream(1, 30)
    )
    assert speedup_statistics.is_settled(
        speedup, None, asked[:1], LOOK_LEVEL, RESAMPLES, speedup_statistics.stream(1, 30)
    )
    assert speedup_statistics.is_settled(
        speedup, None, [], LOOK_LEVEL, RESAMPLES, speedup_statistics.stream(1, 30)
    )


def test_few_rounds_settle_only_what_is_far_away() -> None:
    """Five rounds of 1.5 ± 1 % are far from 3 but not from 1.52; four are too few for anything."""
    speedup = np.array([1.49, 1.5, 1.51, 1.5, 1.495])

    def settled(values: NDArray[np.float64], asked: float) -> bool:
        return speedup_statistics.is_settled(
            values, None, [(asked, 0.0)], LOOK_LEVEL, RESAMPLES, speedup_statistics.stream(1, 5)
        )

    assert settled(speedup, 3.0)
    assert not settled(speedup, 1.52)
    assert not settled(speedup[:4], 3.0)


def test_a_share_of_a_solution_that_was_not_timed_is_refused() -> None:
    """That is a mistake of whoever asks."""
    with pytest.raises(ValueError, match="was not timed"):
        speedup_statistics.is_settled(
            np.ones(20), None, [(0.0, 0.9)], LOOK_LEVEL, RESAMPLES, speedup_statistics.stream(1, 20)
        )


@pytest.mark.parametrize(("above", "below"), [([1.0], [1.0, 2.0]), ([1.0], [0.0]), ([-1.0], [1.0])])
def test_times_that_cannot_be_paired_are_refused(above: list[float], below: list[float]) -> None:
    """Different lengths, and times that no clock gives."""
    with pytest.raises(ValueError, match=r"paired|above 0"):
        speedup_statistics.ratios(above, below)


def test_an_interval_of_no_rounds_is_refused() -> None:
    """There is no median of nothing."""
    with pytest.raises(ValueError, match="no round"):
        speedup_statistics.ratio([], [], LEVEL, RESAMPLES, speedup_statistics.stream(1, 0))


def test_looks_are_planned_and_share_the_error() -> None:
    """Half as many rounds more each time, up to the last; one look at the end of the budget counts too."""
    assert LOOKS == (20, 30, 45, 68, 102, 153, 230, 345, 400)
    assert pytest.approx(1 - 0.01 / 10) == LOOK_LEVEL
    assert speedup_statistics.look_rounds(20, 20) == (20,)
    assert speedup_statistics.look_rounds(1, 3) == (1, 2, 3)


def _clock(number: int, mhz: float | None = 1980, reasons: int | None = 0) -> dict[str, float | None]:
    return {"round": number, "sm_mhz": mhz, "reasons": reasons}


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        (0x04, "power cap"),
        (0x40, "hardware thermal slowdown"),
        (0x24, "power cap, software thermal"),
        (0x800, "0x800"),
    ],
)
def test_a_round_in_which_the_device_throttled_is_spoilt(reasons: int, words: str) -> None:
    """Its reason is given in words, or as bits where they are unknown."""
    assert words in speedup_statistics.spoilt_rounds([_clock(0), _clock(1, reasons=reasons)])[1]


@pytest.mark.parametrize("reasons", [0x01, 0x02, 0x10, 0x13, None])
def test_harmless_reasons_spoil_nothing(reasons: int | None) -> None:
    """An idle moment, clocks set by the administrator, clocks kept equal among devices."""
    assert not speedup_statistics.spoilt_rounds([_clock(0), _clock(1, reasons=reasons)])


def test_a_round_at_a_lower_clock_is_spoilt_whether_the_faster_ones_came_before_or_after() -> None:
    """3 % below the fastest clock of all rounds; a clock that is not reported spoils nothing."""
    clocks = [_clock(0, 1900), _clock(1, 1980), _clock(2, 1930), _clock(3, None)]
    assert speedup_statistics.spoilt_rounds(clocks) == {0: "1900 MHz, and 1980 MHz at other times"}


def test_a_device_is_unfit_where_more_than_half_of_the_rounds_are_spoilt() -> None:
    """Half of them may be."""
    assert not speedup_statistics.is_unfit(20, 10)
    assert speedup_statistics.is_unfit(20, 11)


@settings(max_examples=50)
@given(st.lists(st.floats(0.5, 2), min_size=1, max_size=50), st.floats(0, 1))
def test_quantiles_are_interpolated_as_numpy_does(values: list[float], share: float) -> None:
    """Between the two neighbours of where a share of all values ends."""
    (quantile,) = speedup_statistics.quantiles(np.array(values), (share,))
    assert quantile == pytest.approx(np.quantile(values, share))
