"""Where an access goes, and what is done there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from grader.emulator.machine.values import FOLDED, Lanes, Shape, Value, unfold

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from grader.emulator.memory.memory import Region


class Place(NamedTuple):
    """Where an access goes: ``bytes`` is the byte in ``region`` for each of ``lanes``; it may be folded.

    ``good`` says which of the active lanes those are; None if none was left out. ``request`` is how many
    bytes of a lane travel together: those of the whole vector with its first element, 0 with the others.
    """

    space: str
    region: Region
    bytes: Value
    lanes: Lanes
    good: NDArray[np.bool_] | None
    request: int
    shape: Shape = (1, 1, 1)
    site: int = -1
    base: Value | None = None
    """The address that an instruction's own offset was added to; the same object for the same address."""

    @property
    def index(self) -> Value:
        """The byte with an element for each lane, or a scalar."""
        return unfold(self.bytes, self.shape) if self.bytes.ndim == FOLDED else self.bytes

    def uninitialised(self, size: int) -> NDArray[np.bool_] | None:
        """Which of the lanes read a byte that nobody wrote; None if none does."""
        missing = self.region.uninitialised(self.bytes, size)
        return unfold(missing, self.shape) if missing is not None and missing.ndim == FOLDED else missing


def parts_of(place: Place, size: int) -> Iterator[tuple[Place, int]]:
    """The words (bytes, where ``size`` is no multiple of 4) of an access by ``size`` bytes a lane."""
    part = 4 if size % 4 == 0 else 1
    for offset in range(0, size, part):
        yield place._replace(bytes=place.bytes + offset), part


class StrayAccess(NamedTuple):
    """What lanes did out of bounds: state space, verb and bytes a lane."""

    space: str
    verb: str
    size: int


class AccessRequest(NamedTuple):
    """What an instruction asks of an address: see `Place` for ``request``; an empty ``space`` is generic.

    ``offset`` is a number of bytes to add to the address.
    """

    dtype: np.dtype[Any]
    space: str
    verb: str
    request: int
    offset: int = 0
