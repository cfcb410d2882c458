"""Mistakes that show by how far off an output is: a factor, an offset, an input, fractions, precision."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from grader.explaining.facts import ENOUGH, MOST_ELEMENTS, RELATIVE_SLACK, WARP, agrees, expects_various
from grader.explaining.mistake import Rank, Says, Shows, named

if TYPE_CHECKING:
    from grader.explaining.facts import Mask, Reals, WrongOutput


@named("sign-flipped", Rank.LIKELY)
def sign_flipped(output: WrongOutput) -> bool:
    """The right answer times -1."""
    return agrees(output, -output.wanted)


@named("integer-overflow", Rank.LIKELY)
def overflowed(output: WrongOutput) -> bool:
    """Whole numbers of 64 bits that lack a multiple of 2³²: what was added up had no more than 32 bits."""
    if not output.is_exact or output.got.dtype.itemsize * 8 <= BITS or output.empty.any():
        return False
    off = (output.values - output.wanted)[output.wrong]
    return bool((np.abs(output.wanted) < 2.0**53).all() and (off % 2.0**BITS == 0).all())


@named("start-of-formula", Rank.LIKELY)
def starts_at_one(output: WrongOutput) -> bool:
    """Whole numbers that are too large by as many as there are threads, in a block or in all, or blocks."""
    launch, off = output.launch, np.unique((output.values - output.wanted)[output.wrong])
    if launch is None or not output.is_exact or off.size != 1 or off[0] < WARP:
        return False
    blocks, threads = math.prod(launch.grid), math.prod(launch.block)
    return int(off[0]) in (threads, blocks, blocks * threads)


@named("added-in-float", Rank.APPEARANCE, Says.HOW)
def added_in_float(output: WrongOutput) -> bool:
    """Whole numbers beyond those that a float32 can hold, and off by no more than its rounding."""
    if not output.is_exact or output.empty.any():
        return False
    wanted = np.abs(output.wanted[output.wrong])
    off = np.abs(output.values - output.wanted)[output.wrong]
    return bool((wanted > LARGEST_OF_FLOAT).all() and (off * 2 * BITS**4 <= wanted).all())


@named("integer-output", Rank.LIKELY)
def integer_output(output: WrongOutput) -> bool:
    """The right answer without its fraction."""
    return agrees(output, np.trunc(output.wanted))


@named("whole-numbers", Rank.APPEARANCE)
def whole_numbers(output: WrongOutput) -> bool:
    """Whole numbers where fractions are expected, none of them so large that it could have no fraction."""
    values, wrong = output.values[output.wrong], output.wrong
    if not np.issubdtype(output.got.dtype, np.floating) or not np.isfinite(output.values).all():
        return False
    fine = np.abs(values).max(initial=0.0) * np.finfo(output.got.dtype).eps * WARP < 1
    fractions = np.count_nonzero(output.wanted[wrong] % 1) * 2 > values.size
    various = values.any() if values.size == 1 else np.ptp(values) > 0  # one number everywhere says nothing
    return bool(fine and fractions and various and not (values % 1).any())


@named("constant-factor", Rank.LIKELY, Says.HOW)
def constant_factor(output: WrongOutput) -> bool:
    """The right answer times one number."""
    clear = np.abs(output.wanted) > output.tolerance(output.wanted)
    if output.empty.any() or np.count_nonzero(clear) < ENOUGH or not expects_various(output):
        return False
    factor = float(np.median(output.values[clear] / output.wanted[clear]))
    return abs(factor) > RELATIVE_SLACK and agrees(output, factor * output.wanted)


@named("constant-offset", Rank.LIKELY, Says.HOW)
def constant_offset(output: WrongOutput) -> bool:
    """The right answer plus one number."""
    if output.empty.any() or output.got.size < ENOUGH or not expects_various(output):
        return False
    return agrees(output, output.wanted + float(np.median(output.values - output.wanted)))


@named("change-scaled", Rank.LIKELY, Says.HOW)
def change_scaled(output: WrongOutput) -> bool:
    """One of the inputs plus the right change times one number, where most elements change."""
    if output.got.size > MOST_ELEMENTS or output.empty.any() or not expects_various(output):
        return False
    for _, array in output.inputs:
        if array.shape != output.got.shape:
            continue
        base = np.asarray(array, np.float64)
        change, got = output.wanted - base, output.values - base
        clear = np.abs(change) > output.tolerance(output.wanted)
        count = int(np.count_nonzero(clear))
        if count < 2 * ENOUGH or 3 * count < 2 * clear.size:
            continue
        factor = float(np.median(got[clear] / change[clear]))
        if abs(factor) > RELATIVE_SLACK and agrees(output, base + factor * change):
            return True
    return False


@named("off-by-input", Rank.LIKELY, Says.HOW)
def off_by_input(output: WrongOutput) -> bool:
    """The right answer plus one and the same multiple of an input."""
    if output.got.size > MOST_ELEMENTS or output.empty.any():
        return False
    for _, array in output.inputs:
        values = np.asarray(array, np.float64)
        if values.shape != output.got.shape or np.unique(values).size < ENOUGH:
            continue
        clear = values != 0
        factor = float(np.median((output.values - output.wanted)[clear] / values[clear]))
        if abs(factor) > RELATIVE_SLACK and agrees(output, output.wanted + factor * values):
            return True
    return False


@named("half-precision", Rank.LIKELY)
def half_precision(output: WrongOutput) -> bool:
    """Close, and every number is one that a float16 (or a bfloat16) can hold."""
    values = output.values
    if not np.issubdtype(output.got.dtype, np.floating) or values.size < ENOUGH or not _close(output):
        return False
    return any(
        bool(fits(values).all()) and not bool(fits(output.wanted).all()) for fits in (_is_half, _is_bfloat)
    )


def _is_half(values: Reals) -> Mask:
    with np.errstate(over="ignore"):
        fits: Mask = values == values.astype(np.float16)
    return fits


def _is_bfloat(values: Reals) -> Mask:
    with np.errstate(over="ignore"):
        fits: Mask = (values.astype(np.float32).view(np.uint32) & 0xFFFF) == 0
    return fits


@named("imprecise", Rank.APPEARANCE, Says.HOW, Shows.IN_SMALL_ERRORS)
def imprecise(output: WrongOutput) -> bool:
    """Close, with errors all over of the size that 16-bit arithmetic makes."""
    widespread = int(np.count_nonzero(output.wrong)) * 2 > output.got.size >= ENOUGH
    if not widespread or not _close(output):
        return False
    error = np.abs(output.values - output.wanted)
    return bool((error <= HALF_TO_SINGLE * output.bounds).all())


def _close(output: WrongOutput) -> bool:
    """No error above a twentieth of the largest element."""
    if output.empty.any() or not np.isfinite(output.values).all():
        return False
    return bool((np.abs(output.values - output.wanted) <= np.abs(output.wanted).max() / 20).all())


BITS = 32


LARGEST_OF_FLOAT = 2.0**24
"""Largest number up to which a float32 holds all whole numbers."""


HALF_TO_SINGLE = 2.0**14
"""Ratio of the error of 16-bit arithmetic to a float32 bound (2⁻¹¹ against 2⁻²⁴, doubled)."""
