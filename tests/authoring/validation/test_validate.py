"""`grader validate` as a whole: what it accepts, what it refuses, and with which exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from grader.cli import main
from tests.authoring.validation import small_assignment

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = ("--backend", "emulator", "--seeds", "2")


def _validated(home: Path, folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the report as JSON."""
    path = folder / "report.json"
    code = main(["validate", str(home), *OPTIONS, "--json", str(path), *options])
    report: dict[str, Any] = json.loads(path.read_text())
    return code, report


def test_an_assignment_whose_solution_is_wrong_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 1, and no mutants: they would tell nothing."""
    wrong = small_assignment.SOLUTION.replace("+ x[i]", "+ 1.0f")
    home = small_assignment.write(tmp_path, solution=wrong)
    code, report = _validated(home, tmp_path)
    assert (code, report["sound"], report["mutants"]) == (1, False, [])
    (problem,) = report["problems"]
    assert problem.startswith("the model solution (seed 1) loses right, memory: none of 3 cases is right")
    assert "not sound: 1 problem" in capsys.readouterr().out


def test_a_table_that_cannot_be_read_is_refused_before_anything_is_built(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, with the file and what was expected."""
    home = small_assignment.write(tmp_path, table="- no_guard.cu\n")
    assert main(["validate", str(home), *OPTIONS]) == 2
    assert "mistakes.yaml: expected a table of mistakes by file name" in capsys.readouterr().err


def test_a_case_that_is_too_large_for_the_emulator_is_reported_before_mutants_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Standard error and the report give the reason; the assignment is none the worse for it."""
    monkeypatch.setattr("grader.kinds.plan.ALL_WORK", 10)
    monkeypatch.setattr("grader.kinds.plan.LEAST_WORK", 10)
    monkeypatch.setattr("grader.simulation.emulator.core.execution.WORK_UNIT", 1)
    home = small_assignment.write(tmp_path)
    _, report = _validated(home, tmp_path, "-j", "1")
    text = "case `whole` (N = 64) is not judged where there is no GPU: too much work for the emulator: after "
    assert [line for line in report["warnings"] if line.startswith(text)]
    output = " ".join(capsys.readouterr().err.split())
    assert output.index(text) < output.index("steps done")


def test_questions_prove_themselves_without_an_emulator(tmp_path: Path) -> None:
    """Its mistakes are files of answers, there are no mutants, and the report lists what took how long."""
    path = tmp_path / "report.json"
    assert main(["validate", "memory-analysis", *OPTIONS, "--json", str(path)]) == 0
    report = json.loads(path.read_text())
    assert list(report["seconds"]) == ["per submission, answers compared", "validation"]
    assert list(report["spent"]) == ["model solution, skeleton", "mistakes", "other seeds"]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_program_that_calls_cuda_proves_itself_without_a_gpu(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Mutants of its device code and of its host code die; without known mistakes they are what shows it."""
    home = small_assignment.write_program(tmp_path)
    code, report = _validated(home, tmp_path, "-j", "2")
    assert (code, report["sound"], report["problems"], report["errors"]) == (0, True, [], [])
    assert (report["mistakes"], report["mutation_score"], report["unjudged"]) == ([], 1, [])
    killed = {each["kind"] for each in report["mutants"] if each["fate"] == "killed"}
    assert {"guard-dropped", "elements-for-bytes", "direction-changed", "free-removed"} <= killed
    assert capsys.readouterr().out.endswith("\nsound\n")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_small_assignment_proves_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every mutant dies, the tolerance holds, and the report is a file as well."""
    home = small_assignment.write(tmp_path)
    markdown = tmp_path / "report.md"
    code, report = _validated(home, tmp_path, "-j", "2", "--report", str(markdown))
    assert report["problems"] == report["errors"] == []
    assert (code, report["sound"], report["mutation_score"]) == (0, True, 1)
    fates = {each["kind"]: each["fate"] for each in report["mutants"]}
    assert fates["guard-dropped"] == fates["body-empty"] == fates["coarser-arithmetic"] == "killed"
    assert [each["inside"] for each in report["controls"]] == [True, False]
    assert "## Mutants" in markdown.read_text()
    assert capsys.readouterr().out.endswith("\nsound\n")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_mistake_that_loses_something_else_is_refused(tmp_path: Path) -> None:
    """The table names `right`, the file loses `memory`; with every seed."""
    home = small_assignment.write(tmp_path, table=small_assignment.TABLE.replace("[memory]", "[right]"))
    code, report = _validated(home, tmp_path, "-j", "2")
    assert code == 1
    assert report["problems"] == [
        f"no_guard.cu (seed {seed}) loses memory; the table says right" for seed in (1, 2, 3)
    ]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_tiled_matmul_proves_itself(tmp_path: Path) -> None:
    """Every mutant of its model solution dies, barriers in the PTX among them, or is explained."""
    path = tmp_path / "report.json"
    code = main(["validate", "tiled-matmul", *OPTIONS, "-j", "2", "--json", str(path)])
    report = json.loads(path.read_text())
    assert report["problems"] == report["errors"] == []
    assert (code, report["mutation_score"]) == (0, 1)
    barriers = [each for each in report["mutants"] if each["kind"] == "barrier-removed-from-ptx"]
    assert [each["fate"] for each in barriers] == ["killed", "killed"]
    assert sum(each["fate"] == "killed" for each in report["mutants"]) > 60


def test_an_oracle_that_is_missing_is_reported_once_as_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, and no fault of the grader's in each trial."""
    home = small_assignment.write(tmp_path)
    for oracle in tmp_path.rglob("oracle.py"):
        oracle.unlink()
    assert main(["validate", str(home), *OPTIONS]) == 2
    assert capsys.readouterr().err.count("no oracle.py") == 1


def test_a_solution_that_does_not_compile_is_reported_with_the_message_of_nvcc(tmp_path: Path) -> None:
    """That it loses `compiles` is no help."""
    home = small_assignment.write(tmp_path, solution=small_assignment.SOLUTION.replace(";", "", 1))
    code, report = _validated(home, tmp_path)
    assert code == 1
    assert 'expected a ";"' in report["problems"][0]
