"""Many launches under a tool, several at a time in streams of their own: the fast path for what is right.

Only a run in which every launch came to its end and the tool saw nothing says anything. So the first fault
ends it: whoever reads `result.json` misses cases, and has each submission looked at by itself (`tasks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena import Exact
from case import prepare_launch
from late_launches import job_with_launches
from tasks import PATIENCE, codes_of, give_way

if TYPE_CHECKING:
    from collections.abc import Iterator

    from case import PreparedLaunch
    from child_process import Send
    from device import Device
    from device_code import Code
    from tasks import Job

AT_ONCE = 32
"""Launches in streams of their own: small grids leave most of a device idle, the more under a tool."""


def run_concurrently(job: Job, send: Send) -> None:
    """Launch all cases in this process; raises DeviceFault at the first that goes wrong.

    Sends the names of those that are done, by their numbers. No wave begins while others time their
    kernels, unless all the time for waiting is over.
    """
    patience = PATIENCE
    device = job.device(send)
    job = job_with_launches(job)
    codes = codes_of(job, device)
    streams = device.streams(AT_ONCE)
    for wave in _waves(job):
        patience -= give_way(job.request["give_way"], patience)
        launches = [_prepare(job, device, codes, at) for at in wave]
        for at, launch, stream in zip(wave, launches, streams, strict=False):
            case = job.cases[at]
            device.launch(launch.function, case["grid"], case["block"], case["shared"], launch.values, stream)
        device.synchronize()
        for launch in launches:
            launch.arena.release()
        send("done", {at: job.cases[at]["name"] for at in wave})


def _prepare(job: Job, device: Device, codes: dict[str, Code], at: int) -> PreparedLaunch:
    case = job.cases[at]
    return prepare_launch(device, case, codes[case["kernel"]], job.folder, Exact)


def _waves(job: Job) -> Iterator[list[int]]:
    """The numbers of the cases, `AT_ONCE` at a time; kernels with variables, which are renewed, alone."""
    wave: list[int] = []
    for at, case in enumerate(job.cases):
        alone = job.request["kernels"][case["kernel"]]["variables"]
        if wave and (alone or len(wave) == AT_ONCE):
            yield wave
            wave = []
        wave.append(at)
        if alone:
            yield wave
            wave = []
    if wave:
        yield wave
