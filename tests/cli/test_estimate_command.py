"""`grader estimate`: what it asks the model for, and what it prints."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.cli import main
from tests.reports.sample_estimates import ESTIMATE, UNKNOWN_OPCODE

if TYPE_CHECKING:
    from grader.kinds.plan import Plan
    from grader.model import Estimate, Named, Submission
    from grader.toolchain.nvcc import Tools

SOLUTION = Path(__file__).resolve().parents[2] / "reference/matmul/solution.cu"


class Model:
    """A model that answers with a given estimate, for whatever it is asked."""

    def __init__(self, answer: Estimate) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, Named[int]]] = []

    def __call__(
        self, _plan: Plan, submission: Submission, _tools: Tools, device: str, shape: Named[int]
    ) -> Estimate:
        """Note what was asked."""
        self.asked.append((submission.file, device, shape))
        return replace(self.answer, device=device)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """A model in place of the grader's; nothing is compiled or run."""
    model = Model(ESTIMATE)
    monkeypatch.setattr("grader.cli.estimate.estimate_submission", model)
    monkeypatch.setattr("grader.cli.estimate.pipeline.make_plan", lambda *_, **__: None)
    return model


def test_it_asks_for_the_device_and_the_shape_of_the_assignment(
    model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 0; all limits, with lines of the file and none of the baseline's."""
    assert main(["estimate", "tiled-matmul", str(SOLUTION), "--width", "100"]) == 0
    assert model.asked == [("solution.cu", "h200", (("M", 1024), ("K", 1024), ("N", 1024)))]
    shown = capsys.readouterr().out
    assert "1.5 times as fast as the naive kernel (1.3 to 1.7)" in shown
    assert "    5 %  what every launch takes" in shown
    quoted = SOLUTION.read_text().splitlines()[12].strip()
    assert f"55 %    13 | {quoted}" in shown
    assert " | " not in shown.partition("naive kernel: ")[2]


def test_another_device_and_another_shape_may_be_asked_for(model: Model, tmp_path: Path) -> None:
    """Sizes come in the assignment's order; the JSON is what a grade has."""
    file = tmp_path / "estimate.json"
    command = ["estimate", "tiled-matmul", str(SOLUTION), "--device", "t4", "--shape", "N=96,M=64, K=32"]
    assert main([*command, "--json", str(file)]) == 0
    assert model.asked == [("solution.cu", "t4", (("M", 64), ("K", 32), ("N", 96)))]
    stored = json.loads(file.read_text())
    assert (stored["device"], stored["ratio"]["median"]) == ("t4", 1.5203)
    assert stored["kernels"]["student"]["limits"][0]["lines"][0] == {"line": 13, "share": 0.55}


def test_without_an_estimate_the_reason_is_printed(model: Model, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1, one sentence, one hint."""
    model.answer = UNKNOWN_OPCODE
    assert main(["estimate", "tiled-matmul", str(SOLUTION), "--width", "100"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "Speed, not estimated",
        "  the model does not know the machine instruction `HGMMA`",
        "  try: nothing is wrong with that; a GPU measures it all the same",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tiled-matmul", str(SOLUTION), "--shape", "M=8,K=8"], "expected each size once"),
        (["tiled-matmul", str(SOLUTION), "--shape", "M=0,K=8,N=8"], "expected each size once"),
        (["tiled-matmul", str(SOLUTION.parent / "mistakes")], "`estimate` takes one"),
        (["memory-analysis", str(SOLUTION)], "asks for no kernel: there is nothing to estimate"),
        (["vector-add", str(SOLUTION)], "times nothing: it does not say what to compare a kernel with"),
    ],
)
@pytest.mark.usefixtures("model")
def test_what_cannot_be_asked_is_answered_with_a_next_step(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one message."""
    assert main(["estimate", *arguments]) == 2
    assert message in capsys.readouterr().err
