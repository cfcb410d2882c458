"""On a GPU (`pytest -m gpu`): every bundled kernel assignment proves itself there, too.

The mistakes of `tiled-matmul` are in `test_on_device.py`, beside what the emulator says of each.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from grader.assignment import bundled_ids, staff_folder, staff_kernel
from grader.model import Assignment, KernelInterface
from tests.bench.gpu import grading
from tests.bench.gpu.grading import Batch, errors, lost
from tests.bundled import bundled
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

_RACE = "nothing orders the threads, so what comes out may be right or wrong"
_RUBBISH = "what lies outside an array, or where nothing was written, is not the same here and there"
_PARTED = "whether a block goes on where some threads miss a barrier is not the same here and there"
OPEN_ON_A_GPU = {
    ("convolution-2d", "no_barrier.cu"): _RACE,
    ("convolution-2d", "zeros_not_stored.cu"): _RUBBISH,
    ("histogram", "barrier_inside_the_loop.cu"): _PARTED,
    ("histogram", "bins_not_emptied.cu"): _RUBBISH,
    ("histogram", "emptied_by_one_thread_without_barrier.cu"): _RACE,
    ("histogram", "no_barrier_before_merging.cu"): _RACE,
    ("histogram", "no_barriers.cu"): _RACE,
    ("histogram", "own_bin_emptied_only.cu"): _RUBBISH,
    ("inclusive-scan", "guard_one_too_far.cu"): _RACE,
    ("inclusive-scan", "no_barrier_after_load.cu"): _RACE,
    ("inclusive-scan", "no_barrier_in_steps.cu"): _RACE,
    ("inclusive-scan", "no_bound_on_the_left.cu"): _RUBBISH,
    ("inclusive-scan", "no_store_guard.cu"): _RACE,
    ("matmul-speedup", "no_first_barrier.cu"): _RACE,
    ("naive-matmul", "sum_not_set_to_zero.cu"): _RUBBISH,
    ("reduction", "barrier_where_lane_is_zero.cu"): _PARTED,
    ("reduction", "no_barrier.cu"): _RACE,
    ("reduction", "reads_thirty_two_sums.cu"): _RUBBISH,
    ("reduction", "shared_array_too_large.cu"): _RUBBISH,
    ("reduction", "sum_not_set_to_zero.cu"): _RUBBISH,
    ("reduction", "tree_with_one_barrier.cu"): _RACE,
    ("tiled-matmul-square", "no_first_barrier.cu"): _RACE,
    ("transpose", "no_barrier.cu"): _RACE,
    ("vector-add", "copies_for_another.cu"): _RACE,
}
"""Mistakes whose outputs CUDA leaves open, and why. They lose some of what they should."""


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


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> Batches:
    """The mistakes of an assignment as one class on the GPU, graded when the first is asked for."""
    folder, done = tmp_path_factory.mktemp("classes"), dict[str, Batch]()

    def of(name: str) -> Batch:
        if name not in done:
            files = (staff_folder(KERNELS[name]) / "mistakes").glob("*.cu")
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
    assert (errors(graded), lost(graded)) == ([], [])
    assert graded["score"] == graded["max_score"]


@pytest.mark.parametrize(("name", "file"), MISTAKES)
def test_a_mistake_loses_on_the_gpu_what_it_loses_on_the_emulator(
    batches: Batches, name: str, file: str
) -> None:
    """But for the speedup, which only a GPU judges, and for outputs that CUDA leaves open."""
    graded = batches(name).grades[file.removesuffix(".cu")]
    assert errors(graded) == []
    timed = {item.id for item in KERNELS[name].rubric if item.check == "speedup"}
    expected, found = set(TABLES[name][file]["loses"]), set(lost(graded)) - timed
    if (name, file) in OPEN_ON_A_GPU:
        assert expected & found
    else:
        assert found == expected, {item["id"]: item["message"] for item in graded["items"]}


def test_the_table_of_open_outputs_names_mistakes_that_exist() -> None:
    """A misspelt one would never be met."""
    assert set(OPEN_ON_A_GPU) <= set(MISTAKES)
