"""Arrays that variables of the kernel's module hold: filled before a launch, read after it.

What a host program does with `cudaMemcpyToSymbol` and `cudaMemcpyFromSymbol`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena import Array, ArraysAfterwards
    from device import Device
    from device_code import Code


class Variables:
    """The arrays that are in variables of a module, each by the variable's name in the cubin.

    Making one fills them; raises DeviceFault where there is no such variable.
    """

    def __init__(self, device: Device, code: Code, arrays: Sequence[Array]) -> None:
        self._device, self._arrays = device, arrays
        self._places = {array.name: code.module.symbol(code.symbols[array.name]) for array in arrays}
        for array in arrays:
            device.upload(self._places[array.name], np.ascontiguousarray(array.content))

    def places(self) -> dict[str, int]:
        """The address of every array's first element."""
        return self._places

    def read(self, result: ArraysAfterwards) -> None:
        """Add what a launch did to them."""
        for array in self._arrays:
            after = np.empty_like(np.ascontiguousarray(array.content))
            self._device.download(self._places[array.name], after)
            if array.direction != "in":
                result.outputs[array.name] = after
            elif after.tobytes() != array.content.tobytes():
                result.changed.append(array.name)
