"""Work that launches leave undone: part of an array as it was, or blocks and threads that all do the same.

Nothing of it is a mistake by itself: an array may be longer than what a kernel is for, and several blocks may
do the same on purpose. Where the results of a program are wrong, and nothing else is known, it explains them.
"""

from __future__ import annotations

from dataclasses import field
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen, mutable
from grader.simulation.ptx import Register
from grader.simulation.ptx.facts import reachable_functions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from grader.model import Dim3, Launch
    from grader.running.device.memory import DeviceAllocation, DeviceMemory, HostCopy
    from grader.simulation.ptx import Module

    Elements = NDArray[np.bool_]

_MOST_LAUNCHES = 64
"""Launches of which the changes are looked at; of programs with more, nothing is concluded."""

_MOST_BYTES = 1 << 26
"""Largest array that is looked at."""

_NEARLY_ALL = 0.9
"""Share of a beginning that counts as changed: a result may be what was there before."""

_INDICES = (("ctaid", "blockIdx", "grid"), ("tid", "threadIdx", "block"))
_ATOMIC = ("atom", "red")


@frozen
class PartLeft:
    """An array of ``total`` elements of which kernels left ``missing`` as they were, from ``first`` on.

    ``kernel`` is the last one that changed it, launched by ``caller``.
    """

    allocation: int
    kernel: str
    caller: int
    first: int
    missing: int
    total: int


@frozen
class IndexUnread:
    """Launch of ``count`` blocks or threads that differ only in an ``index`` that the kernel never reads."""

    kernel: str
    caller: int
    index: str
    count: int


@mutable
class _Changes:
    """The elements of an array that launches changed."""

    changed: Elements
    threads: int
    """Threads of all launches that changed it."""
    rows: int
    """Threads along y of the last of them."""
    kernel: str
    caller: int


@mutable
class WorkLeft:
    """Work that the launches of a program leave undone."""

    launches: int = 0
    unread: dict[tuple[str, str], IndexUnread] = field(default_factory=dict)
    """The first such launch, by kernel and index."""
    _changes: dict[int, _Changes] = field(default_factory=dict)
    _last: tuple[str, int, Launch] | None = None
    """The launch that runs now: its kernel, and its caller."""
    _examined: set[tuple[str, tuple[bool, ...]]] = field(default_factory=set)
    """Names of kernels, with the axes along which there were several blocks or threads."""

    def launched(self, module: Module, entry: str, kernel: str, caller: int, launch: Launch) -> None:
        """Look for indices that a kernel never reads; ``entry`` is its name in the module."""
        self.launches += 1
        self._last = kernel, caller, launch
        axes = entry, tuple(extent > 1 for extent in (*launch.grid, *launch.block))
        if axes in self._examined:
            return
        self._examined.add(axes)
        for index, count in unread_indices(module, entry, launch):
            self.unread.setdefault((kernel, index), IndexUnread(kernel, caller, index, count))

    def changed(
        self, allocation: DeviceAllocation, element: int, before: NDArray[np.uint8], after: NDArray[np.uint8]
    ) -> None:
        """Note the elements of an array, of ``element`` bytes each, that the launch has changed."""
        if self._last is None or self.launches > _MOST_LAUNCHES or before.size > _MOST_BYTES:
            return
        if before.size % element:
            return
        differs = (before != after).reshape(-1, element).any(axis=1)
        if not differs.any():
            return
        kernel, caller, launch = self._last
        threads, rows = prod(launch.grid) * prod(launch.block), launch.grid[1] * launch.block[1]
        earlier = self._changes.get(allocation.number)
        if earlier is not None and earlier.changed.size == differs.size:
            differs |= earlier.changed
            threads += earlier.threads
        self._changes[allocation.number] = _Changes(differs, threads, rows, kernel, caller)

    def parts_left(self, memory: DeviceMemory) -> Iterator[PartLeft]:
        """The arrays that are copied back to their end, and of which too few threads changed only a part.

        Elements that were written before may have got the value that they had: of these only a rest counts,
        behind a beginning that was changed.
        """
        if self.launches > _MOST_LAUNCHES:
            return
        for allocation in memory.all_ever():
            changes = self._changes.get(allocation.number)
            if changes is None or not _comes_back(allocation, memory.sent_back.get(allocation.number, ())):
                continue
            left = _left(changes.changed, memory.written[allocation.start : allocation.end])
            if left.any() and _are_too_few(changes, left):
                yield PartLeft(
                    allocation.number,
                    changes.kernel,
                    changes.caller,
                    int(np.argmax(left)),
                    int(np.count_nonzero(left)),
                    left.size,
                )


def _comes_back(allocation: DeviceAllocation, copies: Collection[HostCopy]) -> bool:
    """True if the last byte of an allocation was copied to the host."""
    return any(copy.offset + copy.bytes == allocation.size for copy in copies)


def _left(changed: Elements, written: NDArray[np.uint8]) -> Elements:
    """Mask of the elements that kernels left as they were, as far as that is certain."""
    is_written: Elements = (written.reshape(changed.size, -1) != 0).all(axis=1)
    if not is_written.all():
        return ~is_written
    end = changed.size - int(np.argmax(changed[::-1]))
    rest = np.arange(changed.size) >= end
    return rest if np.count_nonzero(changed) >= _NEARLY_ALL * end else np.zeros_like(rest)


def _are_too_few(changes: _Changes, left: Elements) -> bool:
    """True if there were fewer threads than elements, or than rows: what is left is no padding.

    Threads that change several elements each leave no part because there are too few of them. Where the last
    launch had several threads along y, what it changed are that many whole rows of the array.
    """
    first = int(np.argmax(left))
    if changes.threads < left.size:
        return left.size - int(np.count_nonzero(left)) <= changes.threads
    is_rest, rows = bool(left[first:].all()), changes.rows
    return is_rest and first > 0 and rows > 1 and first % rows == 0 and left.size % (first // rows) == 0


def unread_indices(module: Module, entry: str, launch: Launch) -> Iterator[tuple[str, int]]:
    """The indices that a kernel never reads though a launch has several, each with how many there are.

    Kernels with atomic operations may hand out work by these, and those without a store to global memory do
    none.
    """
    instructions = [ins for function in reachable_functions(module, entry) for ins in function.body]
    if any(ins.opcode in _ATOMIC for ins in instructions):
        return
    if not any(ins.opcode == "st" and _may_be_global(ins.modifiers) for ins in instructions):
        return
    operands = {operand for ins in instructions for operand in ins.operands if isinstance(operand, Register)}
    names = {operand.name for operand in operands}
    for register, index, part in _INDICES:
        extents: Dim3 = getattr(launch, part)
        several = [axis for axis, extent in zip("xyz", extents, strict=True) if extent > 1]
        unread = [axis for axis in several if f"%{register}.{axis}" not in names]
        if several and unread == several and not (part == "block" and "%laneid" in names):
            yield index, prod(extents)
            continue
        for axis in unread:
            yield f"{index}.{axis}", extents["xyz".index(axis)]


def _may_be_global(modifiers: Collection[str]) -> bool:
    """True if a store's address is in global memory, or in any."""
    return not {"shared", "local", "param"} & {modifier.partition("::")[0] for modifier in modifiers}
