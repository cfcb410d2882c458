"""Numbers that lie among the bytes of copies: which are an input's elements, and which an output's.

Bytes of several copies are one array here, one copy after the other; ``bounds`` say where each begins and
ends. Numbers are known by their values, in one call or in several with other inputs: what is the same in all
of them is the same number.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.precision import BFLOAT16
from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Bounds = Sequence[tuple[int, int]]

_CONVERTED = ("f4", "f8", "f2", "i4", "i8", "u4", "u8", "i2", "u2", "u1", "i1")
"""The types that a host may convert numbers to, and from."""

WORD = 4
"""Bytes of the words in which it is known what belongs together."""

RUN = 8
"""Elements that lie one behind the other in an input, and so are sent as they are; fewer do so by chance."""


@frozen(eq=False)
class LocatedNumbers:
    """Positions of numbers among bytes: the offset of each, -1 where it is absent, and their type."""

    offsets: NDArray[np.int64]
    dtype: np.dtype[Any]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Mask of the numbers that are present."""
        present: NDArray[np.bool_] = self.offsets >= 0
        return present

    @property
    def is_in_order(self) -> bool:
        """True if most of them lie one behind the other."""
        steps = np.diff(self.offsets[self.present])
        return 2 * int(np.count_nonzero(steps == self.dtype.itemsize)) >= len(steps)

    def among(self, content: Bytes, like: NDArray[Any]) -> NDArray[Any]:
        """The numbers as they lie among these bytes; ``like`` where they do not, flat and in its type."""
        values = like.reshape(-1).copy()
        part = self.offsets[self.present]
        raw = content[part[:, None] + np.arange(self.dtype.itemsize)]
        numbers = np.ascontiguousarray(raw).view(self.dtype).reshape(-1)
        values[self.present] = _converted(numbers, values.dtype)
        return values


def joined(chunks: Sequence[bytes]) -> tuple[Bytes, list[tuple[int, int]]]:
    """Chunks as one array, and where each of them begins and ends."""
    ends = np.cumsum([0, *map(len, chunks)])
    content = np.frombuffer(b"".join(chunks), np.uint8)
    return content, [(int(a), int(b)) for a, b in pairwise(ends)]


def mixed(base: Bytes, first: Bytes, second: Bytes, bounds: Bounds) -> NDArray[np.bool_]:
    """Mask of the bytes that differ from ``base`` in both other calls, extended to whole words."""
    result: NDArray[np.bool_] = (base != first) & (base != second)
    for start, end in bounds:
        words = result[start : end - (end - start) % WORD].reshape(-1, WORD)
        words |= words.any(axis=1, keepdims=True)
    return result


def located(targets: Sequence[NDArray[Any]], contents: Sequence[Bytes], bounds: Bounds) -> LocatedNumbers:
    """Positions of numbers among bytes, in the type in which most of them are present.

    ``targets`` are their values in each of some calls, and ``contents`` the bytes of each.
    """
    best: LocatedNumbers | None = None
    for dtype in types_of(targets[0].dtype):
        numbers = located_as(targets, contents, bounds, dtype)
        if best is None or np.count_nonzero(numbers.present) > np.count_nonzero(best.present):
            best = numbers
        if best.present.all():
            break
    if best is None:
        raise ValueError("numbers have a type")
    return best


def types_of(dtype: np.dtype[Any]) -> Iterator[np.dtype[Any]]:
    """The types in which numbers of a type may lie among bytes, their own first."""
    yield dtype
    if dtype != BFLOAT16:
        yield from (np.dtype(code) for code in _CONVERTED if np.dtype(code) != dtype)


def numbers_in(
    contents: Sequence[Bytes], bounds: Bounds, values: Sequence[NDArray[Any]], dtype: np.dtype[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Offsets of numbers of a type that are elements of ``values``, and the index of each element."""
    offsets = offsets_in(bounds, dtype.itemsize)
    words = [_words(content, offsets, dtype) for content in contents]
    elements = _matched(words, [_bits(_converted(v.reshape(-1), dtype)) for v in values])
    return offsets[elements >= 0], elements[elements >= 0]


def in_runs(elements: NDArray[np.int64], least: int) -> NDArray[Any]:
    """Mask of the elements of an input that lie in runs of at least ``least``, one behind the other."""
    if not len(elements):
        return np.zeros(0, np.bool_)
    run = np.concatenate(([0], np.cumsum(np.diff(elements) != 1)))
    return np.bincount(run)[run] >= least


def located_as(
    targets: Sequence[NDArray[Any]], contents: Sequence[Bytes], bounds: Bounds, dtype: np.dtype[Any]
) -> LocatedNumbers:
    """Positions of numbers among bytes in one type (see `located`)."""
    offsets, like = offsets_in(bounds, dtype.itemsize), targets[0].dtype
    words = [_words(content, offsets, dtype) for content in contents]
    if dtype != like:
        words = [_bits(_converted(word.view(dtype).reshape(-1), like)) for word in words]
    at = _matched([_bits(target.reshape(-1)) for target in targets], words)
    return LocatedNumbers(np.where(at >= 0, offsets[at] if len(offsets) else -1, -1), dtype)


def _matched(wanted: Sequence[Bytes], offered: Sequence[Bytes]) -> NDArray[np.int64]:
    """Index, for each wanted row, of the offered row that is the same in all calls, -1 without one.

    Where there are several, the one behind the match of the row before is taken.
    """
    count, many = len(wanted[0]), len(offered[0])
    if not many or not count:
        return np.full(count, -1, np.int64)
    group = _groups([np.concatenate(pair) for pair in zip(offered, wanted, strict=True)])
    of_offered, of_wanted = group[:many], group[many:]
    first = np.full(int(group.max()) + 1, -1, np.int64)
    first[of_offered[::-1]] = np.arange(many)[::-1]
    at = first[of_wanted]
    if len(np.unique(of_offered)) < many:
        _continue(at, of_offered, of_wanted)
    return at


def _groups(columns: Sequence[Bytes]) -> NDArray[np.int64]:
    """A number for each row, the same for rows that are the same in all columns."""
    group = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        padded = np.zeros((len(column), -(-column.shape[1] // 8) * 8), np.uint8)
        padded[:, : column.shape[1]] = column
        for part in padded.view(np.uint64).T:
            _, own = np.unique(part, return_inverse=True)
            _, group = np.unique(group * (int(own.max()) + 1) + own, return_inverse=True)
    return group


def _continue(at: NDArray[np.int64], of_offered: NDArray[np.int64], of_wanted: NDArray[np.int64]) -> None:
    """Let each row be the one behind that of the row before, where that one is the same."""
    offered, before, last = of_offered.tolist(), -2, -2
    places = np.flatnonzero(at >= 0)
    for index, group in zip(places.tolist(), of_wanted[places].tolist(), strict=True):
        behind = before + 1 if last == index - 1 else -1
        if 0 <= behind < len(offered) and offered[behind] == group:
            at[index] = behind
        before, last = int(at[index]), index


def offsets_in(bounds: Bounds, width: int) -> NDArray[np.int64]:
    """Offsets of numbers of a width, copy by copy."""
    parts = [np.arange(start, end - width + 1, width, dtype=np.int64) for start, end in bounds]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _words(content: Bytes, offsets: NDArray[np.int64], dtype: np.dtype[Any]) -> Bytes:
    return np.ascontiguousarray(content[offsets[:, None] + np.arange(dtype.itemsize)])


def _bits(values: NDArray[Any]) -> Bytes:
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), values.dtype.itemsize)


def _converted(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return values if values.dtype == dtype else values.astype(dtype)
