"""Measure the time of the kernels of the corpus on the GPU at hand, each at its shapes.

`python -m tests.bench.estimate.measure build FOLDER [--architecture sm_90]`
`python -m tests.bench.estimate.measure run FOLDER FILE [--parts PART ...] [--only WORD ...]`

The first needs a compiler and no GPU, the second a GPU, CuPy and NumPy. A launch is timed as the grader does
it: L2 is overwritten just before, so that all comes from DRAM, and between the two events is the kernel
alone. Outputs are compared with NumPy's once. Then come launches that do not count, then those whose median
is the time; when the family's other kernels have had their turn, some more, whose median shows how well such
a time repeats.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np

from tests.bench.estimate import inputs, references
from tests.bench.estimate.corpus import PARTS, ROOT, Array
from tests.bench.estimate.cubins import cubin_of, entry_in
from tests.bench.estimate.measured import Launches, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from device import Device
    from numpy.typing import NDArray

    from tests.bench.estimate.records import Kernel, Shape

SPACE = 256 * 2**20
"""Bytes, half of which overwrite L2, or four times L2 if more, as in `sandbox/gpu_harness/bench.py`."""

LAUNCHES, SECONDS, FEWEST = 20, 1.0, 7
"""Most launches that are timed, the seconds that they may take, and the fewest launches."""

REPEATS, REPEAT_SECONDS = 10, 0.3
WARM_SECONDS, WARM_LAUNCHES = 0.01, 3


@dataclass(frozen=True, slots=True)
class Prepared:
    """A kernel at one shape, ready to be launched; ``resources`` are what a block takes."""

    kernel: Kernel
    launch: Callable[[], None]
    resources: dict[str, int]


class Timer:
    """Times launches on a device whose L2 is overwritten before each."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._space = max(SPACE, 4 * device.l2_bytes)
        self._address = device.allocate(self._space)
        self._start, self._stop = device.events()

    def time(self, work: Callable[[], object]) -> float:
        """Milliseconds of one launch."""
        self._device.synchronize()
        self._device.fill(self._address, 0x5A, self._space // 2)
        return self._device.elapsed_of_ms(self._start, self._stop, work)

    def times(self, work: Callable[[], object], most: int, seconds: float, fewest: int) -> list[float]:
        """Milliseconds of several launches, until there are ``most`` or they took ``seconds``."""
        times: list[float] = []
        while len(times) < most and (len(times) < fewest or sum(times) < 1e3 * seconds):
            times.append(self.time(work))
        return times


class Memory:
    """The arrays of one family at one shape, on the device, and the expected results of each rule."""

    def __init__(self, device: Device, kernel: Kernel, shape: Shape) -> None:
        self._device, self._shape = device, shape
        self._arrays = inputs.arrays_of(kernel, shape)
        self._addresses = {name: device.allocate(array.nbytes) for name, array in self._arrays.items()}
        self._right: dict[str, NDArray[Any]] = {}
        for name, array in self._arrays.items():
            device.upload(self._addresses[name], array)

    def arguments(self, kernel: Kernel) -> list[np.generic]:
        """The arguments of a kernel, in order."""
        return [
            np.uint64(self._addresses[each.name])
            if isinstance(each, Array)
            else inputs.number_of(each, self._shape)
            for each in kernel.parameters
        ]

    def error(self, kernel: Kernel, launch: Callable[[], None]) -> float:
        """The error of the output of one launch against the expected values; the output was zero before."""
        output = np.zeros_like(self._arrays[kernel.output])
        self._device.upload(self._addresses[kernel.output], output)
        launch()
        self._device.synchronize()
        self._device.download(self._addresses[kernel.output], output)
        if kernel.rule not in self._right:
            self._right[kernel.rule] = references.RULES[kernel.rule](self._arrays, self._shape)
        return references.error_of(kernel.rule, output, self._right[kernel.rule])

    def free(self) -> None:
        """Give the memory back."""
        for address in self._addresses.values():
            self._device.free(address)


def prepare(device: Device, memory: Memory, kernel: Kernel, shape: Shape, folder: Path) -> Prepared:
    """Load a kernel and make its launch ready."""
    cubin = cubin_of(kernel, folder)
    function = device.function(cubin, entry_in(cubin.read_bytes(), kernel.entry))
    arguments = memory.arguments(kernel)
    launch = device.prepared(function, kernel.grid_of(shape), kernel.block, kernel.shared, arguments)
    resources = device.resources(function, int(np.prod(kernel.block)), kernel.shared)
    return Prepared(kernel, launch, resources)


def measure_group(
    device: Device, timer: Timer, group: Sequence[Kernel], shape: Shape, folder: Path
) -> dict[str, dict[str, Any]]:
    """The names of a family's kernels with what was measured of them at one shape."""
    memory = Memory(device, group[0], shape)
    ready = [prepare(device, memory, kernel, shape, folder) for kernel in group]
    rows: dict[str, dict[str, Any]] = {}
    for each in ready:
        error = memory.error(each.kernel, each.launch)
        if not error <= references.TOLERANCE:
            sys.stderr.write(f"{each.kernel.name} is wrong at {dict(shape)}: {error:.3g}\n")
        timer.times(each.launch, 100, WARM_SECONDS, WARM_LAUNCHES)
        times = timer.times(each.launch, LAUNCHES, SECONDS, FEWEST)
        rows[each.kernel.name] = {
            "shape": dict(shape),
            "ms": _rounded(statistics.median(times)),
            "low_ms": _rounded(np.percentile(times, 10)),
            "high_ms": _rounded(np.percentile(times, 90)),
            "launches": len(times),
            "error": _rounded(error),
            **each.resources,
        }
    for each in ready:
        timer.times(each.launch, WARM_LAUNCHES, WARM_SECONDS, 1)
        again = timer.times(each.launch, REPEATS, REPEAT_SECONDS, 3)
        rows[each.kernel.name]["again_ms"] = _rounded(statistics.median(again))
    memory.free()
    return rows


def _rounded(value: SupportsFloat) -> float:
    """Six digits, which is more than a time repeats."""
    return float(f"{float(value):.6g}")


def measure_family(
    device: Device, timer: Timer, group: Sequence[Kernel], folder: Path
) -> dict[str, list[dict[str, Any]]]:
    """Measure each kernel of a family; return a row for each of its shapes."""
    results: dict[str, list[dict[str, Any]]] = {kernel.name: [] for kernel in group}
    for shape in group[0].shapes:
        for name, row in measure_group(device, timer, group, shape, folder).items():
            results[name].append(row)
    return results


def run(folder: Path, file: Path, parts: Sequence[str], words: Sequence[str]) -> None:
    """Measure the kernels of some parts, and write it, each time that a family is done.

    Where there are words, only kernels are measured in whose name is one of them.
    """
    sys.path.append(str(ROOT / "sandbox" / "gpu_harness"))
    from device import Device  # noqa: PLC0415 - the sandbox's, with CuPy, which building does not need

    device = Device()
    timer = Timer(device)
    properties: dict[str, Any] = {
        "device": {name: value for name, value in device.properties().items() if name != "uuid"},
        "date": datetime.now(UTC).date().isoformat(),
        "events_around_nothing_ms": _rounded(statistics.median(timer.times(lambda: None, 50, 1.0, 50))),
    }
    measured: dict[str, Launches] = {part: {} for part in parts}
    for part in parts:
        chosen = [kernel for kernel in PARTS[part] if not words or any(w in kernel.name for w in words)]
        for family, members in groupby(chosen, lambda kernel: kernel.family):
            began = time.perf_counter()
            measured[part] |= measure_family(device, timer, list(members), folder)
            properties["clocks"] = device.clocks()
            file.write_text(written(properties, measured), "utf-8")
            sys.stderr.write(f"{family}: {time.perf_counter() - began:.1f} s\n")


def main() -> None:
    """Build, or run what was built."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build")
    building.add_argument("folder", type=Path)
    building.add_argument("--architecture", default="sm_90")
    running = commands.add_parser("run")
    running.add_argument("folder", type=Path)
    running.add_argument("file", type=Path)
    running.add_argument("--parts", nargs="+", choices=PARTS, default=["calibration", "corpus"])
    running.add_argument("--only", nargs="+", default=[])
    options = parser.parse_args()
    if options.command == "build":
        from tests.bench.estimate.building import build  # noqa: PLC0415 - a machine with a GPU may lack it

        build([kernel for part in PARTS.values() for kernel in part], options.folder, options.architecture)
    else:
        run(options.folder, options.file, options.parts, options.only)


if __name__ == "__main__":
    main()
