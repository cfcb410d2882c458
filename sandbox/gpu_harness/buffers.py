"""The arrays of timed launches: masters, rotating copies, poison, and the effects of a launch.

Each input set has masters on the device that no launch is given. A launch works on copies, at places chosen
anew at random, so that nothing can be known of its arguments from earlier ones; its outputs hold poison.
Afterwards the outputs are digested and the inputs compared with the masters as they were before any kernel
of a student's ran; then all is poisoned over, so that no right answer stays in device memory.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from device import Device
    from numpy.typing import NDArray

Argument = dict[str, Any]
Places = dict[str, int]

SLOTS = 3
"""Allocations that the copies of one array rotate through."""

OFFSETS = 32
"""Starts of a copy in its slot, 256 bytes apart, of which one is drawn at random."""

CELLS = 3
"""Numbers that come back after a launch."""

UNSET = 0xFF
"""Bytes with which memory is cleared."""

STEP = 256
THREADS = 256
MOST_BLOCKS = 2048
LONG = 2**64
GOLDEN = 0x9E3779B97F4A7C15
"""An odd number far from any pattern, to make many seeds of one."""


class LaunchEffects(NamedTuple):
    """Effects of a launch: a digest of all outputs, elements that still hold poison, inputs as they were."""

    digest: str
    unwritten: int
    inputs: bool


@dataclass(frozen=True)
class TimedArray:
    """An array as every set has it, but for what is in it; ``seed`` is that of its digests."""

    name: str
    direction: str
    like: NDArray[Any]
    offset: int
    seed: int

    @cached_property
    def poison(self) -> int:
        """Its first element repeated to 64 bits; the file of an ``out`` array holds poison."""
        element = self.like.reshape(-1)[:1].tobytes() or b"\0"
        return int.from_bytes(element * (8 // len(element)), "little")

    @cached_property
    def slot_bytes(self) -> int:
        """Bytes of a slot, a multiple of 256: room for every start."""
        used = self.like.nbytes + self.offset * self.like.itemsize
        return (OFFSETS + -(-used // STEP)) * STEP


class Helpers:
    """Our own device code, with numbers as arguments."""

    def __init__(self, device: Device, image: Path) -> None:
        self._device = device
        names = ("digest", "unwritten", "poison", "copy_words", "read_words", "fma_peak")
        self.functions = {name: device.function(image, name) for name in names}

    def run(self, name: str, work: int, *arguments: np.generic) -> None:
        """Launch a helper with about ``work`` things to do, as far as they need threads of their own."""
        blocks = max(1, min(MOST_BLOCKS, -(-work // THREADS)))
        self._device.launch(self.functions[name], (blocks, 1, 1), (THREADS, 1, 1), 0, arguments)

    def digest(self, start: int, size: int, seed: int, result: int) -> None:
        """Add the digest of ``size`` bytes to the number at ``result``."""
        self.run("digest", size // 4, np.uintp(start), np.uint64(size), np.uint64(seed), np.uintp(result))

    def unwritten(self, start: int, like: NDArray[Any], pattern: int, result: int) -> None:
        """Add the number of elements that hold the pattern to the number at ``result``."""
        width = np.uint32(like.itemsize)
        numbers = np.uintp(start), np.uint64(like.size), width, np.uint64(pattern), np.uintp(result)
        self.run("unwritten", like.size, *numbers)

    def poison(self, start: int, size: int, pattern: int) -> None:
        """Fill ``size`` bytes, a multiple of 8, as is ``start``."""
        self.run("poison", size // 8, np.uintp(start), np.uint64(size // 8), np.uint64(pattern))


class Workspace:
    """The arrays of all input sets on the device; see the module's docstring."""

    def __init__(
        self,
        device: Device,
        helpers: Helpers,
        sets: Sequence[Sequence[Argument]],
        folder: Path,
        rng: random.Random,
    ) -> None:
        self._device, self._helpers, self._rng = device, helpers, rng
        self._owned: list[int] = []
        loaded = [contents_of(arguments, folder) for arguments in sets]
        self.arrays = _arrays(sets[0], loaded[0])
        self._slots = {array.name: self._make_slots(array) for array in self.arrays}
        self._chosen: dict[str, int] = {}
        self._cells = self._allocate(CELLS * 8)
        self._masters = [self._make_masters(contents) for contents in loaded]
        self._input_digests = [self._measure(masters, ("in",))[2] for masters in self._masters]

    def _allocate(self, size: int) -> int:
        self._owned.append(self._device.allocate(size))
        return self._owned[-1]

    def _make_slots(self, array: TimedArray) -> list[int]:
        slots = [self._allocate(array.slot_bytes) for _ in range(SLOTS)]
        for slot in slots:
            self._helpers.poison(slot, array.slot_bytes, array.poison)
        return slots

    def _make_masters(self, contents: Mapping[str, NDArray[Any]]) -> Places:
        masters = {
            array.name: self._allocate(array.like.nbytes) for array in self.arrays if array.direction != "out"
        }
        for name, address in masters.items():
            self._device.upload(address, contents[name])
        return masters

    def lay_out(self, which: int) -> Places:
        """Choose places at random, copy the inputs of a set there, poison the outputs."""
        places = self.choose()
        self.refresh(which, places)
        return places

    def choose(self) -> Places:
        """A place for each array, at random."""
        return {array.name: self._choose(array) for array in self.arrays}

    def _choose(self, array: TimedArray) -> int:
        slot = self._rng.randrange(SLOTS)
        self._chosen[array.name] = self._slots[array.name][slot]
        start = self._rng.randrange(OFFSETS) * STEP + array.offset * array.like.itemsize
        return self._chosen[array.name] + start

    def refresh(self, which: int, places: Places) -> None:
        """Make the arrays at the places that were chosen last as they are before a launch."""
        for array in self.arrays:
            if array.direction == "out":
                self._blot_out(array)
            elif array.like.nbytes:
                self._device.copy(places[array.name], self._masters[which][array.name], array.like.nbytes)

    def inspect(self, which: int, places: Places) -> LaunchEffects:
        """The arrays that the launch left; waits for it."""
        outputs, unwritten, inputs = self._measure(places, ("in", "out", "inout"))
        return LaunchEffects(f"{outputs:016x}", unwritten, inputs == self._input_digests[which])

    def _measure(self, places: Places, directions: tuple[str, ...]) -> tuple[int, int, int]:
        """Digest of the outputs, number of unwritten elements, digest of the inputs."""
        outputs, unwritten, inputs = (self._cells + 8 * index for index in range(3))
        self._device.fill(self._cells, 0, CELLS * 8)
        for array in self.arrays:
            if array.direction not in directions or not array.like.nbytes:
                continue
            address, result = places[array.name], inputs if array.direction == "in" else outputs
            self._helpers.digest(address, array.like.nbytes, array.seed, result)
            if array.direction == "out":
                self._helpers.unwritten(address, array.like, array.poison, unwritten)
        cells = np.zeros(CELLS, np.uint64)
        self._device.download(self._cells, cells)
        self._device.synchronize()
        return int(cells[0]), int(cells[1]), int(cells[2])

    def outputs(self, places: Places) -> dict[str, NDArray[Any]]:
        """The outputs in full."""
        contents = {a.name: np.empty_like(a.like) for a in self.arrays if a.direction != "in"}
        for name, array in contents.items():
            self._device.download(places[name], array)
        self._device.synchronize()
        return contents

    def forget(self) -> None:
        """Poison what was an output of the last launch, and all around it in its slot."""
        for array in self.arrays:
            if array.direction != "in":
                self._blot_out(array)

    def forget_inputs(self) -> None:
        """Poison the inputs of the last launch as well."""
        for array in self.arrays:
            if array.direction == "in":
                self._blot_out(array)

    def drop_masters(self) -> None:
        """Poison the masters and give their memory back; nothing can be laid out any more."""
        for masters in self._masters:
            for array in self.arrays:
                if array.name in masters:
                    self._device.fill(masters[array.name], UNSET, array.like.nbytes)
                    self._device.free(masters[array.name])
                    self._owned.remove(masters[array.name])
            masters.clear()

    def _blot_out(self, array: TimedArray) -> None:
        self._helpers.poison(self._chosen[array.name], array.slot_bytes, array.poison)

    def close(self) -> None:
        """Give all memory back."""
        for address in self._owned:
            self._device.free(address)


def contents_of(arguments: Sequence[Argument], folder: Path) -> dict[str, NDArray[Any]]:
    """The arrays of one input set."""
    return {
        argument["name"]: np.ascontiguousarray(np.load(folder / argument["file"], allow_pickle=False))
        for argument in arguments
        if argument["direction"] != "value"
    }


def _arrays(arguments: Sequence[Argument], contents: Mapping[str, NDArray[Any]]) -> list[TimedArray]:
    """The arrays of a set, each with a seed of its own for digests, unknown outside this run."""
    secret = secrets.randbits(64)
    arrays = [argument for argument in arguments if argument["direction"] != "value"]
    return [
        TimedArray(
            argument["name"],
            argument["direction"],
            contents[argument["name"]],
            argument.get("offset", 0),
            (secret + index * GOLDEN) % LONG,
        )
        for index, argument in enumerate(arrays)
    ]
