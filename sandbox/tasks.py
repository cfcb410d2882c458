"""What is done on the device: the cases one after another, the timing, and a probe whether it is well."""

from __future__ import annotations

import fcntl
import importlib
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from arena import Exact, Fenced
from case import run_case
from faults import DeviceFault
from loaded import code_of
from slots import try_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from case import Record
    from children import Tell
    from device import Device
    from loaded import Code
    from results import Results
    from watch import Watch

ENDING = ("fault", "timeout")
"""States after which a context is of no use any more."""

OF_THE_SETUP = frozenset(
    {"cudaErrorNoKernelImageForDevice", "cudaErrorInvalidKernelImage", "cudaErrorSymbolNotFound"}
    | {"cudaErrorUnsupportedPtxVersion", "cudaErrorInsufficientDriver", "cudaErrorSystemDriverMismatch"}
)
"""Errors that say that what is installed, or a cubin of ours, does not fit: the device is not sick."""

PATIENCE = 15.0
"""Seconds that all cases under a tool wait together for what is timed: far less than the tool may take."""

_POLL = 0.005
_PROBED = 1 << 16


@dataclass(frozen=True)
class Job:
    """A request, the folder that its files are in, and how to open the device."""

    request: dict[str, Any]
    folder: Path
    open_device: Callable[..., Device]
    watch: Watch

    @property
    def cases(self) -> list[dict[str, Any]]:
        """The launches that are asked for."""
        return list(self.request["cases"])

    def seconds(self, name: str) -> float:
        """A limit of the request, in seconds."""
        return float(self.request["seconds"][name])

    def device(self, tell: Tell) -> Device:
        """Open the device in this process; what it is, and how long that took, is told."""
        begun = time.monotonic()
        device = self.open_device()
        device.watch = self.watch
        tell("device", [device.properties(), time.monotonic() - begun])
        return device


def work_off(job: Job, pending: Sequence[int], tell: Tell, *, may_time: bool) -> bool:
    """Launch the pending cases, until one of them takes the context with it; then time, if it may.

    It may where all cases were done and the context `is_still_fit`. A context takes 0.1 to 0.4 s to make, and
    those of a machine are made one after another, so the timing has none of its own unless it must. Gives
    whether nothing is left to do.
    """
    device = job.device(tell)
    if len(pending) == len(job.cases):
        tell("resources", resources(job, device))
    codes = codes_of(job, device)
    for at in pending:
        tell("begin", at)
        record = _one(job, device, codes, at, Fenced, tell)
        if record["state"] in ENDING:
            return False
        may_time = may_time and is_still_fit(record)
    for code in codes.values():
        code.module.forget()
    asked = bool(job.request.get("timing"))
    if may_time and asked:
        time_kernels(job, device, tell)
    return may_time or not asked


def is_still_fit(record: Record) -> bool:
    """Whether a context may be used for more after a case: its kernel ended and kept to its arrays."""
    return record["state"] == "done" and not record.get("outside")


def work_off_here(job: Job, results: Results, tell: Tell) -> None:
    """Launch all cases in this process, which a tool watches; a case that it stops does not end the others.

    A tool may stop one kernel so that the context survives; where the context is lost, all later cases are.
    No case begins while others time their kernels, unless all the time for waiting is over.
    """
    patience = PATIENCE
    device = job.device(tell)
    codes = codes_of(job, device)
    dead: DeviceFault | None = None
    for at in range(len(job.cases)):
        tell("begin", at)
        try:
            if dead is None:
                patience -= give_way(job.request["give_way"], patience)
                if _one(job, device, codes, at, Exact, tell)["state"] in ENDING:
                    device.synchronize()  # does the context live on?
        except DeviceFault as fault:
            dead = fault
        if dead is not None and results.state(at) == "lost":
            tell("end", {"error": dead.name, "message": f"the context was lost: {dead.message}"})


def give_way(lock: str, patience: float) -> float:
    """Wait while somebody holds a device's lock to time something, and say for how many seconds.

    With no ``lock`` there is nobody; ``patience`` is the longest wait.
    """
    begun = time.monotonic()
    if lock:
        with Path(lock).open("rb") as file:
            while not try_lock(file, fcntl.LOCK_SH) and time.monotonic() - begun < patience:
                time.sleep(_POLL)
    return time.monotonic() - begun


def codes_of(job: Job, device: Device) -> dict[str, Code]:
    """The code of all kernels, for all cases of this process."""
    return {name: code_of(device, kernel, job.folder) for name, kernel in job.request["kernels"].items()}


def _one(
    job: Job,
    device: Device,
    codes: dict[str, Code],
    at: int,
    room: Any,  # noqa: ANN401 - a class
    tell: Tell,
) -> dict[str, Any]:
    case = job.cases[at]
    code = codes[case["kernel"]]
    record = run_case(device, case, code, job.folder, room, lambda places: tell("places", places))
    tell("end", record)
    return record


def resources(job: Job, device: Device) -> dict[str, dict[str, int]]:
    """What each kernel takes in its timed launch, else in its first case; without those that do not load."""
    kernels = {}
    for name, kernel in job.request["kernels"].items():
        launch = _launch_of(job, name)
        with suppress(DeviceFault):
            if launch is not None:
                module = device.load(job.folder / kernel["image"])
                function = device.entry(module, launch.get("entry") or kernel["entry"])
                kernels[name] = device.resources(function, int(np.prod(launch["block"])), launch["shared"])
                device.unload(module)
    return kernels


def _launch_of(job: Job, kernel: str) -> dict[str, Any] | None:
    plan = job.request.get("timing") or {"launches": {}}
    cases = (case for case in job.cases if case["kernel"] == kernel)
    launch: dict[str, Any] | None = plan["launches"].get(kernel) or next(cases, None)
    return launch


def time_kernels(job: Job, device: Device, tell: Tell) -> None:
    """The timed rounds; a fault is part of their answer."""
    rounds = importlib.import_module("timing")
    try:
        device.spin()
        answer = rounds.run(device, job.request["timing"], job.request["kernels"], job.folder)
    except DeviceFault as fault:
        answer = {"stopped": "fault", "fault": str(fault)}
    tell("timing", answer)


def probe(job: Job, tell: Tell) -> None:
    """Whether a new process can still compute on the device: a kernel of ours gives what it must."""
    try:
        device = job.device(tell)
        function = device.function(job.folder / job.request["helpers"], "probe")
        address = device.allocate(4 * _PROBED)
        device.fill(address, 0, 4 * _PROBED)
        device.launch(function, (64, 1, 1), (256, 1, 1), 0, (np.uintp(address), np.uint64(_PROBED)))
        device.synchronize()
        results = np.empty(_PROBED, np.uint32)
        device.download(address, results)
    except DeviceFault as problem:
        if problem.name in OF_THE_SETUP:
            raise
        tell("probed", str(problem))
        return
    right = np.arange(_PROBED, dtype=np.uint32) * 3 + 1
    wrong = int(np.count_nonzero(results != right))
    tell("probed", f"a kernel of ours got {wrong} of {_PROBED} numbers wrong" if wrong else "")
