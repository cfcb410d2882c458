"""The library of course kernels: each file of ``library/``, the launch that goes with it, and how to compare.

Needs NumPy and the emulator only, so that it also runs where there is a device and little else.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.model import Argument, Launch
from grader.simulation.emulator.launch import Kernel
from tests.simulation.emulator import (
    examples_of_grids,
    examples_of_groups,
    examples_of_images,
    examples_of_integers,
    examples_of_matrices,
    examples_of_programs,
    examples_of_sums,
    examples_of_threads,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.model import Run
    from grader.simulation.ptx import Module
    from tests.simulation.emulator.examples import Example

LIBRARY = Path(__file__).parent / "library"

EXAMPLES: tuple[Callable[[], Example], ...] = (
    *examples_of_grids.EXAMPLES,
    *examples_of_threads.EXAMPLES,
    *examples_of_sums.EXAMPLES,
    *examples_of_images.EXAMPLES,
    *examples_of_matrices.EXAMPLES,
    *examples_of_programs.EXAMPLES,
    *examples_of_integers.EXAMPLES,
    *examples_of_groups.EXAMPLES,
)


def source(name: str) -> str:
    """The text of a kernel."""
    return (LIBRARY / f"{name}.cu").read_text()


def emulate(module: Module, name: str, example: Example, *, detect: bool) -> Run:
    """Launch an example's kernel in the emulator; hazards are looked for in either build."""
    (entry,) = (function.name for function in module.functions if function.is_entry)
    arguments = []
    for place, value in enumerate(example.arguments):
        direction = "value" if not isinstance(value, np.ndarray) else "in"
        if place in example.out:
            direction = "inout" if place in example.updated else "out"
        arguments.append(Argument(f"p{place}", direction, value))
    launch = Launch(example.grid, example.block, example.shared)
    kernel = Kernel(module, entry, f"{name}.cu", f"{name}.cu")
    return kernel.run(launch, tuple(arguments), detect=detect, races=True)


def comparable(example: Example, outputs: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """The outputs, with those sorted whose order is unspecified."""
    pairs = zip(example.out, outputs, strict=True)
    return [np.sort(array, axis=None) if place in example.unordered else array for place, array in pairs]


def differing(got: NDArray[Any], wanted: NDArray[Any], within: float) -> int:
    """Count the elements that are not the same bits, nor both NaN; or, with ``within``, too far apart."""
    if got.dtype.names:
        return sum(differing(got[name], wanted[name], within) for name in got.dtype.names)
    if got.dtype.kind != "f":
        return int((got != wanted).sum())
    neither = np.isnan(got) & np.isnan(wanted)
    if within:
        near = np.isclose(got, wanted, rtol=within, atol=within)
    else:
        same = f"u{got.dtype.itemsize}"
        near = np.ascontiguousarray(got).view(same) == np.ascontiguousarray(wanted).view(same)
    return int((~(near | neither)).sum())
