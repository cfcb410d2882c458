"""Test whether results that come back from kernels were among what the host had sent them.

    requests of a run, words that the host may have computed exchanged ─replayed▶ what kernels make of them

An array's own elements among what is sent, on which kernels' results depend, are results of the host. Other
words that are no numbers of the inputs may be the same in some encoding, or prepared inputs: nobody can tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen
from grader.kinds.attempts.altering import FULLY, Alteration
from grader.kinds.attempts.words import RUN, WORD, in_runs, joined, numbers_in, offsets_in, types_of
from grader.running.device.requests import CopyIn, Push

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from grader.kinds.program.made_by_kernels import Returned
    from grader.running.device.call_log import LoggedRequest

    Array = NDArray[Any]
    Bytes = NDArray[np.uint8]
    Mask = NDArray[np.bool_]
    Bounds = list[tuple[int, int]]

SOME = 0.1
"""Share of the elements of an array below which they are the host's by chance: it may fill in constants."""


def are_few(elements: Mask, values: Array) -> bool:
    """True if these elements, without zeros, are so few that a program may have filled them in."""
    counts = values != 0
    return int(np.count_nonzero(elements & counts)) <= SOME * max(1, int(np.count_nonzero(counts)))


@frozen
class SentResults:
    """Bytes that a run has sent and got ``back``, beside the right ``values`` and their ``inputs``.

    ``replay`` makes requests again without the program, and gives what comes back, if nothing fails.
    """

    entries: Sequence[LoggedRequest]
    back: Sequence[Returned]
    values: Array
    inputs: Mapping[str, Array]
    replay: Callable[[Sequence[LoggedRequest]], list[bytes] | None]

    def has_elements(self) -> bool:
        """True if elements of the array were sent, and what kernels make changes with them."""
        content, bounds = self._sent()
        words = self._elements(content, bounds, ~self._passed_on(content, bounds))
        if words is None:
            return False
        inputs, bounds_of_inputs = joined([array.tobytes() for array in self.inputs.values()])
        if self._elements(inputs, bounds_of_inputs, np.ones(inputs.size, np.bool_)) is not None:
            return False
        return self._decides(content, bounds, words)

    def has_other_words(self) -> bool:
        """True if what kernels make changes with copied words that are no numbers of the inputs."""
        content, bounds = self._sent()
        words = self._of_no_input(content, bounds) & ~self._passed_on(content, bounds)
        for entry, (start, end) in zip(self.entries, bounds, strict=True):
            if not isinstance(entry.request, CopyIn | Push):
                words[start:end] = False
        is_enough = np.count_nonzero(words) >= SOME * WORD * self.values.size
        return bool(is_enough) and self._decides(content, bounds, words)

    def _sent(self) -> tuple[Bytes, Bounds]:
        return joined([entry.sent.tobytes() for entry in self.entries])

    def _decides(self, content: Bytes, bounds: Bounds, words: Mask) -> bool:
        """True if what kernels make changes with these words."""
        altered = [Alteration(FULLY).altered(content[a:b], a, content.size) for a, b in bounds]
        changed = np.where(words, np.concatenate(altered), content)
        entries = [
            entry.sending(changed[start:end]) if end > start else entry
            for entry, (start, end) in zip(self.entries, bounds, strict=True)
        ]
        others = self.replay(entries)
        if others is None or list(map(len, others)) != [one.content.size for one in self.back]:
            return False
        own = np.concatenate([one.content for one in self.back])
        by_kernels = np.concatenate([one.by_kernels for one in self.back])
        return int(np.count_nonzero((own != joined(others)[0]) & by_kernels)) > SOME * self.values.size

    def _elements(self, content: Bytes, bounds: Bounds, counts: Mask) -> Mask | None:
        """Mask of bytes that are the array's elements in their order, as far as they count; None for few."""
        for dtype in types_of(self.values.dtype):
            if not self._may_hold(content, bounds, dtype):
                continue
            offsets, elements = numbers_in([content], bounds, [self.values], dtype)
            kept = in_runs(elements, min(RUN, self.values.size)) & (self.values[elements] != 0)
            kept = kept & counts[offsets]
            sent = np.zeros(self.values.size, np.bool_)
            sent[elements[kept]] = True
            if not are_few(sent, self.values):
                mask = np.zeros(content.size, np.bool_)
                mask[offsets[kept][:, None] + np.arange(dtype.itemsize)] = True
                return mask
        return None

    def _may_hold(self, content: Bytes, bounds: Bounds, dtype: np.dtype[Any]) -> bool:
        """True if many elements of the array are among some bytes in a type, in whatever order."""
        numbers = np.unique(_numbers(content, offsets_in(bounds, dtype.itemsize), dtype))
        with np.errstate(all="ignore"):
            return not are_few(np.isin(self.values.astype(dtype), numbers), self.values)

    def _of_no_input(self, content: Bytes, bounds: Bounds) -> Mask:
        """Mask of the bytes that are no numbers of the inputs, in any type; zeros may fill room."""
        others = np.ones(content.size, np.bool_)
        inputs = [array.reshape(-1).astype(np.float64) for array in self.inputs.values()]
        numbers = np.concatenate([np.zeros(1), *inputs])
        for dtype in types_of(self.values.dtype):
            with np.errstate(all="ignore"):
                converted = numbers.astype(dtype)
            if dtype.itemsize < WORD and not np.array_equal(converted, numbers):
                continue  # whatever bytes there are would be numbers of the inputs
            offsets = offsets_in(bounds, dtype.itemsize)
            matches = offsets[np.isin(_numbers(content, offsets, dtype), converted)]
            others[matches[:, None] + np.arange(dtype.itemsize)] = False
        return others

    def _passed_on(self, content: Bytes, bounds: Bounds) -> Mask:
        """Mask of the words that had come back from kernels before they were sent."""
        back, words, arrivals = iter(self.back), [np.zeros(0, np.uint32)], [np.zeros(0, np.int64)]
        for number, entry in enumerate(self.entries):
            if entry.goes_out:
                words.append(np.frombuffer(next(back).words_made, np.uint32))
                arrivals.append(np.full(words[-1].size, number))
        distinct, first = np.unique(np.concatenate(words), return_index=True)
        mask = np.zeros(content.size, np.bool_)
        if not distinct.size:
            return mask
        offsets = offsets_in(bounds, WORD)
        requests = np.searchsorted([end for _, end in bounds], offsets, side="right")
        sent = _numbers(content, offsets, np.dtype(np.uint32))
        at = np.minimum(np.searchsorted(distinct, sent), distinct.size - 1)
        passed = (distinct[at] == sent) & (np.concatenate(arrivals)[first[at]] < requests)
        mask[offsets[passed][:, None] + np.arange(WORD)] = True
        return mask


def _numbers(content: Bytes, offsets: NDArray[np.int64], dtype: np.dtype[Any]) -> Array:
    """The numbers of a type at some offsets."""
    raw = content[offsets[:, None] + np.arange(dtype.itemsize)]
    return np.ascontiguousarray(raw).view(dtype).reshape(-1)
