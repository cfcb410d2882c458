"""`grader export-student`: enough for a self-check with the same verdicts, and nothing of what is hidden."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from grader.cli import main
from grader.grading.assignment import bundled_ids, find_assignment, load_assignment, staff_folder
from grader.grading.assignment.handout import visible_part
from grader.model import DEVICES, LIMITS, Visibility
from tests.bundled import bundled
from tests.mistakes import mistake_file

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
MISTAKES = ROOT / "reference/matmul/mistakes"
LIKE = "tiled-matmul"


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The handout of the tiled product for students."""
    folder = tmp_path_factory.mktemp("handout")
    assert main(["export-student", LIKE, str(folder)]) == 0
    return folder


def texts(folder: Path) -> dict[str, str]:
    """All files by place."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and "__pycache__" not in file.parts)
    return {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files}


def test_these_files_and_no_others(handed_out: Path) -> None:
    """No kernel of the staff's, no mistakes."""
    assert set(texts(handed_out)) == {
        "assignments/tiled-matmul/README.md",
        "assignments/tiled-matmul/assignment.yaml",
        "assignments/tiled-matmul/skeleton.cu",
        "reference/matmul/feedback.yaml",
        "reference/matmul/hypotheses.py",
        "reference/matmul/oracle.py",
        "reference/matmul/tiled-matmul/baselines.json",
    }


def test_no_hidden_case_or_item_can_be_guessed_from_them(handed_out: Path) -> None:
    """No id, no shape, no line of a solution, no comment of the staff's, no seed."""
    original = bundled(LIKE)
    shown = texts(handed_out)
    definition = shown["assignments/tiled-matmul/assignment.yaml"]
    counters = shown["reference/matmul/tiled-matmul/baselines.json"]
    visible = {case.shape for case in original.cases if case.visibility is Visibility.VISIBLE}
    for case in original.cases:
        if case.visibility is Visibility.VISIBLE:
            continue
        assert case.id not in [each["id"] for each in yaml.safe_load(definition)["cases"]]
        assert f'"{case.id}"' not in counters
        spans = ((name, f"{low}..{high}" if case.draws else low) for name, (low, high) in case.shape)
        written = "{" + ", ".join(f"{name}: {span}" for name, span in spans) + "}"
        assert written not in definition or case.shape in visible
    everything = "".join(shown.values())
    assert "hidden" not in definition
    assert "seed:" not in everything
    assert "only grading sees" not in everything
    for kernel in ("solution", "naive"):
        source = (staff_folder(original) / f"{kernel}.cu").read_text(encoding="utf-8")
        lines = {line.strip() for line in source.splitlines() if len(line.strip()) > 30}
        lines -= {
            line for line in lines if line.startswith(("//", "__global__", "const int row", "const int col"))
        }
        assert lines
        assert not [line for line in lines if line in everything]


def test_what_is_handed_out_is_a_sound_assignment(handed_out: Path) -> None:
    """With the visible cases and items of the original, tags that are gone left out."""
    original, shown = (
        bundled(LIKE),
        load_assignment(handed_out / "assignments" / LIKE),
    )
    assert shown.cases == tuple(c for c in original.cases if c.visibility is Visibility.VISIBLE)
    assert [item.id for item in shown.rubric] == [item.id for item in original.rubric]
    assert [item.points for item in shown.rubric] == [item.points for item in original.rubric]
    assert {item.id: item.cases for item in shown.rubric}["edges"] == ("non-aligned",)


