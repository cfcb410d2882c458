"""Hypotheses for sums: reductions to one number, scans, histograms.

Each looks for a rule that gives what is expected (a sum, a largest element …) and asks what it would have
given of a part of the input. Blocks are as long as the constants say, or twice that: threads may load two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.diagnosis.facts import LEAST_SHARE
from grader.diagnosis.moved import WARP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.diagnosis.facts import Prediction, Reals, WrongOutput

    Rule = Callable[[Reals], Any]

MOST_BLOCKS = 64
"""Blocks any of which may have come last: among more, some part is as large as any number."""

MOST_CHANCE = 0.02
"""How likely it may be that a number is by chance what one of the blocks gives."""

RULES: tuple[Rule, ...] = (np.sum, np.max, np.min)


def _blocks(output: WrongOutput, size: int) -> tuple[int, ...]:
    """The lengths that a block may work on, those that divide an input of this size into several."""
    lengths = dict.fromkeys(length for block in output.tiles for length in (block, 2 * block))
    return tuple(length for length in lengths if length < size)


def _vector(output: WrongOutput) -> Reals | None:
    """The first input with more than one element, flat."""
    arrays = (array for _, array in output.inputs if array.size > 1)
    found = next(arrays, None)
    return None if found is None else np.asarray(found, np.float64).reshape(-1)


# --- one number ---------------------------------------------------------------------------------------


def reduction(output: WrongOutput) -> Iterator[Prediction]:
    """What a reduction to one number gives of a part of its input."""
    x = _vector(output)
    if x is None or output.got.size != 1 or x.min() == x.max():
        return  # where all elements are the same, a sum says how many were counted, not which
    wanted, slack = output.wanted.reshape(-1)[0], output.tolerance(output.wanted).reshape(-1)[0]
    rules = (rule for rule in RULES if abs(float(rule(x)) - wanted) <= slack)
    for rule in rules:
        for block in _blocks(output, x.size):
            for mistake, part in _parts(x, block):
                if part.size:
                    yield mistake, np.full(output.got.shape, rule(part)), None
            if _telling(output, x, block):
                yield _one_of_the_blocks(output, x, block, rule)


def _parts(x: Reals, block: int) -> Iterator[tuple[str, Reals]]:
    """Which elements count where something is left out."""
    thread = np.arange(x.size) % block
    yield "first-block-of-sum", x[:block]
    yield "tail-not-counted", x[: x.size // block * block]
    yield "first-warp-of-sum", x[thread < WARP]
    yield "first-thread-of-sum", x[thread == 0]
    yield "last-step-missing", x[thread % 2 == 0]
    yield "last-step-missing", x[thread < block // 2]
    for step in (2, 4, 8, 16):
        yield "last-step-missing", x[thread % (2 * step) < step]


def _telling(output: WrongOutput, x: Reals, block: int) -> bool:
    """Whether the part of some block is unlikely to be any other wrong number: few parts, far apart."""
    step = 1.0 if np.array_equal(x, np.floor(x)) else 0.0
    width = max(step, 2 * float(output.tolerance(output.wanted).max()))
    parts = min(MOST_BLOCKS, -(-x.size // block))
    return parts * width <= MOST_CHANCE * float(np.abs(x).sum())


def _one_of_the_blocks(output: WrongOutput, x: Reals, block: int, rule: Rule) -> Prediction:
    """The part of any block, whichever came last; of the last one alone where there are many."""
    starts = range(0, x.size, block)
    starts = starts if len(starts) <= MOST_BLOCKS else starts[-1:]
    parts = np.array([rule(x[start : start + block]) for start in starts], np.float64)
    return "parts-not-combined", parts.reshape(-1, *output.got.shape), None


# --- scans --------------------------------------------------------------------------------------------


def scan(output: WrongOutput) -> Iterator[Prediction]:
    """What a scan of each row gives that leaves something out; a vector is one row.

    The expected one may be inclusive or exclusive.
    """
    rows = _rows(output)
    if rows is None:
        return
    inclusive = np.cumsum(rows, axis=1)
    exclusive = inclusive - rows
    wanted, slack = output.wanted.reshape(rows.shape), output.tolerance(output.wanted).reshape(rows.shape)
    if (np.abs(inclusive - wanted) <= slack).all():
        own, others = rows, (("exclusive-scan", exclusive), *_run_on(rows, rows))
    elif (np.abs(exclusive - wanted) <= slack).all():
        own = np.zeros_like(rows)
        others = (("inclusive-scan", inclusive), *_run_on(rows, own))
    else:
        return
    for mistake, predicted in (*others, *_shortened(output, rows, own)):
        yield mistake, predicted.reshape(output.got.shape), None


def _rows(output: WrongOutput) -> Reals | None:
    """The first input of the output's shape, as rows."""
    found = next((a for _, a in output.inputs if a.shape == output.got.shape and a.size > 1), None)
    return None if found is None else np.asarray(found, np.float64).reshape(-1, found.shape[-1])


