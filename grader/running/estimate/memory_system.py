"""The memory that a multiprocessor sees: its unit of loads and stores, L1, and its share of L2 and of DRAM.

Every access to memory goes through one unit of the whole multiprocessor. What L1 does not hold comes from
L2 or DRAM, whose bandwidth is this multiprocessor's share of the device's. L1 holds any lines, regardless
of their addresses: measured, 1536 lines that lie 64 KiB apart are as good as neighbours.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

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


_MOST_LOAD = 0.9
"""Share of its bandwidth from which a unit's queue grows no further: a fuller one is bound by bandwidth."""

_SHORT = 1000.0
"""Cycles in which loads are looked at, at least."""


class Asker(NamedTuple):
    """Origin of an access: a warp of a block and the number of its request; ``shift`` as in `WarpTrace`."""

    block: int
    warp: int
    request: int
    shift: int


class MemorySystem:
    """State of the memory that each access of a multiprocessor's warps waits for."""

    def __init__(self, device: GpuModel, l1_bytes: int, active: int) -> None:
        """``active`` multiprocessors share what the device's L2 and DRAM move."""
        self.device = device
        share = device.multiprocessors / max(1, active)
        self.l2_sector = 32 / min(device.l2_alone, device.l2_bandwidth * share)
        self.dram_sector = 32 / min(device.l2_alone, device.dram_bandwidth * share)
        self.write_share = max(0.5, 1 / share)
        self.l1: OrderedDict[int, list[float]] = OrderedDict()
        self.l1_lines = max(1, l1_bytes // 128)
        self.fetched: dict[int, int] = {}
        self.changed: dict[int, int] = {}
        """The sectors of each line that were ever fetched, and those that were written, as bits."""
        self.asked: dict[tuple[int, int, int], float] = {}
        """Time when a block first asked for what several fetch together, by the warp and its request."""
        self.exchanges: dict[tuple[int, int], float] = {}
        """Time when each word of a block's shared memory was exchanged last."""
        self.unit = self.l2 = self.dram = self.writes = 0.0
        """Time until which each of them is busy."""
        self.busy = dict.fromkeys(("shared", "l1", "l2", "dram"), 0.0)

    def shuffle(self, time: float, latency: float) -> tuple[float, float, str]:
        """Exchange values between lanes of a warp; the result is that of `access`."""
        start = max(time, self.unit)
        self.unit = start + 1
        self.busy["shared"] += 1
        return start + latency, start - time, "shared/latency"

    def _exchange(self, done: float, block: int, words: Sequence[int]) -> float:
        """Time when an exchange succeeds that could be done: a change of a word makes all others retry."""
        last = max(self.exchanges.get((block, word), -self.device.exchange_turn) for word in words)
        done = max(done, last + self.device.exchange_turn)
        self.exchanges |= dict.fromkeys(((block, word) for word in words), done)
        return done

    def access(
        self, time: float, kind: str, latency: float, request: WarpRequest, asker: Asker
    ) -> tuple[float, float, str]:
        """Time when an access is done, its time in a queue, and the cause of either."""
        done, queue, cause = self._access(time, kind, latency, request, asker)
        if request.exchanged:
            changed = self._exchange(done, asker.block, request.exchanged)
            return changed, queue + changed - done, cause
        return done, queue, cause

    def _access(
        self, time: float, kind: str, latency: float, request: WarpRequest, asker: Asker
    ) -> tuple[float, float, str]:
        device, shift = self.device, asker.shift
        start = max(time, self.unit)
        self.unit = start + request.passes
        queue = start - time + max(0.0, request.passes - 1)
        if kind in ("shared", "local"):
            self.busy["shared"] += request.passes
            return self.unit + (latency or device.l1_latency) - 1, queue, "shared/latency"
        self.busy["l1"] += request.passes
        if kind == "store":
            self._write(start, request, shift)
            return self.unit, queue, "l2/memory-latency"
        if kind == "atomic":
            self._write(start, request, shift)
        missing = self._missing(request, shift) if kind == "load" else request.lines
        arrival = self.unit + device.l1_latency - 1
        if missing:
            fetched, stood, whose = self._fetch(start, missing, request, asker)
            arrival = max(arrival, fetched)
            self.unit += _count(missing) * device.fill_sector
            if kind == "load":
                for line, bits in missing:
                    self._keep(line, bits, arrival)
            return (arrival, stood, whose) if stood > queue else (arrival, queue, "l1/memory-latency")
        pending = max((self.l1[line + shift][1] for line, _ in request.lines), default=0.0)
        if pending > arrival:
            return pending, queue, "l1/memory-latency"
        return arrival, queue, "l1/latency"

    def _missing(self, request: WarpRequest, shift: int) -> list[tuple[int, int]]:
        """The sectors that L1 does not hold."""
        missing = []
        for number, bits in request.lines:
            line = number + shift
            held = self.l1.get(line)
            if held is None:
                missing.append((line, bits))
                continue
            self.l1.move_to_end(line)
            absent = bits & ~int(held[0])
            if absent:
                missing.append((line, absent))
        return missing

    def _keep(self, line: int, bits: int, arrival: float) -> None:
        held = self.l1.get(line)
        if held is None:
            self.l1[line] = [bits, arrival]
            if len(self.l1) > self.l1_lines:
                self.l1.popitem(last=False)
        else:
            held[0] = int(held[0]) | bits
            held[1] = max(held[1], arrival)

    def _write(self, time: float, request: WarpRequest, shift: int) -> None:
        """Let L2 write what a store or an atomic brings; where it lags behind, the unit waits.

        L2 gathers what is written to a sector, and sends it to DRAM once.
        """
        cycles = max(request.written * self.write_share, request.hot)
        self.writes = max(self.writes, time) + cycles
        self.busy["l2"] += cycles
        stored = request.leaves * request.slower * (self.device.dram_write + request.filled)
        share = request.evicts * self.device.dram_write + stored
        if share > 0:
            cycles = _count(_first_of(_pairs(request.lines), shift, self.changed)) * self.dram_sector * share
            self.dram = max(self.dram, time) + cycles
            self.busy["dram"] += cycles
        self.unit = max(self.unit, max(self.writes, self.dram) - self.device.write_backlog)

    def _first_request_time(self, time: float, request: WarpRequest, asker: Asker) -> float:
        """Time when the first of the blocks that go together asks for what DRAM sends several of them once.

        They are elsewhere on the GPU, and do at the same places of their code what the blocks do that are
        simulated: the first of these stands for the first of those.
        """
        if not request.together:
            return time
        return self.asked.setdefault((asker.shift, asker.warp, asker.request), time)

    def _fetch(
        self, time: float, missing: Sequence[tuple[int, int]], request: WarpRequest, asker: Asker
    ) -> tuple[float, float, str]:
        """Time when sectors have come, their time in a queue, and the cause of it.

        What L2 does not hold comes from DRAM, to all that wait for it as soon as to the first that asked.
        What this multiprocessor has fetched before is in L2, also where its L1 has lost it.
        """
        device, first = self.device, self._first_request_time(time, request, asker)
        cycles = _count(missing) * self.l2_sector
        self.l2 = max(self.l2, time) + cycles
        self.busy["l2"] += cycles
        moved, anew = self.l2, _first_of(missing, asker.shift, self.fetched)
        if request.dram > 0 and anew:
            fetched = _count(_pairs(anew)) * request.dram
            cycles = fetched * self.dram_sector * (request.slower + request.evicts * device.dram_write)
            self.dram = max(self.dram, time) + cycles
            self.busy["dram"] += cycles
            moved = max(self.dram, self.l2)
        from_l2 = moved + device.l2_latency + device.l2_crowd * self._crowd("l2", time)
        alone = device.dram_latency + device.dram_crowd * self._crowd("dram", time)
        from_dram = max(from_l2, moved - time + first + alone)
        arrival = from_l2 + (request.late * (from_dram - from_l2) if anew else 0.0)
        return arrival, moved - time, "dram/memory-latency" if moved > self.l2 else "l2/memory-latency"

    def _crowd(self, unit: str, time: float) -> float:
        """Average number of others at the same part of L2 or DRAM: as many as random arrivals queue up.

        Parts of them are busy by chance while others are not, the more often the more is asked for.
        """
        load = min(_MOST_LOAD, self.busy[unit] / max(time, _SHORT))
        return load / (1 - load)


def _first_of(
    lines: Sequence[tuple[int, int]], shift: int, known_sectors: dict[int, int]
) -> list[tuple[int, int]]:
    """The sectors of lines that were never seen before; they are now."""
    anew = []
    for number, bits in lines:
        before = known_sectors.get(number + shift, 0)
        if bits & ~before:
            anew.append((number, bits & ~before))
            known_sectors[number + shift] = before | bits
    return anew


def _pairs(lines: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sectors that DRAM moves for the sectors of lines: two at once."""
    return [(number, (3 if bits & 3 else 0) | (12 if bits & 12 else 0)) for number, bits in lines]


def _count(lines: Sequence[tuple[int, int]]) -> int:
    """Sectors of lines."""
    return sum(bits.bit_count() for _, bits in lines)