def self_check(assignment: str, file: Path, into: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The result of `grader check`: items with verdicts and messages, cases with verdicts, the exit code."""
    code = main(["check", assignment, str(file), "--backend", "emulator", "--json", str(into)])
    capsys.readouterr()
    graded = json.loads(into.read_text(encoding="utf-8"))
    items = [{key: item[key] for key in ("id", "verdict", "points", "message")} for item in graded["items"]]
    return {
        "code": code,
        "items": items,
        "cases": [(case["id"], case["verdict"]) for case in graded["cases"]],
    }


@pytest.mark.parametrize(
    "file",
    [
        mistake_file(MISTAKES / "only_a_tiled.cu"),
        pytest.param(MISTAKES.parent / "solution.cu", marks=pytest.mark.slow),
        pytest.param(mistake_file(MISTAKES / "no_shared_memory.cu"), marks=pytest.mark.slow),
        pytest.param(mistake_file(MISTAKES / "no_second_barrier.cu"), marks=pytest.mark.slow),
        pytest.param(mistake_file(MISTAKES / "c_indexed_with_m.cu"), marks=pytest.mark.slow),
    ],
    ids=lambda file: file.stem,
)
def test_a_self_check_reports_the_same_as_with_the_staff_s_files(
    handed_out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    """The counters stand in for the kernels that traffic is compared with."""
    with_staff = self_check(LIKE, file, tmp_path / "a.json", capsys)
    without = self_check(str(handed_out / "assignments" / LIKE), file, tmp_path / "b.json", capsys)
    assert with_staff == without


def test_the_baseline_s_estimated_times_go_with_it_but_no_line_of_its_source(handed_out: Path) -> None:
    """One for each device; limits have names and shares, and no lines."""
    file = handed_out / "reference/matmul/tiled-matmul/baselines.json"
    estimates = json.loads(file.read_text(encoding="utf-8"))["estimates"]
    assert set(estimates) == set(DEVICES)
    for estimate in estimates.values():
        assert set(estimate) == {"milliseconds", "occupancy", "limits"}
        assert estimate["milliseconds"] > 0
        assert set(estimate["limits"]) <= set(LIMITS)
        assert all(isinstance(share, float) for share in estimate["limits"].values())


def estimated(assignment: str, into: Path, *more: str) -> tuple[int, dict[str, Any]]:
    """The exit code of `grader estimate` for the model solution, and what it wrote."""
    file = str(MISTAKES.parent / "solution.cu")
    code = main(["estimate", assignment, file, "--json", str(into), *more])
    return code, json.loads(into.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_an_estimate_is_the_same_as_with_the_staff_s_files(
    handed_out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the digits that are written down of the baseline."""
    alone = str(handed_out / "assignments" / LIKE)
    _, with_staff = estimated(LIKE, tmp_path / "a.json")
    code, without = estimated(alone, tmp_path / "b.json")
    assert code == 0
    assert without["ratio"]["median"] == pytest.approx(with_staff["ratio"]["median"], rel=1e-3)
    assert without["kernels"]["student"] == with_staff["kernels"]["student"]
    assert "as fast as the naive kernel" in capsys.readouterr().out


@pytest.mark.slow
def test_a_shape_of_which_nothing_was_written_down_has_no_estimate(
    handed_out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The baseline's source is needed for it, which students do not have."""
    alone, shape = str(handed_out / "assignments" / LIKE), ("--shape", "M=256,K=256,N=256")
    code, without = estimated(alone, tmp_path / "a.json", *shape)
    assert (code, without["problem"], without["ratio"]) == (1, "no-baseline", None)
    assert capsys.readouterr().out.startswith("Speed, not estimated")
    assert estimated(LIKE, tmp_path / "b.json", *shape)[0] == 0


@pytest.mark.slow
def test_a_self_check_shows_the_estimate(handed_out: Path, tmp_path: Path) -> None:
    """From what was handed out alone."""
    into = tmp_path / "a.json"
    file = str(MISTAKES.parent / "solution.cu")
    alone = str(handed_out / "assignments" / LIKE)
    assert main(["check", alone, file, "--backend", "emulator", "--json", str(into)]) == 0
    estimate = json.loads(into.read_text(encoding="utf-8"))["estimate"]
    assert (estimate["problem"], estimate["device"]) == ("", "h200")
    assert estimate["ratio"]["median"] > 1


def test_the_same_assignment_gives_the_same_files_again(
    handed_out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So exporting twice is fine; a file that was changed meanwhile is not written over."""
    before = texts(handed_out)
    assert main(["export-student", LIKE, str(handed_out)]) == 0
    assert texts(handed_out) == before
    changed = handed_out / "assignments" / LIKE / "README.md"
    changed.write_text("mine\n", encoding="utf-8")
    assert main(["export-student", LIKE, str(handed_out)]) == 2
    assert "with other content" in capsys.readouterr().err
    assert changed.read_text(encoding="utf-8") == "mine\n"
    changed.write_text(before["assignments/tiled-matmul/README.md"], encoding="utf-8")


def test_a_program_keeps_its_headers_and_loses_its_hidden_runs(tmp_path: Path) -> None:
    """And what it should print in them."""
    assert main(["export-student", "boundary-safe-lesson", str(tmp_path)]) == 0
    original = bundled("boundary-safe-lesson")
    shown = load_assignment(tmp_path / "assignments/boundary-safe-lesson")
    assert shown.interface == original.interface
    hidden = [case.id for case in original.cases if case.visibility is not Visibility.VISIBLE]
    visible_items = [item.id for item in original.rubric if item.visibility is Visibility.VISIBLE]
    assert {case.id for case in shown.cases} == {case.id for case in original.cases} - set(hidden)
    assert {item.id for item in shown.rubric} <= set(visible_items)


def test_answers_are_not_handed_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The assignment of a sheet of questions holds their answers."""
    assert main(["export-student", "memory-analysis", str(tmp_path)]) == 0
    assert "grader questions memory-analysis" in capsys.readouterr().out
    assert not list(tmp_path.rglob("assignment.yaml"))
    assert "seed" not in "".join(texts(tmp_path).values()).lower().split()


HIDDEN_PARTS = """\
id: x
title: X   # a comment of the staff's
cases:
  - {id: a, arguments: ["1"], tags: [t], stdin: "", inputs: "null"}
  - {random: 2, shape: {N: 1..3}, id: r}
  - {id: b, stdin: secret, visibility: hidden, tags: [t, only-hidden]}
  - {id: c, visibility: after_published}
timing: {shape: {N: 4}}
rubric:
  - {id: one, points: 1, check: text, exact: shown, cases: [a, b, only-hidden, r-2]}
  - {id: two, points: 1, check: text, exact: the hidden words, cases: only-hidden}
  - {id: three, points: 1, check: exit, visibility: hidden}
  - {id: four, points: 1.50, check: compile, needs: [three, one]}
  - {id: five, points: 1, check: compile, needs: three}
"""


def test_whatever_names_what_is_hidden_goes_with_it() -> None:
    """Cases, items, names of them, words that only hidden runs print, comments, timing without its item."""
    assert yaml.safe_load(visible_part(HIDDEN_PARTS.encode())) == {
        "id": "x",
        "title": "X",
        "cases": [
            {"id": "a", "arguments": [1], "tags": ["t"], "stdin": "", "inputs": "null"},
            {"random": 2, "shape": {"N": "1..3"}, "id": "r"},
        ],
        "rubric": [
            {"id": "one", "points": 1, "check": "text", "exact": "shown", "cases": ["a", "r-2"]},
            {"id": "four", "points": 1.5, "check": "compile", "needs": ["one"]},
            {"id": "five", "points": 1, "check": "compile"},
        ],
    }


def kernels() -> Iterator[str]:
    """The bundled assignments that ask for something to be run."""
    return (name for name in bundled_ids() if "submission:\n  kind: answers" not in _yaml(name))


def _yaml(name: str) -> str:
    return (find_assignment(name) / "assignment.yaml").read_text(encoding="utf-8")


def recorded(name: str) -> list[str]:
    """The traffic of the staff's kernels of an assignment as a wheel records it, where it has any."""
    file = ROOT / "handouts" / f"{name}.json"
    return [file.read_text(encoding="utf-8")] if file.is_file() else []


def test_the_wheel_has_the_same_numbers(handed_out: Path) -> None:
    """They are recorded with `make handouts`, for a wheel is made without a compiler."""
    file = handed_out / "reference/matmul/tiled-matmul/baselines.json"
    assert [file.read_text(encoding="utf-8")] == recorded(LIKE)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(kernels()))
def test_every_bundled_assignment_can_be_handed_out(name: str, tmp_path: Path) -> None:
    """The handout is sound, and holds nothing of the hidden cases."""
    assert main(["export-student", name, str(tmp_path)]) == 0
    original, shown = bundled(name), load_assignment(tmp_path / "assignments" / name)
    assert shown.cases == tuple(c for c in original.cases if c.visibility is Visibility.VISIBLE)
    assert "hidden" not in (tmp_path / "assignments" / name / "assignment.yaml").read_text(encoding="utf-8")
    assert not list(tmp_path.rglob("solution*"))
    assert [file.read_text(encoding="utf-8") for file in tmp_path.rglob("baselines.json")] == recorded(name)
