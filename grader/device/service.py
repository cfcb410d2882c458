"""A device for the programs of one stage: a folder with a socket for each run, which a sandbox shows them."""

from __future__ import annotations

import socket
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.device.session import Session, welcome
from grader.errors import OurError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.device.device import Device
    from grader.sandbox import Job, Result, Sandbox

VARIABLE = "GRADER_DEVICE"
"""The environment variable that tells the stand-in where its socket is."""

_JOIN_SECONDS = 60.0
"""How long a launch that is under way may take to be given up, after its program has ended."""


@contextmanager
def channel() -> Iterator[Path]:
    """A folder for sockets, which a sandbox shows to its jobs; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="grader-device-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)  # jobs of a container are somebody else
        yield folder


@dataclass(slots=True)
class Served:
    """The environment of a run that a device is there for, and why its session was cut off, if it was."""

    environment: tuple[tuple[str, str], ...]
    cut: str = ""
    refused: str = ""
    """What the program sent that the runtime never sends."""
    failure: Exception | None = None


def run_beside(device: Device, folder: Path, sandbox: Sandbox, job: Job) -> Result:
    """Run a program against a device for as long as its job may take.

    Raises OurError where the program sends what the runtime never sends, and where the device fails.
    """
    with serve(device, folder, job.limits.wall_seconds) as served:
        result = sandbox.run(replace(job, environment=served.environment))
    if served.refused:
        raise OurError(f"the program talks to its device by itself, or has overwritten it: {served.refused}")
    return result


@contextmanager
def serve(device: Device, folder: Path, seconds: float) -> Iterator[Served]:
    """Serve one program, in a thread, for as long as the block lasts; raises OurError where the device fails.

    Only the first to connect is served, and only as long as ``seconds`` go.
    """
    path = folder / f"{time.monotonic_ns():x}"
    deadline = time.monotonic() + seconds
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen(1)
        served = Served(((VARIABLE, str(path)),))
        thread = threading.Thread(target=_serve, args=(served, device, listener, deadline), daemon=True)
        thread.start()
        try:
            yield served
        finally:
            _wake(path)
            thread.join(_JOIN_SECONDS)
            path.unlink(missing_ok=True)
    if served.failure is not None:
        raise OurError(f"the device failed: {served.failure!r}") from served.failure
    if thread.is_alive():
        raise OurError("the device did not come to its end")


def _serve(served: Served, device: Device, listener: socket.socket, deadline: float) -> None:
    try:
        connection = welcome(listener, deadline)
        if connection is not None:
            session = Session(device, connection, deadline)
            served.cut = session.run()
            served.refused = session.refused
    except Exception as failure:  # noqa: BLE001 - told by the thread that waits
        served.failure = failure


def _wake(path: Path) -> None:
    """End the wait for a program that never came."""
    with socket.socket(socket.AF_UNIX) as nobody:
        try:
            nobody.connect(str(path))
        except OSError:
            return
