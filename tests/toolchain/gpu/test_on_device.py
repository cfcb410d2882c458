"""On a GPU (`pytest -m gpu`): it agrees with the emulator, attacks fail, and blind tools are found out.

The emulator's grades are made side by side with the same seed, so both judge the same numbers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.toolchain.gpu.sanitizer import find_sanitizer
from tests.attacks import FOLDER as ATTACKS
from tests.attacks import expectations, hurting_neighbours
from tests.bench.gpu import grading
from tests.bench.gpu.grading import ASSIGNMENT, MATMUL, ROOT, Batch, errors, failed_items, kinds
from tests.mistakes import mistake_files, mistake_names

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(1800)]  # the first test of a fixture waits for a class

SPEEDUP = "speedup"
"""The one item that only a GPU can judge."""

RIGHT = ("solution", "double_buffered", "naive")
MISTAKES = tuple(name.removesuffix(".cu") for name in mistake_names(MATMUL / "mistakes"))
EXPECTED = {name.removesuffix(".cu"): expected for name, expected in expectations("gpu").items()}
HONEST = ("a_first", *(f"{name}_neighbour" for name in hurting_neighbours()), "zz_last")
"""The model solution, graded before all attacks, beside those that want to hurt it, and after all."""

AFTER_TOOLS = ("spoils_shared_runs", "stalls_under_tools", "traps_under_tools")
IN_THE_CROWD = tuple(f"honest_{number}" for number in range(12))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Batch]:
    """The staff's kernels and all mistakes, by both backends."""
    folder = tmp_path_factory.mktemp("agreement")
    files = (*(MATMUL / f"{name}.cu" for name in RIGHT), *mistake_files(MATMUL / "mistakes"))
    given = grading.put(folder / "given", {path.name: path.read_bytes() for path in files})
    return {
        backend: grading.grade(ASSIGNMENT, given, folder / backend, backend=backend, cache=folder / "cache")
        for backend in ("emulator", "gpu")
    }


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Batch:
    """All attacks, and the model solution among them, on the GPU."""
    folder = tmp_path_factory.mktemp("attacks")
    sources = {path.name: path.read_bytes() for path in ATTACKS.glob("*.cu")}
    sources |= {f"{name}.cu": (MATMUL / "solution.cu").read_bytes() for name in HONEST}
    given = grading.put(folder / "given", sources)
    return grading.grade(ASSIGNMENT, given, folder / "out", "--jobs", "2", cache=folder / "cache")


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Batch:
    """Enough at a time that they share runs of tools: honest ones, and those that are after such runs."""
    folder = tmp_path_factory.mktemp("crowded")
    solution = (MATMUL / "solution.cu").read_bytes()
    sources = {f"{name}.cu": solution + f"// {name}\n".encode() for name in IN_THE_CROWD}
    sources |= {f"{name}.cu": (ATTACKS / f"{name}.cu").read_bytes() for name in AFTER_TOOLS}
    given = grading.put(folder / "given", sources)
    return grading.grade(ASSIGNMENT, given, folder / "out", "--jobs", "16", cache=folder / "cache")


@pytest.mark.parametrize("name", [*RIGHT, *MISTAKES])
def test_the_gpu_and_the_emulator_agree_item_by_item(both: dict[str, Batch], name: str) -> None:
    """But for the speedup; of outputs that a GPU leaves open the emulator decides there, too."""
    on_gpu, emulated = both["gpu"].grades[name], both["emulator"].grades[name]
    assert (errors(on_gpu), errors(emulated)) == ([], [])
    verdicts = {item["id"]: item["verdict"] for item in on_gpu["items"] if item["id"] != SPEEDUP}
    expected = {item["id"]: item["verdict"] for item in emulated["items"] if item["id"] != SPEEDUP}
    assert verdicts == expected


@pytest.mark.parametrize("name", [*RIGHT, *MISTAKES])
def test_what_the_emulator_finds_is_reported_on_the_gpu_too(both: dict[str, Batch], name: str) -> None:
    """The same kinds of findings from races, memory and compilation; a GPU may add others."""
    compared = {"race", "out-of-bounds", "uninitialised", "misaligned", "barrier-divergence", "compile"}
    on_gpu, emulated = both["gpu"].grades[name], both["emulator"].grades[name]
    gone = (kinds(emulated) - kinds(on_gpu)) & compared
    assert not gone or "aligned" in set(failed_items(on_gpu)) - set(failed_items(emulated))


def test_the_model_solution_has_every_point_on_a_gpu(both: dict[str, Batch]) -> None:
    """The speedup too."""
    graded = both["gpu"].grades["solution"]
    assert [graded["verdict"], graded["score"], graded["max_score"]] == ["pass", 100, 100]


