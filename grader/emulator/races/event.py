"""What an event that orders accesses is: a record, one for all lanes that take part in it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEET, POST, TAKE, FENCE, PUBLISH, UPDATE, OBSERVE, BARRIER, LANDED, AWAIT, COPIED = range(11)

AT_LOCATION = (PUBLISH, UPDATE, OBSERVE)
"""Events that are strong accesses."""

_NO_BYTES = np.zeros(0, np.int64)


class Event(NamedTuple):
    """Lanes synchronise. ``lanes`` count over the whole launch, each once and in increasing order.

    - MEET: the lanes with one key (a part of a warp) wait for each other;
    - POST, TAKE: lanes leave what they know at a named barrier ``key``; lanes learn what was left there;
    - AWAIT: lanes learn what was left at a phase ``key`` of a barrier in shared memory, as others may again;
    - COPIED: the asynchronous copies that lanes began so far are complete with the phase ``key``;
    - FENCE: what a lane did before may be published by its later writes;
    - PUBLISH, UPDATE, OBSERVE: a strong write, atomic update or strong read of location ``key``, which may
      be an acquire or a release by itself, without a fence; just before it the access happened, of ``size``
      bytes at ``byte`` of its state space;
    - BARRIER: the whole block of each lane waits; ``lanes`` are the first lanes of the blocks;
    - LANDED: the asynchronous copies that a lane began up to ``key`` are complete.

    ``wide``: its scope holds lanes of other blocks, too.
    """

    when: int
    what: int
    lanes: NDArray[np.int64]
    key: NDArray[np.int64]
    acquires: bool = False
    releases: bool = False
    wide: bool = True
    space: str = ""
    byte: NDArray[np.int64] = _NO_BYTES
    size: int = 0


class Scope(NamedTuple):
    """How far lanes may be apart whose accesses are asked about: ``threads`` lanes are a block.

    ``domain`` is how many consecutive lanes can know of each other at all: those of a block for shared
    memory, all for accesses of different blocks. Cells have ``grain`` bytes of the state space ``space``.
    ``backwards``: of lanes that update one location in one instruction the highest comes first.
    """

    threads: int
    domain: int
    space: str = "global"
    grain: int = 4
    backwards: bool = False

    @property
    def across_blocks(self) -> bool:
        """Whether lanes of different blocks can know of each other."""
        return self.domain > self.threads
