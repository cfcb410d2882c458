"""Results that the host finishes: from parts that come back from the device, it makes what it hands back.

What comes back is such a part where it changes with each half of the inputs. Either it is known what the host
makes of these parts (`is_right_finished`), or they are few: it cannot read the inputs in them, from which it
could compute by itself (`Swap`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.precision import numbers
from grader.base.records import mutable
from grader.kinds.attempts.words import RUN, joined, mixed, types_of
from grader.running.device.call_log import CallLog, entry_of
from grader.running.device.device import Notes
from grader.running.device.requests import CopyIn, ElapsedTime, Push

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from grader.kinds.function.calling import LoggedCall
    from grader.kinds.function.draws import Draws
    from grader.running.device.call_log import LoggedRequest
    from grader.running.device.device import Device
    from grader.running.device.memory import DeviceMemory
    from grader.running.device.requests import CopyOut, Message, Pull

    Bytes = NDArray[np.uint8]
    Mask = NDArray[np.bool_]
    Arrays = Mapping[str, NDArray[Any]]
    Step = Callable[[NDArray[Any]], NDArray[Any]]

MOST = 0.5
"""Bytes of parts, as a share of those of the inputs."""

_CLOSE = 1e-3
"""Largest error of a sum of the host's, as a share of the largest number: the test is what was summed."""

_FEW = 0.4
"""The share of the operations that may be the host's, where each element takes more than one of them;
to add a 0 is none."""

MOST_TIMES = 16
"""Times of launches that a host may ask for while it finishes other results than its own."""


def combined(calls: Sequence[LoggedCall]) -> Mask:
    """Mask of the bytes that come back and change with each part of the inputs; the graded call is first."""
    (base, bounds), (first, _), (second, _) = (joined(call.back) for call in calls)
    return mixed(base, first, second, bounds)


def is_right_finished(draws: Draws, content: Bytes, calls: Sequence[LoggedCall], operations: int) -> bool:
    """True if sums, differences, extremes or a multiple of what came back in a replay are right.

    ``content`` came back there; the ``calls`` (the graded one alone, or with one for each other part) show
    which bytes the host hands back. Of the ``operations`` that the result takes, few may be the host's own.
    """
    if not draws.crossed or len(draws.expected) != 1:
        return False
    (name,) = draws.expected
    mask = combined(calls) if len(calls) > 1 else joined(calls[0].back)[0] != content
    _, bounds = joined(calls[0].back)
    parts = [slice(start, end) for start, end in bounds if mask[start:end].any()]
    contents = (
        [np.concatenate([c[part] for part in parts]) for c in (*_backs(calls), content)] if parts else []
    )
    if not contents:
        return False
    results = [numbers(call.arrays[name]).reshape(-1) for call in calls]
    for dtype in types_of(results[0].dtype):
        if contents[0].size % (dtype.itemsize * results[0].size):
            continue
        added = max(np.count_nonzero(part.view(dtype)) for part in contents) - results[0].size
        if added > max(results[0].size, _FEW * operations):
            continue
        for step in _steps(results[0].size):
            *finished, other = (_finished(step, part, dtype, results[0].dtype) for part in contents)
            if all(map(_is_close, finished, results)):
                return draws.is_exact({name: other.reshape(calls[0].arrays[name].shape)})
        wanted = numbers(np.ma.filled(draws.exact[name][0], 0)).reshape(-1)
        if contents[0].size == dtype.itemsize * wanted.size and wanted.size >= RUN:
            *finished, other = map(partial(_multiple, dtype), contents, (*results, wanted))
            if all(map(_is_close, finished, results)):
                with np.errstate(all="ignore"):
                    return draws.is_exact({name: other.astype(results[0].dtype)})
    return False


def _multiple(dtype: np.dtype[Any], content: Bytes, like: NDArray[Any]) -> NDArray[Any]:
    """The numbers times the one factor that brings them closest to others: the host has scaled its inputs."""
    with np.errstate(all="ignore"):
        own = content.view(dtype).astype(np.float64)
        return own * float(own @ like.astype(np.float64) / (own @ own))


