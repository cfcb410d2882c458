"""`grader export-gradescope`: what is in the zip, and what is refused."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from grader.base.errors import UsageError
from grader.classroom.gradescope.archive import archive, pinned
from grader.cli import main
from grader.grading.assignment import load_assignment
from tests.bundled import bundled

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def content() -> bytes:
    """The archive of the tiled product."""
    return archive(bundled("tiled-matmul"), 5, 540.0)


@pytest.fixture
def zipped(content: bytes) -> zipfile.ZipFile:
    """The same, to read in."""
    return zipfile.ZipFile(io.BytesIO(content))


def test_the_scripts_are_at_its_root_and_may_be_started(zipped: zipfile.ZipFile) -> None:
    """Gradescope looks for them there."""
    for name in ("setup.sh", "run_autograder"):
        assert zipped.getinfo(name).external_attr >> 16 == 0o100755
        assert zipped.read(name).startswith(b"#!/bin/")


def test_it_has_the_staffs_files_of_its_assignment_and_the_grader(zipped: zipfile.ZipFile) -> None:
    """The hidden cases and the oracle, but no wrong kernel, no attack, no other assignment, no leftovers."""
    names = zipped.namelist()
    assert zipped.read("assignments/tiled-matmul/assignment.yaml").count(b"visibility: hidden") > 5
    assert {
        "reference/matmul/oracle.py",
        "reference/matmul/solution.cu",
        "program/grader/kinds/pipeline.py",
    } <= {*names}
    assert {"program/sandbox/headers/wb.h", "program/grader/model/mistakes/texts.yaml"} <= {*names}
    for part in (
        "__pycache__",
        "attacks",
        "/.",
        "reference/matmul/mistakes",
        "assignments/vector-add",
        "_data",
    ):
        assert not [name for name in names if part in name], part
    assert json.loads(zipped.read("harness.json")) == {
        "assignment": "tiled-matmul",
        "seed": 5,
        "seconds": 540.0,
    }


def test_the_same_assignment_makes_the_same_bytes(content: bytes) -> None:
    """No time and no order of a folder gets in."""
    assert archive(bundled("tiled-matmul"), 5, 540.0) == content


def test_every_package_is_pinned_to_what_is_installed_here(zipped: zipfile.ZipFile) -> None:
    """The compiler too, and what packages require themselves; nothing that only tests need."""
    lines = zipped.read("requirements.txt").decode().splitlines()
    assert all(line.count("==") == 1 for line in lines)
    names = {line.partition("==")[0] for line in lines}
    assert {"numpy", "nvidia-cuda-nvcc", "pydantic-core"} <= names
    assert not names & {"pytest", "ruff", "docker", "cuda-grader"}
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert {*lines} <= {*constraints}


def test_what_is_not_installed_stands_with_the_versions_that_are_asked_for() -> None:
    """Staff with an nvcc of their own need not have the one that is fetched there."""
    assert "nvidia-ml-py>=12.560" in pinned(("gpu",)).splitlines()


def test_an_assignment_of_ones_own_comes_with_its_own_reference(tmp_path: Path) -> None:
    """It does so from any folder, and for a program without an operation, too."""
    source = bundled("histogram")
    folder = tmp_path / "assignments" / "mine"
    folder.mkdir(parents=True)
    text = (source.path / "assignment.yaml").read_text(encoding="utf-8").replace("id: histogram", "id: mine")
    (folder / "assignment.yaml").write_text(text, encoding="utf-8")
    (folder / ".notes").write_text("x", encoding="utf-8")
    names = zipfile.ZipFile(io.BytesIO(archive(load_assignment(folder), 1, 60.0))).namelist()
    assert "assignments/mine/assignment.yaml" in names
    assert "reference/histogram/oracle.py" in names
    assert "assignments/mine/.notes" not in names


def test_questions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Gradescope does not reveal whose numbers a sheet has; the message names what to do instead."""
    with pytest.raises(UsageError, match="grade its export with `grader grade` and a roster"):
        archive(bundled("memory-analysis"), 1, 60.0)
    assert main(["export-gradescope", "memory-analysis", "-o", str(tmp_path / "a.zip")]) == 2
    assert "everybody's own numbers" in capsys.readouterr().err
    assert not (tmp_path / "a.zip").exists()


def test_the_command_writes_it_and_names_the_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A seed that was drawn is in the zip and in what is printed; grading ends a minute before Gradescope."""
    path = tmp_path / "a.zip"
    assert main(["export-gradescope", "tiled-matmul", "-o", str(path), "--minutes", "20"]) == 0
    about = json.loads(zipfile.ZipFile(path).read("harness.json"))
    printed = capsys.readouterr().out
    assert f"seed {about['seed']}" in printed
    assert "for staff only" in printed
    assert about["seconds"] == 19 * 60
    with pytest.raises(SystemExit):
        main(["export-gradescope", "tiled-matmul", "-o", str(tmp_path / "none" / "a.zip")])
