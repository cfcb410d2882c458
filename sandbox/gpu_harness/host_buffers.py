"""Arrays in memory of the host, for timed calls of functions that copy them to the device themselves.

Inputs and results are on the device only while what a call left is looked at, and poisoned over before the
next one: a kernel finds there what its own function has copied, and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from buffers import Workspace, contents_of

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence
    from pathlib import Path

    from buffers import Argument, Helpers, LaunchEffects, Places
    from device import Device
    from numpy.typing import NDArray


class HostWorkspace:
    """A `Workspace` whose arrays lie in pageable memory of the host."""

    def __init__(
        self,
        device: Device,
        helpers: Helpers,
        sets: Sequence[Sequence[Argument]],
        folder: Path,
        rng: random.Random,
    ) -> None:
        self._device = device
        self._looked_at = Workspace(device, helpers, sets, folder, rng)
        self._looked_at.drop_masters()
        self._contents = [contents_of(arguments, folder) for arguments in sets]
        self._arrays = {name: array.copy() for name, array in self._contents[0].items()}

    def lay_out(self, which: int) -> Places:
        """Fill the arrays with the inputs of a set, and outputs with poison."""
        places = {name: array.ctypes.data for name, array in self._arrays.items()}
        self.refresh(which, places)
        return places

    def refresh(self, which: int, places: Places) -> None:
        """Make the arrays as they are before a call."""
        del places
        for name, array in self._arrays.items():
            array[...] = self._contents[which][name]

    def inspect(self, which: int, places: Places) -> LaunchEffects:
        """The arrays that a call left; it is on the device for as long as this takes."""
        del places
        shown = self._looked_at.choose()
        for name, array in self._arrays.items():
            self._device.upload(shown[name], array)
        effects = self._looked_at.inspect(which, shown)
        self._looked_at.forget()
        self._looked_at.forget_inputs()
        return effects

    def outputs(self, places: Places) -> dict[str, NDArray[Any]]:
        """The outputs in full."""
        del places
        directions = {array.name: array.direction for array in self._looked_at.arrays}
        return {name: np.array(a) for name, a in self._arrays.items() if directions[name] != "in"}

    def forget(self) -> None:
        """Nothing of a call is on the device by now."""

    def close(self) -> None:
        """Give all memory back."""
        self._looked_at.close()
