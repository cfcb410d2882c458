"""Features of CUDA C++ beyond plain kernels, compiled by nvcc both ways, give what Python gives."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import Argument, Launch, Run
from grader.simulation.emulator.launch import run
from tests.simulation.emulator.features import examples, shared_state
from tests.simulation.emulator.features.large_tiles import large_tiles
from tests.simulation.emulator.nvcc import HAZARDS, compile_one

if TYPE_CHECKING:
    from grader.simulation.ptx import Module
    from tests.simulation.emulator.examples import Example

FOLDER = Path(__file__).parent / "features"
FILES = {
    "calls": examples.calls,
    "runtime": examples.runtime,
    "accesses": examples.accesses,
    "warps": examples.warps,
    "atomics": shared_state.atomics,
    "groups": shared_state.groups,
    "large_tiles": large_tiles,
    "libcu": shared_state.libcu,
}
CASES = [(file, kernel) for file, kernels in FILES.items() for kernel in kernels()]
NEEDS = {"reductions": 80, "elected": 90, "vectors": 90} | dict.fromkeys(large_tiles(), 80)
"""Kernels that older devices do not have."""
RACY = {"floats"}
"""Kernels of headers that read what others change atomically, to find out what to compare with."""


@cache
def _module(file: str, device: int, options: tuple[str, ...]) -> Module:
    return compile_one(
        (FOLDER / f"{file}.cu").read_text(), (f"-arch=compute_{device}", *options), f"{file}.cu"
    )


def _launch(file: str, module: Module, kernel: str, example: Example, *, detect: bool) -> Run:
    arguments = tuple(
        Argument(f"a{place}", "inout" if isinstance(value, np.ndarray) else "value", value)
        for place, value in enumerate(example.arguments)
    )
    launch = Launch(example.grid, example.block, example.shared)
    return run(module, kernel, launch, arguments, detect=detect, source=file, file=file)


def _check(file: str, kernel: str, device: int, options: tuple[str, ...]) -> None:
    example = FILES[file]()[kernel]
    done = _launch(f"{file}.cu", _module(file, device, options), kernel, example, detect=bool(options))
    outputs = dict(done.outputs)
    for place, wanted in zip(example.out, example.expected, strict=True):
        np.testing.assert_allclose(outputs[f"a{place}"], wanted, example.within, example.within)
    assert done.completed
    assert not [each.message for each in done.findings if kernel not in RACY or each.kind != "race"]


@pytest.mark.parametrize(
    "options", [pytest.param((), marks=pytest.mark.slow), HAZARDS], ids=["default", "hazards"]
)
@pytest.mark.parametrize(("file", "kernel"), CASES, ids=[kernel for _, kernel in CASES])
def test_a_feature_gives_what_python_gives(file: str, kernel: str, options: tuple[str, ...]) -> None:
    """At the optimisation that is counted and at the one in which hazards are looked for."""
    _check(file, kernel, max(80, NEEDS.get(kernel, 0)), options)


@pytest.mark.slow
@pytest.mark.parametrize("device", [75, 90])
@pytest.mark.parametrize("options", [(), HAZARDS], ids=["default", "hazards"])
@pytest.mark.parametrize(("file", "kernel"), CASES, ids=[kernel for _, kernel in CASES])
def test_every_generation_of_devices_gives_the_same(
    file: str, kernel: str, options: tuple[str, ...], device: int
) -> None:
    """Kernels that are compiled for older and newer devices give the expected results, too."""
    _check(file, kernel, max(device, NEEDS.get(kernel, 0)), options)
