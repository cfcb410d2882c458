"""Reason why launches are not judged: one takes more work than is left for it.

The cost of all of it is given in seconds that are computed from work: the same on every machine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.model import TOO_MUCH_WORK, Clause
from grader.toolchain.nvcc.signature import read_name

if TYPE_CHECKING:
    from grader.model import Detail
    from grader.running.device.observation import KernelRun

STEPS_A_SECOND = 100_000
"""Work that the emulator does in a second of an ordinary machine (`emulator.launch.STEPS`)."""

_SECONDS, _MINUTES = 120, 7200
"""Longest times that are given in seconds, and in minutes."""


def too_large(last: KernelRun, earlier_work: int, allowed_work: int, line: int | None) -> Clause:
    """Reason why launches are not judged: the ``last`` one takes more work than is left for it.

    ``earlier_work`` is the work of launches before it, out of the ``allowed_work``, and ``line`` is the line
    of the launch.
    """
    run, blocks = last.run, math.prod(last.launch.grid)
    launch = (_launch(last, line),)
    if not run.ended_blocks or earlier_work + run.work < allowed_work:  # where its threads are says more
        gave_up = (run.too_much_work or TOO_MUCH_WORK,)
        return Clause("too-much-work-in", (("reason", gave_up), ("launch", launch)))
    time = (_about(run.ended_work),)
    took = Clause("blocks-took", (("ended", run.ended_blocks), ("count", blocks), ("time", time)))
    everything = max(run.work, run.ended_work * blocks // run.ended_blocks)
    earlier = (Clause("earlier-launches", (("time", (_about(earlier_work),)),)),) if earlier_work else ()
    values: dict[str, Detail] = {
        "launch": launch,
        "took": (took,),
        "all": (_about(everything),),
        "allowed": (_about(allowed_work),),
        "earlier": earlier,
    }
    return Clause("too-large", tuple(values.items()))


def _launch(launched: KernelRun, line: int | None) -> Clause:
    """A kernel with the extents of its launch, and the line where that stands."""
    grid, block = (", ".join(map(str, extents)) for extents in (launched.launch.grid, launched.launch.block))
    spelt = ("launch", f"{read_name(launched.kernel)}<<<({grid}), ({block})>>>")
    return Clause("launch-in-line", (spelt, ("line", line))) if line else Clause("launch", (spelt,))


def _about(work: int) -> Clause:
    """Work as the time that it takes an ordinary machine."""
    seconds = work / STEPS_A_SECOND
    if seconds < 1:
        return Clause("less-than-a-second")
    if seconds < _SECONDS:
        return Clause("about-seconds", (("count", round(seconds)),))
    if seconds < _MINUTES:
        return Clause("about-minutes", (("count", round(seconds / 60)),))
    return Clause("about-hours", (("count", round(seconds / 3600)),))
