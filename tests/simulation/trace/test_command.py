"""`grader trace` as it is typed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from grader.cli import main
from tests.mistakes import mistake_file
from tests.simulation.trace.tracing import MATMUL, TILED

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def lesson(tmp_path: Path) -> str:
    """The model solution with tiles of four."""
    path = tmp_path / "four.cu"
    path.write_text(TILED.replace("TILE_SIZE 16", "TILE_SIZE 4"))
    return str(path)


def test_the_worked_example_from_the_command_line(
    lesson: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 0, tables, and the two files that were asked for."""
    files = ["--json", str(tmp_path / "trace.json"), "--html", str(tmp_path / "trace.html")]
    arguments = ["trace", "tiled-matmul", lesson, "--case", "worked-example", "--width", "100", *files]
    assert main(arguments) == 0
    output = capsys.readouterr().out
    for row in ("30   70  110  150", "1404  1740  2076  2412", "2412  3132  3852  4572"):
        assert row in output
    document = json.loads((tmp_path / "trace.json").read_text())
    assert document["case"] == {
        "id": "worked-example",
        "shape": {"M": 8, "K": 8, "N": 8},
        "inputs": "counting",
        "seed": 1,
    }
    assert document["constants"]["TILE_SIZE"] == 4
    assert (tmp_path / "trace.html").read_text().startswith("<!doctype html>")


def test_a_shape_typed_by_hand_and_another_block(lesson: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Sizes, inputs and block as asked for."""
    typed = ["--shape", "M=6,K=6,N=6", "--inputs", "counting", "--block", "1,1"]
    assert main(["trace", "tiled-matmul", lesson, *typed]) == 0
    output = capsys.readouterr().out
    assert "case by-hand: M=6, K=6, N=6; inputs counting" in output
    assert "this is block (1, 1, 0)" in output
    assert "zero fill by" in output


def test_something_wrong_is_exit_code_one(capsys: pytest.CaptureFixture[str]) -> None:
    """A launch with a hazard in any of its blocks ends with 1, and its line is reported."""
    mistake = str(mistake_file(MATMUL / "mistakes/no_load_guard.cu"))
    assert main(["trace", "tiled-matmul", mistake, "--case", "single-element"]) == 1
    assert "✗ line 15: reads A[" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--case", "identity"], "no visible case `identity`"),
        (["--case", "no-such-case"], "no visible case `no-such-case`"),
        (["--shape", "M=8,K=8"], "such as M=8,K=8,N=8"),
        (["--shape", "M=8,K=8,N=0"], "expected each size once"),
        (["--block", "4,0"], "the grid is 16 × 16 × 1"),
        (["--block", "-1"], "expected blockIdx"),
        (["--inputs", "no-such-kind"], "no inputs of kind `no-such-kind`"),
        (["--launch", "1"], "a case of `tiled-matmul` is one launch"),
    ],
)
def test_wrong_usage_is_answered_with_what_was_expected(
    typed: list[str], message: str, lesson: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and one message; a hidden case is as unknown as one that does not exist."""
    block = ["--block", "16,0"] if typed == ["--block", "4,0"] else typed
    joined = [f"{block[0]}={block[1]}"]
    assert main(["trace", "tiled-matmul", lesson, *joined]) == 2
    assert message in capsys.readouterr().err


def test_what_does_not_compile_or_has_no_kernel_is_refused(
    lesson: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the compiler's first message, and for an assignment of another kind."""
    assert main(["trace", "tiled-matmul", str(mistake_file(MATMUL / "mistakes/does_not_compile.cu"))]) == 2
    assert "does not compile" in capsys.readouterr().err
    assert main(["trace", "memory-analysis", lesson]) == 2
    assert "asks for no kernel" in capsys.readouterr().err
