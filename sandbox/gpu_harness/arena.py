"""The places of a launch's arrays on the device, and their contents after the launch."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from device_fault import DeviceFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from device import Device
    from numpy.typing import NDArray

POISON = 0x7FD15EA5
"""A NaN as float32; two of them are a NaN as float64. The emulator's red zones read the same."""

LEAST_ZONE = 64 * 1024
MOST_ZONE = 4 * 2**20
ALIGNMENT = 256
"""Alignment that `cudaMalloc` promises (CUDA C++ Programming Guide, "Device Memory Accesses")."""


@dataclass(frozen=True, slots=True)
class Array:
    """An array that a kernel is given; it starts ``offset`` elements past a multiple of 256 bytes.

    An ``out`` array's ``content`` is the poison that shows which elements were not written.
    """

    name: str
    direction: str
    content: NDArray[Any]
    offset: int = 0

    @property
    def offset_bytes(self) -> int:
        """Bytes between the multiple of 256 and the first element."""
        return self.offset * self.content.itemsize


@dataclass(frozen=True, slots=True)
class OutsideWrite:
    """Elements beside an array that were written: the one nearest to it, and how many there are."""

    array: str
    element: int
    count: int


@dataclass(frozen=True, slots=True)
class ArraysAfterwards:
    """Contents of the arrays after a launch."""

    outputs: dict[str, NDArray[Any]] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    outside: list[OutsideWrite] = field(default_factory=list)


class Arena(Protocol):
    """The arrays of one launch on the device; making one raises DeviceFault where there is no room.

    ``is_read_back`` says whether what the launch did is looked at.
    """

    is_read_back: bool

    def places(self) -> dict[str, int]:
        """The address of every array's first element."""

    def afterwards(self) -> ArraysAfterwards:
        """The arrays after the launch; to be called once, when it is done."""

    def release(self) -> None:
        """Give the memory back, as far as the device still lets us."""


class Fenced:
    """All arrays in one allocation, each between red zones that show a write out of bounds.

    A zone is as large as the largest array, so that an index wrong by a row, or by a factor, still ends in
    one; but never so large that copying it takes long.
    """

    is_read_back = True

    def __init__(self, device: Device, arrays: Sequence[Array]) -> None:
        self._device, self._arrays = device, arrays
        largest = max((array.content.nbytes for array in arrays), default=0)
        zone = _aligned(min(max(largest, LEAST_ZONE), MOST_ZONE))
        self._starts, end = [], zone
        for array in arrays:
            start = end + array.offset_bytes
            self._starts.append(start)
            end = _aligned(start + array.content.nbytes) + zone
        self._before = np.full(end // 4, POISON, np.uint32).view(np.uint8)
        for array, start in zip(arrays, self._starts, strict=True):
            self._before[start : start + array.content.nbytes] = _bytes(array.content)
        self._address = device.allocate(end)
        device.upload(self._address, self._before)

    def places(self) -> dict[str, int]:
        """The address of every array's first element."""
        pairs = zip(self._arrays, self._starts, strict=True)
        return {array.name: self._address + start for array, start in pairs}

    def afterwards(self) -> ArraysAfterwards:
        """Copy everything back and compare it with what was there before."""
        after = np.empty_like(self._before)
        self._device.download(self._address, after)
        result = ArraysAfterwards()
        for array, start in zip(self._arrays, self._starts, strict=True):
            extent = slice(start, start + array.content.nbytes)
            if array.direction != "in":
                content = after[extent].view(array.content.dtype)
                result.outputs[array.name] = content.reshape(array.content.shape)
            elif not np.array_equal(after[extent], self._before[extent]):
                result.changed.append(array.name)
        result.outside.extend(self._outside(after))
        return result

    def _outside(self, after: NDArray[np.uint8]) -> Iterator[OutsideWrite]:
        """Writes in each zone, reported for the array that is nearer."""
        ends = [s + a.content.nbytes for a, s in zip(self._arrays, self._starts, strict=True)]
        zones = zip([0, *ends], [*self._starts, after.size], strict=True)
        for at, (low, high) in enumerate(zones):
            written = low + np.flatnonzero(after[low:high] != self._before[low:high])
            last = len(self._arrays)
            middle = low if at == 0 else high if at == last else (low + high) // 2
            if at > 0:
                yield from self._beside(at - 1, written[written < middle], nearest=0)
            if at < last:
                yield from self._beside(at, written[written >= middle], nearest=-1)

    def _beside(self, at: int, written: NDArray[np.int64], nearest: int) -> Iterator[OutsideWrite]:
        if written.size:
            array = self._arrays[at]
            elements = np.unique((written - self._starts[at]) // array.content.itemsize)
            yield OutsideWrite(array.name, int(elements[nearest]), int(elements.size))

    def release(self) -> None:
        """Give the memory back."""
        self._device.free(self._address)


class Exact:
    """Every array in an allocation of exactly its bytes, for a tool that watches what is accessed.

    ``out`` arrays hold nothing, so that the tool sees reads of elements never written; nothing is read back,
    because a copy of such an array is a read as well.
    """

    is_read_back = False

    def __init__(self, device: Device, arrays: Sequence[Array]) -> None:
        self._device, self._arrays = device, arrays
        self._addresses = [device.allocate(a.offset_bytes + a.content.nbytes) for a in arrays]
        for array, address in zip(arrays, self.places().values(), strict=True):
            if array.direction != "out":
                device.upload(address, np.ascontiguousarray(array.content))

    def places(self) -> dict[str, int]:
        """The address of every array's first element."""
        pairs = zip(self._arrays, self._addresses, strict=True)
        return {array.name: address + array.offset_bytes for array, address in pairs}

    def afterwards(self) -> ArraysAfterwards:
        """Nothing: the tool says what there is to say."""
        return ArraysAfterwards()

    def release(self) -> None:
        """Give the memory back; after a kernel that the tool stopped, as far as that goes."""
        for address in filter(None, self._addresses):
            with suppress(DeviceFault):
                self._device.free(address)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _bytes(content: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(content).reshape(-1).view(np.uint8)


def as_records(writes: Iterable[OutsideWrite]) -> list[dict[str, Any]]:
    """Writes outside, as ``result.json`` lists them."""
    return [{"array": one.array, "element": one.element, "count": one.count} for one in writes]
