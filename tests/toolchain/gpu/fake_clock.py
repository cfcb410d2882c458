"""A device whose kernels take the times that a test chooses; its clock stands still between what it is asked.

Kernels are Python functions on real bytes, so that digests, poison and inputs are what they would be. What it
was asked to do just before each timed launch is kept.
"""

# ruff: noqa: D102 - the methods are those of device.Device

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from device import DeviceFault

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

L2_BYTES = 50 * 2**20
VIRTUAL = 2**24
"""Allocations from this size on have addresses but no contents."""

FIRST, LAST = 0x10_0000_0000, 0x1000_0000_0000
"""Addresses of the device; all others are this process's own."""

HOST_SECONDS = 4e-6
"""Time of the host for each request to the device."""

N = 96
U64 = np.uint64


@dataclass
class Call:
    """One launch as a kernel sees it; ``before`` counts earlier launches of the same kernel."""

    device: FakeDevice
    before: int
    arguments: Sequence[np.generic]

    def array(self, place: int, count: int = N) -> NDArray[np.float32]:
        """The float32 array at an argument, to read and to write."""
        return self.device.view(_number(self.arguments[place]), 4 * count).view(np.float32)


def _number(argument: np.generic) -> int:
    """An argument, also where it is given as bytes."""
    return int.from_bytes(argument.tobytes(), "little") if argument.dtype.kind == "V" else int(argument)


Body: TypeAlias = Callable[[Call], None]


def adds(call: Call) -> None:
    """Do what a correct kernel does: C = A + B."""
    call.array(2)[:] = call.array(0) + call.array(1)


@dataclass
class Kernel:
    """A kernel that takes ``ms`` on a quiet device."""

    ms: float
    body: Body = adds


class Stopped(Exception):  # noqa: N818 - raised by a test in a kernel, reported as CUDA would report it
    """A kernel that comes to no good end."""


Clocks = dict[str, float | None]
QUIET: Clocks = {"sm_mhz": 1980, "memory_mhz": 2619, "celsius": 40, "watts": 300.0, "reasons": 0}


