"""On a GPU (`pytest -m gpu`): structs, filled variables and bfloat16 get the verdicts of the emulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.running.backends import prepare
from grader.toolchain.gpu import devices
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.grading import test_kernel_parameters, test_types
from tests.kinds import test_symbols

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(900)]

BFLOATS = ("__nv_bfloat16", "__nv_bfloat16")


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler, with a cache for this module."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def _graded(folder: Path, tools: Tools, source: str) -> Grade:
    backend = prepare("gpu", tools, devices.visible(devices.find_gpus()))
    plan = pipeline.make_plan(load_assignment(folder), 3, tools, visible_only=False, backend=backend)
    return pipeline.grade(plan, Submission("s", "s.cu", source.encode(), "d"), tools)


def _verdicts(grade: Grade) -> set[Verdict]:
    return {item.result.verdict for item in grade.items}


def test_structs_by_value_are_passed(tmp_path: Path, tools: Tools) -> None:
    """The right kernel passes; one that reads the second matrix by its rows is wrong on the device, too."""
    (tmp_path / "assignment.yaml").write_text(test_kernel_parameters.MATRICES)
    right = test_kernel_parameters.MULTIPLY
    assert _verdicts(_graded(tmp_path, tools, right)) == {Verdict.PASS}
    wrong = _graded(tmp_path, tools, right.replace("right[y][x] = at", "right[x][y] = at"))
    assert wrong.items[1].result.verdict is Verdict.FAIL


def test_variables_are_filled_and_read(tmp_path: Path, tools: Tools) -> None:
    """Under the tools as well; a sum without the bias is wrong."""
    folder = test_symbols.write(tmp_path, test_symbols.SPEC)
    assert _verdicts(_graded(folder, tools, test_symbols.KERNEL)) == {Verdict.PASS}
    wrong = _graded(folder, tools, test_symbols.KERNEL.replace("= bias", "= 0 * bias"))
    assert wrong.items[1].result.verdict is Verdict.FAIL


def test_bfloat16_is_computed_alike(tmp_path: Path, tools: Tools) -> None:
    """Arrays and scalars, within the same bound."""
    (tmp_path / "assignment.yaml").write_text(test_types.SPEC.format("bfloat16", "bfloat16"))
    grade = _graded(tmp_path, tools, test_types.KERNEL.format(*BFLOATS))
    assert _verdicts(grade) == {Verdict.PASS}
