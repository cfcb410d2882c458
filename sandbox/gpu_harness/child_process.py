"""A process of our own that may hang or die: forked, listened to through a pipe, killed, and reaped."""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import time
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from device_fault import description
from results import to_json

if TYPE_CHECKING:
    from collections.abc import Callable

Message: TypeAlias = tuple[str, Any]
Send: TypeAlias = "Callable[[str, Any], None]"

_PR_SET_PDEATHSIG = 1
_SOME_BYTES = 1 << 16


class Child:
    """A fork that does ``work`` and reports to us: one JSON line for each message, ``[kind, value]``.

    An exception in it is reported too, as ``broken``, and its status is then 1.
    """

    def __init__(self, work: Callable[[Send], None]) -> None:
        self._readable, writable = os.pipe()
        self._rest = b""
        parent = os.getpid()
        with warnings.catch_warnings():
            # Python warns of forking beside other threads; NumPy's wait for work and hold nothing.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if not self._pid:
            os.close(self._readable)
            _child_main(work, writable, parent)
        os.close(writable)

    def receive(self, patience: float) -> list[Message] | None:
        """Its messages within ``patience`` seconds, as soon as there is something; None when it has ended."""
        if not select.select([self._readable], [], [], patience)[0]:
            return []
        read = os.read(self._readable, _SOME_BYTES)
        if not read:
            return None
        *lines, self._rest = (self._rest + read).split(b"\n")
        return [(kind, value) for kind, value in map(json.loads, lines)]

    def kill(self) -> None:
        """Stop it at once; the driver then takes its kernel off the device."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def reap(self, patience: float) -> int | None:
        """Its exit status, negative for a signal; None where it has not ended after ``patience`` seconds.

        A process that is killed while the driver works for it ends only when the driver lets it.
        """
        with suppress(OSError):
            os.close(self._readable)
        until = time.monotonic() + patience
        while True:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > until:
                return None
            time.sleep(0.002)


def _child_main(work: Callable[[Send], None], writable: int, parent: int) -> NoReturn:
    """The main function of the child; it never comes back into the code of its parent."""

    def send(kind: str, value: Any) -> None:  # noqa: ANN401 - JSON
        line = to_json([kind, value]).encode() + b"\n"
        while line:
            line = line[os.write(writable, line) :]

    status = 1
    try:
        _end_with(parent)
        work(send)
        status = 0
    except BaseException as problem:  # noqa: BLE001 - whatever it is, the parent decides what it means
        with suppress(BaseException):
            send("broken", description(problem))
    finally:
        _flush()
        os._exit(status)


def _end_with(parent: int) -> None:
    """Die when the parent dies: a kernel that hangs would else keep the device for ever."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _flush() -> None:
    """Write out what kernels printed: CUDA prints by C's own stream, which `os._exit` would drop."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).fflush(None)
