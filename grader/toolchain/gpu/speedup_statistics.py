"""The statistics of paired timing: ratios, their intervals, when they settle a question, which rounds count.

Self-contained, and NumPy only: the same text runs beside the harness, which stops by it, and here, where
what came back is judged again from the raw times.

**Ratios.** Kernels that are compared run next to each other in one round, so what both suffer from (clocks,
temperature, a neighbour) cancels in the ratio of the round. The median over rounds is taken, which an outlier
cannot move (T. Kalibera, R. Jones, *Rigorous Benchmarking in Reasonable Time*, ISMM 2013, on reporting ratios
with an interval).

**Interval.** The percentile bootstrap: rounds are drawn again with replacement, each draw gives a median, and
the interval lies between two quantiles of those medians (B. Efron, R. Tibshirani, *An Introduction to the
Bootstrap*, 1993, chapter 13). Quantities of one round stay together in a draw.

**Looks.** Looking again and again until a question seems settled is wrong more often than one look's
level says. The looks are therefore planned ahead, after 20, 30, 45, 68 … rounds, and share the error among
them (Bonferroni): with L looks, one of them at the end of the budget, each has the level 1 - (1 - level) / L.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

Reals: TypeAlias = "NDArray[np.float64]"
Picks: TypeAlias = "NDArray[np.intp]"

GROWTH = 1.5
"""Ratio of the rounds before a look to the rounds before the previous look."""

FEWEST_ROUNDS = 5
"""Fewest rounds with an interval to speak of."""

ENOUGH_ROUNDS = 20
"""Rounds below which draws hardly ever give the extremes of the values, so that intervals are too short."""

DRAWS_PER_TAIL = 2
"""Draws that must be expected beyond an end of the interval, or that end is but the most extreme draw."""

SLOWEST_CLOCK = 0.97
"""A round counts only if the multiprocessors' clock was at least this share of the fastest seen."""

MOST_DROPPED = 0.5
"""Share of spoilt rounds above which the rest means nothing either."""

THROTTLING = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}
"""Reasons for lowered clocks that spoil a time, by their bit (NVML, ``nvmlClocksEventReasons``)."""

HARMLESS = 0x01 | 0x02 | 0x10
"""The others: nothing to do, clocks set by the administrator, clocks kept equal among devices."""


def ratios(numerator_ms: ArrayLike, denominator_ms: ArrayLike) -> Reals:
    """Ratio of the first time to the second, round by round.

    Raises:
        ValueError: the two have different lengths, or a time is not above 0.

    """
    above, below = np.asarray(numerator_ms, np.float64), np.asarray(denominator_ms, np.float64)
    if above.shape != below.shape or above.ndim != 1:
        raise ValueError(f"{above.shape} times cannot be paired with {below.shape}")
    if not ((above > 0).all() and (below > 0).all()):
        raise ValueError("a time is not above 0")
    quotients: Reals = above / below
    return quotients


