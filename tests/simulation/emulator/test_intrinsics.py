"""Intrinsics of CUDA C++, compiled by nvcc both ways, give what Python gives for the same operands."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import Argument, Launch
from grader.simulation.emulator.launch import run
from tests.simulation.emulator.instructions.numbers import FORMATS, pattern, value_of
from tests.simulation.emulator.intrinsics import floats, halves, integers, maths, words
from tests.simulation.emulator.nvcc import HAZARDS, compile_one

if TYPE_CHECKING:
    from grader.simulation.ptx import Module
    from tests.simulation.emulator.intrinsics.tables import Table

FILES = {"integers": integers, "words": words, "floats": floats, "maths": maths, "halves": halves}
CASES = [(file, table) for file, module in FILES.items() for table in module.TABLES]
NAMES = [table.name for _, table in CASES]
THREADS = 128
HEADERS = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"


def _needs(table: Table) -> int:
    """The oldest device that has what a table is about."""
    return 80 if any(kind.startswith("bf16") for kind in (*table.operands, table.result)) else 75


OTHERS = [(device, *case) for device in (75, 90) for case in CASES if device >= _needs(case[1])]
"""Older and newer devices than the usual one, with what they have."""


@cache
def _module(file: str, device: int, options: tuple[str, ...]) -> Module:
    headers = HEADERS if file == "halves" else ""
    source = headers + "\n".join(table.source() for table in FILES[file].TABLES if device >= _needs(table))
    return compile_one(source, (f"-arch=compute_{device}", *options))


def _results(table: Table, module: Module, *, detect: bool) -> np.ndarray:
    operands = [Argument(x, "in", column) for x, column in zip("abc", table.columns, strict=False)]
    arguments = (
        Argument("n", "value", np.int32(table.count)),
        *operands,
        Argument("out", "out", table.empty()),
    )
    blocks = -(-table.count // THREADS)
    done = run(module, table.name, Launch((blocks, 1, 1), (THREADS, 1, 1)), arguments, detect=detect)
    assert not done.findings, done.findings[0].message
    return done.outputs[0][1].reshape(len(table.entries), table.count)


def _agree(table: Table, got: int, wanted: float) -> bool:
    if table.result in FORMATS and math.isnan(wanted):
        return math.isnan(value_of(got, table.result))
    if table.within:
        value = value_of(got, table.result)
        return value == wanted or abs(value - wanted) <= table.within * abs(wanted)
    return got == pattern(wanted, table.result)


def _check(file: str, table: Table, device: int, options: tuple[str, ...]) -> None:
    results = _results(table, _module(file, device, options), detect=bool(options))
    for (text, function), row in zip(table.entries.items(), results, strict=True):
        for lane in range(table.count):
            pairs = zip(table.columns, table.operands, strict=True)
            operands = [
                value_of(int(c[lane]), k) if c.dtype.kind == "u" else float(c[lane]) for c, k in pairs
            ]
            got, wanted = int(row[lane]), function(*operands)
            assert _agree(table, got, wanted), (
                f"{text} of {operands}: {value_of(got, table.result)} ({got:#x}) is not {wanted}"
            )


@pytest.mark.parametrize(
    "options", [(), pytest.param(HAZARDS, marks=pytest.mark.slow)], ids=["default", "hazards"]
)
@pytest.mark.parametrize(("file", "table"), CASES, ids=NAMES)
def test_an_intrinsic_gives_what_python_gives(file: str, table: Table, options: tuple[str, ...]) -> None:
    """For edges of its types: bits, integers, roundings in all directions, halves, the library of maths."""
    _check(file, table, 80, options)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), HAZARDS], ids=["default", "hazards"])
@pytest.mark.parametrize(
    ("device", "file", "table"), OTHERS, ids=[f"{d}-{table.name}" for d, _, table in OTHERS]
)
def test_every_generation_of_devices_gives_the_same(
    file: str, table: Table, options: tuple[str, ...], device: int
) -> None:
    """Several instructions, which nvcc writes for one that older devices lack, have the same result."""
    _check(file, table, device, options)


def test_there_are_as_many_as_a_course_needs() -> None:
    """Each expression is one call of an intrinsic, or a few."""
    assert sum(len(table.entries) for _, table in CASES) > 400
