"""A device for the programs of one stage: a folder with a socket for each run, which a sandbox shows them.

Over each socket goes the conversation with one program: requests in, answers out, until it ends or sends what
is no message.
"""

from __future__ import annotations

import math
import socket
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import partial
from signal import SIGKILL
from typing import TYPE_CHECKING, TypeVar

from grader.base.errors import OurError
from grader.base.records import mutable
from grader.running.device import protocol
from grader.running.device.calls import TABLE
from grader.running.device.copies import rows_to_receive, rows_to_send
from grader.running.device.errors import CudaError, HostCode, HostMistake
from grader.running.device.host_clock import HostClock
from grader.running.device.protocol import REQUEST, ProtocolError
from grader.running.device.requests import (
    CopyIn,
    CopyOut,
    CopyWithin,
    Hello,
    Interruption,
    LaunchKernel,
    Pull,
    Push,
    Reset,
    Synchronise,
)
from grader.toolchain.sandbox import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from grader.running.device.copies import Reply
    from grader.running.device.device import Device
    from grader.running.device.requests import Message
    from grader.toolchain.sandbox import Job, Result, Sandbox

VARIABLE = "GRADER_DEVICE"
"""Environment variable that gives the stand-in the path of its socket."""

_JOIN_SECONDS = 60.0
"""Seconds in which a launch that is under way must be given up, after the session's end."""


@mutable
class Served:
    """The environment of a run that a device is there for, and why its session was cut off, if it was."""

    environment: tuple[tuple[str, str], ...]
    stop_file: Path
    """File that exists as soon as the program has taken by itself what it may."""
    cut: str = ""
    refused: str = ""
    """Description of a request that the program sent and the runtime never sends."""
    session: Session | None = None
    """The program's end of it may be open in a process that it has left behind."""
    failure: Exception | None = None


def run_beside(device: Device, folder: Path, sandbox: Sandbox, job: Job) -> Result:
    """Run a program against a device for as long as its job may take, all in all and by itself.

    What the program sends by itself, which the runtime never sends, is a mistake of its host. Raises OurError
    where the device fails.
    """
    limits = job.limits
    with serve(device, folder, limits.wall_seconds, limits.own_seconds or math.inf) as served:
        environment = (*job.environment, *served.environment)
        job = replace(job, environment=environment, stop_file=str(served.stop_file))
        result = sandbox.run(job)
        device.host_took_too_long = served.stop_file.exists()
        out_of_time = served.session is not None and served.session.out_of_time
    if out_of_time:  # the stand-in ends a program that has lost its device
        return replace(result, outcome=replace(result.outcome, status=Status.TIME, returncode=-SIGKILL))
    return result


@contextmanager
def serve(device: Device, folder: Path, seconds: float, own_seconds: float = math.inf) -> Iterator[Served]:
    """Serve one program, in a thread, for as long as the block lasts; raises OurError where the device fails.

    Only the first to connect is served, and only as long as ``seconds`` go; it should take no more than
    ``own_seconds`` of them by itself.
    """
    path = folder / f"{time.monotonic_ns():x}"
    deadline = time.monotonic() + seconds
    clock, over = HostClock(), threading.Event()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen(1)
        served = Served(((VARIABLE, str(path)),), path.with_suffix(".over"))
        watch = threading.Thread(target=clock.run, args=(own_seconds, served.stop_file, over), daemon=True)
        arguments = (served, device, listener, deadline, clock)
        thread = threading.Thread(target=_serve, args=arguments, daemon=True)
        thread.start()
        watch.start()
        try:
            yield served
        finally:
            over.set()
            watch.join()
            _wake(path)
            _hang_up(served)
            thread.join(max(0.0, deadline - time.monotonic()) + _JOIN_SECONDS)
            path.unlink(missing_ok=True)
            served.stop_file.unlink(missing_ok=True)
    if served.failure is not None:
        raise OurError(f"the device failed: {served.failure!r}") from served.failure
    if thread.is_alive():
        raise OurError("the device did not come to its end")


def _serve(
    served: Served, device: Device, listener: socket.socket, deadline: float, clock: HostClock
) -> None:
    try:
        connection = welcome(listener, deadline)
        if connection is not None:
            served.session = session = Session(device, connection, deadline, clock)
            served.cut = session.run()
            served.refused = session.refused
    except Exception as failure:  # noqa: BLE001 - reported by the thread that waits
        served.failure = failure


