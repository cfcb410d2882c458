"""One timed launch, with all that belongs before and after it, of any kernel of a timing plan."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any, NamedTuple

import roofline
from buffers import Helpers, Workplace
from case import Value, passed, value_of
from kept import Kept
from loaded import Loaded

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from buffers import Left, Places
    from device import Device

Plan = dict[str, Any]
Images = dict[str, dict[str, Any]]

STUDENT = "student"
AGAIN = "again"
"""The baseline a second time in each round."""

EMPTY_PAIRS = 50
LIBRARY_SAMPLES = 7
SPACE = 256 * 2**20
"""Bytes for measuring bandwidth, or four times L2 if that is more; half of them overwrite L2."""


class Kernel(NamedTuple):
    """A kernel ready to be launched; ``arguments`` are, by input set, what it is passed."""

    code: Loaded
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    arguments: tuple[tuple[Value, ...], ...]


class Bench:
    """Kernels, arrays and events of one timing run. Every method may raise DeviceFault.

    ``running`` is the kernel that a fault would belong to; ``kept`` holds outputs of the student's kernel.
    """

    def __init__(self, device: Device, plan: Plan, images: Images, folder: Path, rng: random.Random) -> None:
        self.running = "helpers"
        self.kept = Kept(plan["kept_outputs"], rng)
        self._device = device
        self._helpers = Helpers(device, folder / plan.get("helpers", "helpers.cubin"))
        self._work = Workplace(device, self._helpers, plan["sets"], folder, rng)
        self._space_bytes = max(SPACE, 4 * device.l2_bytes) // 32 * 32
        self._space = device.allocate(self._space_bytes)
        self._start, self._stop = device.events()
        self._kernels = _kernels(device, plan, images, folder)
        self._library: Callable[[], None] | None = None
        self._library_places: Places = {}

    @property
    def names(self) -> list[str]:
        """What a round launches."""
        return list(self._kernels)

    def launch(self, name: str, which: int, *, keep: bool = False) -> tuple[float, Left]:
        """Milliseconds of one launch on an input set, and what it left; ``keep`` its output if it is new."""
        self.running = name
        kernel, places = self._kernels[name], self._work.lay_out(which)
        arguments = [value.at(places) for value in kernel.arguments[which]]
        function = kernel.code.function()
        self._overwrite_l2()
        ms = self._device.elapsed_ms(
            self._start, self._stop, function, kernel.grid, kernel.block, kernel.shared, arguments
        )
        left = self._work.inspect(which, places)
        if keep:
            self.kept.offer(which, left.digest, lambda: self._work.outputs(places))
        self._work.forget()
        return ms, left

    def _overwrite_l2(self) -> None:
        """Leave nothing in L2. The overwriting is queued, and what follows waits for it on the device."""
        self._device.reset_persisting_l2()
        self._device.synchronize()
        self._device.fill(self._space, 0x5A, self._space_bytes // 2)

    def overhead_ms(self) -> float:
        """What two events tell with nothing between them."""
        times = [self._device.elapsed_of_ms(self._start, self._stop, _nothing) for _ in range(EMPTY_PAIRS)]
        return statistics.median(times)

    def rates(self) -> dict[str, float]:
        """What the device can do at most, for the answer."""
        self.running = "helpers"
        return {
            "bandwidth_gb_s": roofline.bandwidth_gb_s(
                self._device, self._helpers, self._space, self._space_bytes
            ),
            "fp32_gflop_s": roofline.fp32_gflop_s(self._device, self._helpers, self._space),
        }

    def prepare_library(self, asked: dict[str, Any]) -> None:
        """Make the library ready to do the same, and let it load its code."""
        self.running = "library"
        places = self._work.lay_out(0)
        self.wait()  # loading the library may take seconds, and that is no kernel's fault
        sizes, matrices = (asked[key] for key in "mnk"), (places[asked[key]] for key in "abc")
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
        self._device.free(self._space)


def _nothing() -> None:
    """What lies between two events whose distance is the overhead of events."""


def _kernels(device: Device, plan: Plan, images: Images, folder: Path) -> dict[str, Kernel]:
    """The kernels of a round by their names; the baseline is there twice."""
    names = {plan["baseline"]: plan["baseline"], AGAIN: plan["baseline"], STUDENT: STUDENT}
    if plan["solution"]:
        names[plan["solution"]] = plan["solution"]
    return {name: _kernel(device, plan, real, images[real], folder) for name, real in names.items()}


def _kernel(device: Device, plan: Plan, name: str, image: dict[str, Any], folder: Path) -> Kernel:
    launch, widths = plan["launches"][name], plan.get("widths", {}).get(name, {})
    return Kernel(
        Loaded(device, folder / image["image"], image["entry"], variables=image.get("variables", False)),
        tuple(launch["grid"]),
        tuple(launch["block"]),
        launch["shared"],
        tuple(tuple(value_of(each, widths) for each in passed(arguments)) for arguments in plan["sets"]),
    )
