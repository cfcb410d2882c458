"""Hypotheses for sums: reductions to one number, scans, histograms.

Each looks for a rule that gives what is expected (a sum, a largest element …) and asks what it would have
given of a part of the input. Blocks are as long as the constants say, or twice that: threads may load two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from grader.diagnosis.facts import LEAST_SHARE
from grader.diagnosis.moved import WARP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from grader.diagnosis.facts import Mask, Prediction, Reals, WrongOutput

    Rule = Callable[[Reals], Any]
    Tests = tuple[tuple[str, Callable[[WrongOutput], bool]], ...]

Places: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.intp]]"
"""Whole numbers, one for each element."""

CLEARLY = 1.01
"""How much larger a sum must be than another one before rounding cannot be the reason."""

MOST_ROUNDS = 64
"""Elements of a thread up to which its sum is followed."""

BYTE = 256

MOST_BLOCKS = 64
"""Blocks any of which may have come last: among more, some part is as large as any number."""

MOST_CHANCE = 0.02
"""How likely it may be that a number is by chance what one of the blocks gives."""

RULES: tuple[Rule, ...] = (np.sum, np.max, np.min)


class Dealt(NamedTuple):
    """For each element of a vector its block and its thread, where each thread takes every ``step``-th."""

    block: Places
    thread: Places
    threads: int
    step: int


def dealt_out(output: WrongOutput, size: int, threads: int) -> Dealt:
    """How a vector is dealt out to blocks of so many threads that go on in steps of the whole grid."""
    blocks = output.launch.grid[0] if output.launch else max(1, -(-size // threads))
    index = np.arange(size)
    return Dealt(index // threads % blocks, index % threads, threads, blocks * threads)


def parts(dealt: Dealt) -> Iterator[tuple[str, Mask]]:
    """Which elements count where something is left out."""
    block, thread, threads, step = dealt
    index = np.arange(block.size)
    yield "first-round-only", index < step
    yield "first-block-of-sum", block == 0
    yield "tail-not-counted", index < block.size // threads * threads
    yield "tail-not-counted", index < block.size // step * step
    yield "first-warp-of-sum", thread < WARP
    yield "first-thread-of-sum", thread == 0
    yield "last-step-missing", thread < threads // 2
    lane, warp = thread % WARP, thread // WARP
    for distance in (1, 2, 4, 8, 16):
        yield "last-step-missing", thread % (2 * distance) < distance
        yield "last-step-missing", lane % (2 * distance) < distance
        yield "last-step-missing", (lane % (2 * distance) < distance) & (warp % (2 * distance) < distance)


def repeated(dealt: Dealt) -> Iterator[tuple[str, Places]]:
    """How often each element counts where some count more than once."""
    index = np.arange(dealt.block.size)
    blocks = dealt.step // dealt.threads
    first_lane = dealt.thread == 0
    yield "stride-of-one-block", np.minimum(index // dealt.threads + 1, blocks)
    yield "shuffles-up", first_lane * WARP
    yield "shuffles-up", first_lane * WARP * WARP
    yield "counted-more-than-once", np.full(index.size, dealt.threads)
    if blocks > 1:
        yield "counted-more-than-once", np.full(index.size, blocks)


def blocks_of(output: WrongOutput, size: int) -> tuple[int, ...]:
    """The lengths that a block may work on: its threads where they are known, or else as constants say."""
    if output.launch is not None:
        return (output.launch.block[0],)
    return _blocks(output, size)


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
    """What a reduction to one number gives of a part of its input, or of some of it more than once."""
    x = _vector(output)
    if x is None or output.got.size != 1 or (output.launch is None and x.min() == x.max()):
        return  # where all elements are the same, a sum says how many were counted, not which
    wanted, slack = output.wanted.reshape(-1)[0], output.tolerance(output.wanted).reshape(-1)[0]
    shape = output.got.shape
    for rule in (rule for rule in RULES if abs(float(rule(x)) - wanted) <= slack):
        for block in blocks_of(output, x.size):
            dealt = dealt_out(output, x.size, block)
            for mistake, kept in parts(dealt):
                if kept.any() and not kept.all():
                    yield mistake, np.full(shape, rule(x[kept])), None
            if rule is np.sum:
                for mistake, times in repeated(dealt):
                    yield mistake, np.full(shape, float((x * times).sum())), None
                for mistake, total in _in_other_types(x, dealt):
                    yield mistake, np.full(shape, total), None
            if _telling(output, x, block):
                yield _one_of_the_blocks(output, x, block, rule)


def less_than_a_round(output: WrongOutput) -> Iterator[str]:
    """Nothing was counted of an input that is shorter than one round of the grid."""
    size = max((array.size for name, array in output.inputs if name != output.array), default=0)
    if output.got.size != 1 or output.values.any() or output.launch is None:
        return
    if size < output.launch.grid[0] * output.launch.block[0]:
        yield "tail-not-counted"


def too_many_or_few(output: WrongOutput) -> Iterator[str]:
    """Whether a sum of numbers none of which is negative is clearly too large, or too small."""
    x = _vector(output)
    if x is None or output.got.size != 1 or output.launch is None:
        return
    if not output.completed or output.empty.any():
        return
    got, wanted = float(output.values.reshape(-1)[0]), float(output.wanted.reshape(-1)[0])
    if abs(float(x.sum()) - wanted) > float(output.tolerance(output.wanted).max()):
        return
    mixed = bool(x.min() < 0)
    if mixed or got > wanted * CLEARLY:
        yield "counted-more-than-once"
    if mixed or 0 < got * CLEARLY < wanted:
        yield "values-not-counted"


def _in_other_types(x: Reals, dealt: Dealt) -> Iterator[tuple[str, float]]:
    """The sum where each thread adds up in a type that holds less."""
    for mistake, rounded in (("integer-inputs", np.trunc), ("half-precision", _to_half)):
        threads: Reals = np.zeros(dealt.step)
        for start in range(0, min(x.size, MOST_ROUNDS * dealt.step), dealt.step):
            part = x[start : start + dealt.step]
            threads[: part.size] = rounded(threads[: part.size] + part)
        yield mistake, float(threads.sum())


def _to_half(values: Reals) -> Reals:
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(np.float64)


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


# --- counts -------------------------------------------------------------------------------------------


def histogram(output: WrongOutput) -> Iterator[Prediction]:
    """What is counted of a part of the input, or by another rule for bins; the right one is learnt."""
    found = _vector(output)
    if found is None or output.got.ndim != 1 or output.wanted.sum() != found.size:
        return
    bins = _bin_of_each(found, output.wanted)
    if bins is None:
        return
    size = output.got.size
    yield "adds-the-value", _counted(bins, size, found), None
    for other in _other_bins(found, size):
        inside = other[(other >= 0) & (other < size)]
        yield "another-rule-for-bins", _counted(inside, size), None
    for block in blocks_of(output, found.size):
        dealt = dealt_out(output, found.size, block)
        for mistake, kept in parts(dealt):
            yield mistake, _counted(bins[kept], size), None
        for mistake, times in repeated(dealt):
            yield mistake, _counted(bins, size, times), None


def _counted(bins: Places, size: int, weights: NDArray[Any] | None = None) -> Reals:
    """How often each bin occurs, each time with its weight."""
    counted: Reals = np.bincount(bins, weights, size).astype(np.float64)
    return counted


def _other_bins(x: Reals, size: int) -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.intp]]]:
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


OF_BINS: Tests = (
    ("first-bin-only", first_bin_only),
    ("last-element-left-out", last_bin_left_out),
    ("bins-beyond-threads", bins_beyond_threads),
)
"""What counts show by where they are right."""

TOO_MANY: Tests = (("counted-more-than-once", too_many),)
"""What is merely likely, asked last."""
