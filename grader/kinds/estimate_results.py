"""Check that an estimated launch computes the right result at that shape, as far as its blocks were run.

    blocks that are timed ─what they left─┐
    blocks drawn by chance ─what they left┴▶ compared with the oracle's elements ▶ how many are right

A speed counts only beside right results, and a kernel knows at which shape it is estimated. So what the timed
blocks leave must be right, and be their share of the whole: a block that returns at once leaves nothing that
is wrong. The same is asked of blocks that are drawn by the seed, which no kernel knows, and that these do no
more work than the timed ones. Where something is missing all blocks are run, if they are few enough, which
decides it. Atomic updates leave a part of a result: where that is not right yet, and not all blocks can be
run, nothing was compared.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.errors import OurError, log_swallowed
from grader.base.precision import numbers
from grader.base.records import frozen
from grader.grading.checks.wording import number
from grader.grading.oracle import expected_of
from grader.model.compare import CHUNK, compare, data_of, mask_of
from grader.running.estimate import LaunchedBlocks, NotEstimatedError, reasons

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from grader.grading.oracle import Expected, Oracle
    from grader.kinds.estimate_request import EstimateRequest
    from grader.model import Argument, Comparison
    from grader.running.estimate.estimate import EstimatedKernel
    from grader.running.estimate.further_blocks import BlocksRun

_ROUNDS = ((2, 0.97), (36, 0.9))
"""Number of blocks that are drawn, with two neighbours each, and the part of their share they must leave.