def _run_on(rows: Reals, own: Reals) -> Iterator[tuple[str, Reals]]:
    """Every row goes on where the one before ended."""
    if len(rows) > 1:
        yield "rows-run-on", np.cumsum(rows).reshape(rows.shape) - (rows - own)


def _shortened(output: WrongOutput, rows: Reals, own: Reals) -> Iterator[tuple[str, Reals]]:
    """Sums that begin elsewhere than at the row's start, or end elsewhere than at the element itself."""
    size = rows.shape[1]
    exclusive = np.cumsum(rows, axis=1) - rows
    yield "scan-backwards", np.cumsum(rows[:, ::-1], axis=1)[:, ::-1] - (rows - own)
    for block in _blocks(output, size):
        start = np.arange(size) // block * block
        local = exclusive - exclusive[:, start] + own
        before = np.where(start > 0, exclusive[:, start] - exclusive[:, np.maximum(start - block, 0)], 0.0)
        yield "blocks-not-joined", local
        yield "one-block-joined", local + before
        yield "last-step-missing", _window(rows, start, block // 2) - (rows - own)
    yield "last-step-missing", _window(rows, np.zeros(size, np.intp), _half_below(size)) - (rows - own)


def _half_below(size: int) -> int:
    """The last distance of a loop that doubles it while it is below the size."""
    return 1 << max(0, (size - 1).bit_length() - 1)


def _window(rows: Reals, start: np.ndarray[tuple[int, ...], np.dtype[np.intp]], width: int) -> Reals:
    """The sum of the last ``width`` elements up to each one of its row, none before its start."""
    total = np.cumsum(np.pad(rows, ((0, 0), (1, 0))), axis=1)
    end = np.arange(1, rows.shape[1] + 1)
    summed: Reals = total[:, end] - total[:, np.maximum(end - max(width, 1), start)]
    return summed


# --- counts -------------------------------------------------------------------------------------------


def histogram(output: WrongOutput) -> Iterator[Prediction]:
    """What is counted of a part of the input; which bin an element falls into is not asked but learnt."""
    found = _vector(output)
    if found is None or output.got.ndim != 1 or output.wanted.sum() != found.size:
        return
    if found.min() == found.max():
        return
    bins = _bin_of_each(found, output.wanted)
    if bins is None:
        return
    for block in _blocks(output, found.size):
        thread = np.arange(found.size) % block
        for mistake, counted in (
            ("first-block-of-sum", bins[:block]),
            ("tail-not-counted", bins[: found.size // block * block]),
            ("first-warp-of-sum", bins[thread < WARP]),
            ("first-thread-of-sum", bins[thread == 0]),
        ):
            yield mistake, np.bincount(counted, minlength=output.got.size).astype(np.float64), None


def _bin_of_each(x: Reals, counts: Reals) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]] | None:
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


def too_few(output: WrongOutput) -> bool:
    """Whole counts, none too large, some too small but not all of them gone."""
    got, wanted = output.values, output.wanted
    if not output.completed or output.empty.any() or output.got.dtype.kind not in "iu":
        return False
    short = int(np.count_nonzero(got < wanted))
    some_left = int(np.count_nonzero(got > 0)) * LEAST_SHARE >= int(np.count_nonzero(wanted > 0))
    return bool((got >= 0).all() and (got <= wanted).all()) and short > 0 and some_left
