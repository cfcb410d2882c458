"""On a GPU (`pytest -m gpu`): every bundled kernel assignment proves itself there, too.

The mistakes of `tiled-matmul` are in `test_on_device.py`, beside the emulator's findings for each.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from grader.grading.assignment import bundled_ids, staff_folder, staff_kernel
from grader.model import Assignment, KernelInterface
from tests.bench.gpu import grading
from tests.bench.gpu.grading import Batch, errors, failed_items
from tests.bundled import bundled
from tests.mistakes import mistake_files
from tests.program_assignments import mistakes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Batches = Callable[[str], Batch]

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(900)]  # the first test of an assignment waits for a class

KERNELS: dict[str, Assignment] = {
    name: each for name in bundled_ids() if isinstance((each := bundled(name)).interface, KernelInterface)
}

TABLES = {name: mistakes(KERNELS[name]) for name in KERNELS if name != "tiled-matmul"}
MISTAKES = [(name, file) for name, table in TABLES.items() for file in table]


def _grader(folder: Path, *arguments: str) -> tuple[int, Any]:
    """Run a command on the GPU; its exit code, and what it wrote as JSON."""
    command = [sys.executable, "-m", "grader", *arguments, "--backend", "gpu", "--json", "report.json"]
    ran = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert (folder / "report.json").is_file(), ran.stdout + ran.stderr
    return ran.returncode, json.loads((folder / "report.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", KERNELS)
def test_the_model_solution_has_full_marks_speed_included(name: str, tmp_path: Path) -> None:
    """Nothing is skipped there, so a threshold that the model solution misses shows."""
    source = staff_kernel(KERNELS[name], "solution")
    code, report = _grader(tmp_path, "check", name, str(source))
    (grade,) = report if isinstance(report, list) else (report,)
    verdicts = {item["id"]: item["verdict"] for item in grade["items"] if item["visibility"] == "visible"}
    assert (code, set(verdicts.values())) == (0, {"pass"}), verdicts
    assert bool(grade["timing"]) == any(item.check == "speedup" for item in KERNELS[name].rubric)


def test_validate_tries_the_model_solution_on_the_gpu(tmp_path: Path) -> None:
    """With its time beside that of the emulator."""
    code, report = _grader(tmp_path, "validate", "naive-matmul", "--seeds", "2")
    assert (code, report["sound"]) == (0, True)
    assert report["on_gpu"]
    assert report["seconds"]["per submission on the GPU"] > 0


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> Batches:
    """The mistakes of an assignment as one class on the GPU, graded when the first is asked for."""
    folder, done = tmp_path_factory.mktemp("classes"), dict[str, Batch]()

    def of(name: str) -> Batch:
        if name not in done:
            files = mistake_files(staff_folder(KERNELS[name]) / "mistakes")
            sources = {path.name: path.read_bytes() for path in files}
            sources["solution.cu"] = staff_kernel(KERNELS[name], "solution").read_bytes()
            given = grading.put(folder / name / "given", sources)
            out = folder / name / "out"
            done[name] = grading.grade(name, given, out, "--jobs", "12", cache=folder / "cache")
        return done[name]

    return of


@pytest.mark.parametrize("name", TABLES)
def test_the_model_solution_has_full_marks_among_the_mistakes(batches: Batches, name: str) -> None:
    """In hidden cases, too, and whatever else runs on the GPU."""
    graded = batches(name).grades["solution"]
    assert (errors(graded), failed_items(graded)) == ([], [])
    assert graded["score"] == graded["max_score"]


@pytest.mark.parametrize(("name", "file"), MISTAKES)
def test_a_mistake_loses_on_the_gpu_what_it_loses_on_the_emulator(
    batches: Batches, name: str, file: str
) -> None:
    """But for the speedup, which only a GPU judges; of outputs that CUDA leaves open the emulator decides."""
    graded = batches(name).grades[file.removesuffix(".cu")]
    assert errors(graded) == []
    timed = {item.id for item in KERNELS[name].rubric if item.check == "speedup"}
    expected, found = set(TABLES[name][file]["loses"]), set(failed_items(graded)) - timed
    assert found == expected, {item["id"]: item["message"] for item in graded["items"]}
