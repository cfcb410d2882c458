"""Ordinary course kernels, compiled by nvcc both ways, give what NumPy gives, and nothing is reported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.emulator.launch import run
from grader.model import Argument, Launch, Run
from tests.emulator import examples_of_grids, examples_of_threads
from tests.emulator.nvcc import HAZARDS, compile_all, entries

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.ptx import Module
    from tests.emulator.examples import Example

LIBRARY = Path(__file__).parent / "library"

EXAMPLES: tuple[Callable[[], Example], ...] = (
    examples_of_grids.vector_add,
    examples_of_grids.saxpy_grid_stride,
    examples_of_grids.reduce_shared,
    examples_of_grids.reduce_shuffle,
    examples_of_grids.scan_blelloch,
    examples_of_grids.scan_warp,
    examples_of_grids.histogram_global,
    examples_of_grids.histogram_shared,
    examples_of_grids.transpose_naive,
    examples_of_grids.transpose_padded,
    examples_of_grids.stencil_1d,
    examples_of_grids.heat_2d,
    examples_of_grids.convolution_constant,
    examples_of_threads.matrix_vector,
    examples_of_threads.dot_double,
    examples_of_threads.integer_puzzles,
    examples_of_threads.grey_image,
    examples_of_threads.recursion,
    examples_of_threads.local_sort,
    examples_of_threads.bodies,
    examples_of_threads.choices,
    examples_of_threads.votes,
    examples_of_threads.halves,
    examples_of_threads.functions,
)
IN_OUT = {
    "saxpy_grid_stride",
    "reduce_shuffle",
    "histogram_global",
    "histogram_shared",
    "dot_double",
    "votes",
}
"""Kernels that add to what their outputs hold before."""


def _sources() -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(LIBRARY.glob("*.cu"))}


@pytest.fixture(scope="session")
def default_builds() -> dict[str, Module]:
    """Every kernel at nvcc's own optimisation."""
    return compile_all(_sources(), ())


@pytest.fixture(scope="session")
def hazard_builds() -> dict[str, Module]:
    """Every kernel as hazards are looked for in."""
    return compile_all(_sources(), HAZARDS)


def _launch(module: Module, name: str, example: Example, *, detect: bool) -> Run:
    arguments = []
    for place, value in enumerate(example.arguments):
        direction = "in"
        if place in example.out:
            direction = "inout" if name in IN_OUT else "out"
        arguments.append(
            Argument(f"p{place}", direction if isinstance(value, np.ndarray) else "value", value)
        )
    launch = Launch(example.grid, example.block, example.shared)
    (entry,) = entries(module)
    return run(module, entry, launch, tuple(arguments), detect=detect, source=f"{name}.cu", file=f"{name}.cu")


@pytest.mark.parametrize("make", EXAMPLES, ids=lambda make: make.__name__)
def test_a_course_kernel_gives_what_numpy_gives(
    make: Callable[[], Example],
    default_builds: dict[str, Module],
    hazard_builds: dict[str, Module],
) -> None:
    """In both builds and both modes, and no finding in either."""
    example, name = make(), make.__name__
    for builds, detect in ((default_builds, False), (hazard_builds, True)):
        done = _launch(builds[f"{name}.cu"], name, example, detect=detect)
        assert not done.findings, done.findings[0].message
        assert done.completed
        assert not done.changed_inputs
        for (_, got), wanted in zip(done.outputs, example.expected, strict=True):
            if example.within:
                np.testing.assert_allclose(got, wanted, rtol=example.within, atol=example.within)
            else:
                np.testing.assert_array_equal(got, wanted)


def test_every_kernel_of_the_library_is_run() -> None:
    """No file without an example."""
    assert {make.__name__ for make in EXAMPLES} == {path.stem for path in LIBRARY.glob("*.cu")}
