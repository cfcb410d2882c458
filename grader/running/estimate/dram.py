"""Share of the fetches of blocks that comes from DRAM, its delay, and the time that DRAM takes for it.

L2 holds nothing of the arrays when a launch begins, but what others wrote before, as it is when kernels are
timed. A sector that many blocks ask for comes from DRAM once, as long as L2 holds it until the last of them
asks. Blocks that are resident together ask for it at about the same time, so all of them wait for DRAM:
what is late is what no earlier wave of blocks has asked for. Where there is one wave all blocks begin at
once: what several of them ask for arrives for all of them as soon as for the first, which keeps them
together. In later waves each block begins when another has ended.

What blocks touch in no order is in L2 as far as that holds the array. DRAM takes longer for sectors that
are far apart, as each opens another of its rows; and a sector of which only a part is ever written must be
read from DRAM before it is written there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen
from grader.running.estimate.footprints import arrays_by_line, footprints_of, wave_of
from grader.running.estimate.memory_system import WarpRequest
from grader.running.estimate.requests import SECTOR_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.running.estimate.footprints import Footprint
    from grader.running.estimate.sampling import SampledBlocks

_L2_SHARE = 0.8
"""Share of L2 that holds what blocks use again."""

_HALVINGS = 20


@frozen
class _Shares:
    """Cost in DRAM of accesses to one array; the fields are those of `WarpRequest`."""

    dram: float = 1.0
    late: float = 1.0
    filled: float = 0.0
    slower: float = 1.0


class DramShares:
    """Shares of sectors that come from DRAM when a block first asks for them, array by array."""

    def __init__(self, sampled: SampledBlocks) -> None:
        """Compare what a block touches of each array with what a wave of blocks and the grid do."""
        launch, device = sampled.launch, sampled.device
        self._array_of = arrays_by_line(sampled)
        self._one_wave = launch.blocks <= wave_of(sampled)
        held = min(1.0, device.l2_bytes / max(1, sum(size for _, size in launch.arrays)))
        self._evicts, self._leaves = held * device.dirty, 1 - held
        footprints = footprints_of(sampled, self._array_of)
        room = device.l2_bytes * _L2_SHARE / SECTOR_BYTES
        lasts = sum(footprint.of_two_waves for footprint in footprints) <= room
        self._shares = [_Shares()]
        everything = sum(footprint.of_all for footprint in footprints)
        for footprint in footprints:
            others = everything - footprint.of_all
            self._shares.append(_shares(sampled, footprint, others, room, lasts=lasts))

    @property
    def by_array(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Array of each line, and by array the share that DRAM moves, times the factor of its slowness."""
        return self._array_of, np.array([shares.dram * shares.slower for shares in self._shares])

    def with_share(self, request: WarpRequest) -> WarpRequest:
        """The request with the shares of the array that its lines are in; of several those that cost most.

        What a multiprocessor has fetched before comes from L2 in any case, so that lines of an array of which
        little comes from DRAM cost little beside others.
        """
        if not request.lines:
            return request
        shares = self._of_line(request.lines[0][0])
        if len(request.lines) > 1 and shares is not self._of_line(request.lines[-1][0]):
            shares = _most({self._of_line(line) for line, _ in request.lines})
        return WarpRequest(
            request.passes,
            request.lines,
            dram=shares.dram,
            late=shares.late,
            together=self._one_wave and shares.dram < shares.late,
            evicts=self._evicts,
            leaves=self._leaves if request.written else 0.0,
            filled=shares.filled,
            slower=shares.slower,
            written=request.written,
        )

    def _of_line(self, line: int) -> _Shares:
        array = int(self._array_of[min(max(line, 0), len(self._array_of) - 1)])
        return self._shares[array]


def _most(shares: set[_Shares]) -> _Shares:
    return _Shares(
        max(share.dram for share in shares),
        max(share.late for share in shares),
        max(share.filled for share in shares),
        max(share.slower for share in shares),
    )


def _shares(
    sampled: SampledBlocks, footprint: Footprint, others: float, room: float, *, lasts: bool
) -> _Shares:
    """Shares of an array; all blocks touch ``others`` sectors of other arrays, and L2 has ``room`` sectors.

    ``lasts`` is True if those are at least what two waves touch.
    """
    touched, blocks, isolated = footprint.of_block, sampled.launch.blocks, footprint.isolated
    if not touched:
        return _Shares()
    slower = 1 + isolated * (sampled.device.dram_apart - 1)
    filled = isolated * footprint.partly_written
    if footprint.irregular:
        dram = _missed_at_random(footprint, blocks, others, room)
        return _Shares(dram, dram, filled, slower)
    waves = blocks / wave_of(sampled)
    fetched = waves * footprint.of_wave
    if lasts:
        anew = footprint.of_two_waves - footprint.of_wave
        fetched = min(fetched, footprint.of_wave + (waves - 1) * anew)
    late = min(1.0, fetched / max(1.0, waves * footprint.of_wave))
    return _Shares(min(1.0, fetched / (touched * blocks)), late, filled, slower)


def _missed_at_random(footprint: Footprint, blocks: int, others: float, room: float) -> float:
    """The share of touches in no order that L2 does not answer.

    L2 holds what came last: in the time in which each sector of the array is touched ``times`` times on
    average, a share of ``1 - exp(-times)`` of them, and what is touched of other arrays (Che et al.,
    "Hierarchical Web caching systems", 2002).
    """
    touches = footprint.of_block * blocks
    size, low, high = footprint.size, 0.0, touches / footprint.size
    for _ in range(_HALVINGS):
        times = (low + high) / 2
        holds = size * (1 - math.exp(-times)) + others * times * size / touches
        low, high = (times, high) if holds < room else (low, times)
    return max(math.exp(-low), min(size, touches) / touches)
