"""Fitness of GPUs for use: decided by the process that tries them, awaited by those that prepare meanwhile.

The decision is in a file that is locked until then. The lock is the system's and ends with the process that
holds it: no process waits for a trial whose process is gone, and no GPU has passed it.
"""

from __future__ import annotations

import fcntl
import json
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from grader.base.records import frozen
from grader.toolchain.gpu import devices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.toolchain.gpu.devices import Gpu


@frozen
class Undecided:
    """A trial that is under way."""

    file: IO[str]
    decided: threading.Lock = field(default_factory=threading.Lock)

    @property
    def path(self) -> str:
        """Path by which others wait for the decision."""
        return self.file.name

    def decide(self, fit: Iterable[Gpu]) -> None:
        """Record which GPUs passed, unless that is recorded already; processes that wait go on."""
        if not self.decided.acquire(blocking=False):
            return
        json.dump([gpu.uuid for gpu in fit], self.file)
        self.file.flush()
        fcntl.flock(self.file, fcntl.LOCK_UN)


@contextmanager
def undecided() -> Iterator[Undecided]:
    """A trial to be decided; without a decision none has passed.

    Its file is where the locks of GPUs are: not every temporary folder is on a file system with locks.
    """
    name, folder = "cuda-grader-trial-", devices.locks_folder()
    with tempfile.NamedTemporaryFile("w", prefix=name, dir=folder, encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield Undecided(file)


def fit_for_use(gpus: tuple[Gpu, ...], trial: str) -> tuple[Gpu, ...]:
    """GPUs that passed, once it is decided; all of them where they are on no trial."""
    if not trial:
        return gpus
    try:
        with Path(trial).open(encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            passed = json.loads(file.read() or "[]")
    except FileNotFoundError:  # the process that tried them is gone
        return ()
    return tuple(gpu for gpu in gpus if gpu.uuid in passed)
