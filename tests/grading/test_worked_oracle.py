"""The worked example of `reference/README.md` is an assignment that works, oracle and all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from grader.grading.assignment import load_assignment
from grader.grading.oracle import load_oracle
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.model.compare import compare
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

CHAPTER = Path(__file__).parents[2] / "reference/README.md"
FILES = (
    "reference/row-mean/oracle.py",
    "assignments/row-mean/assignment.yaml",
    "reference/row-mean/solution.cu",
    "reference/row-mean/hypotheses.py",
    "reference/row-mean/feedback.yaml",
)
"""The files of the chapter's blocks of code, in their order."""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course's repository with just the blocks of code in the chapter."""
    blocks = re.findall(r"```(?:python|yaml|cuda)\n(.*?)```", CHAPTER.read_text(encoding="utf-8"), re.DOTALL)
    for name, block in zip(FILES, blocks, strict=True):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(block, encoding="utf-8")
    return tmp_path


def test_the_bound_of_the_example_takes_every_order_and_no_half_precision(course: Path) -> None:
    """All results of `orders` are within the bound, and none of `coarser` is."""
    oracle = load_oracle(course / "reference/row-mean")
    shape = {"M": 40, "N": 9}
    drawn = oracle.inputs("random", shape, np.random.default_rng(4))
    values, bound = oracle.expected(drawn, shape)["R"]
    assert oracle.orders is not None
    assert oracle.coarser is not None
    for name, right in oracle.orders(drawn, shape):
        assert not compare("R", right["R"], values, bound).wrong, name
    for name, wrong in oracle.coarser(drawn, shape):
        assert compare("R", wrong["R"], values, bound).wrong, name


def test_the_model_solution_of_the_example_has_full_marks(course: Path) -> None:
    """A mean over one column too few has not, and its first failure is reported."""
    assignment = load_assignment(course / "assignments/row-mean")
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(assignment, 5, tools, visible_only=False)
    source = (course / "reference/row-mean/solution.cu").read_bytes()
    right = pipeline.grade(plan, Submission("a", "a.cu", source, ""), tools)
    assert right.verdict is Verdict.PASS
    assert right.score == right.max_score == 100
    short = source.replace(b"k < N", b"k < N - 1")
    wrong = pipeline.grade(plan, Submission("b", "b.cu", short, ""), tools)
    assert [item.result.verdict for item in wrong.items] == [Verdict.PASS, Verdict.FAIL, Verdict.FAIL]
    assert "The smallest shape found to fail: M=1, N=1" in wrong.items[1].result.message


def test_the_mistake_of_the_example_is_reported_by_its_name(course: Path) -> None:
    """The sums of the rows in place of their means are what `hypotheses.py` and `feedback.yaml` name."""
    assignment = load_assignment(course / "assignments/row-mean")
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(assignment, 5, tools, visible_only=False)
    source = (course / "reference/row-mean/solution.cu").read_text(encoding="utf-8")
    undivided = source.replace("sum / N", "sum")
    graded = pipeline.grade(plan, Submission("a", "a.cu", undivided.encode(), ""), tools)
    assert graded.cause is not None
    assert (graded.cause.code, graded.cause.item) == ("not-divided", "right")
