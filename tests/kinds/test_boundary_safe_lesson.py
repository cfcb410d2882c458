"""The assignment `boundary-safe-lesson`: without a GPU its kernels on the emulator, with one all of it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.base.arithmetic import parse
from grader.grading.arguments import poison
from grader.grading.assignment import expand_cases, reference_folder, staff_folder
from grader.grading.oracle import load_oracle
from grader.kinds import pipeline
from grader.kinds.comparing.arrays import compared
from grader.model import (
    Argument,
    Build,
    CaseEvidence,
    Evidence,
    Finding,
    KernelInterface,
    Parameter,
    ProgramInterface,
    ProgramRun,
    Submission,
)
from grader.running.backends.emulated_kernel import EmulatedKernel
from grader.toolchain.nvcc import Tools, build_kernels, find_toolchain
from grader.toolchain.nvcc.launch import plan_launch
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake_file, mistake_names
from tests.program_assignments import failed_items, mistakes

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

ASSIGNMENT = bundled("boundary-safe-lesson")
STAFF = staff_folder(ASSIGNMENT)
MISTAKES = mistakes(ASSIGNMENT)
ORACLE = load_oracle(reference_folder(ASSIGNMENT))
WIDTHS = {"lesson-34": 34, "width-49": 49, "width-7": 7}
CASE_OF = {"product": "lesson-34", "other-width": "width-49", "narrow": "width-7"}
ARRAYS = set(CASE_OF)
IN_THE_KERNEL = (
    "tile_count_rounded_down.cu",
    "one_tile_only.cu",
    "sum_starts_anew_in_each_tile.cu",
    "pads_with_one.cu",
)
"""Mistakes that a kernel alone shows."""


def test_every_mistake_is_described() -> None:
    """The folder and its table name the same files."""
    assert sorted(MISTAKES) == mistake_names(STAFF / "mistakes")
    assert set(IN_THE_KERNEL) <= set(MISTAKES)


def test_every_element_of_the_lesson_is_68() -> None:
    """34 products of 1 and 2; and 14 and 98 for the other widths. Nothing is forgiven: all is exact."""
    for item in ASSIGNMENT.rubric:
        if item.check == "array":
            shape = dict(dict(item.options)["shape"])
            inputs = ORACLE.inputs("ones-and-twos", shape, np.random.default_rng(0))
            values, bound = ORACLE.expected(inputs, shape)["C"]
            assert values.shape == (shape["WIDTH"], shape["WIDTH"])
            assert set(values.flat) == {{34: 68, 49: 98, 7: 14}[shape["WIDTH"]]}
            assert not bound.any()


def test_the_grid_of_the_lesson() -> None:
    """Three blocks of 16 for 34 columns, and as many for the rows."""
    grid = next(dict(item.options)["numbers"] for item in ASSIGNMENT.rubric if item.id == "grid")
    assert [int(number.value) for number in grid] == [3, 3, 16, 16]
    assert 2 * 16 < 34 <= 3 * 16


# --- without a GPU -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def without_gpu() -> dict[str, Grade]:
    """The grades of the solution and of the skeleton where there is no GPU."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(ASSIGNMENT, 3, tools, visible_only=False)
    files = (STAFF / "solution.cu", ASSIGNMENT.path / "skeleton.cu")
    return {
        file.stem: pipeline.grade(plan, Submission(file.stem, file.name, file.read_bytes(), ""), tools)
        for file in files
    }


@pytest.mark.slow
def test_the_solution_earns_everything_without_a_gpu(without_gpu: dict[str, Grade]) -> None:
    """Its launches run on the emulator, in hidden cases, too."""
    grade = without_gpu["solution"]
    assert [grade.score, grade.max_score, grade.skipped_points, grade.error] == [100, 100, 0, ""]


def test_the_skeleton_compiles_and_earns_nothing_else(without_gpu: dict[str, Grade]) -> None:
    """It launches nothing, so it runs anywhere, and leaves no array."""
    grade = without_gpu["skeleton"]
    assert grade.error == ""
    assert grade.score == 10
    assert "compiles" not in failed_items(grade)


def kernel_interface() -> KernelInterface:
    """The kernel of the staff's files by itself."""
    assert isinstance(ASSIGNMENT.interface, ProgramInterface)
    square = (parse("WIDTH"), parse("WIDTH"))
    return KernelInterface(
        kernel="tiledMatMul",
        parameters=(
            Parameter("A", "in", "float32", square),
            Parameter("B", "in", "float32", square),
            Parameter("C", "out", "float32", square),
            Parameter("width", "value", "int32", (), parse("WIDTH")),
        ),
        constants=(),
        block=(parse("16"), parse("16")),
        grid=(parse("ceil(WIDTH / 16)"), parse("ceil(WIDTH / 16)")),
        include=ASSIGNMENT.interface.include,
    )


def emulated(file: Path) -> Evidence:
    """The evidence of a program with the kernel of the file and right host code."""
    interface = kernel_interface()
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    built = build_kernels(tools, Submission("s", file.name, file.read_bytes(), ""), interface)
    assert built.ok, built.findings
    cases = []
    for case in expand_cases(ASSIGNMENT, 1):
        width = WIDTHS[case.id]
        launch = plan_launch(interface, built, {"WIDTH": width})
        assert not isinstance(launch, Finding)
        a, b = (np.full((width, width), value, np.float32) for value in (1, 2))
        arguments = (
            Argument("A", "in", a),
            Argument("B", "in", b),
            Argument("C", "out", np.full((width, width), poison("float32"))),
            Argument("width", "value", np.int32(width)),
        )
        stream = io.BytesIO()
        np.save(stream, dict(EmulatedKernel(built, "", file.name).launch(launch, arguments).outputs)["C"])
        run = ProgramRun("exit", 0, files=(("C.npy", stream.getvalue()),))
        comparisons, findings = compared(ASSIGNMENT, case, run, ORACLE)
        cases.append(CaseEvidence(case, comparisons=comparisons, findings=findings, program=run))
    return Evidence("host", Build(ok=True), tuple(cases))


def lost_arrays(evidence: Evidence) -> set[str]:
    """The items whose file is wrong: each has a case of its own."""
    wrong = {case.case.id for case in evidence.cases if any(array.wrong for array in case.comparisons)}
    return {item for item, case in CASE_OF.items() if case in wrong}


def test_the_kernel_of_the_solution_is_right() -> None:
    """On the emulator, for each width."""
    assert lost_arrays(emulated(STAFF / "solution.cu")) == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_THE_KERNEL)
def test_a_mistake_in_the_kernel_loses_the_arrays_it_should(name: str) -> None:
    """On the emulator the lost arrays are those that mistakes.yaml names."""
    found = lost_arrays(emulated(mistake_file(STAFF / "mistakes" / name)))
    assert found == ARRAYS & set(MISTAKES[name]["loses"])
