"""A function's work on the device, done again: launches, copies and fills, in the order of a recording.

Memory that the function allocated is filled anew after each time, and variables of its file before it, so
that nothing is remembered from one to the next. What it copied from the host lies in pageable memory of the
host, and what it read goes to such memory: the host waits for that as the function did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from device_code import Module

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from buffers import Places
    from device import Device

HOST = "host-memory"
"""Name in recordings of memory of the host that results are read into (`grader.toolchain.gpu.replay`)."""

UNSET = 0xFF
"""The value of bytes that were not written: NaN as floats, -1 as integers."""


class Replay:
    """A recording ready to be replayed; ``image`` is the cubin of all kernels of the file."""

    def __init__(
        self, device: Device, image: Path, recording: Mapping[str, Any], folder: Path, *, variables: bool
    ) -> None:
        self._device, self._recording = device, recording
        self._module = Module(device, image, variables=variables)
        self._on_host = {
            name: np.fromfile(folder / file, np.uint8, size)
            for name, (file, size) in recording["contents"].items()
        } | {HOST: np.zeros(recording["host_bytes"], np.uint8)}
        self._scratch = {name: device.allocate(size) for name, size in recording["scratch"].items()}
        self.forget()

    def ready(self, places: Places) -> Callable[[], None]:
        """A call that runs it once, with arguments at these places; all that can be made ready is."""
        self._module.renew()
        variables = {name: self._module.symbol(name) for name in self._recording["variables"]}
        on_host = {name: array.ctypes.data for name, array in self._on_host.items()}
        everywhere = places | self._scratch | variables | on_host
        works = [self._work(step, everywhere) for step in self._recording["steps"]]

        def work() -> None:
            for do in works:
                do()

        return work

    def forget(self) -> None:
        """Leave nothing in its memory: no later run and no other kernel may find its results there."""
        for name, size in self._recording["scratch"].items():
            self._device.fill(self._scratch[name], UNSET, size)

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
        for address in self._scratch.values():
            self._device.free(address)


def _value(parameter: Mapping[str, Any], places: Places) -> np.generic:
    """A parameter's bytes with the addresses that belong there."""
    content = bytearray(bytes.fromhex(parameter["bytes"]))
    for at, array, offset in parameter["pointers"]:
        address = np.uintp(places[array] + offset).tobytes()
        content[at : at + len(address)] = address
    value: np.generic = np.frombuffer(bytes(content), f"V{len(content)}")[0]
    return value


def _address(location: tuple[str, int], places: Places) -> int:
    array, offset = location
    return places[array] + offset
