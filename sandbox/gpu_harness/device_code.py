"""Code on the device, which remembers nothing from one time to the next.

A module's variables (`__device__`) keep what a kernel leaves in them. A kernel could count its launches
there, or keep results to copy them when inputs come again. So where there are any, every time gets a copy of
the module of its own, in which they are as the file has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from device import Device


class Module:
    """The kernels of a cubin; with ``variables`` it is loaded anew whenever it is renewed."""

    def __init__(self, device: Device, image: Path, *, variables: bool) -> None:
        self._device, self._image, self._variables = device, image, variables
        self._module: int | None = None

    def renew(self) -> None:
        """Make variables hold what the file says; what ran before must be over."""
        if self._variables:
            self.forget()
            self._module = self._device.load(self._image)

    def forget(self) -> None:
        """Give the variables' memory back; what ran before must be over."""
        if self._module is not None:
            self._device.unload(self._module)
            self._module = None

    def function(self, entry: str) -> int:
        """A kernel, whose code is loaded."""
        if self._module is None:
            return self._device.function(self._image, entry)
        function = self._device.entry(self._module, entry)
        self._device.make_ready(function)
        return function

    def symbol(self, name: str) -> int:
        """The address of a variable."""
        if self._module is None:
            raise ValueError("a module without variables has none")
        return self._device.symbol(self._module, name)


class Code(NamedTuple):
    """A kernel as a request names it: its module, its name there, and its variables' names in the cubin."""

    module: Module
    entry: str
    symbols: Mapping[str, str]


def code_of(device: Device, kernel: Mapping[str, Any], folder: Path) -> Code:
    """The code of one of a request's kernels, whose image lies in ``folder``; nothing is loaded yet."""
    module = Module(device, folder / kernel["image"], variables=kernel["variables"])
    return Code(module, kernel["entry"], kernel.get("symbols", {}))
