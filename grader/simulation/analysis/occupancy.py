"""Occupancy: the blocks that a multiprocessor holds at once, and the share of its warps that they are.

Four limits decide, and the smallest wins: threads, blocks, registers, shared memory (CUDA C++ best practices
guide, "Occupancy"). With ``sm`` 80 for compute capability 8.0 the limits are the device's, and registers and
shared memory are given out in its units. With ``sm`` 0 all four limits must be given, and nothing is rounded.
A block takes nothing of a resource that is not given.

The limits of a multiprocessor come from the table of technical specifications in the CUDA C++ programming
guide (appendix "Compute capabilities"); the granularities are taken from the occupancy calculation that comes
with the CUDA toolkit.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.model import MOST_THREADS
from grader.simulation.analysis.subject import (
    WARP,
    AnalysisProblem,
    Definition,
    Misconception,
    Subject,
    number_text,
    slip,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.model import Clause
    from grader.simulation.analysis.subject import Steps

KIB = 1024

MOST_REGISTERS = 255
"""Registers that a thread can address, since compute capability 3.5."""


@frozen
class MultiprocessorLimits:
    """A multiprocessor's limits; bytes, registers and threads.

    Registers are given to warps in multiples of ``register_unit``, out of ``partitions`` files of equal size;
    shared memory to blocks in multiples of ``shared_unit``, of which the system takes ``reserved_bytes``.
    """

    threads: int
    blocks: int
    shared_bytes: int
    block_shared_bytes: int
    registers: int = 64 * KIB
    register_unit: int = 256
    partitions: int = 4
    shared_unit: int = 128
    reserved_bytes: int = KIB


def _older(threads: int, blocks: int, shared: int, of_block: int) -> MultiprocessorLimits:
    return MultiprocessorLimits(
        threads, blocks, shared * KIB, of_block * KIB, shared_unit=256, reserved_bytes=0
    )


def _newer(threads: int, blocks: int, shared: int) -> MultiprocessorLimits:
    return MultiprocessorLimits(threads, blocks, shared * KIB, (shared - 1) * KIB)


LIMITS = {
    61: _older(2048, 32, 96, 48),
    70: _older(2048, 32, 96, 96),
    75: _older(1024, 16, 64, 64),
    80: _newer(2048, 32, 164),
    86: _newer(1536, 16, 100),
    87: _newer(1536, 16, 164),
    89: _newer(1536, 24, 100),
    90: _newer(2048, 32, 228),
    100: _newer(2048, 32, 228),
    120: _newer(1536, 24, 100),
}
"""Limits by compute capability times ten: 80 is 8.0."""

PLAIN = MultiprocessorLimits(0, 0, 0, 0, 0, register_unit=1, partitions=1, shared_unit=1, reserved_bytes=0)


@frozen
class Load:
    """A block, and the multiprocessor that is to hold it; ``sm`` 0 for one of the question's own."""

    sm: int
    limits: MultiprocessorLimits
    threads: int
    registers: int
    shared_bytes: int

    @property
    def warps(self) -> int:
        """Warps of a block: the last one may lack threads."""
        return -(-self.threads // WARP)

    @property
    def most_warps(self) -> int:
        """Warps that the multiprocessor holds."""
        return self.limits.threads // WARP

    @property
    def warp_registers(self) -> int:
        """Registers of a warp, in units."""
        return _up(self.registers * WARP, self.limits.register_unit)

    @property
    def block_shared(self) -> int:
        """Shared memory of a block with the part that the system reserves, in units."""
        return _up(self.shared_bytes + self.limits.reserved_bytes, self.limits.shared_unit)

    @property
    def by_threads(self) -> int:
        """Blocks that the warps suffice for."""
        return self.most_warps // self.warps

    @property
    def by_registers(self) -> int:
        """Blocks that the registers suffice for; the limit of the device where a block takes no registers."""
        if not self.registers:
            return self.limits.blocks
        each_partition = self.limits.registers // self.limits.partitions // self.warp_registers
        return each_partition * self.limits.partitions // self.warps

    @property
    def by_shared(self) -> int:
        """Blocks that the shared memory suffices for."""
        if not self.block_shared:
            return self.limits.blocks
        return self.limits.shared_bytes // self.block_shared

    @property
    def launchable(self) -> bool:
        """True if such a block can be launched at all."""
        registers = self.warp_registers * _up(self.warps, self.limits.partitions)
        return (
            self.threads <= MOST_THREADS
            and self.registers <= MOST_REGISTERS
            and registers <= self.limits.registers
            and self.shared_bytes <= self.limits.block_shared_bytes
        )

    @property
    def blocks(self) -> int:
        """Blocks that fit at once."""
        if not self.launchable:
            return 0
        return min(self.by_threads, self.limits.blocks, self.by_registers, self.by_shared)

    @property
    def share(self) -> Fraction:
        """Occupancy: active warps as a share of the maximum number of warps."""
        return Fraction(self.blocks * self.warps, self.most_warps)


def _up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit


def _situation(numbers: Mapping[str, int]) -> Load:
    sm = numbers["sm"]
    if sm and sm not in LIMITS:
        capabilities = ", ".join(map(str, LIMITS))
        raise AnalysisProblem(
            f"expected `sm` to be 0 or ten times a compute capability ({capabilities}), found {sm}"
        )
    amounts = {
        "threads": numbers["max_threads"],
        "blocks": numbers["max_blocks"],
        "registers": numbers["max_registers"],
        "shared_bytes": numbers["max_shared_bytes"],
    }
    missing = [f"`max_{name}`" for name, amount in amounts.items() if not amount]
    if not sm and missing:
        raise AnalysisProblem(f"`sm` is 0, so the limits must be given: expected {', '.join(missing)}")
    amounts_given = {name: amount for name, amount in amounts.items() if amount}
    if "shared_bytes" in amounts_given:
        amounts_given["block_shared_bytes"] = amounts_given["shared_bytes"]
    limits = replace(LIMITS[sm] if sm else PLAIN, **amounts_given)
    if limits.threads < WARP:
        raise AnalysisProblem(f"expected `max_threads` of at least {WARP}, a warp, found {limits.threads}")
    return Load(sm, limits, numbers["threads"], numbers["registers"], numbers["shared_bytes"])


def _warps(o: Load) -> Clause:
    return step("block-warps", threads=o.threads, warps=o.warps)


def _by_threads(o: Load) -> Steps:
    numbers = {"threads": o.limits.threads, "most": o.most_warps, "warps": o.warps, "blocks": o.by_threads}
    return _warps(o), step("by-threads", **numbers)


def _by_registers(o: Load) -> Steps:
    if not o.registers:
        return (step("no-registers"),)
    taken = {"registers": o.registers, "total": o.registers * WARP}
    needed = step("warp-registers", **taken)
    if o.limits.register_unit > 1:
        units = {"unit": o.limits.register_unit, "units": o.warp_registers}
        needed = step("warp-registers-in-units", **taken, **units)
    parts, file = o.limits.partitions, o.limits.registers // o.limits.partitions
    held = file // o.warp_registers
    room = {"file": file, "units": o.warp_registers, "held": held}
    holder = step("registers", **room)
    if parts > 1:
        holder = step("registers-of-partitions", parts=parts, total=held * parts, **room)
    blocks = step("blocks-of-warps", held=held * parts, warps=o.warps, blocks=o.by_registers)
    return _warps(o), needed, holder, blocks


def _by_shared(o: Load) -> Steps:
    if not o.block_shared:
        return (step("no-shared"),)
    reserved, unit = o.limits.reserved_bytes, o.limits.shared_unit
    held = step("by-shared", bytes=o.limits.shared_bytes, units=o.block_shared, blocks=o.by_shared)
    return (
        step("block-bytes", bytes=o.shared_bytes),
        *((step("reserved-bytes", bytes=reserved),) if reserved else ()),
        *((step("in-units", unit=unit, bytes=o.block_shared),) if unit > 1 else ()),
        held,
    )


def _blocks(o: Load) -> Steps:
    if not o.launchable:
        return (*_launchable(o), step("no-block"))
    return (
        *_by_threads(o),
        *(_by_registers(o)[1:] if o.registers else ()),
        *(_by_shared(o) if o.shared_bytes else ()),
        step("most-blocks", blocks=o.limits.blocks),
        step("smallest", blocks=o.blocks),
    )


def _share(o: Load) -> Steps:
    shares = {"share": number_text(o.share), "percent": number_text(o.share * 100)}
    active = o.blocks * o.warps
    occupied = step("occupancy", blocks=o.blocks, warps=o.warps, active=active, most=o.most_warps, **shares)
    return *_blocks(o), occupied


def _launchable(o: Load) -> Steps:
    return (
        step("most-threads", most=MOST_THREADS, threads=o.threads),
        step("most-shared", most=o.limits.block_shared_bytes, bytes=o.shared_bytes),
        step("launchable" if o.launchable else "not-launchable"),
    )


def _misconceptions(o: Load) -> Iterator[Misconception]:
    yield Misconception(slip("no-registers"), replace(o, registers=0))
    unreserved = replace(o.limits, reserved_bytes=0)
    yield Misconception(slip("no-shared"), replace(o, shared_bytes=0, limits=unreserved))
    yield Misconception(slip("no-reserved", bytes=KIB), replace(o, limits=unreserved))
    unlimited = replace(o.limits, blocks=max(o.limits.blocks, o.by_threads))
    yield Misconception(slip("no-limit-on-blocks"), replace(o, limits=unlimited))
    for limit in ("threads", "registers", "shared"):
        yield Misconception(slip(f"only-{limit}"), instead={"blocks_per_sm": f"blocks_by_{limit}"})


OCCUPANCY = Subject(
    parameters={
        "sm": (0, None),
        "threads": (1, None),
        "registers": (0, 0),
        "shared_bytes": (0, 0),
        "max_threads": (0, 0),
        "max_blocks": (0, 0),
        "max_registers": (0, 0),
        "max_shared_bytes": (0, 0),
    },
    situation=_situation,
    quantities={
        "warps_per_block": Definition("warps", lambda o: o.warps, lambda o: (_warps(o),)),
        "blocks_by_threads": Definition("blocks", lambda o: o.by_threads, _by_threads),
        "blocks_by_registers": Definition("blocks", lambda o: o.by_registers, _by_registers),
        "blocks_by_shared": Definition("blocks", lambda o: o.by_shared, _by_shared),
        "blocks_per_sm": Definition("blocks", lambda o: o.blocks, _blocks),
        "warps_per_sm": Definition("warps", lambda o: o.blocks * o.warps, _share),
        "threads_per_sm": Definition("threads", lambda o: o.blocks * o.threads, _share),
        "occupancy": Definition("", lambda o: o.share, _share),
        "launchable": Definition("", lambda o: int(o.launchable), _launchable),
    },
    misconceptions=_misconceptions,
)
