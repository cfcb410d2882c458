"""Estimate of a kernel's time on a GPU that is not at hand: its machine code on a simulated multiprocessor.

    PTX ─ptxas, nvdisasm▶ machine code ─sass▶ what some blocks issue and access ─simulation▶ time of the grid

The stages are a file each: `machine_code_launch`, `sampling`, `warps` (with `requests`, `footprints` and
`dram`), `turns` (with `demands`), `multiprocessor` (with `memory_system`), `kernel_time`, `estimate`; `calls`
adds up what a function does, and `further_blocks` runs more blocks, to see what they leave in memory.
`docs/estimate.md` is the model on a page.
"""

from grader.running.estimate.estimate import (
    ERROR_BOUND,
    MOST_CHANGES,
    NotEstimatedError,
    changes_that_help,
    device_of,
    estimate_kernel,
    ratio_of,
    reasons,
    rolled_loop,
)
from grader.running.estimate.further_blocks import LaunchedBlocks, elements_at

__all__ = [
    "ERROR_BOUND",
    "MOST_CHANGES",
    "LaunchedBlocks",
    "NotEstimatedError",
    "changes_that_help",
    "device_of",
    "elements_at",
    "estimate_kernel",
    "ratio_of",
    "reasons",
    "rolled_loop",
]
