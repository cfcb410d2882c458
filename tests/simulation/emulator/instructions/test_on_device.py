"""The emulator and a device give the same bits (`pytest -m gpu`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grader.model import Argument, Launch
from tests.simulation.emulator import device
from tests.simulation.emulator.instructions import on_device, programs_on_device
from tests.simulation.emulator.instructions.programs_on_device import Launched

ROOT = Path(__file__).parents[4]


@pytest.mark.gpu
@pytest.mark.timeout(1800)
def test_the_emulator_gives_the_bits_of_the_device() -> None:
    """For every case of every chapter, and every program of those that are more than one instruction.

    In a process of its own: it runs the chapters' tests to see what they launch.
    """
    command = [sys.executable, "-m", on_device.__spec__.name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=1700)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def _launched(instruction: str, where: list[int]) -> Launched:
    cells = np.zeros(4, np.uint32)
    arguments = (Argument("cells", "inout", cells), Argument("where", "in", np.array(where, np.uint32)))
    outputs = {"cells": cells, "found": cells}
    return Launched(
        "a test", f"{instruction} %d, [%c], %a;", arguments, Launch((1, 1, 1), (4, 1, 1)), outputs
    )


@pytest.mark.parametrize(
    ("instruction", "where", "expected"),
    [
        ("atom.global.exch.b32", [3, 1, 0, 2], {"cells", "found"}),
        ("atom.global.exch.b32", [3, 1, 0, 3], set()),
        ("atom.shared.add.u32", [3, 1, 0, 3], {"cells"}),
        ("red.relaxed.gpu.global.max.s32", [0, 0, 0, 0], {"cells"}),
        ("atom.global.add.f32", [0, 0, 0, 0], set()),
        ("atom.global.inc.u32", [0, 0, 0, 0], set()),
        ("shfl.up.b32", [3, 1, 0, 2], set()),
        ("shfl.sync.up.b32", [3, 1, 0, 2], {"cells", "found"}),
    ],
)
def test_what_depends_on_the_order_of_threads_is_not_compared(
    instruction: str, where: list[int], expected: set[str]
) -> None:
    """Atomics where addresses collide: what they return, and what is left where the order matters."""
    assert _launched(instruction, where).defined() == expected


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", ("f4", 2.0**-10)),
        ("wmma.mma.sync.aligned.col.row.m16n16k16.f16.f16", ("f2", 2.0**-10)),
        ("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32", ("", 0.0)),
        ("add.f32", ("", 0.0)),
    ],
)
def test_sums_of_tensor_cores_may_be_rounded_otherwise(instruction: str, expected: tuple[str, float]) -> None:
    """Those of floats; whole numbers are exact."""
    assert _launched(instruction, [0, 1, 2, 3]).comparison() == expected


def test_outputs_that_differ_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a device that adds 1 to everything."""
    launched = _launched("atom.global.add.u32", [0, 1, 2, 3])
    monkeypatch.setattr(device, "launch", lambda _text, _entry, values, *_: [each + 1 for each in values])
    assert programs_on_device.compare(launched) == ["a test: 4 of 4 elements of cells differ"]
