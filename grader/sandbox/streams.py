"""Reading two streams at once, with a cap, so that neither the job nor we wait for ever."""

from __future__ import annotations

import os
import selectors
import time
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

_PIECE = 65536


class Streams:
    """What a process prints: at most ``cap`` bytes of each stream are kept."""

    def __init__(self, process: subprocess.Popen[bytes], cap: int) -> None:
        self._cap = cap
        self._kept: dict[int, bytearray] = {}
        self._selector = selectors.DefaultSelector()
        self._stdout, self._stderr = self._register(process.stdout), self._register(process.stderr)

    def _register(self, stream: IO[bytes] | None) -> bytearray:
        if stream is None:
            raise ValueError("both streams must be pipes")
        os.set_blocking(stream.fileno(), False)
        self._selector.register(stream, selectors.EVENT_READ)
        return self._kept.setdefault(stream.fileno(), bytearray())

    @property
    def stdout(self) -> bytes:
        """What was printed so far, cut at the cap."""
        return bytes(self._stdout[: self._cap])

    @property
    def stderr(self) -> bytes:
        """The same for errors."""
        return bytes(self._stderr[: self._cap])

    def read(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for something to read, and read it; false once a stream is over its cap."""
        if not self._selector.get_map():
            time.sleep(min(seconds, 0.002))
            return True
        for key, _ in self._selector.select(seconds):
            kept = self._kept[key.fd]
            piece = os.read(key.fd, _PIECE)
            if not piece:
                self._selector.unregister(key.fileobj)
            kept += piece[: self._cap + 1 - len(kept)]
        return all(len(kept) <= self._cap for kept in self._kept.values())

    def drain(self) -> None:
        """Take what still lies in the pipes, once nobody should be writing; never waits."""
        while self._selector.get_map() and self._selector.select(0):
            if not self.read(0):
                break
        self._selector.close()
