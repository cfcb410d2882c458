"""The conversation with one program: requests in, answers out, until it ends or sends what is no message."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.device import protocol
from grader.device.calls import TABLE
from grader.device.copies import rows_to_receive, rows_to_send
from grader.device.errors import CudaError
from grader.device.protocol import REQUEST, ProtocolError
from grader.device.requests import (
    CopyIn,
    CopyOut,
    CopyWithin,
    Hello,
    LaunchKernel,
    Pull,
    Push,
    Reset,
    Synchronise,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from grader.device.copies import Reply
    from grader.device.device import Device
    from grader.device.requests import Message

_PIECE = 1 << 20
_BUFFER = 1 << 16
_RENEWAL_SECONDS = 0.05
"""A session may end so much later than its deadline: setting the end of each wait is a call of its own."""

_INCOMING, _OUTGOING, _COPIES = (CopyIn, Push), (CopyOut, Pull), (CopyIn, CopyOut, CopyWithin)
_FLUSHING = (Synchronise, Reset)
"""Calls with which a device hands over what kernels printed, beside copies that wait, and launches, before
they start (CUDA C++ guide, "Formatted Output")."""


class EndedError(Exception):
    """The program has closed its end, or need not go on."""


@dataclass(eq=False, slots=True)
class Session:
    """One program's connection; ``deadline`` (`time.monotonic`) ends it, whatever the program does."""

    device: Device
    connection: socket.socket
    deadline: float
    greeted: bool = False
    refused: str = ""
    """What the program sent that the runtime never sends; it was cut off for it."""
    _received: memoryview = field(default_factory=lambda: memoryview(b""))
    """What has come already of the requests that are read next."""
    _renewal: float = 0.0

    def run(self) -> str:
        """Serve until the program ends; gives why it was cut off, or an empty text."""
        try:
            self.device.deadline = self.deadline
            while True:
                self._one()
        except EndedError:
            return ""
        except ProtocolError as problem:
            self.refused = str(problem)
            return f"the program sent what the runtime never sends: {problem}"
        except TimeoutError:
            return "the program was still running when its time was over"
        finally:
            self.connection.close()

    def _one(self) -> None:
        """One request and its answer."""
        kind, size, caller, wants_answer = protocol.read_head(self._receive(REQUEST.size))
        message = protocol.read(kind, self._receive(size))
        if isinstance(message, Hello) == self.greeted:
            raise ProtocolError("a program introduces itself once, and first")
        self.greeted = True
        rows: NDArray[np.uint8] | None = None
        before = (b"", b"")
        if isinstance(message, _INCOMING):
            reply, rows = rows_to_receive(self.device, message, caller)
        elif isinstance(message, _OUTGOING):
            reply, rows = rows_to_send(self.device, message, caller)
        else:
            if isinstance(message, LaunchKernel):
                before = self.device.take_text()
            reply = TABLE[kind](self.device, message, caller)
        if wants_answer:
            self._answer(message, reply, before)
        for row in () if rows is None else rows:
            if isinstance(message, _INCOMING):
                self._receive_into(memoryview(row))
            else:
                self._send_row(memoryview(row))
        recorder = self.device.recorder
        if recorder is not None and reply[0] is CudaError.SUCCESS:
            recorder.note(message)
            if recorder.is_done:
                raise EndedError

    def _answer(self, message: Message, reply: Reply, text: tuple[bytes, bytes]) -> None:
        """The code and the payload, behind the ``text`` of launches or what the device still holds of it."""
        code, payload = reply
        waiting = isinstance(message, _COPIES) and not message.asynchronous
        if waiting or isinstance(message, _FLUSHING):
            text = self.device.take_text()
        self._wait_no_longer()
        self._send(memoryview(protocol.answer(int(code), payload, *text)))

    def _send_row(self, content: memoryview) -> None:
        for start in range(0, len(content), _PIECE):
            self._wait_no_longer()
            self._send(content[start : start + _PIECE])

    def _send(self, content: memoryview) -> None:
        try:
            self.connection.sendall(content)
        except (BrokenPipeError, ConnectionResetError):
            raise EndedError from None

    def _receive(self, size: int) -> bytes:
        """The next bytes of a request; with them comes what else is there already."""
        while len(self._received) < size:
            self._received = memoryview(bytes(self._received) + self._more(_BUFFER))
        content, self._received = self._received[:size].tobytes(), self._received[size:]
        return content

    def _more(self, size: int) -> bytes:
        """What comes next, ``size`` bytes at most; raises EndedError where the program has ended."""
        self._wait_no_longer()
        try:
            content = self.connection.recv(size)
        except ConnectionResetError:
            raise EndedError from None
        if not content:
            raise EndedError
        return content

    def _receive_into(self, target: memoryview) -> None:
        """Fill ``target``; raises EndedError where the program ends before."""
        count = min(len(target), len(self._received))
        target[:count], self._received = self._received[:count], self._received[count:]
        target = target[count:]
        while target:
            self._wait_no_longer()
            try:
                count = self.connection.recv_into(target)
            except ConnectionResetError:
                raise EndedError from None
            if not count:
                raise EndedError
            target = target[count:]

    def _wait_no_longer(self) -> None:
        """Let the next step end at the deadline; raises TimeoutError where it is over."""
        now = time.monotonic()
        if now >= self.deadline:
            raise TimeoutError
        if now >= self._renewal:
            self._renewal = now + _RENEWAL_SECONDS
            self.connection.settimeout(self.deadline - now)


def welcome(listener: socket.socket, deadline: float) -> socket.socket | None:
    """The first program that connects; None where none does in time. Nobody else is let in afterwards."""
    listener.settimeout(max(0.01, deadline - time.monotonic()))
    try:
        connection, _ = listener.accept()
    except TimeoutError:
        return None
    finally:
        listener.close()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _PIECE)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PIECE)
    return connection


__all__ = ["CudaError", "EndedError", "Session", "welcome"]