def ratio(
    numerator_ms: ArrayLike,
    denominator_ms: ArrayLike,
    level: float,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """The median of the paired ratios, and the ends of its interval at ``level``.

    Raises:
        ValueError: the times cannot be paired, or there are none.

    """
    values = ratios(numerator_ms, denominator_ms)
    if not values.size:
        raise ValueError("there is no round")
    picks = _picks(values.size, level, resamples, rng)
    low, high = _interval(values, _medians(values, picks), level)
    return median(values.tolist()), low, high  # that of NumPy loads masked arrays, 0.06 s


def is_settled(
    speedup: Reals,
    solution: Reals | None,
    asked: Sequence[tuple[float, float]],
    level: float,
    resamples: int,
    rng: np.random.Generator,
) -> bool:
    """True if every speedup asked for lies outside the interval: more rounds would change no answer.

    ``speedup`` and ``solution`` hold the ratios of each round, those of the model solution if there is one.
    ``asked`` holds pairs (fixed, share): the speedup fixed + share · (speedup of the model solution). The
    latter is measured too, so the question is if the difference of the two medians is clear of
    ``fixed``. All questions with one share are settled together by one interval.

    Raises:
        ValueError: a share of the model solution is asked for, and it was not timed.

    """
    if not asked:
        return True
    if speedup.size < FEWEST_ROUNDS:
        return False
    if solution is None and any(share for _, share in asked):
        raise ValueError("a speedup relative to the model solution is asked for, and it was not timed")
    other = np.zeros_like(speedup) if solution is None else solution
    picks = _picks(speedup.size, level, resamples, rng)
    reached, reference = _medians(speedup, picks), _medians(other, picks)
    for share in {share for _, share in asked}:
        low, high = _interval(speedup - share * other, reached - share * reference, level)
        if any(low <= fixed <= high for fixed, factor in asked if factor == share):
            return False
    return True


def look_rounds(least: int, most: int) -> tuple[int, ...]:
    """Numbers of rounds after which to look: geometric from ``least``, the last at ``most``."""
    planned = [least]
    while planned[-1] < most:
        planned.append(min(most, round(planned[-1] * GROWTH + 0.25)))
    return tuple(planned)


def look_level(level: float, least: int, most: int) -> float:
    """The level of each look that holds ``level`` over all of them, one at the end of the budget included."""
    return 1 - (1 - level) / (len(look_rounds(least, most)) + 1)


def stream(seed: int, rounds: int) -> np.random.Generator:
    """Random numbers of the look after ``rounds`` rounds: the same for every reader."""
    return np.random.default_rng([seed, rounds])


def spoilt_rounds(clocks: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Rounds that do not count, with the reason: the device throttled, or its clock was lower than otherwise.

    Each of ``clocks`` has ``round``, and ``sm_mhz`` and ``reasons`` (NVML's bits), which are None where the
    device does not report them.
    """
    fastest = max((clock_line["sm_mhz"] or 0 for clock_line in clocks), default=0)
    reasons: dict[int, str] = {}
    for clock_line in clocks:
        why, clock = throttling(clock_line["reasons"] or 0), clock_line["sm_mhz"]
        if not why and clock is not None and clock < SLOWEST_CLOCK * fastest:
            why = f"{clock:.0f} MHz, and {fastest:.0f} MHz at other times"
        if why:
            reasons.setdefault(clock_line["round"], why)
    return reasons


def is_unfit(rounds: int, dropped: int) -> bool:
    """True if too many rounds were spoilt for the device to be fit for timing now."""
    return dropped > MOST_DROPPED * rounds


def throttling(reasons: int) -> str:
    """The throttle reasons among NVML's bits, in words; empty where none of them spoils a time."""
    left = reasons & ~HARMLESS
    meanings = [words for bit, words in THROTTLING.items() if left & bit]
    return ", ".join(meanings) or (f"throttle reason {left:#x}" if left else "")


def _picks(rounds: int, level: float, resamples: int, rng: np.random.Generator) -> Picks:
    """Rounds drawn with replacement, one row per draw; enough rows for the ends at this level."""
    rows = max(resamples, int(np.ceil(2 * DRAWS_PER_TAIL / (1 - level))))
    return rng.integers(0, rounds, (rows, rounds), dtype=np.intp)


def _medians(values: Reals, picks: Picks) -> Reals:
    """The median of each draw; a sort, because NumPy sorts short rows several times as fast as it selects."""
    rows = np.sort(values[picks], axis=1)
    middle = rows.shape[1] // 2
    medians: Reals = rows[:, middle] if rows.shape[1] % 2 else (rows[:, middle - 1] + rows[:, middle]) / 2
    return medians


def _interval(values: Reals, medians: Reals, level: float) -> tuple[float, float]:
    """The ends of the interval of the median of ``values``, from the medians of the draws.

    Few values: their range, which misses the median of what they come from with probability 2^(1-n). Where
    even that is more than the level allows, it is widened by its own width on either side: for five values
    from a normal distribution about what Student's t gives at 99.9 %.
    """
    if values.size < ENOUGH_ROUNDS:
        low, high = float(values.min()), float(values.max())
        wider = high - low if 2.0 ** (1 - values.size) > 1 - level else 0.0
        return low - wider, high + wider
    tail = (1 - level) / 2
    low, high = quantiles(medians, (tail, 1 - tail))
    return low, high


def quantiles(values: Reals, shares: Sequence[float]) -> list[float]:
    """Values below which these shares of all are, interpolated linearly (Hyndman and Fan, 1996, type 7).

    `np.quantile` gives the same, but loads masked arrays first, while a GPU and a student wait.
    """
    positions = np.multiply(shares, values.size - 1)
    return [float(value) for value in np.interp(positions, np.arange(values.size), np.sort(values))]