@dataclass
class FakeDevice:
    """See the module; by the time in s, ``slowness`` stretches times and ``reading`` is what NVML reports."""

    kernels: dict[str, Kernel]
    noise: float = 0.005
    seed: int = 1
    slowness: Callable[[float], float] = lambda _now: 1.0
    reading: Callable[[float], Clocks | None] = lambda _now: dict(QUIET)
    library: float | None = None
    now: float = 0.0
    log: list[tuple[Any, ...]] = field(default_factory=list)
    timed: list[tuple[str, list[tuple[Any, ...]], tuple[int, ...]]] = field(default_factory=list)
    l2_bytes: int = L2_BYTES
    loads: int = 0

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._bases: list[int] = []
        self._memory: list[NDArray[np.uint8]] = []
        self._next = FIRST
        self._launched: dict[str, int] = {}

    # memory

    def allocate(self, size: int) -> int:
        self._bases.append(self._next)
        self._memory.append(np.full(size if size < VIRTUAL else 0, 0xEE, np.uint8))
        self._next += -(-size // 512) * 512 + 2**16
        return self._bases[-1]

    def free(self, address: int) -> None:
        self._memory[self._bases.index(address)] = np.zeros(0, np.uint8)

    def view(self, address: int, size: int) -> NDArray[np.uint8]:
        """The bytes at an address, of the device or of the host."""
        if not FIRST <= address < LAST:
            return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
        index = bisect_right(self._bases, address) - 1
        start = address - self._bases[index]
        assert start + size <= self._memory[index].size, "outside of every allocation"
        return self._memory[index][start : start + size]

    def everything(self) -> bytes:
        """All of the device's memory."""
        return b"".join(each.tobytes() for each in self._memory)

    def upload(self, address: int, array: NDArray[Any]) -> None:
        self.view(address, array.nbytes)[:] = array.reshape(-1).view(np.uint8)

    def download(self, address: int, array: NDArray[Any]) -> None:
        self._pass(HOST_SECONDS)
        array.reshape(-1).view(np.uint8)[:] = self.view(address, array.nbytes)

    def copy(self, to: int, source: int, size: int) -> None:
        self._note("copy")
        self.view(to, size)[:] = self.view(source, size)

    def fill(self, address: int, byte: int, size: int) -> None:
        self._note("fill", size)
        if size < VIRTUAL:
            self.view(address, size)[:] = byte

    # kernels and time

    def function(self, _image: Path, entry: str) -> str:
        return entry

    def load(self, _image: Path) -> int:
        self._note("load")
        self.loads += 1
        return self.loads

    def unload(self, _module: int) -> None:
        self._note("unload")

    def entry(self, _module: int, entry: str) -> str:
        return entry

    def symbol(self, _module: int, _name: str) -> int:
        """A variable of a module that was loaded just now."""
        return self.allocate(4 * N)

    def make_ready(self, _function: str) -> None:
        self._note("ready")

    def launch(
        self,
        function: str,
        _grid: Sequence[int],
        _block: Sequence[int],
        _shared: int,
        arguments: Sequence[np.generic],
    ) -> None:
        self._note("launch", function)
        before = self._launched.get(function, 0)
        self._launched[function] = before + 1
        call = Call(self, before, arguments)
        if function in HELPERS:
            seconds = HELPERS[function](call)
        else:
            self._faults(function, call)
            seconds = self.kernels[function].ms / 1000 * self._noise() * self.slowness(self.now)
        self._pass(seconds)

    def _faults(self, function: str, call: Call) -> None:
        try:
            self.kernels[function].body(call)
        except Stopped as stop:
            raise DeviceFault("cudaErrorIllegalAddress", str(stop)) from None

    def _noise(self) -> float:
        outlier = 1.3 if self.noise and self._rng.random() < 0.02 else 1.0
        return float(np.exp(self._rng.normal(0, self.noise))) * outlier

    def synchronize(self) -> None:
        self._note("drain")

    def reset_persisting_l2(self) -> None:
        self._note("reset")

    def events(self) -> tuple[int, int]:
        return 1, 2

    def prepared(
        self,
        function: str,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        arguments: Sequence[np.generic],
    ) -> Callable[[], None]:
        def work() -> None:
            self.timed.append((function, self.log, tuple(map(_number, arguments))))
            self.log = []
            self.launch(function, grid, block, shared, arguments)

        return work

    def elapsed_of_ms(self, _start: int, _stop: int, work: Callable[[], object]) -> float:
        return self._elapsed(work)

    def _elapsed(self, work: Callable[[], object]) -> float:
        began = self.now
        work()
        return 1000 * (self.now - began) + 0.0013

    def sgemm(self, *_sizes: int) -> Callable[[], None] | None:
        seconds = self.library
        return None if seconds is None else lambda: self._pass(seconds * self._noise())

    def clocks(self) -> Clocks | None:
        return self.reading(self.now)

    def _note(self, *what: Any) -> None:  # noqa: ANN401 - names and sizes
        self.log.append(what)
        self._pass(HOST_SECONDS)

    def _pass(self, seconds: float) -> None:
        self.now += seconds


# what helpers.cu does


def mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64."""
    z = (z ^ (z >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
    return z ^ (z >> U64(31))


def digest_of(content: NDArray[np.uint8], seed: int) -> int:
    """Compute the digest that `digest` in helpers.cu adds up."""
    padded = np.zeros(-(-content.size // 4) * 4, np.uint8)
    padded[: content.size] = content
    words = padded.view("<u4").astype(np.uint64)
    places = U64(seed) ^ (np.arange(words.size, dtype=np.uint64) * U64(0x9E3779B97F4A7C15))
    return int(np.add.reduce(mixed(mixed(places) ^ words), dtype=np.uint64))


def _digest(call: Call) -> float:
    start, size, seed, result = (int(each) for each in call.arguments)
    total = call.device.view(result, 8).view(np.uint64)
    total += U64(digest_of(call.device.view(start, size), seed))
    return 5e-6


def _unwritten(call: Call) -> float:
    start, count, width, pattern, result = (int(each) for each in call.arguments)
    elements = call.device.view(start, count * width).view(f"u{width}")
    total = call.device.view(result, 8).view(np.uint64)
    total += U64(np.count_nonzero(elements == elements.dtype.type(pattern % 2 ** (8 * width))))
    return 5e-6


def _poison(call: Call) -> float:
    start, count, pattern = (int(each) for each in call.arguments)
    call.device.view(start, 8 * count).view(np.uint64)[:] = pattern
    return 5e-6


def _copy_words(call: Call) -> float:
    return 2 * 16 * int(call.arguments[2]) / 3e12


def _read_words(call: Call) -> float:
    return 16 * int(call.arguments[1]) / 3.3e12


def _fma_peak(call: Call) -> float:
    return 8192 * 256 * 16 * int(call.arguments[1]) / 6e13


HELPERS: dict[str, Callable[[Call], float]] = {
    "digest": _digest,
    "unwritten": _unwritten,
    "poison": _poison,
    "copy_words": _copy_words,
    "read_words": _read_words,
    "fma_peak": _fma_peak,
}


def device_with(student: Kernel | None = None, **changes: Any) -> FakeDevice:  # noqa: ANN401 - fields
    """A device with a baseline of 0.42 ms and a model solution and a student's kernel of 0.28 ms."""
    kernels = {"naive": Kernel(0.42), "solution": Kernel(0.28), "student": student or Kernel(0.28)}
    return FakeDevice(kernels, **changes)
