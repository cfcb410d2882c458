"""Log of the requests of one run to its device, with all bytes that move, so that a device can repeat it.

    requests of the program ─CallLog▶ entries ─replayed on a device of its own▶ what comes back from it

Nothing of the host runs in a replay: all that comes back was made by launches, copies and fills out of the
bytes that the entries hold, which may differ from those that the program sent.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen, mutable
from grader.running.device.calls import TABLE
from grader.running.device.copies import rows_to_receive, rows_to_send
from grader.running.device.device import Notes
from grader.running.device.errors import CudaError
from grader.running.device.requests import (
    Allocate,
    Copy,
    CopyIn,
    CopyOut,
    CopyWithin,
    Fill,
    Free,
    LaunchKernel,
    Pull,
    Push,
    Reset,
    SetLimit,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grader.running.device.device import Device
    from grader.running.device.memory import DeviceMemory
    from grader.running.device.requests import Message

MOST_BYTES, MOST_ENTRIES = 1 << 28, 20_000
"""Limits of what is kept of one run."""

_KEPT = (Allocate, Free, CopyIn, CopyOut, CopyWithin, Fill, LaunchKernel, Push, Pull, SetLimit, Reset)
"""Requests that change memory or show it: streams and events do neither, as all is done in order."""

_WORD = 4
"""Bytes that the choice of a request counts as."""

_EXTENTS = struct.Struct("<7I")
_LAUNCHED = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared_bytes")


@frozen
class LoggedRequest:
    """A request that was granted, without its stream, and the bytes that moved with it."""

    request: Message
    content: bytes = b""

    @property
    def goes_out(self) -> bool:
        """True if its bytes come back to the host."""
        return isinstance(self.request, CopyOut | Pull)

    @property
    def sent(self) -> NDArray[np.uint8]:
        """Bytes by which the host may pass values to its device: contents, parameters, extents, values."""
        message = self.request
        if isinstance(message, CopyIn | Push):
            return np.frombuffer(self.content, np.uint8)
        if isinstance(message, LaunchKernel):
            extents = _EXTENTS.pack(*(getattr(message, name) for name in _LAUNCHED))
            return np.frombuffer(message.parameters + extents, np.uint8)
        if isinstance(message, Fill):
            return np.array([message.value & 0xFF], np.uint8)
        return np.empty(0, np.uint8)

    @property
    def form(self) -> tuple[object, ...]:
        """Request without those bytes, and without the addresses of the host."""
        message: Any = self.request
        if isinstance(message, LaunchKernel):
            return LaunchKernel, message.kernel, message.cooperative
        if isinstance(message, Fill):
            return Fill, message.address, message.pitch, message.width, message.height
        if isinstance(message, Copy) and not isinstance(message, CopyWithin):
            inwards = isinstance(message, CopyIn)
            device = (message.to, message.to_pitch) if inwards else (message.source, message.source_pitch)
            return type(message), *device, message.width, message.height
        return type(message), message

    @property
    def kind(self) -> tuple[object, ...]:
        """Sort of the request: of copies their number of bytes, of launches their kernel."""
        message: Any = self.request
        names = ("kernel",) if isinstance(message, LaunchKernel) else ("width", "height", "size")
        return type(message), *(getattr(message, name, 0) for name in names)

    def sending(self, sent: NDArray[np.uint8]) -> LoggedRequest:
        """The same with other bytes in the place of `sent`."""
        message = self.request
        if isinstance(message, CopyIn | Push):
            return LoggedRequest(message, sent.tobytes())
        if isinstance(message, LaunchKernel):
            parameters, extents = np.split(sent, [len(message.parameters)])
            values = dict(zip(_LAUNCHED, _EXTENTS.unpack(extents.tobytes()), strict=True))
            return LoggedRequest(replace(message, parameters=parameters.tobytes(), **values))
        if isinstance(message, Fill):
            return LoggedRequest(replace(message, value=int(sent[0])))
        return self


def parameter_bytes(entries: Iterable[LoggedRequest]) -> int:
    """Bytes that may spell values out beside copies: parameters of launches, and a word for each request."""
    requests = [entry.request for entry in entries]
    launches = [request for request in requests if isinstance(request, LaunchKernel)]
    return sum(len(launch.parameters) for launch in launches) + _WORD * len(requests)


@mutable
class CallLog(Notes):
    """Notes what is granted, until it is too much to be kept."""

    memory: DeviceMemory
    entries: list[LoggedRequest] = field(default_factory=list)
    is_whole: bool = True
    """True if nothing was left out."""
    room: int = MOST_BYTES
    """Bytes that may still be kept."""
    _sent: hashlib._Hash = field(default_factory=hashlib.sha256)

    @property
    def digest(self) -> bytes:
        """Digest of all requests and of what was sent with them, kept or not."""
        return self._sent.digest()

    def note(self, message: Message) -> None:
        """Take a request down, with the bytes that it has moved."""
        entry = entry_of(self.memory, message)
        if entry is None:
            return
        self._sent.update(repr(entry.form).encode())
        self._sent.update(entry.sent.tobytes())
        if not self.is_whole:
            return
        self.room -= len(entry.content)
        self.entries.append(entry)
        if self.room < 0 or len(self.entries) > MOST_ENTRIES:
            self.is_whole = False
            self.entries.clear()


def entry_of(memory: DeviceMemory, message: Message) -> LoggedRequest | None:
    """Log entry of a request that was granted; None of one that neither changes memory nor shows it."""
    return (
        LoggedRequest(_in_order(message), _copied_bytes(memory, message))
        if isinstance(message, _KEPT)
        else None
    )


def _in_order(message: Message) -> Message:
    """A request without its stream: the host waits for each."""
    if isinstance(message, Copy | Fill):
        return replace(message, stream=0, asynchronous=0)
    if isinstance(message, Allocate | Free | LaunchKernel):
        return replace(message, stream=0)
    return message


def _copied_bytes(memory: DeviceMemory, message: Message) -> bytes:
    """The bytes that a granted request has moved between host and device."""
    rows = None
    if isinstance(message, CopyIn):
        rows = memory.rows(message.to, message.to_pitch, message.width, message.height)
    elif isinstance(message, CopyOut):
        rows = memory.rows(message.source, message.source_pitch, message.width, message.height)
    elif isinstance(message, Push | Pull):
        rows = memory.rows(message.address, 0, message.size, 1)
    return b"" if rows is None else rows.tobytes()


def replayed(device: Device, entries: Iterable[LoggedRequest], back: list[bytes]) -> bool:
    """Ask a device for all that, in this order, and append what comes ``back``.

    Whether nothing fails. Entries may be made of what came back before them.
    """
    for entry in entries:
        message = entry.request
        rows: NDArray[np.uint8] | None = None
        if isinstance(message, CopyIn | Push):
            reply, rows = rows_to_receive(device, message, 0)
            if rows is not None:
                rows[:] = np.frombuffer(entry.content, np.uint8).reshape(rows.shape)
        elif isinstance(message, CopyOut | Pull):
            reply, rows = rows_to_send(device, message, 0)
            back += [] if rows is None else [rows.tobytes()]
        else:
            reply = TABLE[type(message)](device, message, 0)
        if reply[0] != CudaError.SUCCESS or device.settle() is not CudaError.SUCCESS:
            return False
    return True
