"""Test whether results that come back from kernels were among what the host had sent them.

    requests of a run, words that the host may have computed exchanged ─replayed▶ what kernels make of them

An array's own elements among what is sent, on which kernels' results depend, are results of the host. Other
words that are no numbers of the inputs may be the same in some encoding, or prepared inputs: it is unknown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen
from grader.kinds.attempts.altering import FULLY, SLIGHTLY, WIDELY, Alteration
from grader.kinds.attempts.words import RUN, WORD, in_runs, joined, numbers_in, offsets_in, types_of
from grader.kinds.program.made_by_kernels import missing
from grader.running.device.call_log import parameter_bytes
from grader.running.device.memory import BASE
from grader.running.device.requests import CopyIn, LaunchKernel, Push

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from grader.kinds.program.made_by_kernels import Returned
    from grader.model import Named
    from grader.running.device.call_log import LoggedRequest

    Array = NDArray[Any]
    Bytes = NDArray[np.uint8]
    Mask = NDArray[np.bool_]
    Bounds = list[tuple[int, int]]

_LEAST_SENT = 0.5
"""Share of the inputs that is sent where kernels have not made them."""

_CLOSE = 1e-5
"""Largest error of a number that the host has scaled, as a share of it."""

_REACH, _SMALL = 1 << 40, 1 << 16
"""Bytes of memory that a device has at most, and the largest number that is taken for a size or an index."""

_REQUESTS = 512
"""Bytes of parameters and requests that any program has; beyond them one byte may hold an element."""

FEW = 0.1
"""Share of the elements of an array below which they are the host's by chance: it may fill in constants."""


def are_few(elements: Mask, values: Array) -> bool:
    """True if these elements, without zeros, are so few that a program may have filled them in."""
    counts = values != 0
    return int(np.count_nonzero(elements & counts)) <= FEW * max(1, int(np.count_nonzero(counts)))


@frozen
class SentResults:
    """Bytes that a run has sent and got ``back``, beside right ``values``, their ``inputs`` and ``shape``.

    ``replay`` makes requests again without the program, and gives what comes back, if nothing fails.
    """

    entries: Sequence[LoggedRequest]
    back: Sequence[Returned]
    values: Array
    inputs: Mapping[str, Array]
    shape: Named[int]
    replay: Callable[[Sequence[LoggedRequest]], list[bytes] | None]

    def has_elements(self) -> bool:
        """True if elements of the array were sent, and what kernels make changes with them.

        Not if they are extents, as the number of ones is their sum.
        """
        if np.isin(self.values, (0, *dict(self.shape).values())).all():
            return False
        content, bounds = self._sent_bytes()
        words = self._elements(content, bounds, ~self._words_from_kernels(content, bounds))
        if words is None:
            return False
        inputs, bounds_of_inputs = joined([array.tobytes() for array in self.inputs.values()])
        if self._elements(inputs, bounds_of_inputs, np.ones(inputs.size, np.bool_)) is not None:
            return False
        return self._changes(_altered(content, bounds, words, FULLY), bounds) is True

    def independent_elements(self) -> Mask | None:
        """Mask of the elements that come back as before where other numbers are sent for the inputs'.

        None where few of these are sent, as kernels have made them, or where kernels take no others.
        """
        content, bounds = self._sent_bytes()
        words = self._of_inputs(content, bounds)
        if np.count_nonzero(words) < _LEAST_SENT * sum(
            np.count_nonzero(array) for array in self.inputs.values()
        ):
            return None
        independent, changed = None, [np.zeros(one.content.size, np.bool_) for one in self.back]
        altered = [_altered(content, bounds, words, bits) for bits in (FULLY, WIDELY, SLIGHTLY)]
        shuffled = _shuffled(content, bounds, words)
        for sent in (shuffled, *altered):
            others = self._replayed(sent, bounds)
            if others is None:
                continue
            changed = [
                mask | (one.by_kernels & (one.content != np.frombuffer(other, np.uint8)))
                for mask, one, other in zip(changed, self.back, others, strict=True)
            ]
            pairs = zip(self.back, changed, strict=True)
            unchanged = missing(self.values, [replace(one, by_kernels=mask) for one, mask in pairs])
            if are_few(unchanged, self.values):
                return unchanged
            independent = unchanged if sent is not shuffled else None  # a sum is the same in any order
        return independent

    def may_be_in_parameters(self) -> bool:
        """True if launches have so many parameters, or requests are so many, that they may hold the array."""
        return parameter_bytes(self.entries) > _REQUESTS + int(np.count_nonzero(self.values))

    def has_other_words(self) -> bool:
        """True if what kernels make changes with words that are no numbers of the inputs: copies, structs."""
        content, bounds = self._sent_bytes()
        words = self._of_no_input(content, bounds) & ~self._words_from_kernels(content, bounds)
        for entry, (start, end) in zip(self.entries, bounds, strict=True):
            if isinstance(entry.request, LaunchKernel):
                words[start:end] &= ~_addresses_and_sizes(content[start:end])
            elif not isinstance(entry.request, CopyIn | Push):
                words[start:end] = False
        is_enough = np.count_nonzero(words) >= FEW * WORD * self.values.size
        return bool(is_enough) and self._results_depend_on(content, bounds, words)

    def _sent_bytes(self) -> tuple[Bytes, Bounds]:
        return joined([entry.sent.tobytes() for entry in self.entries])

    def _of_inputs(self, content: Bytes, bounds: Bounds) -> Mask:
        """Mask of the copied words that are numbers of the inputs; zeros are left out."""
        words = ~self._of_no_input(content, bounds)
        for entry, (start, end) in zip(self.entries, bounds, strict=True):
            whole = end - (end - start) % WORD
            is_zero = ~content[start:whole].reshape(-1, WORD).any(axis=1)
            words[start:whole] &= ~np.repeat(is_zero, WORD)
            if not isinstance(entry.request, CopyIn | Push):
                words[start:end] = False
        return words

    def _results_depend_on(self, content: Bytes, bounds: Bounds, words: Mask) -> bool:
        """True if what kernels make changes with these words, or if kernels take no others.

        They may be indices where kernels take them in another order alone, or in any order.
        """
        changes = self._changes(_altered(content, bounds, words, FULLY), bounds)
        if changes is False:
            return False
        by_order = self._changes(_shuffled(content, bounds, words), bounds)
        return by_order is None or (by_order and changes is True)

    def _changes(self, sent: Bytes, bounds: Bounds) -> bool | None:
        """True if what kernels make changes where other bytes are sent; None where that fails."""
        others = self._replayed(sent, bounds)
        if others is None:
            return None
        own = np.concatenate([one.content for one in self.back])
        by_kernels = np.concatenate([one.by_kernels for one in self.back])
        return int(np.count_nonzero((own != joined(others)[0]) & by_kernels)) > FEW * self.values.size

    def _replayed(self, sent: Bytes, bounds: Bounds) -> list[bytes] | None:
        entries = [
            entry.sending(sent[start:end]) if end > start else entry
            for entry, (start, end) in zip(self.entries, bounds, strict=True)
        ]
        others = self.replay(entries)
        is_whole = others is not None and list(map(len, others)) == [one.content.size for one in self.back]
        return others if is_whole else None

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
        for start, end in bounds:
            if any(_is_multiple(content[start:end], array) for array in self.inputs.values()):
                others[start:end] = False
        return others

    def _words_from_kernels(self, content: Bytes, bounds: Bounds) -> Mask:
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


