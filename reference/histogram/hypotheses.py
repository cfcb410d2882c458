"""Hypotheses for histograms: what is counted of a part of the input, or by another rule for bins.

A bin belongs to no thread, no block and no tile: any thread may count in any of them. Hence most of what is
asked about any operation is not asked here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.explaining.facts import LEAST_SHARE, blocks_of, dealt_out, parts, repeated, vector
from grader.explaining.hypotheses import certain, foreseen, passing
from grader.explaining.misplaced_values import misplaced_predictions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.explaining.facts import Places, Prediction, Reals, Tests, WrongOutput

BYTE = 256


def candidates(output: WrongOutput) -> Iterator[str]:
    """The ids of all mistakes that fit, the surest first."""
    yield from certain(output)
    yield from passing(BY_PLACE, output)
    yield from foreseen(output, predictions, misplaced_predictions)
    if too_many(output):
        yield "counted-more-than-once"
    if too_few(output):
        yield "updates-lost" if output.raced else "values-not-counted"


def predictions(output: WrongOutput) -> Iterator[Prediction]:
    """Counts of a part of the input, or by another rule for bins; the right one is learnt."""
    values = vector(output)
    if values is None or output.got.ndim != 1 or output.wanted.sum() != values.size:
        return
    bins = _bin_of_each(values, output.wanted)
    if bins is None:
        return
    size = output.got.size
    yield "adds-the-value", _counted(bins, size, values), None
    for other in _other_bins(values, size):
        inside = other[(other >= 0) & (other < size)]
        yield "another-rule-for-bins", _counted(inside, size), None
    for block in blocks_of(output, values.size):
        dealt = dealt_out(output, values.size, block)
        for mistake, kept in parts(dealt):
            yield mistake, _counted(bins[kept], size), None
        for mistake, times in repeated(dealt):
            yield mistake, _counted(bins, size, times), None


def _counted(bins: Places, size: int, weights: NDArray[Any] | None = None) -> Reals:
    """Sums of the weights in each bin."""
    counted: Reals = np.bincount(bins, weights, size).astype(np.float64)
    return counted


def _other_bins(x: Reals, size: int) -> Iterator[Places]:
    """The bin of each byte by rules that are nearly right."""
    signed = np.where(x >= BYTE // 2, x - BYTE, x)
    for bins in (
        x // max(1, BYTE // size),
        x * size // (BYTE - 1),
        x // -(-BYTE // size),
        np.floor(x * size / BYTE + 0.5),
        x * 16 // BYTE,
        np.trunc(signed * size / BYTE),
        np.floor(signed * size / BYTE),
        np.mod(x, size),
        x,
    ):
        yield bins.astype(np.intp)


def _bin_of_each(x: Reals, counts: Reals) -> Places | None:
    """The bin of each element where one rule explains the counts: its value, or equal steps of values."""
    size = counts.size
    span = (float(x.max()) + 1.0) / size
    for scale in (1.0, span, 256.0 / size, 1.0 / size):
        bins = np.floor(x / scale).astype(np.intp) if scale else x.astype(np.intp)
        inside = bool(((bins >= 0) & (bins < size)).all())
        if inside and np.array_equal(np.bincount(bins, minlength=size), counts):
            return bins
    return None


def bins_beyond_threads(output: WrongOutput) -> bool:
    """Right are just the first bins, as many as a block has threads."""
    bins = np.arange(output.got.size)
    wrong = output.wrong.reshape(-1)
    return output.completed and any(
        block < bins.size and np.array_equal(wrong, bins >= block) for block in output.tiles
    )


def first_bin_only(output: WrongOutput) -> bool:
    """Nothing was stored but in the first bin."""
    wrong = output.wrong
    if wrong.ndim != 1 or not wrong.size:
        return False
    stored = output.wanted > 0
    return output.completed and bool(output.unwritten[1:].all()) and not wrong[0] and bool(stored[1:].any())


def last_bin_left_out(output: WrongOutput) -> bool:
    """All is right but for the last bin, where nothing was stored."""
    wrong = output.wrong
    if wrong.ndim != 1 or not output.completed or int(np.count_nonzero(wrong)) != 1:
        return False
    return bool(wrong[-1] and output.unwritten[-1])


def too_many(output: WrongOutput) -> bool:
    """Whole counts, none too small, more in all of them than there are values."""
    got, wanted = output.values, output.wanted
    if not output.completed or output.empty.any() or output.got.dtype.kind not in "iu":
        return False
    return bool((got >= wanted).all()) and float(got.sum()) > float(wanted.sum())


def too_few(output: WrongOutput) -> bool:
    """Whole counts, none too large, some too small but not all of them gone."""
    got, wanted = output.values, output.wanted
    if not output.completed or output.empty.any() or output.got.dtype.kind not in "iu":
        return False
    short = int(np.count_nonzero(got < wanted))
    some_left = int(np.count_nonzero(got > 0)) * LEAST_SHARE >= int(np.count_nonzero(wanted > 0))
    return bool((got >= 0).all() and (got <= wanted).all()) and short > 0 and some_left


BY_PLACE: Tests = (
    ("first-bin-only", first_bin_only),
    ("last-element-left-out", last_bin_left_out),
    ("bins-beyond-threads", bins_beyond_threads),
)
"""What counts show by where they are right."""
