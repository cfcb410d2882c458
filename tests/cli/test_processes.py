"""Processes for a class: where they cannot be started, the message suggests what to do."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from grader.classroom.batch.executor import forkserver
from grader.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_temporary_folder_with_too_long_a_path_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sockets lie in it; it is no student's fault, and no submission gets a grade for it."""
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    sheet = tmp_path / "ada.yaml"
    sheet.write_text("answers: {}\n")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert main(["grade", "memory-analysis", str(sheet), "-o", str(tmp_path / "out")]) == 3
    output = capsys.readouterr().err
    assert "the path of the temporary folder is too long for the sockets in it" in output
    assert "set TMPDIR to one of at most 75 bytes" in output
    assert not list(tmp_path.glob("out/grades/*"))


def test_a_short_path_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the last byte that fits."""
    monkeypatch.setattr(tempfile, "tempdir", "/" + "a" * 74)
    assert forkserver(["grader.base.errors"]).get_start_method() == "forkserver"
