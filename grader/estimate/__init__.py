"""How fast a kernel would be on a GPU that is not at hand: its machine code on a simulated multiprocessor.

    PTX ─ptxas, nvdisasm▶ machine code ─sass▶ what some blocks issue and access ─simulation▶ time of the grid

The stages are a file each: `coded`, `sampling`, `warps` (with `requests`, `footprints` and `dram`),
`multiprocessor` (with `memory_system`), `kernel_time`, `estimate`; `calls` adds up what a function does.
`docs/estimate.md` is the model on a page.
"""

from grader.estimate.calls import combined, device_pass, host_copy
from grader.estimate.estimate import (
    ERROR_BOUND,
    MOST_CHANGES,
    NotEstimatedError,
    changes_that_help,
    device_of,
    estimate_kernel,
    ratio_of,
    rolled_loop,
)

__all__ = [
    "ERROR_BOUND",
    "MOST_CHANGES",
    "NotEstimatedError",
    "changes_that_help",
    "combined",
    "device_of",
    "device_pass",
    "estimate_kernel",
    "host_copy",
    "ratio_of",
    "rolled_loop",
]
