"""`grader estimate`, with the model behind it, on the model solution and on all known mistakes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from grader.cli import main
from grader.grading.assignment import reference_folder
from grader.model import LIMITS
from tests.bundled import bundled
from tests.mistakes import mistake_file, mistake_names

if TYPE_CHECKING:
    from pathlib import Path

REFERENCE = reference_folder(bundled("tiled-matmul"))
MISTAKES = REFERENCE / "mistakes"
SMALL = ("--shape", "M=256,K=256,N=256")

HAVE_NONE = {
    "does_not_compile": "not-launched",
    "wrong_kernel_name": "not-launched",
    "infinite_loop": "too-much-work",
}
"""Mistakes that leave nothing to estimate; the others run, right or wrong."""

REASONS = {"not-launched", "too-much-work", "wrong", "wrong-at-shape", "unwritten-at-shape"}
"""Answers to a mistake instead of an estimate, none of which is a limit or a fault of ours."""


def test_the_model_solution_is_limited_by_shared_memory(capsys: pytest.CaptureFixture[str]) -> None:
    """On the line with the products, at the shape that the assignment times."""
    file = REFERENCE / "solution.cu"
    assert main(["estimate", "tiled-matmul", str(file), "--width", "110"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Speed, estimated for an NVIDIA H200 at M = K = N = 1024")
    lines = file.read_text("utf-8").splitlines()
    products = next(number for number, line in enumerate(lines, 1) if "sum +=" in line)
    assert "limited by        shared-memory bandwidth: " in shown
    assert f"most on line {products}" in shown


def test_what_is_written_has_what_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Shares of limits, with lines of the student's file and none of the baseline's."""
    into = tmp_path / "estimate.json"
    file = str(REFERENCE / "solution.cu")
    assert main(["estimate", "tiled-matmul", file, "--json", str(into), "--device", "a100", *SMALL]) == 0
    stored = json.loads(into.read_text("utf-8"))
    shown = capsys.readouterr().out
    assert f"{stored['ratio']['median']:.1f} times as fast as the naive kernel" in shown
    assert (stored["device"], stored["shape"]) == ("a100", {"M": 256, "K": 256, "N": 256})
    limits = stored["kernels"]["student"]["limits"]
    assert {limit["limit"] for limit in limits} <= set(LIMITS)
    assert sum(limit["share"] for limit in limits) == pytest.approx(1, abs=0.01)
    assert any(limit["lines"] for limit in limits)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name.removesuffix(".cu") for name in mistake_names(MISTAKES)])
def test_every_mistake_has_an_estimate_or_a_reason_why_not(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code shows which of the two it is, and nothing is an error of ours."""
    file = str(mistake_file(MISTAKES / f"{name}.cu"))
    into = tmp_path / "estimate.json"
    code = main(["estimate", "tiled-matmul", file, "--json", str(into), *SMALL])
    stored = json.loads(into.read_text("utf-8"))
    captured = capsys.readouterr()
    assert captured.err == ""
    assert stored["problem"] == HAVE_NONE.get(name, stored["problem"])
    if code:
        assert stored["problem"] in REASONS
        assert captured.out.startswith("Speed, not estimated")
    else:
        assert stored["problem"] == ""
        assert 0.05 < stored["ratio"]["median"] < 20
