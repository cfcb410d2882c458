"""Bytes that a host sends beside its inputs, and the test whether the graded result was made of them.

A kernel may compute for other numbers than its own, and store for its own what the host has computed. Then a
replay with other inputs proves nothing of the graded call. But what the host has computed of all inputs is
among what it sends:

    the rest of what is sent ─further calls▶ words that depend on all inputs ─replay with others▶ the same?

With its own inputs an honest kernel leaves the same, whatever these words are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen
from grader.kinds.attempts.words import WORD, joined, mixed
from grader.kinds.function.finishing import combined
from grader.running.device.call_log import parameter_bytes
from grader.running.device.requests import CopyIn, CopyOut, Fill, LaunchKernel, Pull, Push

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grader.kinds.function.calling import LoggedCall
    from grader.kinds.function.draws import Draws
    from grader.kinds.function.replaying import Replayed, Replays

    Bytes = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

_POINTER = 8
"""Bytes of a pointer."""

_FEW = 0.1
"""Words that depend on all inputs, as a share of the elements that do: fewer are no result."""

_SHARES = (1, 1 / 2, 1 / 2, 1 / 8, 1 / 8, 1 / 32, 1 / 32)
"""Shares of the words that are others in a replay, by lot: a kernel may check some of them, and often."""

_MOST_PARAMETER_BYTES = 256
"""Bytes of parameters and requests that may spell a result, whatever values they have."""


@frozen
class OtherSentBytes:
    """The bytes of a graded call that are no elements of inputs, as ``rest`` says."""

    replays: Replays
    graded: LoggedCall
    draws: Draws
    rest: Mask

    def may_hold_result(self) -> bool:
        """True if there are words that may hold a result: few pointers, sizes and extents do not."""
        if parameter_bytes(self.graded.entries) > _MOST_PARAMETER_BYTES:
            return True
        shape = set(dict(self.replays.case.shape).values())
        extents = {1 << power for power in range(11)} | {0} | shape
        for size in (*shape, int(np.prod([int(size) for size in shape]))):
            extents |= {-(-int(size) >> power) for power in range(11)}
        sent, bounds = self.replays.sent(self.graded)
        pointers = self._addresses_of_copies()
        for entry, (start, end) in zip(self.graded.entries, bounds, strict=True):
            content = sent[start:end]
            if not isinstance(entry.request, LaunchKernel):
                if content[self.rest[start:end]].any():
                    return True
                continue
            parameters, of_grid = np.split(content, [len(entry.request.parameters)])
            if not set(of_grid.view(np.uint32).tolist()) <= extents:
                return True
            if not set(_words_without(pointers, parameters).tolist()) <= shape | {0, 1}:
                return True
        return False

    def _addresses_of_copies(self) -> NDArray[np.uint64]:
        """Addresses that copies and fills begin at, and those of the arrays that the function is given.

        Any other word may be a number that only looks like an address.
        """
        requests = [entry.request for entry in self.graded.entries]
        addresses = [r.to for r in requests if isinstance(r, CopyIn)]
        addresses += [r.source for r in requests if isinstance(r, CopyOut)]
        addresses += [r.address for r in requests if isinstance(r, Push | Pull | Fill)]
        addresses += self.replays.addresses_on_device()
        return np.unique(np.array(addresses, np.uint64))

    def makes_result(self, first: LoggedCall, second: LoggedCall) -> bool:
        """True if the values computed, or the way of computing, change with words that depend on all inputs.

        ``first`` and ``second`` are calls of the same form, each with another part of the inputs.
        """
        calls = [self.graded, first, second]
        (base, bounds), (other, _), (another, _) = map(self.replays.sent, calls)
        words = mixed(base, other, another, bounds) if self.draws.crossed else base != other
        words &= self.rest
        of_relayed = self.replays.relayed(calls)
        for offset in self.replays.offsets_sent()[of_relayed.present]:
            words[offset : offset + WORD] = False
        if words.sum() < _FEW * self.draws.combined or not words.any():
            return False
        own = self.replays.replayed(base, self.draws.base, calls)
        if own is None:
            return True
        rng = np.random.default_rng((self.replays.case.seed, 6))
        for share in _SHARES:
            lot = rng.random(-(-len(base) // WORD)) < share
            sent = np.where(words & np.repeat(lot, WORD)[: len(base)], other, base)
            replay = self.replays.replayed(sent, self.draws.base, calls)
            if replay is None or replay.effort.is_far_above(own.effort) or self._differs(own, replay, calls):
                return True
        return False

    def _differs(self, one: Replayed, other: Replayed, calls: Sequence[LoggedCall]) -> bool:
        """True if two replays have computed different results."""
        if self.replays.interface.pointers == "device":
            return any(one.held[n].tobytes() != other.held[n].tobytes() for n in self.draws.expected)
        content, changed = joined(one.back)[0], joined(other.back)[0]
        graded, of_first = (self.replays.joined_back(call) for call in calls[:2])
        live = combined(calls) if self.draws.crossed else graded != of_first
        if len(content) != len(live) or len(changed) != len(live):
            return True
        return not np.array_equal(content[live], changed[live])


def _words_without(pointers: NDArray[np.uint64], parameters: Bytes) -> NDArray[np.uint32]:
    """The words of a launch's parameters that are no part of one of some pointers."""
    padded = np.zeros(-(-len(parameters) // _POINTER) * _POINTER, np.uint8)
    padded[: len(parameters)] = parameters
    pairs = padded.view(np.uint64)
    rest = padded.view(np.uint32).reshape(-1, 2)[~np.isin(pairs, pointers)]
    return rest.reshape(-1)
