"""The settings of a handout for an editor, and the hook for commits: used as VS Code and pre-commit do."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from grader.cli import main

if TYPE_CHECKING:
    from pathlib import Path

IMAGE = "ghcr.io/a-course/cuda-grader:2026.1"
TYPO = (
    "__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {\n  C[0] = A[0] + D[0];\n}\n"
)
WITH_HEADER = (
    '#include "guard.h"\n'
    "__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (INSIDE) C[i] = A[i] + B[i];\n}\n"
)


@pytest.fixture(scope="module")
def handout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two assignments for students, in one folder."""
    folder = tmp_path_factory.mktemp("handout")
    for name in ("vector-add", "naive-matmul"):
        assert main(["export-student", name, str(folder), "--image", IMAGE]) == 0
    return folder


def _tasks(handout: Path) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] = json.loads((handout / ".vscode/tasks.json").read_bytes())["tasks"]
    return tasks


def run(task: dict[str, Any], handout: Path, file: Path) -> subprocess.CompletedProcess[str]:
    """A task as VS Code starts it: its variables filled in, no shell, in the folder of the workspace."""
    values = {"${file}": str(file), "${fileDirname}": str(file.parent)}
    assert (task["type"], task["command"]) == ("process", "grader")
    command = [sys.executable, "-m", "grader", *(values.get(word, word) for word in task["args"])]
    assert "${" not in "".join(command)
    return subprocess.run(command, cwd=handout, capture_output=True, text=True, check=False)


def problems(task: dict[str, Any], printed: str) -> list[dict[str, str | None]]:
    """The fields that the problem matcher finds in each line; there is no line that it does not match."""
    pattern = task["problemMatcher"]["pattern"]
    groups = {name: number for name, number in pattern.items() if name != "regexp"}
    matches = [re.match(pattern["regexp"], line) for line in printed.splitlines()]
    assert all(matches), printed
    return [{name: match[number] for name, number in groups.items()} for match in matches if match]


def test_the_container_has_the_image_that_was_named(handout: Path) -> None:
    """The rest is how an editor colours CUDA."""
    container = json.loads((handout / ".devcontainer/devcontainer.json").read_bytes())
    assert container["image"] == IMAGE
    assert container["customizations"]["vscode"]["settings"]["files.associations"]["*.cu"] == "cpp"


def test_the_matcher_finds_file_line_severity_and_message(handout: Path) -> None:
    """Of an error of the compiler's and of all that follows from it; the grader knows no columns."""
    check = _tasks(handout)[0]
    file = handout / "assignments/vector-add/my lab.cu"
    file.write_text(TYPO, encoding="utf-8")
    ran = run(check, handout, file)
    assert ran.returncode == 1, ran.stderr
    found = problems(check, ran.stdout)
    first = found[0]
    assert (first["file"], first["line"], first["column"], first["severity"]) == (
        str(file),
        "2",
        None,
        "error",
    )
    assert first["message"]
    assert 'identifier "D" is undefined' in first["message"]
    assert {problem["file"] for problem in found} == {str(file)}


def test_the_matcher_takes_columns_warnings_and_notes(handout: Path) -> None:
    """As compilers print them, in paths with blanks, colons and of Windows, too."""
    check = _tasks(handout)[0]
    lines = "a b.cu:3:14: error: x: y\nC:\\lab\\k.cu:7: warning: w [id]\n/w/k.cu:1: note: n\n"
    assert [tuple(one.values()) for one in problems(check, lines)] == [
        ("a b.cu", "3", "14", "error", "x: y"),
        ("C:\\lab\\k.cu", "7", None, "warning", "w [id]"),
        ("/w/k.cu", "1", None, "note", "n"),
    ]


def test_the_other_task_explains(handout: Path) -> None:
    """In the terminal, as a student would have typed it."""
    check, _, explain = _tasks(handout)
    assert check["group"] == {"kind": "build", "isDefault": True}
    skeleton = handout / "assignments/naive-matmul/skeleton.cu"
    ran = run(explain, handout, skeleton)
    assert ran.returncode == 1
    assert "points" in ran.stdout


def test_a_task_checks_a_folder_with_its_headers(handout: Path, tmp_path: Path) -> None:
    """As it would be handed in: where only the file is checked, its own headers are not there."""
    folder = tmp_path / "assignments/vector-add"
    shutil.copytree(handout / "assignments/vector-add", folder, ignore=shutil.ignore_patterns("*.cu"))
    shutil.copytree(handout / "reference", tmp_path / "reference")
    (folder / "guard.h").write_text("#define INSIDE (i < N)\n", encoding="utf-8")
    (folder / "mine.cu").write_text(WITH_HEADER, encoding="utf-8")
    one, whole, _ = _tasks(handout)
    assert run(one, tmp_path, folder / "mine.cu").returncode == 1
    ran = run(whole, tmp_path, folder / "mine.cu")
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
    assert whole["problemMatcher"] == one["problemMatcher"]


def test_a_file_elsewhere_is_no_riddle(handout: Path) -> None:
    """Its folder determines the assignment of a file; where it does not, a message names what is missing."""
    file = handout / "mine.cu"
    file.write_text(TYPO, encoding="utf-8")
    ran = run(_tasks(handout)[0], handout, file)
    (line,) = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "assignment.yaml" in line


@pytest.mark.parametrize("name", ["", "A", "my image", 'x"y', "x\ny", "-x", "../x"])
def test_what_is_no_name_of_an_image_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is written."""
    with pytest.raises(SystemExit, match="2"):
        main(["export-student", "vector-add", str(tmp_path), f"--image={name}"])
    assert "expected the name of a container image" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
