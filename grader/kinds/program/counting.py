"""What the launches of a program moved, added up kernel by kernel, and what the staff's own program moves."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from grader.checks.traffic import TrafficCheck
from grader.model import Counters, KernelCounters, LineCounters
from grader.nvcc.signature import read_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.device.observation import KernelRun
    from grader.model import Assignment

_AMOUNTS = tuple(
    f.name for f in fields(LineCounters) if f.name not in ("line", "array") and "stride" not in f.name
)
"""What is added up of a line; its strides are those of the first launch that has one."""


def traffic_checks(assignment: Assignment) -> Iterator[TrafficCheck]:
    """The items that ask what kernels move."""
    return (TrafficCheck.from_item(item) for item in assignment.rubric if item.check == TrafficCheck.name)


def kernel_counters(launches: Iterable[KernelRun], file: str) -> tuple[KernelCounters, ...]:
    """What each kernel did in all of these launches, in the order in which they come first."""
    by_name: defaultdict[str, list[KernelRun]] = defaultdict(list)
    for launched in launches:
        by_name[read_name(launched.kernel).name].append(launched)
    return tuple(
        KernelCounters(
            name,
            len(of_kernel),
            sums(launched.run.counters for launched in of_kernel),
            _merged_lines(line for launched in of_kernel for line in launched.run.lines),
            file,
        )
        for name, of_kernel in by_name.items()
    )


def sums(counters: Iterable[Counters]) -> Counters:
    """All of them together."""
    amounts = list(counters)
    return Counters(**{f.name: sum(getattr(one, f.name) for one in amounts) for f in fields(Counters)})


def _merged_lines(lines: Iterable[LineCounters]) -> tuple[LineCounters, ...]:
    """The counters of several launches, one for each line and array."""
    merged: dict[tuple[int, str], LineCounters] = {}
    for line in lines:
        first = merged.get((line.line, line.array))
        if first is None:
            merged[line.line, line.array] = line
            continue
        amounts = {name: getattr(first, name) + getattr(line, name) for name in _AMOUNTS}
        merged[line.line, line.array] = replace(
            first,
            **amounts,
            global_stride=first.global_stride or line.global_stride,
            shared_stride=first.shared_stride or line.shared_stride,
        )
    return tuple(merged.values())
