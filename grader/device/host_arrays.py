"""Arrays in memory of the host that a function is called with, and what copies bring into them.

It is known where they are, so a copy that begins at such an address is one from or to the array, as far as
its bytes say so, too: what the function's own code has written there is no copy's doing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from grader.gpu.replay import Place

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(eq=False, slots=True)
class HostArrays:
    """The arrays by where they start: their names, and what they hold if copies alone change them."""

    _arrays: dict[int, tuple[str, NDArray[np.uint8]]] = field(default_factory=dict)

    def add(self, name: str, start: int, content: bytes) -> None:
        """An array that is there when the function is called."""
        self._arrays[start] = name, np.frombuffer(content, np.uint8).copy()

    @property
    def size(self) -> int:
        """The bytes of all of them."""
        return sum(content.size for _, content in self._arrays.values())

    def source(self, address: int, row: NDArray[np.uint8]) -> Place | None:
        """Where bytes that came from an address lie in an array; None where they are not what lies there."""
        place, content = self._part(address, row.size)
        return place if content is not None and np.array_equal(content, row) else None

    def target(self, address: int, row: NDArray[np.uint8]) -> Place | None:
        """Where bytes go that are copied to an address; None where no array has them all."""
        place, content = self._part(address, row.size)
        if content is not None:
            content[:] = row
        return place

    def _part(self, address: int, size: int) -> tuple[Place | None, NDArray[np.uint8] | None]:
        for start, (name, content) in self._arrays.items():
            offset = address - start
            if 0 <= offset <= content.size - size:
                return Place(name, offset), content[offset : offset + size]
        return None, None

    def content_of(self, name: str) -> bytes:
        """What an array holds if copies alone have changed it."""
        return next(content.tobytes() for array, content in self._arrays.values() if array == name)
