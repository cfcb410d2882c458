"""Points of `kernel-output` are earned on the device: of honest programs and others none is misjudged.

Each file in `tests/kernels/points/` is one program that is many: its argument selects which.
"""

from __future__ import annotations

import re
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
    from pathlib import Path

    from grader.model import CheckResult

FOLDER = data_root() / "tests/kernels/points"
YAML = """
id: points
title: Points
reference: {reference}
submission: {{kind: program, seconds: 5, emulator_seconds: 10}}
cases: [{cases}]
rubric:
"""
CASE = "{{id: {name}, arguments: [{name}]}}"
ITEM = (
    "  - {{id: {name}, points: 1, check: kernel-output, kernel: {name}, cases: {name}, "
    "arguments: {arguments}, output: {output}, dtype: {dtype}, shape: {shape}, inputs: random}}\n"
)


class Operation(NamedTuple):
    """The oracle's names of the kernels' arguments, and the output's type."""

    reference: str
    arguments: str
    output: str
    shape: str
    dtype: str = "float32"


OPERATIONS = {
    "add": Operation("vector-add", "[A, B, C]", "C", "{N: 250}"),
    "total": Operation("reduction", "[values, total]", "total", "{N: 250}"),
    "scan": Operation("scan", "[input, output]", "output", "{M: 3, N: 70}"),
    "bins": Operation("histogram", "[values, counts]", "counts", "{N: 250, B: 16}", "int32"),
    "filter": Operation("convolution", "[image, result]", "result", "{H: 12, W: 21}"),
}
PRODUCT = Operation("matmul", "[A, B, C]", "C", "{M: 20, K: 24, N: 18}")


def _source(file: str) -> str:
    shared = (FOLDER / "programs.h").read_text()
    return (FOLDER / file).read_text().replace('#include "programs.h"', shared.replace("#pragma once", ""))


def _names(file: str) -> list[str]:
    return re.findall(r"^PROGRAM\((\w+)\)", (FOLDER / file).read_text(), re.MULTILINE)


PRODUCTS, OTHERS = _names("matmul.cu"), _names("others.cu")
Judged = dict[str, "CheckResult"]


def _judged(file: str, names: list[str], operation: Operation, tools: Tools, folder: Path) -> Judged:
    """The result of the item of each program."""
    cases = ", ".join(CASE.format(name=name) for name in names)
    fields = operation._asdict()
    yaml = YAML.format(cases=cases, reference=fields.pop("reference"))
    yaml += "".join(ITEM.format(name=name, **fields) for name in names)
    folder = folder / "assignments" / "points"
    folder.mkdir(parents=True)
    (folder / "assignment.yaml").write_text(yaml)
    plan = pipeline.make_plan(load_assignment(folder), 5, tools, visible_only=False)
    submission = Submission("ada", file, _source(file).encode(), "0" * 8)
    grade = pipeline.grade(plan, submission, tools)
    return {item.result.item.id: item.result for item in grade.items}


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


@pytest.fixture(scope="module")
def products(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """The results of all programs that multiply."""
    return _judged("matmul.cu", PRODUCTS, PRODUCT, tools, tmp_path_factory.mktemp("products"))


@pytest.fixture(scope="module")
def others(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """The results of all other programs."""
    judged: Judged = {}
    for word, operation in OPERATIONS.items():
        names = [name for name in OTHERS if name.split("_")[1] == word]
        judged |= _judged("others.cu", names, operation, tools, tmp_path_factory.mktemp(word))
    return judged


def _is_as_it_should(name: str, result: CheckResult) -> None:
    expected = Verdict.PASS if name.startswith("h_") else Verdict.FAIL
    assert result.verdict is expected, result.message
    if expected is Verdict.FAIL:
        assert "leaves the right" in result.message


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_earns_its_points_where_its_kernel_computes_it(name: str, products: Judged) -> None:
    """And nowhere else, however the host's result comes into it."""
    _is_as_it_should(name, products[name])


@pytest.mark.parametrize("name", OTHERS)
def test_another_result_earns_its_points_where_its_kernel_computes_it(name: str, others: Judged) -> None:
    """Sums, totals, running sums, histograms, filters."""
    _is_as_it_should(name, others[name])


def test_there_are_as_many_of_either_kind_as_are_needed_to_tell() -> None:
    """At least twenty honest ones, and twenty others."""
    for kind in "hd":
        assert sum(name.startswith(f"{kind}_") for name in (*PRODUCTS, *OTHERS)) >= 20
