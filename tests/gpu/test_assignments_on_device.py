"""On a GPU (`pytest -m gpu`): every bundled kernel assignment proves itself there, too."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from grader.model import Assignment, KernelInterface
from grader.spec import bundled_ids, find_assignment, load_assignment, staff_kernel

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(900)]

KERNELS: dict[str, Assignment] = {
    name: each
    for name in bundled_ids()
    if isinstance((each := load_assignment(find_assignment(name))).interface, KernelInterface)
}


def _grader(folder: Path, *arguments: str) -> tuple[int, Any]:
    """Run a command on the GPU; its exit code, and what it wrote as JSON."""
    command = [sys.executable, "-m", "grader", *arguments, "--backend", "gpu", "--json", "told.json"]
    ran = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert (folder / "told.json").is_file(), ran.stdout + ran.stderr
    return ran.returncode, json.loads((folder / "told.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", KERNELS)
def test_the_model_solution_has_full_marks_speed_included(name: str, tmp_path: Path) -> None:
    """Nothing is skipped there, so a threshold that the model solution misses shows."""
    source = staff_kernel(KERNELS[name], "solution")
    code, told = _grader(tmp_path, "check", name, str(source))
    (grade,) = told if isinstance(told, list) else (told,)
    verdicts = {item["id"]: item["verdict"] for item in grade["items"] if item["visibility"] == "visible"}
    assert (code, set(verdicts.values())) == (0, {"pass"}), verdicts
    assert bool(grade["timing"]) == any(item.check == "speedup" for item in KERNELS[name].rubric)


def test_validate_tries_the_model_solution_on_the_gpu(tmp_path: Path) -> None:
    """With its time beside that of the emulator."""
    code, told = _grader(tmp_path, "validate", "naive-matmul", "--seeds", "2")
    assert (code, told["sound"]) == (0, True)
    assert told["on_gpu"]
    assert told["seconds"]["per submission on the GPU"] > 0
