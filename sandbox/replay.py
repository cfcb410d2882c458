"""A function's work on the device, done again: launches, copies and fills, in the order of a recording.

Whatever the function had beside its arguments (memory that it allocated, variables of its file, what it
copied from the host) is made anew before each time, so that nothing is remembered from one to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from loaded import Module

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from buffers import Places
    from device import Device

UNSET = 0xFF
"""What bytes hold that nobody has written: NaN as floats, -1 as integers."""


class Replay:
    """A recording ready to be replayed; ``image`` is the cubin of all kernels of the file."""

    def __init__(
        self, device: Device, image: Path, recording: Mapping[str, Any], folder: Path, *, variables: bool
    ) -> None:
        self._device, self._recording = device, recording
        self._module = Module(device, image, variables=variables)
        self._contents = {
            name: np.fromfile(folder / file, np.uint8, size)
            for name, (file, size) in recording["contents"].items()
        }
        sizes = recording["scratch"] | {name: array.nbytes for name, array in self._contents.items()}
        self._sizes: dict[str, int] = sizes
        self._own = {name: device.allocate(size) for name, size in sizes.items()}

    def ready(self, places: Places) -> Callable[[], None]:
        """What does it once, with arguments at these places; all that can be made ready is."""
        self._module.renew()
        for name, address in self._own.items():
            if name in self._contents:
                self._device.upload(address, self._contents[name])
            else:
                self._device.fill(address, UNSET, self._sizes[name])
        variables = {name: self._module.symbol(name) for name in self._recording["variables"]}
        everywhere = places | self._own | variables
        works = [self._work(step, everywhere) for step in self._recording["steps"]]

        def work() -> None:
            for each in works:
                each()

        return work

    def _work(self, step: Mapping[str, Any], places: Places) -> Callable[[], object]:
        device = self._device
        if step["do"] == "launch":
            function = self._module.function(step["entry"])
            values = [_value(parameter, places) for parameter in step["parameters"]]
            return device.prepared(function, step["grid"], step["block"], step["shared"], values)
        to, size = _address(step["to"], places), step["size"]
        if step["do"] == "fill":
            return lambda: device.fill(to, step["byte"], size)
        source = _address(step["source"], places)
        return lambda: device.copy(to, source, size)

    def close(self) -> None:
        """Give its memory back."""
        for address in self._own.values():
            self._device.free(address)


def _value(parameter: Mapping[str, Any], places: Places) -> np.generic:
    """A parameter's bytes with the addresses that belong there."""
    content = bytearray(bytes.fromhex(parameter["bytes"]))
    for at, array, offset in parameter["pointers"]:
        address = np.uintp(places[array] + offset).tobytes()
        content[at : at + len(address)] = address
    value: np.generic = np.frombuffer(bytes(content), f"V{len(content)}")[0]
    return value


def _address(place: tuple[str, int], places: Places) -> int:
    array, offset = place
    return places[array] + offset