def _hang_up(served: Served) -> None:
    """End the conversation with a program that has ended: a launch that is under way comes to its end."""
    if served.session is not None:
        with suppress(OSError):
            served.session.connection.shutdown(socket.SHUT_RD)


def _wake(path: Path) -> None:
    """End the wait for a program that never came."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except OSError:
            return


_PIECE = 1 << 20
_BUFFER = 1 << 16
_RENEWAL_SECONDS = 0.05
"""Most seconds that a session may end after its deadline: setting the end of each wait is a system call."""

_INCOMING, _OUTGOING, _COPIES = (CopyIn, Push), (CopyOut, Pull), (CopyIn, CopyOut, CopyWithin)
_FLUSHING = (Synchronise, Reset)
"""Calls with which a device hands over what kernels printed, beside copies that wait, and launches, before
they start (CUDA C++ guide, "Formatted Output")."""


Received = TypeVar("Received", bytes, int)


class EndedError(Exception):
    """The program has closed its end, or need not go on."""


@mutable
class Session:
    """Connection of one program; ``deadline`` (`time.monotonic`) ends it in any case."""

    device: Device
    connection: socket.socket
    deadline: float
    clock: HostClock = field(default_factory=HostClock)
    greeted: bool = False
    refused: str = ""
    """Description of a request that the runtime never sends, for which the program was cut off."""
    out_of_time: bool = False
    """True if it was cut off because its time was over; it is known before the program can notice."""
    _received: memoryview = field(default_factory=lambda: memoryview(b""))
    """Bytes already received of the requests that are read next."""
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
            details = (("problem", self.refused),)
            forged = HostMistake(HostCode.FORGED_MESSAGE, 0, details=details)
            self.device.mistakes.insert(0, forged)  # however many there are already
            return f"the program sent what the runtime never sends: {problem}"
        except MemoryError:
            self.device.lacks_memory = True
            return "this machine has too little memory for what the program asks"
        except TimeoutError:
            self.out_of_time = True
            return "the program was still running when its time was over"
        finally:
            self.clock.is_waiting = True
            self.connection.close()

    def _one(self) -> None:
        """One request and its answer."""
        kind, size, caller, wants_answer = protocol.read_head(self._receive(REQUEST.size))
        message = protocol.read(kind, self._receive(size))
        self._admit(message, caller)
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
        self.device.note_outcome(reply[0], caller)
        if wants_answer:
            self._answer(message, reply, before)
        if rows is not None and isinstance(message, _OUTGOING):
            for recorder in self.device.recorders:
                rows = recorder.outgoing(message, rows)
        for row in () if rows is None else rows:
            if isinstance(message, _INCOMING):
                self._receive_into(memoryview(row))
            else:
                self._send_row(memoryview(row))
        if reply[0] is CudaError.SUCCESS:
            self._note(message)

    def _note(self, message: Message) -> None:
        """Have a request taken down; raises EndedError where the program need not go on."""
        for recorder in self.device.recorders:
            recorder.note(message)
        if any(recorder.is_done for recorder in self.device.recorders):
            raise EndedError

    def _admit(self, message: Message, caller: int) -> None:
        """Let a greeting come first and only then, and remember the caller."""
        if isinstance(message, Hello) == self.greeted:
            raise ProtocolError("a program introduces itself once, and first")
        if self.greeted and not isinstance(message, Interruption):
            self.device.last_caller = caller
        self.greeted = True

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
        """Read the next ``size`` bytes at most; raises EndedError where the program has ended."""
        self._wait_no_longer()
        try:
            content = self._received_by(partial(self.connection.recv, size))
        except ConnectionResetError:
            raise EndedError from None
        if not content:
            raise EndedError
        return content

    def _received_by(self, receive: Callable[[], Received]) -> Received:
        """Receive from the program, whose time it is until then."""
        self.clock.is_waiting = True
        received = receive()
        self.clock.received += 1
        self.clock.is_waiting = False
        return received

    def _receive_into(self, target: memoryview) -> None:
        """Fill ``target``; raises EndedError where the program ends before."""
        count = min(len(target), len(self._received))
        target[:count], self._received = self._received[:count], self._received[count:]
        target = target[count:]
        while target:
            self._wait_no_longer()
            try:
                count = self._received_by(partial(self.connection.recv_into, target))
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
    """Accept the first program that connects; None where none does in time. No other is let in afterwards."""
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