def _backs(calls: Sequence[LoggedCall]) -> Iterator[Bytes]:
    return (joined(call.back)[0] for call in calls)


def _steps(count: int) -> Iterator[Step]:
    for reduce in (np.add.reduce, np.subtract.reduce, np.maximum.reduce, np.minimum.reduce):
        yield partial(_reduced, reduce, (-1, count), 0)
        yield partial(_reduced, reduce, (count, -1), 1)


def _reduced(
    reduce: Callable[..., NDArray[Any]], shape: tuple[int, int], axis: int, parts: NDArray[Any]
) -> NDArray[Any]:
    return reduce(parts.reshape(shape), axis=axis)


def _finished(step: Step, content: Bytes, dtype: np.dtype[Any], like: np.dtype[Any]) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return step(content.view(dtype)).astype(like)


def _is_close(one: NDArray[Any], other: NDArray[Any]) -> bool:
    with np.errstate(all="ignore"):
        error = np.abs(one.astype(np.float64) - other.astype(np.float64))
        return bool((error <= _CLOSE * np.abs(other.astype(np.float64)).max(initial=0.0)).all())


@mutable
class Swap(Notes):
    """Takes a call down whose device holds other inputs than the host has, as far as it shows nothing of it.

    The device gets ``sent`` in the place of what the host sends, where ``exchanged`` says so; the host gets
    what came back in the graded call, but for what is ``live``, or zeros if that is ``blank``. It may ask for
    few times of launches: many could tell it numbers.
    """

    memory: DeviceMemory
    graded: Sequence[LoggedRequest]
    sent: Bytes
    exchanged: Mask
    live: Mask
    blank: bool
    log: CallLog
    _number: int = 0
    _in: int = 0
    _out: int = 0
    _times: int = 0
    is_lost: bool = False
    """True if the function has made another request than in the graded call."""

    @property
    def is_done(self) -> bool:
        """True if nothing more can be learnt."""
        return self.is_lost

    def outgoing(self, message: CopyOut | Pull, rows: Bytes) -> Bytes:
        """Bytes that the host gets."""
        entry = self._expected(message)
        if entry is None:
            return rows
        before, live = np.frombuffer(entry.content, np.uint8), self.live[self._out : self._out + rows.size]
        held = np.zeros_like(before) if self.blank else rows.reshape(-1)
        return np.where(live, held, before).reshape(rows.shape)

    def note(self, message: Message) -> None:
        """Exchange what has come to the device, and take the request down."""
        self._times += isinstance(message, ElapsedTime)
        self.is_lost = self.is_lost or self._times > MOST_TIMES
        kept = entry_of(self.memory, message)
        if kept is None:
            return
        entry = self._expected(message)
        if entry is None:
            return
        part = slice(self._in, self._in + entry.sent.size)
        if isinstance(message, CopyIn | Push):
            address, pitch = (
                (message.to, message.to_pitch) if isinstance(message, CopyIn) else (message.address, 0)
            )
            width, height = (
                (message.width, message.height) if isinstance(message, CopyIn) else (message.size, 1)
            )
            rows = self.memory.rows(address, pitch, width, height)
            if rows is not None:
                held = np.where(self.exchanged[part], self.sent[part], rows.reshape(-1))
                rows[:] = held.reshape(rows.shape)
        self._number += 1
        self._in = part.stop
        self._out += len(entry.content) if entry.goes_out else 0
        self.log.note(message)

    def _expected(self, message: Message) -> LoggedRequest | None:
        """The request of the graded call that this one is; None once one was another."""
        asked = entry_of(self.memory, message)
        entry = self.graded[self._number] if self._number < len(self.graded) else None
        self.is_lost = self.is_lost or entry is None or asked is None or asked.form != entry.form
        return None if self.is_lost else entry


def swapping(
    graded: Sequence[LoggedRequest], sent: Bytes, exchanged: Mask, live: Mask, *, blank: bool = False
) -> Callable[[Device], tuple[Swap, CallLog]]:
    """Makes one for a device."""

    def made(device: Device) -> tuple[Swap, CallLog]:
        log = CallLog(device.memory)
        return Swap(device.memory, graded, sent, exchanged, live, blank, log), log

    return made