Blocks at an edge leave less, and others nothing where a few compute all: where the first round leaves too
little, enough blocks are drawn that this evens out.
"""

_ENOUGH_TIMED = 0.75
"""The part of their share that the timed blocks have to leave."""

_ALIKE = 1.5
"""Largest average number of instructions of other blocks, as a multiple of that of a timed block."""

_STREAM = 0xB10C
"""Keeps the blocks that are drawn apart from other things that are drawn with the same seed."""


@frozen
class LeftArray:
    """An output array before and after some blocks ran, and the elements, by number, that they stored."""

    name: str
    before: NDArray[Any]
    after: NDArray[Any]
    stored: NDArray[np.int64]


@frozen
class _Judged:
    """Judgement of some of the blocks: the number of elements that became right, and the first wrong one."""

    right: int
    wrong: NotEstimatedError | None


def outputs_of(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """The arrays among arguments that hold results afterwards."""
    return tuple(argument for argument in arguments if argument.direction in ("out", "inout"))


def compared_elements(
    request: EstimateRequest,
    kernel: EstimatedKernel,
    arguments: Sequence[Argument],
    oracle: Oracle,
    left_by: Callable[[Sequence[BlocksRun]], Sequence[LeftArray]],
) -> int:
    """Number of right elements of the results that blocks of a launch left; 0 where none can be compared.

    ``left_by`` gives the outputs as these blocks leave them. Raises NotEstimatedError where an element is
    wrong, or where too few were left.
    """
    given = {a.name: numbers(np.asarray(a.value)) for a in arguments if a.direction in ("in", "inout")}
    names = [argument.name for argument in outputs_of(arguments)]
    try:
        expected = expected_of(oracle, given, dict(request.timing.shape), names)
        return _Comparing(LaunchedBlocks(kernel.sampled), left_by, expected).right_elements(request.seed)
    except OurError:
        log_swallowed("the comparison of an estimated launch")
        return 0


class _Comparing:
    """Runs blocks of a launch, and compares what they leave, until that decides."""

    def __init__(
        self,
        launched: LaunchedBlocks,
        left_by: Callable[[Sequence[BlocksRun]], Sequence[LeftArray]],
        expected: Expected,
    ) -> None:
        self.launched, self.left_by, self.expected = launched, left_by, expected
        self.needed: dict[str, int] = {}
        """Number of elements, by array, that are not right before the launch."""

    def right_elements(self, seed: int) -> int:
        """See `compared_elements`."""
        rng = np.random.default_rng([seed, _STREAM])
        for count, enough in _ROUNDS:
            with reasons():
                self.launched.run_some(count, rng)
            if self.launched.are_all:
                return self._of_all()
            judged = self._judge(self.launched.ran)
            if judged.wrong and not self.launched.updates:
                raise judged.wrong
            if not any(self.needed.values()):
                return 0
            if not judged.wrong and self._is_enough(enough):
                return judged.right
            if self._runs_all():
                return self._of_all()
            if self.launched.updates:
                return 0
        share = min(self._share(self.launched.ran[:1]), self._share(self.launched.ran))
        raise NotEstimatedError("less-than-share", (("share", f"{100 * share:.0f}"),))

    def _runs_all(self) -> bool:
        """True if all blocks have run to their end; blocks that wait for each other in vain have not."""
        with suppress(NotEstimatedError), reasons():
            return self.launched.run_all()
        return False

    def _is_enough(self, enough: float) -> bool:
        """True if blocks leave their shares, drawn ones also alone, and the timed ones do as much for it."""
        ran = self.launched.ran
        shares = (
            self._share(ran[:1]) / _ENOUGH_TIMED,
            self._share(ran[1:]) / enough,
            self._share(ran) / enough,
        )
        return min(shares) >= 1 and self._are_alike()

    def _are_alike(self) -> bool:
        timed, *others = self.launched.ran
        blocks, issued = sum(ran.blocks for ran in others), sum(ran.issued for ran in others)
        return issued * timed.blocks <= _ALIKE * timed.issued * blocks

    def _share(self, ran: Sequence[BlocksRun]) -> float:
        """Elements that blocks leave, as a part of the share that falls to this number of blocks."""
        judged, blocks = self._judge(ran), sum(some.blocks for some in ran)
        needed = sum(self.needed.values())
        return judged.right * self.launched.launch.blocks / max(1, needed * blocks)

    def _of_all(self) -> int:
        """The elements of the whole result, every one of which is right; 0 where the timed blocks do less."""
        right = 0
        for left in self.left_by(self.launched.ran):
            values, bound = self._expected_of(left)
            missing = np.ones(left.after.shape, np.bool_)
            missing[left.stored] = False
            comparison = compare(left.name, left.after, values, bound, poison=missing)
            if comparison.wrong:
                raise self._wrong(left, comparison, np.arange(left.after.size))
            right += comparison.total
        return right if self._are_alike() else 0

    def _judge(self, ran: Sequence[BlocksRun]) -> _Judged:
        """Judgement of the elements that these blocks left, beside those that all blocks must leave."""
        right, wrong = 0, None
        for left in self.left_by(ran):
            values, bound = self._expected_of(left)
            part = values[left.stored], bound[left.stored]
            comparison = compare(left.name, left.after[left.stored], *part)
            right += compare(left.name, left.before[left.stored], *part).wrong - comparison.wrong
            if comparison.wrong and wrong is None:
                wrong = self._wrong(left, comparison, left.stored)
            if left.name not in self.needed:
                self.needed[left.name] = _not_right(left.before, values, bound)
        return _Judged(right, wrong)

    def _expected_of(self, left: LeftArray) -> tuple[NDArray[Any], NDArray[Any]]:
        """Values and bounds of an array, one after the other as its elements are."""
        values, bound = self.expected[left.name]
        if values.size != left.before.size:
            raise OurError(f"the oracle expects {values.size} elements of {left.name}")
        return values.reshape(-1), np.broadcast_to(data_of(bound), values.shape).reshape(-1)

    def _wrong(
        self, left: LeftArray, comparison: Comparison, elements: NDArray[np.int64]
    ) -> NotEstimatedError:
        """Error for the first of ``elements`` that is wrong or that no block writes."""
        first = comparison.first
        if first is None:
            raise ValueError("no element is wrong")
        indices = np.unravel_index(elements[first.index[0]], self.expected[left.name][0].shape)
        element = left.name + "".join(f"[{index}]" for index in indices)
        details = (("element", element), ("expected", number(first.expected)))
        if first.unwritten:
            return NotEstimatedError("unwritten-at-shape", details)
        return NotEstimatedError("wrong-at-shape", (*details, ("got", number(first.got))))


def _not_right(output: NDArray[Any], values: NDArray[Any], bound: NDArray[Any]) -> int:
    """Number of elements of an output that are not right, masked ones left out."""
    wrong = 0
    for start in range(0, output.size, CHUNK):
        part = slice(start, start + CHUNK)
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(numbers(output[part]).astype(np.float64) - data_of(values[part]))
        wrong += int(np.count_nonzero(~(error <= bound[part]) & ~mask_of(values[part])))
    return wrong
