"""Many launches under a tool, several at a time in streams of their own: the fast path for what is right.

Only a run in which every launch came to its end and the tool saw nothing says anything. So the first fault
ends it: whoever reads `result.json` misses cases, and has each submission looked at by itself (`tasks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena import Exact
from awaited import with_launches
from case import laid_out
from tasks import PATIENCE, codes_of, give_way

if TYPE_CHECKING:
    from collections.abc import Iterator

    from case import LaidOut
    from children import Tell
    from device import Device
    from loaded import Code
    from tasks import Job

AT_ONCE = 32
"""Launches in streams of their own: small grids leave most of a device idle, the more under a tool."""


def work_off_together(job: Job, tell: Tell) -> None:
    """Launch all cases in this process; raises DeviceFault at the first that goes wrong.

    The names of those that are done are told, by their numbers. No wave begins while others time their
    kernels, unless all the time for waiting is over.
    """
    patience = PATIENCE
    device = job.device(tell)
    job = with_launches(job)
    codes = codes_of(job, device)
    streams = device.streams(AT_ONCE)
    for wave in _waves(job):
        patience -= give_way(job.request["give_way"], patience)
        launches = [_laid_out(job, device, codes, at) for at in wave]
        for at, launch, stream in zip(wave, launches, streams, strict=False):
            case = job.cases[at]
            device.launch(launch.function, case["grid"], case["block"], case["shared"], launch.values, stream)
        device.synchronize()
        for launch in launches:
            launch.arena.release()
        tell("done", {at: job.cases[at]["name"] for at in wave})


def _laid_out(job: Job, device: Device, codes: dict[str, Code], at: int) -> LaidOut:
    case = job.cases[at]
    return laid_out(device, case, codes[case["kernel"]], job.folder, Exact)


def _waves(job: Job) -> Iterator[list[int]]:
    """The numbers of the cases, so many at a time; a kernel with variables, which are renewed, by itself."""
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
