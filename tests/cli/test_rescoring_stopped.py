"""A rescoring that is stopped half-way: no table mixes two rubrics, and rescoring again mends it."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from grader.classroom.batch import rescore
from grader.classroom.batch.resume import rewrite
from grader.cli import main

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_grades_of_two_rubrics_are_in_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A message names what to do, with exit code 2, and the gradebook stays as it was."""
    for folder in ("assignments", "reference"):
        shutil.copytree(ROOT / folder / "memory-analysis", tmp_path / folder / "memory-analysis")
    assignment, out, handed_in = (tmp_path / n for n in ("assignments/memory-analysis", "out", "class"))
    handed_in.mkdir()
    for name in ("ada", "bob"):
        (handed_in / f"{name}.yaml").write_text(f"student: {name}\nanswers:\n  blocks-x: 75\n")
    assert main(["grade", str(assignment), str(handed_in), "-o", str(out)]) == 0
    before = (out / "gradebook.csv").read_text()
    rubric = assignment / "assignment.yaml"
    rubric.write_text(rubric.read_text().replace("points: 15", "points: 25", 1))
    written = count()

    def stopped(*arguments: object) -> None:
        if next(written):
            raise KeyboardInterrupt
        rewrite(*arguments)  # type: ignore[arg-type]

    again = ["rescore", str(out), "--assignment", str(assignment)]
    with monkeypatch.context() as patch:
        patch.setattr(rescore, "rewrite", stopped)
        assert main(again) == 130
    (tmp_path / "own.csv").write_text("id,points\nada,\nbob,\n")
    for command in (
        ["report", str(out)],
        ["gradebook", str(out), "--into", str(tmp_path / "own.csv"), "--column", "points"],
        ["feedback", str(out), "--for", "folders", "-o", str(tmp_path / "all.zip")],
        ["merge", str(out), "-o", str(tmp_path / "merged")],
    ):
        capsys.readouterr()
        assert main(command) == 2, command
        output = capsys.readouterr()
        assert "its rescoring has not come to its end" in output.out + output.err
        if command[0] == "report":
            assert "1 of 2 grades are by another version of the assignment than others" in output.err
            assert "run `grader rescore` or `grader grade` on it to its end" in output.err
    assert (out / "gradebook.csv").read_text() == before
    assert not (tmp_path / "merged").exists()
    assert main(again) == 0
    assert main(["report", str(out)]) == 0