def _addresses_and_sizes(content: Bytes) -> Mask:
    """Mask of the words of a launch that are parts of addresses of the device, or small whole numbers."""
    padded = np.zeros(-(-content.size // (2 * WORD)) * 2 * WORD, np.uint8)
    padded[: content.size] = content
    are_addresses = np.repeat((padded.view(np.uint64) - np.uint64(BASE)) < _REACH, 2)
    return np.repeat(are_addresses | (padded.view(np.uint32) <= _SMALL), WORD)[: content.size]


def _is_multiple(content: Bytes, values: Array) -> bool:
    """True if a copy holds all numbers of an input, each times the same factor: the host has scaled it."""
    if values.dtype.kind != "f" or content.size != values.nbytes or not values.any():
        return False
    own, like = content.view(values.dtype).astype(np.float64), values.reshape(-1).astype(np.float64)
    with np.errstate(all="ignore"):
        return bool(np.allclose(own, like * (own @ like / (like @ like)), rtol=_CLOSE, atol=0.0))


def _altered(content: Bytes, bounds: Bounds, words: Mask, bits: Bytes) -> Bytes:
    """Bytes of which these words have some bits changed."""
    altered = [Alteration(bits).altered(content[a:b], a, content.size) for a, b in bounds]
    return np.where(words, np.concatenate(altered), content)


def _shuffled(content: Bytes, bounds: Bounds, words: Mask) -> Bytes:
    """Bytes whose words, as far as they count, have changed places within each request."""
    content, rng = content.copy(), np.random.default_rng(len(content))
    for start, end in bounds:
        whole = slice(start, end - (end - start) % WORD)
        count = words[whole].reshape(-1, WORD).any(axis=1)
        own = content[whole].reshape(-1, WORD)
        own[count] = rng.permutation(own[count])
    return content


def _numbers(content: Bytes, offsets: NDArray[np.int64], dtype: np.dtype[Any]) -> Array:
    """The numbers of a type at some offsets."""
    raw = content[offsets[:, None] + np.arange(dtype.itemsize)]
    return np.ascontiguousarray(raw).view(dtype).reshape(-1)
