"""Loops in `loops/*.cu`: none that ends is called endless, whatever it waits for; what is endless is seen."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import FindingKind, Severity
from tests.simulation.emulator.launching import Compiled, default_build, hazard_build, zeros

if TYPE_CHECKING:
    from grader.model import Run

FOLDER = Path(__file__).parent / "loops"
KERNEL = re.compile(r"^KERNEL\((\w+)\)", re.MULTILINE)
BUILDS = ["default", "O0"]
STEPS = 20_000


def kernels(file: str, start: str) -> list[str]:
    """The kernels of a file whose names begin so."""
    return [name for name in KERNEL.findall((FOLDER / file).read_text()) if name.startswith(start)]


@cache
def compiled(file: str, build: str) -> Compiled:
    """A file of kernels in one of the builds."""
    source = (FOLDER / file).read_text()
    return default_build(source) if build == "default" else hazard_build(source)


def waits(kernel: str, build: str) -> Run:
    """A launch of a kernel of `waiting.cu`."""
    block = 4 if "every_lane" in kernel else 1
    arrays = (np.arange(64, dtype=np.int32), zeros(64, dtype="int32"), zeros(64, dtype="int32"))
    grid = 1 if block > 1 else 3
    steps = 10 * STEPS if kernel.startswith("ok_") else STEPS
    return compiled("waiting.cu", build).run(kernel, (grid, 1, 1), (block, 1, 1), *arrays, steps=steps)


def works(kernel: str, build: str) -> Run:
    """A launch of a kernel of `much.cu`."""
    output = zeros(32, dtype="int32")
    return compiled("much.cu", build).run(kernel, (1, 1, 1), (32, 1, 1), output, np.int32(10), steps=STEPS)


def of_kind(run: Run, kind: FindingKind) -> list[str]:
    """The messages of the errors of a kind."""
    return [f.message for f in run.findings if f.kind is kind and f.severity is Severity.ERROR]


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("kernel", kernels("waiting.cu", "ok_"))
def test_a_loop_that_waits_comes_to_its_end(kernel: str, build: str) -> None:
    """Whatever its condition is made of: the launch ends, and nothing is wrong with it."""
    run = waits(kernel, build)
    assert run.completed
    assert not [f.message for f in run.findings if f.severity is Severity.ERROR]


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("kernel", kernels("waiting.cu", "endless_"))
def test_a_loop_that_waits_in_vain_is_endless(kernel: str, build: str) -> None:
    """A loop that waits for something that never comes is a time-out."""
    run = waits(kernel, build)
    assert not run.completed
    assert of_kind(run, FindingKind.TIMEOUT)


@pytest.mark.parametrize("kernel", kernels("waiting.cu", "racy_"))
def test_a_flag_that_moves_needs_its_fences(kernel: str) -> None:
    """Without them what it announces races."""
    assert of_kind(waits(kernel, "O0"), FindingKind.RACE)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("kernel", kernels("much.cu", "ok_"))
def test_much_work_is_never_endless(kernel: str, build: str) -> None:
    """It ends, or is given up as too much work; it costs nothing."""
    run = works(kernel, build)
    assert run.completed or run.too_much_work
    assert not of_kind(run, FindingKind.TIMEOUT)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("kernel", kernels("much.cu", "endless_"))
def test_a_loop_that_never_ends_by_itself_is_endless(kernel: str, build: str) -> None:
    """It goes round in the same state, or counts away from its end."""
    run = works(kernel, build)
    assert not run.completed
    assert of_kind(run, FindingKind.TIMEOUT)
