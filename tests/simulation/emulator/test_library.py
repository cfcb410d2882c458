"""Ordinary course kernels, compiled by nvcc both ways, give what NumPy gives, and nothing is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.running.backends.emulated_kernel import is_steady, merge_runs
from tests.simulation.emulator.collection import EXAMPLES, LIBRARY, comparable, differing, emulate, source
from tests.simulation.emulator.nvcc import HAZARDS, compile_one

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulation.emulator.examples import Example

BUILDS = {"default": ((), False), "O0": (HAZARDS, True)}
"""Options of the compiler, and whether hazards are looked for."""


@pytest.mark.slow
@pytest.mark.parametrize("make", EXAMPLES, ids=lambda make: make.__name__)
def test_both_builds_of_a_course_kernel_do_the_same(make: Callable[[], Example]) -> None:
    """As many arrivals at barriers, and no more bytes stored by the build that is graded."""
    example, name = make(), make.__name__
    modules = {build: compile_one(source(name), opts, f"{name}.cu") for build, (opts, _) in BUILDS.items()}
    runs = {
        build: emulate(modules[build], name, example, detect=detect) for build, (_, detect) in BUILDS.items()
    }
    steady = is_steady(modules["default"])
    merged = merge_runs(runs["O0"], runs["default"], steady=steady, file=f"{name}.cu")
    assert not merged.findings, merged.findings[0].message


@pytest.mark.slow
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("make", EXAMPLES, ids=lambda make: make.__name__)
def test_a_course_kernel_gives_what_numpy_gives(make: Callable[[], Example], build: str) -> None:
    """In both builds and both modes, and no finding in either."""
    example, name = make(), make.__name__
    options, detect = BUILDS[build]
    done = emulate(compile_one(source(name), options, f"{name}.cu"), name, example, detect=detect)
    assert not done.findings, done.findings[0].message
    assert done.completed
    assert not done.changed_inputs
    outputs = comparable(example, [array for _, array in done.outputs])
    for place, got, wanted in zip(
        example.out, outputs, comparable(example, list(example.expected)), strict=True
    ):
        wrong = differing(got, wanted.reshape(got.shape), example.within)
        assert not wrong, f"{wrong} elements of output {place} are not what was expected"


def test_every_kernel_of_the_library_is_run() -> None:
    """No file without an example."""
    assert {make.__name__ for make in EXAMPLES} == {path.stem for path in LIBRARY.glob("*.cu")}


def test_what_may_differ_on_a_device_has_a_reason() -> None:
    """A tolerance between device and emulator comes with its reason."""
    assert all(bool(example.apart) == bool(example.because) for example in (make() for make in EXAMPLES))
