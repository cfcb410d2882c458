"""The memory that a multiprocessor sees: its unit of loads and stores, L1, and its share of L2 and of DRAM.

Every access to memory goes through one unit of the whole multiprocessor. What L1 does not hold comes from
L2 or DRAM, whose bandwidth is this multiprocessor's share of the device's. L1 holds any lines, regardless
of their addresses: measured, 1536 lines that lie 64 KiB apart are as good as neighbours. The simulation
itself is in `native/memory_system.cpp`.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.base.records import frozen
from grader.running.estimate.native_simulation import (
    CAUSES,
    KINDS,
    LINE,
    REQUEST,
    UNITS,
    AnswerNumbers,
    AskerNumbers,
    device_numbers,
    simulation_library,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grader.running.estimate.devices import GpuModel


@frozen
class WarpRequest:
    """Request of one warp by a memory instruction.

    ``passes`` are cycles of the unit of loads and stores, ``lines`` the lines of global memory, each with a
    bit for each of its four sectors that it touches. ``dram`` is the share of sectors that were not fetched
    from DRAM before, ``late`` the share of those that arrive as late as what DRAM has just sent, and
    ``together`` is True if all blocks that want them began at once, and wait for them together. ``evicts`` is
    the share of sectors whose arrival in L2 makes it write to DRAM what it held before the launch,
    ``leaves`` the share of written sectors that L2 must send there itself, and ``filled`` the share of those
    of which DRAM must send the rest first. DRAM takes ``slower`` times as long for these sectors as for
    neighbours. ``written`` are cycles that L2 takes for a store or an atomic when all multiprocessors write,
    ``hot`` those in which it does the updates that others ask of the same lines. ``exchanged`` are words of
    shared memory of the block that an exchange changes, which others of the block may want to change as well.
    """

    passes: float
    lines: tuple[tuple[int, int], ...] = ()
    dram: float = 0.0
    late: float = 0.0
    together: bool = False
    evicts: float = 0.0
    leaves: float = 0.0
    filled: float = 0.0
    slower: float = 1.0
    written: float = 0.0
    hot: float = 0.0
    exchanged: tuple[int, ...] = ()


NOTHING = WarpRequest(0.0)


class Asker(NamedTuple):
    """Origin of an access: a warp of a block and the number of its request; ``shift`` as in `WarpTrace`."""

    block: int
    warp: int
    request: int
    shift: int


class RequestRows(NamedTuple):
    """Requests as the native library takes them, with their lines and words one after the other."""

    requests: NDArray[np.void]
    lines: NDArray[np.void]
    words: NDArray[np.int64]


def rows_of_requests(requests: Iterable[WarpRequest]) -> RequestRows:
    """The rows of some requests."""
    rows: list[tuple[float, ...]] = []
    lines: list[tuple[int, int, int]] = []
    words: list[int] = []
    for r in requests:
        places = (len(lines), len(r.lines), len(words), len(r.exchanged))
        shares = (r.passes, r.dram, r.late, r.evicts, r.leaves, r.filled, r.slower, r.written, r.hot)
        rows.append((*shares, *places, r.together, 0))
        lines += [(number, sectors, 0) for number, sectors in r.lines]
        words += r.exchanged
    return RequestRows(np.array(rows, REQUEST), np.array(lines, LINE), np.array(words, np.int64))


class MemorySystem:
    """State of the memory that each access of a multiprocessor's warps waits for, without the warps."""

    def __init__(self, device: GpuModel, l1_bytes: int, active: int) -> None:
        """``active`` multiprocessors share what the device's L2 and DRAM move."""
        self.busy = dict.fromkeys(UNITS, 0.0)
        self._library = simulation_library()
        self._memory = self._library.speed_memory_begin(device_numbers(device, l1_bytes, active))

    def __del__(self) -> None:
        """Free the memory."""
        self._library.speed_memory_end(self._memory)

    def access(
        self, time: float, kind: str, latency: float, request: WarpRequest, asker: Asker
    ) -> tuple[float, float, str]:
        """Time when an access is done, its time in a queue, and the cause of either."""
        rows, answer = rows_of_requests([request]), AnswerNumbers()
        busy = (ctypes.c_double * len(UNITS))()
        self._library.speed_memory_access(
            *(self._memory, time, KINDS.index(kind), latency),
            *(part.ctypes.data for part in rows),
            *(AskerNumbers(*asker), answer, busy),
        )
        self.busy = dict(zip(UNITS, busy, strict=True))
        return answer.done, answer.queue, f"{CAUSES[answer.queueing]}/{CAUSES[answer.waiting]}"
