"""The work on the device: the cases one after another, the timing, and a probe whether it is well."""

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
from device_code import code_of
from device_fault import DeviceFault
from slots import try_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from busy_clock import BusyClock
    from case import Record
    from child_process import Send
    from device import Device
    from device_code import Code
    from results import Results

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
    watch: BusyClock

    @property
    def cases(self) -> list[dict[str, Any]]:
        """The launches that are asked for."""
        return list(self.request["cases"])

    def seconds(self, name: str) -> float:
        """A limit of the request, in seconds."""
        return float(self.request["seconds"][name])

    def device(self, send: Send) -> Device:
        """Open the device in this process, and send its properties and the seconds that it took."""
        begun = time.monotonic()
        device = self.open_device()
        device.watch = self.watch
        send("device", [device.properties(), time.monotonic() - begun])
        return device


def run_cases(job: Job, pending: Sequence[int], send: Send, *, may_time: bool) -> bool:
    """Launch the pending cases, until one of them takes the context with it; then time, if it may.

    It may where all cases were done and the context `is_still_fit`. A context takes 0.1 to 0.4 s to make, and
    those of a machine are made one after another, so the timing has none of its own unless it must. Gives
    whether nothing is left to do.
    """
    device = job.device(send)
    if len(pending) == len(job.cases):
        send("resources", resources(job, device))
    codes = codes_of(job, device)
    for at in pending:
        send("begin", at)
        record = _one(job, device, codes, at, Fenced, send)
        if record["state"] in ENDING:
            return False
        may_time = may_time and is_still_fit(record)
    for code in codes.values():
        code.module.forget()
    asked = bool(job.request.get("timing"))
    if may_time and asked:
        time_kernels(job, device, send)
    return may_time or not asked


def is_still_fit(record: Record) -> bool:
    """True if a context may be used for more after a case: its kernel ended and kept to its arrays."""
    return record["state"] == "done" and not record.get("outside")


def run_in_this_process(job: Job, results: Results, send: Send) -> None:
    """Launch all cases in this process, which a tool watches; a case that it stops does not end the others.

    A tool may stop one kernel so that the context survives; where the context is lost, all later cases are.
    No case begins while others time their kernels, unless all the time for waiting is over.
    """
    patience = PATIENCE
    device = job.device(send)
    codes = codes_of(job, device)
    dead: DeviceFault | None = None
    for at in range(len(job.cases)):
        send("begin", at)
        try:
            if dead is None:
                patience -= give_way(job.request["give_way"], patience)
                if _one(job, device, codes, at, Exact, send)["state"] in ENDING:
                    device.synchronize()  # does the context live on?
        except DeviceFault as fault:
            dead = fault
        if dead is not None and results.state(at) == "lost":
            send("end", {"error": dead.name, "message": f"the context was lost: {dead.message}"})


def give_way(lock: str, patience: float) -> float:
    """Wait while another process holds a device's lock for timing; gives the seconds waited.

    Without a ``lock`` there is no wait; ``patience`` is the longest one.
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
    send: Send,
) -> dict[str, Any]:
    case = job.cases[at]
    code = codes[case["kernel"]]
    record = run_case(device, case, code, job.folder, room, lambda places: send("places", places))
    send("end", record)
    return record


def resources(job: Job, device: Device) -> dict[str, dict[str, int]]:
    """Resources of each kernel in its timed launch, else in its first case; of those that load."""
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


def time_kernels(job: Job, device: Device, send: Send) -> None:
    """The timed rounds; a fault is part of their answer."""
    rounds = importlib.import_module("timing")
    try:
        device.spin()
        answer = rounds.run(device, job.request["timing"], job.request["kernels"], job.folder)
    except DeviceFault as fault:
        answer = {"stopped": "fault", "fault": str(fault)}
    send("timing", answer)


def probe(job: Job, send: Send) -> None:
    """True if a new process can still compute on the device: a kernel of ours gives what it must."""
    try:
        device = job.device(send)
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
        send("probed", str(problem))
        return
    right = np.arange(_PROBED, dtype=np.uint32) * 3 + 1
    wrong = int(np.count_nonzero(results != right))
    send("probed", f"a kernel of ours got {wrong} of {_PROBED} numbers wrong" if wrong else "")
