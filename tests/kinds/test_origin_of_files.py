"""The origin of what a program writes to a file: its kernels, or the host; each in many ways."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from grader.base.data_files import data_root
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.kinds.plan import Plan
    from grader.model import Grade

    Graded = Callable[["Program"], Grade]

FOLDER = Path(__file__).parent / "program"
_WRITERS = {"matmul": "matmul-program", "streams": "streams", "total": "streams", "turn": "matmul-program"}
"""The assignments whose header writes the files of an operation."""

YAML = """
id: {name}
title: {name}
reference: {reference}
submission: {{kind: program, seconds: 5, memory: 512, device_memory: 64, emulator_seconds: 10}}
cases: [{{id: one, arguments: {arguments}}}]
rubric:
  - {{id: right, points: 100, check: array, of: C.npy, output: {output}, dtype: float32, shape: {shape},
     inputs: {inputs}}}
"""
OPERATIONS = {
    "matmul": ("matmul", "[34, 50, 20]", "C", "{M: 34, K: 50, N: 20}", "residues"),
    "streams": ("vector-add", "[1000]", "C", "{N: 1000}", "counting"),
    "total": ("reduction", "[3000]", "total", "{N: 3000}", "ones"),
    "turn": ("transpose", "[23, 34]", "output", "{M: 23, N: 34}", "counting"),
}
_QUICK = (
    "plain",
    "padded, cropped on the host",
    "right kernel, the host's file",
    "earlier chunks sent and back",
)
"""The ways that are tried in every loop; all others are slow together."""


class Program(NamedTuple):
    """One program of a file."""

    operation: str
    origin: str
    name: str
    source: str


def _programs(origin: str) -> list[object]:
    """The programs of all files whose result is of that origin."""
    programs: list[object] = []
    for path in sorted(FOLDER.glob("*.cu")):
        writer = (data_root() / "assignments" / _WRITERS[path.stem] / "npy.h").read_text()
        text = path.read_text().replace('#include "npy.h"', writer.replace("#pragma once", ""))
        common, *rest = text.split("\n//@ ")
        for part in rest:
            title, body = part.split("\n", 1)
            of, _, name = title.partition(": ")
            program = Program(path.stem, of, name, f"{common}\n{body}")
            marks = [] if name in _QUICK else [pytest.mark.slow]
            programs += (
                [pytest.param(program, id=f"{path.stem}: {name}", marks=marks)] if of == origin else []
            )
    return programs


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Grade a program in the one case of its operation."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    folder, plans = tmp_path_factory.mktemp("files") / "assignments", dict[str, "Plan"]()

    def grade(program: Program) -> Grade:
        if program.operation not in plans:
            reference, arguments, output, shape, inputs = OPERATIONS[program.operation]
            of_assignment = folder / program.operation
            of_assignment.mkdir(parents=True)
            text = YAML.format(
                name=program.operation,
                reference=reference,
                arguments=arguments,
                output=output,
                shape=shape,
                inputs=inputs,
            )
            (of_assignment / "assignment.yaml").write_text(text)
            plan = pipeline.make_plan(load_assignment(of_assignment), 5, tools, visible_only=False)
            plans[program.operation] = replace(plan, feedback=False)
        submission = Submission("ada", "k.cu", program.source.encode(), "0" * 8)
        return pipeline.grade(plans[program.operation], submission, tools)

    return grade


@pytest.mark.parametrize("program", _programs("kernels"))
def test_what_comes_back_from_kernels_earns_everything(graded: Graded, program: Program) -> None:
    """However the host has prepared, converts, crops, turns, adds up, checks or repairs it."""
    grade = graded(program)
    assert grade.evidence is not None
    (case,) = grade.evidence.cases
    assert (case.of_host, case.computed_by) == (False, None), grade.items[0].result.message
    assert grade.score == 100, grade.items[0].result.message


@pytest.mark.parametrize("program", _programs("host"))
def test_what_the_host_computes_earns_nothing(graded: Graded, program: Program) -> None:
    """Whatever kernels do beside it."""
    (item,) = graded(program).items
    assert (item.result.verdict, float(item.points)) == (Verdict.FAIL, 0.0)
    assert "the result was computed by the host: " in item.result.message


@pytest.mark.parametrize("program", _programs("unknown"))
def test_where_nothing_shows_who_computes_staff_are_asked(graded: Graded, program: Program) -> None:
    """Neither points nor none are given by themselves."""
    (item,) = graded(program).items
    assert item.result.verdict is Verdict.ERROR
    assert "staff should look at the file" in item.result.message
