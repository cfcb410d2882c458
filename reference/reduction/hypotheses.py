"""Hypotheses for reductions to one number: what a part of the input gives, or some of it more than once.

The rule (a sum, a largest element …) is learnt from what is expected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.explaining.facts import Dealt, blocks_of, dealt_out, parts, repeated, vector
from grader.explaining.hypotheses import certain, foreseen, likely
from grader.explaining.misplaced_values import copied_input, misplaced_predictions, stored_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.explaining.facts import Prediction, Reals, WrongOutput

    Rule = Callable[[Reals], Any]

CLEARLY = 1.01
"""How much larger a sum must be than another one before rounding cannot be the reason."""

MOST_ROUNDS = 64
"""Elements of a thread up to which its sum is followed."""

MOST_BLOCKS = 64
"""Blocks any of which may have come last: among more, some part is as large as any number."""

MOST_CHANCE = 0.02
"""How likely it may be that a number is by chance what one of the blocks gives."""

RULES: tuple[Rule, ...] = (np.sum, np.max, np.min)


def candidates(output: WrongOutput) -> Iterator[str]:
    """The ids of all mistakes that fit, the surest first."""
    yield from less_than_a_round(output)
    yield from certain(output)
    yield from foreseen(output, copied_input, stored_elsewhere, predictions, misplaced_predictions)
    yield from too_many_or_few(output)
    yield from likely(output)


def predictions(output: WrongOutput) -> Iterator[Prediction]:
    """Results of a reduction to one number of a part of its input, or of some of it more than once."""
    x = vector(output)
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
    """True if a sum of numbers none of which is negative is clearly too large, or too small."""
    x = vector(output)
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
    """True if the part of some block is unlikely to be any other wrong number: few parts, far apart."""
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
