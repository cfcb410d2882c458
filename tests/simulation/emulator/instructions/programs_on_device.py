"""The little programs of the chapters on a real device: atomics, warps, control flow, barriers, tensor cores.

The tests of these chapters run as they are. Each launch that the emulator finds nothing wrong with is done
again on the device, and those outputs are compared that PTX defines: what an atomic on a contended address
returns, for one, depends on who comes first.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.simulation.emulator import device
from tests.simulation.emulator.collection import differing
from tests.simulation.emulator.instructions import harness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.model import Argument, Launch, Run

CHAPTERS = ("atomic", "warp", "control", "barrier", "matrix", "matrix_arithmetic")
HERE = Path(__file__).parent

_BEFORE_VOLTA = re.compile(r"\b(shfl|vote)\.(?!sync)")
_ANY_ORDER = re.compile(r"\b(?:atom|red)\.(?:\w+\.)*(?:(?:and|or|xor)\.b|(?:min|max|add)\.[su])\d")
_TENSOR_SUM = re.compile(
    r"\b(?:mma|wmma\.mma)\.\S*?(?:row|col)\.(?:row|col)\.(?:m\w+\.)?(?:satfinite\.)?(f16|f32|f64)\b"
)
_LAYOUTS = {"f16": ("f2", 2.0**-10), "f32": ("f4", 2.0**-10), "f64": ("f8", 2.0**-50)}
"""Types of the sums of tensor cores, and largest differences: order and rounding within them are open."""


@dataclass(frozen=True)
class Launched:
    """A launch of a test, and what the emulator made of it."""

    test: str
    text: str
    arguments: tuple[Argument, ...]
    launch: Launch
    outputs: dict[str, NDArray[Any]]

    def defined(self) -> frozenset[str]:
        """The outputs that do not depend on the order of the threads."""
        if _BEFORE_VOLTA.search(self.text):
            return frozenset()
        where = next((each.value for each in self.arguments if each.name == "where"), None)
        if where is None or len(np.unique(where)) == where.size:
            return frozenset(self.outputs)
        return frozenset({"cells"} if _ANY_ORDER.search(self.text) else ())

    def comparison(self) -> tuple[str, float]:
        """The type in which the outputs are to be compared ("" for their own), and the tolerance."""
        found = _TENSOR_SUM.search(self.text)
        return _LAYOUTS[found[1]] if found else ("", 0.0)


def recorded() -> list[Launched]:
    """Run the chapters' tests and keep the launches that went well."""
    found: list[Launched] = []

    def keep(text: str, arguments: tuple[Argument, ...], launch: Launch, done: Run) -> None:
        if done.completed and not done.findings:
            test = os.environ.get("PYTEST_CURRENT_TEST", "").split("::")[-1].split(" ")[0]
            found.append(Launched(test, text, arguments, launch, dict(done.outputs)))

    files = [str(HERE / f"test_{chapter}.py") for chapter in CHAPTERS]
    harness.WATCHERS.append(keep)
    try:
        pytest.main(["-q", "--noconftest", "-p", "no:cacheprovider", *files])
    finally:
        harness.WATCHERS.remove(keep)
    return found


def compare(launched: Launched) -> list[str]:
    """Describe each output that differs on the device."""
    values = [each.value for each in launched.arguments]
    grid, block = launched.launch.grid, launched.launch.block
    arrays = device.launch(launched.text, "kernel", values, grid, block)
    names = [each.name for each in launched.arguments if isinstance(each.value, np.ndarray)]
    kind, within = launched.comparison()
    found = []
    for name, theirs in zip(names, arrays, strict=True):
        if name in launched.defined():
            ours = launched.outputs[name]
            wrong = differing(ours.view(kind or ours.dtype), theirs.view(kind or ours.dtype), within)
            found += [f"{launched.test}: {wrong} of {ours.size} elements of {name} differ"] if wrong else []
    return found


def differences(programs: list[Launched]) -> Iterator[str]:
    """A line for every launch that differs, or that the device does not take."""
    for launched, result in device.one_by_one(compare, [each for each in programs if each.defined()]):
        yield from [f"{launched.test}: {result}"] if isinstance(result, Exception) else result
