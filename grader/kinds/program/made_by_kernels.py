"""Bytes that a program's kernels have written, among those that come back to it: a replay of its requests.

    requests, replayed with marks on device memory ─▶ what comes back, with its marks

A launch marks what it changes, or what it stores if the device marks stores, which takes much longer. A copy
within the device takes the marks along; what the host writes has none. They are kept where a device remembers
which bytes hold a value: a replay looks for no hazards.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen
from grader.kinds.attempts.words import WORD, types_of
from grader.running.device.call_log import replayed
from grader.running.device.requests import CopyIn, CopyOut, Fill, LaunchKernel, Pull, Push

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from grader.running.device.call_log import LoggedRequest
    from grader.running.device.device import Device
    from grader.running.device.memory import DeviceMemory

    Array = NDArray[Any]
    Bytes = NDArray[np.uint8]
    Mask = NDArray[np.bool_]


@frozen(eq=False)
class Returned:
    """The ``content`` that came back in one request, and a mask of its bytes made ``by_kernels``."""

    content: Bytes
    by_kernels: Mask

    @property
    def words_made(self) -> bytes:
        """The words that kernels have written, one behind the other."""
        count = self.content.size // WORD * WORD
        words = self.by_kernels[:count].reshape(-1, WORD).any(axis=1)
        return self.content[:count].reshape(-1, WORD)[words].tobytes()


def returned(device: Device, entries: Sequence[LoggedRequest]) -> list[Returned]:
    """All that came back in a run.

    Where the replay brings back something else, a part of the device did it that is not replayed, as its
    libraries: then it counts as made by kernels, and so does everything where the replay fails.
    """
    back: list[bytes] = []
    masks: list[Mask] = []
    for part in device.memory.in_use:
        device.memory.written[part] = 0
    has_ended = replayed(device, _marked(device.memory, entries, masks), back)
    own = [np.frombuffer(entry.content, np.uint8) for entry in entries if entry.goes_out]
    if not has_ended or len(back) != len(own):
        return [Returned(content, np.ones(content.size, np.bool_)) for content in own]
    again = [np.frombuffer(content, np.uint8) for content in back]
    return [
        Returned(content, mask | (content != other))
        for content, other, mask in zip(own, again, masks, strict=True)
    ]


def _marked(
    memory: DeviceMemory, entries: Sequence[LoggedRequest], masks: list[Mask]
) -> Iterator[LoggedRequest]:
    """The requests, one by one; marks are looked at before each, and taken off after what the host writes."""
    for entry in entries:
        message = entry.request
        kept: Bytes | int = 0
        is_launch = isinstance(message, LaunchKernel)
        before = [(part, memory.bytes[part].copy()) for part in memory.in_use] if is_launch else []
        if isinstance(message, CopyOut):
            rows = (message.source, message.source_pitch, message.width, message.height)
            masks.append(memory.rows_written(*rows).reshape(-1) != 0)
        elif isinstance(message, Pull):
            masks.append(memory.rows_written(message.address, 0, message.size, 1).reshape(-1) != 0)
        elif isinstance(message, Push):
            kept = _unchanged(memory, message, entry.content)
        yield entry
        if is_launch:
            for part, content in before:
                memory.written[part] |= memory.bytes[part] != content
        elif isinstance(message, Push):
            memory.rows_written(message.address, 0, message.size, 1)[:] = kept
        elif isinstance(message, CopyIn):
            memory.rows_written(message.to, message.to_pitch, message.width, message.height)[:] = 0
        elif isinstance(message, Fill):
            memory.rows_written(message.address, message.pitch, message.width, message.height)[:] = 0


def _unchanged(memory: DeviceMemory, message: Push, content: bytes) -> Bytes:
    """Marks of the words of shared memory that the host has not changed."""
    held = memory.rows(message.address, 0, message.size, 1)
    marks = memory.rows_written(message.address, 0, message.size, 1).reshape(-1).copy()
    if held is None:
        return marks
    changed = np.flatnonzero(held.reshape(-1) != np.frombuffer(content, np.uint8)) // WORD * WORD
    for byte in range(WORD):
        marks[np.minimum(changed + byte, marks.size - 1)] = 0
    return marks


def missing(values: Array, back: Sequence[Returned]) -> Mask:
    """Mask of the elements that no kernel has made, as often as each is an element, in the best type."""
    least = np.ones(values.size, np.bool_)
    for dtype in types_of(values.dtype):
        mask = _missing(values, list(_numbers(back, dtype, values.dtype)))
        if np.count_nonzero(mask) < np.count_nonzero(least):
            least = mask
        if not least.any():
            break
    return least


def come_in_order(values: Array, back: Sequence[Returned]) -> bool:
    """True if most elements come one behind the other from kernels, in one request or in all together."""
    wanted = list(pairwise(values.tolist()))
    for dtype in types_of(values.dtype):
        parts = list(_numbers(back, dtype, values.dtype))
        for offered in (*parts, np.concatenate(parts)):
            neighbours = set(pairwise(offered.tolist()))
            if 2 * sum(pair in neighbours for pair in wanted) >= len(wanted):
                return True
    return False


def _numbers(back: Sequence[Returned], dtype: np.dtype[Any], like: np.dtype[Any]) -> Iterator[Array]:
    for one in back:
        count = one.content.size // dtype.itemsize
        of_kernels = one.by_kernels[: count * dtype.itemsize].reshape(count, dtype.itemsize).any(axis=1)
        whole = np.ascontiguousarray(one.content[: count * dtype.itemsize]).view(dtype)[of_kernels]
        with np.errstate(all="ignore"):
            yield whole if dtype == like else whole.astype(like)


def _missing(values: Array, numbers: Sequence[Array]) -> Mask:
    offered = np.concatenate([np.zeros(0, values.dtype), *numbers])
    distinct, group = np.unique(values, return_inverse=True)
    at = np.minimum(np.searchsorted(distinct, offered), max(0, distinct.size - 1))
    counts = np.bincount(at[distinct[at] == offered], minlength=distinct.size) if distinct.size else at
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(distinct.size))
    rank = np.empty(values.size, np.int64)
    rank[order] = np.arange(values.size) - starts[group[order]]
    mask: Mask = rank >= counts[group]
    return mask
