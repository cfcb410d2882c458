"""A kernel's code on the device, which remembers nothing from one launch to the next.

A module's variables (`__device__`) keep what a kernel leaves in them. A kernel could count its launches
there, or keep results to copy them when inputs come again. So where there are any, every launch gets a copy
of the module of its own, in which they are as the file has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from device import Device


class Loaded:
    """The kernel ``entry`` of a cubin; with ``variables`` it is loaded anew for each launch."""

    def __init__(self, device: Device, image: Path, entry: str, *, variables: bool) -> None:
        self._device, self._image, self._entry, self._variables = device, image, entry, variables
        self._module: int | None = None

    def function(self) -> int:
        """The kernel for the next launch; the one before must be over."""
        if not self._variables:
            return self._device.function(self._image, self._entry)
        if self._module is not None:
            self._device.unload(self._module)
        self._module = self._device.load(self._image)
        function = self._device.entry(self._module, self._entry)
        self._device.make_ready(function)
        return function
