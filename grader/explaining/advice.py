"""Advice that would make a right kernel faster: from counters per line to one sentence each.

A line is named only where it matters. The thresholds:

- coalescing: the line moves at least twice the sectors that its bytes need, and what is too much is at
  least a tenth of all sectors of the kernel; not where neighbouring threads use neighbouring elements, for
  then it is the block that is narrow, nor where they are at no regular distance or update by atomic
  operations, for then the data choose the element;
- redundant loads: the threads of a block load each element at least four times, and the repetitions are at
  least a quarter of all bytes that the kernel loads from global memory;
- bank conflicts: a request takes two passes or more on average, and the passes too many are at least a
  tenth of all passes of the kernel;
- divergence: warps part at more than half of the branches they come to, and each warp twice or more.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from grader.model import Advice, AdviceKind
from grader.model.messages import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.model import LineCounters

MOST = 10
"""Pieces of advice that are kept of a submission."""

SECTOR = 32
NEIGHBOURS = 8
"""Bytes between threads that use neighbouring elements: what is too much comes from narrow blocks then."""

LEAST_SECTORS_FACTOR = 2
LEAST_SECTORS_SHARE = 0.1
LEAST_LOADS_FACTOR = 4
LEAST_LOADS_SHARE = 0.25
LEAST_EXTRA_PASSES = 1
LEAST_PASSES_SHARE = 0.1
LEAST_PARTED_SHARE = 0.5
LEAST_PARTED_TIMES = 2


def line_advice(lines: tuple[LineCounters, ...], warps: int, file: str) -> tuple[Advice, ...]:
    """Advice from the counters of a launch with this number of warps, the most rewarding first."""
    pieces = [
        *_coalescing(lines, "load", file),
        *_coalescing(lines, "store", file),
        *_redundant(lines, file),
        *_conflicts(lines, file),
        *_divergence(lines, warps, file),
    ]
    return tuple(sorted(pieces, key=lambda advice: (-advice.weight, advice.line or 0))[:MOST])


def unneeded_barriers(lines: Iterable[int], file: str) -> tuple[Advice, ...]:
    """Advice from the lines of barriers without which nothing changed."""
    message = text_of("unneeded-barrier")
    return tuple(Advice(AdviceKind.UNNEEDED_BARRIER, message, file, line) for line in lines)


def _coalescing(lines: tuple[LineCounters, ...], way: str, file: str) -> Iterator[Advice]:
    total = sum(counters.global_load_sectors + counters.global_store_sectors for counters in lines)
    for counters in lines:
        requests = getattr(counters, f"global_{way}_requests")
        sectors = getattr(counters, f"global_{way}_sectors")
        least = max(requests, -(-getattr(counters, f"global_{way}_bytes") // SECTOR))
        share = (sectors - least) / total if total else 0.0
        if share < LEAST_SECTORS_SHARE or sectors < LEAST_SECTORS_FACTOR * least:
            continue
        if counters.global_stride <= NEIGHBOURS or (way == "store" and counters.global_atomics):
            continue
        message = text_of(
            "coalesce-writes" if way == "store" else "coalesce-reads",
            array=_array(counters),
            stride=counters.global_stride,
            sectors=_number(sectors / requests),
            least=_number(least / requests),
        )
        yield Advice(AdviceKind.COALESCING, message, file, counters.line, counters.array, share)


def _redundant(lines: tuple[LineCounters, ...], file: str) -> Iterator[Advice]:
    total = sum(counters.global_load_bytes for counters in lines)
    alike: dict[tuple[int, str], list[LineCounters]] = defaultdict(list)
    for counters in lines:
        loads, distinct = counters.global_loads, counters.global_loads_distinct
        if distinct and loads >= LEAST_LOADS_FACTOR * distinct:
            alike[counters.line, _number(loads / distinct)].append(counters)
    for (line, times), group in alike.items():
        spared = sum((1 - e.global_loads_distinct / e.global_loads) * e.global_load_bytes for e in group)
        if spared / total < LEAST_LOADS_SHARE:
            continue
        message = text_of("load-once", arrays=text_of("and-of").join(map(_array, group)), times=times)
        array = group[0].array if len(group) == 1 else ""
        yield Advice(AdviceKind.REDUNDANT_LOADS, message, file, line, array, spared / total)


def _conflicts(lines: tuple[LineCounters, ...], file: str) -> Iterator[Advice]:
    total = sum(counters.shared_requests + counters.shared_bank_conflicts for counters in lines)
    for counters in lines:
        extra = counters.shared_bank_conflicts
        if not extra or extra / total < LEAST_PASSES_SHARE:
            continue
        if extra < LEAST_EXTRA_PASSES * counters.shared_requests:
            continue
        name, passes = _array(counters), _number(1 + extra / counters.shared_requests)
        message = text_of(
            "spread-banks-apart" if counters.shared_stride else "spread-banks",
            array=name,
            stride=counters.shared_stride,
            passes=passes,
        )
        yield Advice(AdviceKind.BANK_CONFLICTS, message, file, counters.line, counters.array, extra / total)


def _divergence(lines: tuple[LineCounters, ...], warps: int, file: str) -> Iterator[Advice]:
    branches: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for counters in lines:
        branches[counters.line][0] += counters.branches
        branches[counters.line][1] += counters.divergent_branches
    total = sum(reached for reached, _ in branches.values())
    for line, (reached, divergent) in branches.items():
        if divergent <= LEAST_PARTED_SHARE * reached or divergent < LEAST_PARTED_TIMES * warps:
            continue
        message = text_of("go-the-same-way", share=_number(100 * divergent / reached))
        yield Advice(AdviceKind.DIVERGENCE, message, file, line, "", divergent / total)


def _array(line: LineCounters) -> str:
    return f"`{line.array}`" if line.array else text_of("the-array")


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"  # noqa: PLR2004 - digits
