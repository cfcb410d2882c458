"""One timed launch of a kernel of a timing plan, with its preparation and its inspection."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any, NamedTuple

import roofline
from buffers import Helpers, Workspace
from case import Value, parameters_of, value_of
from device_code import Module
from host_buffers import HostWorkspace
from output_reservoir import OutputReservoir
from replay import Replay

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from buffers import LaunchEffects, Places
    from device import Device

Plan = dict[str, Any]
Images = dict[str, dict[str, Any]]

STUDENT = "student"
REPEATED_BASELINE = "again"
"""The baseline a second time in each round, as a control."""

EMPTY_PAIRS = 50
LIBRARY_SAMPLES = 7
SPACE = 256 * 2**20
"""Bytes for measuring bandwidth, or four times L2 if that is more; half of them overwrite L2."""


class TimedKernel(NamedTuple):
    """A kernel of a module, and how it is launched; ``arguments`` are what it is passed."""

    device: Device
    module: Module
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    arguments: tuple[Value, ...]

    def ready(self, places: Places) -> Callable[[], None]:
        """One launch with arrays at these places; all that can be made ready is."""
        self.module.renew()
        function = self.module.function(self.entry)
        arguments = [value.at(places) for value in self.arguments]
        return self.device.prepared(function, self.grid, self.block, self.shared, arguments)

    def forget(self) -> None:
        """It has no memory of its own."""

    def close(self) -> None:
        """It has no memory of its own."""


class Bench:
    """Kernels, arrays and events of one timing run. Every method may raise DeviceFault.

    ``running`` is the kernel that a fault would belong to; ``kept`` holds outputs of the student's kernel.
    """

    def __init__(self, device: Device, plan: Plan, images: Images, folder: Path, rng: random.Random) -> None:
        self.running = "helpers"
        self.kept = OutputReservoir(plan["kept_outputs"], rng)
        self._device = device
        self._helpers = Helpers(device, folder / plan.get("helpers", "helpers.cubin"))
        workspace = HostWorkspace if plan.get("on_host") else Workspace
        self._work = workspace(device, self._helpers, plan["sets"], folder, rng)
        self._space_bytes = max(SPACE, 4 * device.l2_bytes) // 32 * 32
        self._space = device.allocate(self._space_bytes)
        self._start, self._stop = device.events()
        self._timed = _timed(device, plan, images, folder)
        self._library: Callable[[], None] | None = None
        self._library_places: Places = {}

    @property
    def names(self) -> list[str]:
        """Names of the launches of a round."""
        return list(self._timed)

    def launch(self, name: str, which: int, *, keep: bool = False) -> tuple[float, LaunchEffects]:
        """Milliseconds of one launch on an input set, and what it left; ``keep`` its output if it is new."""
        self.running = name
        places = self._work.lay_out(which)
        timed = self._timed[name][which]
        work = timed.ready(places)
        self._overwrite_l2()
        ms = self._device.elapsed_of_ms(self._start, self._stop, work)
        effects = self._work.inspect(which, places)
        if keep:
            self.kept.offer(which, effects.digest, lambda: self._work.outputs(places))
        self._work.forget()
        timed.forget()
        return ms, effects

    def _overwrite_l2(self) -> None:
        """Leave nothing in L2. The overwriting is queued, and what follows waits for it on the device."""
        self._device.reset_persisting_l2()
        self._device.synchronize()
        self._device.fill(self._space, 0x5A, self._space_bytes // 2)

    def overhead_ms(self) -> float:
        """Time between two events with nothing between them."""
        times = [self._device.elapsed_of_ms(self._start, self._stop, _nothing) for _ in range(EMPTY_PAIRS)]
        return statistics.median(times)

    def rates(self) -> dict[str, float]:
        """Highest rates of the device, for the answer."""
        self.running = "helpers"
        return {
            "bandwidth_gb_s": roofline.bandwidth_gb_s(
                self._device, self._helpers, self._space, self._space_bytes
            ),
            "fp32_gflop_s": roofline.fp32_gflop_s(self._device, self._helpers, self._space),
        }

    def prepare_library(self, request: dict[str, Any]) -> None:
        """Make the library ready to do the same, and let it load its code."""
        self.running = "library"
        places = self._work.lay_out(0)
        self.wait()  # loading the library may take seconds, and that is no kernel's fault
        sizes, matrices = (request[key] for key in "mnk"), (places[request[key]] for key in "abc")
        self._library, self._library_places = self._device.sgemm(*sizes, *matrices), places
        if self._library is not None:
            self._library()
            self.wait()
            self._work.forget()

    def library_ms(self) -> list[float]:
        """Some times of the library on the same inputs, under the same conditions; none without one."""
        if self._library is None:
            return []
        self.running, times = "library", []
        for _ in range(LIBRARY_SAMPLES):
            self._work.refresh(0, self._library_places)
            self._overwrite_l2()
            times.append(self._device.elapsed_of_ms(self._start, self._stop, self._library))
        self._work.forget()
        return times

    def wait(self) -> None:
        """Until nothing is queued."""
        self._device.synchronize()

    def close(self) -> None:
        """Give the memory back."""
        self.wait()
        self._work.close()
        for timed in {id(one): one for several in self._timed.values() for one in several}.values():
            timed.close()
        self._device.free(self._space)


def _nothing() -> None:
    """Nothing: the distance of two events around it is the overhead of events."""


def _timed(
    device: Device, plan: Plan, images: Images, folder: Path
) -> dict[str, Sequence[TimedKernel | Replay]]:
    """Launches that are timed, by name and for each input set; the baseline is there twice."""
    names = {plan["baseline"]: plan["baseline"], REPEATED_BASELINE: plan["baseline"], STUDENT: STUDENT}
    if plan["solution"]:
        names[plan["solution"]] = plan["solution"]
    loaded = {real: _one(device, plan, real, images[real], folder) for real in dict.fromkeys(names.values())}
    return {name: loaded[real] for name, real in names.items()}


def _one(
    device: Device, plan: Plan, name: str, image: dict[str, Any], folder: Path
) -> Sequence[TimedKernel | Replay]:
    """A kernel for each input set, or what a function asked of its device."""
    variables = image.get("variables", False)
    if name in plan.get("recordings", {}):
        replays = [
            Replay(device, folder / image["image"], recording, folder, variables=variables)
            for recording in plan["recordings"][name]
        ]
        return replays if len(replays) > 1 else replays * len(plan["sets"])
    launch, widths = plan["launches"][name], plan.get("widths", {}).get(name, {})
    module = Module(device, folder / image["image"], variables=variables)
    shape = tuple(launch["grid"]), tuple(launch["block"]), launch["shared"]
    values_by_set = (
        tuple(value_of(argument, widths) for argument in parameters_of(arguments))
        for arguments in plan["sets"]
    )
    return [TimedKernel(device, module, image["entry"], *shape, values) for values in values_by_set]
