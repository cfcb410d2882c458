"""What a launch that is too large would cost: how far it came, and what all of it would take.

It is told in seconds, which are computed from work: the same on every machine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.model import TOO_MUCH_WORK
from grader.nvcc.signature import read_name
from grader.text import count

if TYPE_CHECKING:
    from grader.device.observation import KernelRun

STEPS_A_SECOND = 100_000
"""Work that the emulator does in a second of an ordinary machine (`grader.emulator.launch.STEPS`)."""

WAY_OUT = "a smaller size (`sizes` of the assignment, or arguments) can be judged"

_SECONDS, _MINUTES = 120, 7200
"""Up to so many seconds a time is told in seconds, and in minutes."""


def too_large(last: KernelRun, earlier_work: int, allowed_work: int, line: int | None) -> str:
    """Why launches are not judged: the ``last`` one takes more work than is left for it.

    ``earlier_work`` is what launches before it took of the ``allowed_work``, ``line`` where it was launched.
    """
    run, blocks = last.run, math.prod(last.launch.grid)
    where = f"`{_spelt(last)}`" + (f" in line {line}" if line else "")
    if not run.ended_blocks or earlier_work + run.work < allowed_work:  # where its threads are says more
        return f"{run.too_much_work}; this is {where}; {WAY_OUT}"
    took = f"{run.ended_blocks:,} of {count(blocks, 'block')} took {_about(run.ended_work)}"
    everything = max(run.work, run.ended_work * blocks // run.ended_blocks)
    earlier = f", {_about(earlier_work)} of it for launches before" if earlier_work else ""
    limit = f"launches may take {_about(allowed_work)} in all{earlier}"
    return f"{TOO_MUCH_WORK}: {where}: {took}, all would take {_about(everything)}; {limit}; {WAY_OUT}"


def _spelt(launched: KernelRun) -> str:
    grid, block = (", ".join(map(str, extents)) for extents in (launched.launch.grid, launched.launch.block))
    return f"{read_name(launched.kernel)}<<<({grid}), ({block})>>>"


def _about(work: int) -> str:
    """Work as the time that it takes an ordinary machine."""
    seconds = work / STEPS_A_SECOND
    if seconds < 1:
        return "less than a second"
    if seconds < _SECONDS:
        return f"about {count(round(seconds), 'second')}"
    if seconds < _MINUTES:
        return f"about {round(seconds / 60)} minutes"
    return f"about {round(seconds / 3600):,} hours"
