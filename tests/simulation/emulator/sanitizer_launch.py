"""Launch labelled kernels on the device, one after another, in a process that a tool watches.

``python -m tests.simulation.emulator.sanitizer_launch CUBIN SOURCE PROGRESS kernel…``: for each kernel
``begin name`` is appended to the file PROGRESS, then ``end name``, or ``fault name error`` after which the
process ends: a device that failed once refuses everything. So whoever waits knows which kernel hung.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.simulation.emulator.labelled import Kernel, kernels


def main(cubin: str, source: str, progress: str, *names: str) -> int:
    """Launch the named kernels of a file; 1 if one of them failed."""
    import cupy  # noqa: PLC0415 - only where there is a device

    cupy.cuda.set_allocator(None)  # no pool: the tools see where each array ends
    module = cupy.RawModule(path=cubin)
    known = {kernel.name: kernel for kernel in kernels(Path(source).read_text())}
    with Path(progress).open("a", buffering=1) as log:
        for name in names:
            log.write(f"begin {name}\n")
            try:
                launch(cupy, module.get_function(name), known[name])
            except Exception as error:  # noqa: BLE001 - whatever it is, the other kernels need a new process
                log.write(f"fault {name} {type(error).__name__}: {error}".replace("\n", " ") + "\n")
                return 1
            log.write(f"end {name}\n")
    return 0


def launch(cupy: Any, function: Any, kernel: Kernel) -> None:  # noqa: ANN401 - a module without types
    """One launch, waited for. ``out`` arrays are left as the device hands them out."""
    arguments = [
        argument.value
        if isinstance(argument.value, np.generic)
        else cupy.empty(argument.value.shape, argument.value.dtype)
        if argument.direction == "out"
        else cupy.asarray(argument.value)
        for argument in kernel.arguments(kernel.parameter_names())
    ]
    shape = kernel.launch
    function(shape.grid, shape.block, tuple(arguments), shared_mem=shape.shared_bytes)
    cupy.cuda.runtime.deviceSynchronize()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