def test_the_naive_kernel_is_no_faster_than_itself(both: dict[str, Batch]) -> None:
    """It earns nothing for speed, and its ratio to the baseline is 1."""
    graded = both["gpu"].grades["naive"]
    assert SPEEDUP in failed_items(graded)
    ratio = graded["timing"]["speedup"]
    assert ratio["low"] - 0.02 <= 1 <= ratio["high"] + 0.02


@pytest.mark.parametrize("name", EXPECTED)
def test_an_attack_on_the_gpu_ends_as_its_table_requires(attacked: Batch, name: str) -> None:
    """It loses exactly the items that it should, with the expected findings, and is no error of ours."""
    graded = attacked.grades[name]
    messages = {item["id"]: item["message"] for item in graded["items"]}
    assert errors(graded) == []
    assert EXPECTED[name].complaints(failed_items(graded), kinds(graded)) == (), messages


@pytest.mark.parametrize("name", HONEST)
def test_the_model_solution_keeps_full_marks_beside_attacks_on_the_gpu(attacked: Batch, name: str) -> None:
    """The grade does not depend on what ran or hung on the device before."""
    graded = attacked.grades[name]
    assert errors(graded) == []
    assert [graded["score"], graded["max_score"]] == [100, 100]


@pytest.mark.parametrize("name", IN_THE_CROWD)
def test_who_shares_a_run_of_a_tool_with_an_attack_keeps_full_marks(crowded: Batch, name: str) -> None:
    """And every tool comes to an end that is good for something."""
    graded = crowded.grades[name]
    assert errors(graded) == []
    assert [graded["score"], graded["max_score"]] == [100, 100]
    assert set(graded["witnesses"].values()) == {"ok"}


@pytest.mark.parametrize("name", AFTER_TOOLS)
def test_an_attack_on_shared_runs_gains_nothing_in_a_crowd(crowded: Batch, name: str) -> None:
    """It ends as it does by itself."""
    graded = crowded.grades[name]
    assert errors(graded) == []
    assert EXPECTED[name].complaints(failed_items(graded), kinds(graded)) == ()


def test_the_planted_bugs_are_found_before_a_batch(both: dict[str, Batch]) -> None:
    """A batch begins with them; every tool then looked at the model solution and came to an end."""
    witnesses = both["gpu"].grades["solution"]["witnesses"]
    tools = ("memcheck", "racecheck", "initcheck", "synccheck")
    assert {tool: witnesses.get(tool) for tool in tools} == dict.fromkeys(tools, "ok")


def test_tools_that_see_nothing_keep_a_batch_from_being_graded(tmp_path: Path) -> None:
    """The real tools, configured to look at no kernel, report no bug and end well: our error, exit code 3."""
    real = find_sanitizer()
    assert real is not None
    blind = tmp_path / "blind-sanitizer"
    blind.write_text(f'#!/bin/sh\nexec "{real}" --kernel-name kne=no_such_kernel "$@"\n', "utf-8")
    blind.chmod(0o755)
    out = tmp_path / "out"
    solution = str(MATMUL / "solution.cu")
    done = subprocess.run(
        [sys.executable, "-m", "grader", "grade", ASSIGNMENT, solution, "-o", str(out), "--backend", "gpu"],
        cwd=ROOT,
        env=dict(os.environ, GRADER_SANITIZER=str(blind), XDG_CACHE_HOME=str(tmp_path / "cache")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "memcheck did not find the planted" in done.stderr
    assert not list(out.glob("grades/*"))


def test_doctor_reports_the_gpu_and_that_its_tools_work(tmp_path: Path) -> None:
    """It ends with 0 on a machine that can grade on a GPU."""
    done = subprocess.run(
        [sys.executable, "-m", "grader", "doctor"],
        cwd=ROOT,
        env=dict(os.environ, XDG_CACHE_HOME=str(tmp_path / "cache")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    of_a_file, _, of_a_class = done.stdout.partition("for a class:")
    problems = [line for line in of_a_file.splitlines() if line.startswith("problem")]
    assert all(line.split()[1] == "docker" for line in problems), problems  # engines are not for here
    trials = [line for line in of_a_class.splitlines() if line.split()[1:3] == ["gpu", "trial"]]
    assert all(line.startswith("ok") for line in trials), done.stdout
    assert trials or "problem  sandbox" in of_a_class, "each GPU is tried where a class would be graded"


def test_a_check_on_the_gpu_of_the_model_solution_has_full_marks(tmp_path: Path) -> None:
    """The student's own command writes a JSON file that names the GPU."""
    report = tmp_path / "grade.json"
    options = ("--backend", "gpu", "--json", str(report))
    grading.command("check", ASSIGNMENT, str(MATMUL / "solution.cu"), *options, cache=tmp_path / "cache")
    graded = json.loads(report.read_text("utf-8"))
    assert (graded["verdict"], errors(graded)) == ("pass", [])
    assert graded["backend"]["name"] == "gpu"
    assert graded["backend"]["device"]
