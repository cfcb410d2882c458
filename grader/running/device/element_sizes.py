"""Sizes of memory and of copies that count elements, where the runtime counts bytes, and fills likewise.

What a size is meant for shows only when a kernel uses the memory: it leaves an array whose bytes are as many
as the launch has elements, or reads what a copy of as many bytes as there are elements has left out. A fill
with a small number is meant for elements where no kernel stores to the array: its elements are read.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen
from grader.model import FindingKind
from grader.running.device.errors import HostCode, HostMistake

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from grader.model import Launch, Run
    from grader.running.device.memory import DeviceAllocation, HostCopy

_MOST_EXTENTS = 3
"""Extents whose product may be the length of an array."""

_MOST_NUMBERS = 6
"""Numbers of a launch that are taken for extents; of those of more nothing is concluded."""

_LARGEST_NUMBER = 0x3E
"""Largest byte that is taken for a number: 0x3F and more are known patterns for large numbers."""

_LEAST_COPY = 16
"""Bytes of a copy to the host that is taken for one of too few: single elements are copied on purpose."""


@frozen
class PointedArray:
    """An allocation that a pointer among the parameters points to, and the type of its elements."""

    allocation: DeviceAllocation
    name: str
    dtype: np.dtype[Any]

    @property
    def element(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize


def sizes_in_elements(
    kernel: str,
    launch: Launch,
    numbers: Collection[int],
    arrays: Iterable[PointedArray],
    run: Run,
    sent: Mapping[int, HostCopy],
) -> Iterator[HostMistake]:
    """The allocations and copies of a launch's arrays that count elements.

    ``numbers`` are the whole numbers among the launch's parameters, and ``sent`` the last copy from the host
    to each allocation, by its number.
    """
    kinds = {(finding.array, finding.kind) for finding in run.findings}
    for array in arrays:
        allocation, size = array.allocation, array.allocation.size
        outside = (array.name, FindingKind.OUT_OF_BOUNDS) in kinds
        if outside and array.element > 1 and _counts_elements(array, launch, numbers):
            details = (("bytes", size), ("size", array.element), ("kernel", kernel))
            yield HostMistake(HostCode.ALLOCATED_ELEMENTS, allocation.caller, allocation.number, details)
        copy = sent.get(allocation.number)
        unset = (array.name, FindingKind.UNINITIALISED) in kinds
        if unset and copy is not None and _copies_elements(copy, size, array.element):
            yield _copied(copy, allocation, array.element)


def filled_in_bytes(
    array: PointedArray, filled: Mapping[int, tuple[int, int]], content: NDArray[np.uint8]
) -> HostMistake | None:
    """The fill of an array with a small number, where its ``content`` after a launch is still the same."""
    allocation = array.allocation
    value, caller = filled.get(allocation.number, (0, 0))
    is_number = array.dtype.kind != "V" and array.element > 1  # a bfloat16 is bytes to NumPy
    if not (is_number and 0 < value <= _LARGEST_NUMBER and (content == value).all()):
        return None
    becomes = np.frombuffer(bytes([value]) * array.element, array.dtype)[0]
    details = (("value", value), ("size", array.element), ("becomes", f"{becomes:,}"))
    return HostMistake(HostCode.FILLED_BYTES, caller, allocation.number, details)


def sent_back_in_elements(
    allocation: DeviceAllocation, element: int, copies: Collection[HostCopy]
) -> HostMistake | None:
    """The only copy of an array to the host, if it has as many bytes as the array has elements."""
    if len(copies) != 1:
        return None
    (copy,) = copies
    if copy.bytes < _LEAST_COPY or not _copies_elements(copy, allocation.size, element):
        return None
    return _copied(copy, allocation, element, ("back", 1))


def _copied(
    copy: HostCopy, allocation: DeviceAllocation, element: int, *more: tuple[str, int]
) -> HostMistake:
    details = (("bytes", copy.bytes), ("size", element), *more)
    return HostMistake(HostCode.COPIED_ELEMENTS, copy.caller, allocation.number, details)


def _copies_elements(copy: HostCopy, size: int, element: int) -> bool:
    """True if a copy of the beginning has as many bytes as an array of ``size`` bytes has elements."""
    return element > 1 and copy.offset == 0 and copy.bytes * element == size


def _counts_elements(array: PointedArray, launch: Launch, numbers: Collection[int]) -> bool:
    """True if an allocation has as many bytes as a launch is for elements, by its extents or its threads.

    It has not where its size is right for another of the extents.
    """
    size = array.allocation.size
    lengths = _lengths(numbers)
    if lengths:
        return size in lengths and not (size % array.element == 0 and size // array.element in lengths)
    threads, blocks = prod(launch.block), prod(launch.grid)
    is_row = launch.block[0] == threads and launch.grid[0] == blocks
    return -(-size // threads) == blocks if is_row else size == threads * blocks


def _lengths(numbers: Collection[int]) -> set[int]:
    """The lengths of arrays with these extents, in up to three dimensions; none where there are too many."""
    extents = [number for number in numbers if number > 1]
    if len(extents) > _MOST_NUMBERS:
        return set()
    dimensions = range(1, _MOST_EXTENTS + 1)
    return {prod(chosen) for count in dimensions for chosen in combinations_with_replacement(extents, count)}
