"""A class on the command line: graded, resumed, reported, and what is in its folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.classroom.batch import OutFolder
from grader.cli import main
from tests.mistakes import mistake_file

ROOT = Path(__file__).resolve().parents[2]
SOLUTION = ROOT / "reference/matmul/solution.cu"
MISTAKES = ROOT / "reference/matmul/mistakes"


@pytest.fixture
def small_class(tmp_path: Path) -> Path:
    """Three submissions: right, racy, and one that does not compile."""
    folder = tmp_path / "class"
    folder.mkdir()
    shutil.copy(SOLUTION, folder / "ada.cu")
    shutil.copy(mistake_file(MISTAKES / "no_second_barrier.cu"), folder / "bob.cu")
    shutil.copy(mistake_file(MISTAKES / "does_not_compile.cu"), folder / "cy.cu")
    return folder


def test_a_class_is_graded_resumed_and_reported(
    small_class: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All files of DESIGN are there; a second run grades only what is new or changed, with the same seed."""
    out = tmp_path / "out"
    command = ["grade", "tiled-matmul", str(small_class), "-o", str(out), "-j", "2"]
    assert main(command) == 0
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file() and path.name != ".lock"}
    expected = {
        f"grades/{s}/{f}"
        for s in ("ada", "bob", "cy")
        for f in (
            "record.json",
            "grade.json",
            "junit.xml",
            "results.json",
            "report.html",
            "staff.html",
            f"source/{s}.cu",
        )
    }
    expected.add("grades/bob/trace.json.gz")  # of the race
    of_class = {"import.json", "junit.xml", "gradebook.csv", "index.html", "similar.html", "journal.jsonl"}
    assert files == expected | of_class
    first = {s: (out / f"grades/{s}/grade.json").stat().st_mtime_ns for s in ("ada", "bob", "cy")}
    seeds = {json.loads((out / f"grades/{s}/grade.json").read_text())["seed"] for s in first}

    shutil.copy(
        MISTAKES / "naive.cu" if (MISTAKES / "naive.cu").exists() else SOLUTION, small_class / "dee.cu"
    )
    (small_class / "cy.cu").write_bytes(SOLUTION.read_bytes() + b"\n// again\n")
    capsys.readouterr()
    assert main(command) == 0
    second = {s: (out / f"grades/{s}/grade.json").stat().st_mtime_ns for s in ("ada", "bob", "cy", "dee")}
    assert (second["ada"], second["bob"]) == (first["ada"], first["bob"])
    assert second["cy"] != first["cy"]
    grades = {s: json.loads((out / f"grades/{s}/grade.json").read_text()) for s in second}
    assert {grade["seed"] for grade in grades.values()} == seeds
    assert grades["cy"]["verdict"] == "pass"
    assert "2 of 4 were graded before" in capsys.readouterr().out

    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert main(["report", str(out)]) == 0
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
def test_what_was_withdrawn_stays_withdrawn(small_class: Path, tmp_path: Path) -> None:
    """`report` shows the class as the last batch saw it, also where older grades are still stored."""
    out = tmp_path / "out"
    command = ["grade", "tiled-matmul", str(small_class), "-o", str(out), "--seed", "1"]
    assert main(command) == 0
    (small_class / "bob.cu").unlink()
    assert main(command) == 0
    assert main(["report", str(out)]) == 0
    assert [line.split(",")[0] for line in (out / "gradebook.csv").read_text().splitlines()[1:]] == [
        "ada",
        "cy",
    ]


@pytest.mark.slow
def test_a_damaged_grade_is_graded_again(small_class: Path, tmp_path: Path) -> None:
    """A file that a power cut emptied costs a new run of that submission, and nothing else."""
    command = ["grade", "tiled-matmul", str(small_class), "-o", str(tmp_path / "out"), "--seed", "1"]
    assert main(command) == 0
    record = tmp_path / "out/grades/bob/record.json"
    record.write_text("")
    assert main(command) == 0
    assert json.loads(record.read_text())["grade"]["submission_id"] == "bob"


@pytest.mark.slow
def test_an_out_folder_among_the_submissions_is_no_submission(small_class: Path) -> None:
    """Graded in place and again, the class has as many students as before."""
    command = ["grade", "tiled-matmul", str(small_class), "-o", str(small_class / "out"), "--seed", "1"]
    assert [main(command), main(command)] == [0, 0]
    assert len((small_class / "out/gradebook.csv").read_text().splitlines()) == 1 + 3


def test_files_for_students_name_no_hidden_case(small_class: Path, tmp_path: Path) -> None:
    """Neither its id, nor its shape, nor the seed; what staff keep does."""
    out = tmp_path / "out"
    assert main(["grade", "tiled-matmul", str(small_class), "-o", str(out), "--seed", "918273645"]) == 0
    for name in ("junit.xml", "results.json", "report.html"):
        text = (out / "grades/bob" / name).read_text()
        assert "whole-tiles-tall" not in text
        assert "K=96" not in text
        assert "918273645" not in text
    assert "whole-tiles-tall" in (out / "grades/bob/grade.json").read_text()


@pytest.mark.slow
def test_another_seed_or_assignment_is_reported_and_grades_anew(
    small_class: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No student is regraded in silence."""
    command = ["grade", "tiled-matmul", str(small_class), "-o", str(tmp_path / "out"), "--seed"]
    assert main([*command, "1"]) == 0
    assert main([*command, "2"]) == 0
    assert "seed (1 → 2)" in " ".join(capsys.readouterr().err.split())


def test_two_batches_never_write_into_one_folder(
    small_class: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second is refused with exit code 2, and nothing is touched."""
    out = OutFolder(tmp_path / "out")
    with out.locked():
        assert main(["grade", "tiled-matmul", str(small_class), "-o", str(out.path)]) == 2
    assert "another grader is writing here" in capsys.readouterr().err
    assert not (out.path / "journal.jsonl").exists()


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_without_a_standard_output_it_does_its_work(closed: str, tmp_path: Path) -> None:
    """As in a job that closes what it does not read; Python has no stream there."""
    sheets = tmp_path / "class"
    sheets.mkdir()
    (sheets / "ada.yaml").write_text("student: ada\nanswers:\n  blocks-x: 75\n")
    out = tmp_path / "out"
    grade = f"{sys.executable} -m grader grade memory-analysis {sheets} -o {out} {closed}"
    ended = subprocess.run(["/bin/sh", "-c", grade], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert (out / "gradebook.csv").exists()
    wrong = f"{sys.executable} -m grader grade memory-analysis {sheets} -o {sheets} {closed}"
    assert (
        subprocess.run(["/bin/sh", "-c", wrong], cwd=ROOT, capture_output=True, check=False).returncode == 2
    )


@pytest.mark.slow
def test_two_runs_with_one_seed_give_the_same_grades(small_class: Path, tmp_path: Path) -> None:
    """Everything but the time it took is the same to the byte."""
    texts = []
    for out in (tmp_path / "one", tmp_path / "two"):
        assert main(["grade", "tiled-matmul", str(small_class), "-o", str(out), "--seed", "7"]) == 0
        grade = json.loads((out / "grades/bob/grade.json").read_text())
        grade.pop("timing", None)
        grade.pop("seconds", None)
        for case in grade["cases"]:
            case.pop("seconds")
        texts.append(json.dumps(grade))
    assert texts[0] == texts[1]


def test_reports_are_not_written_again_while_a_batch_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gradebook of half of the class would replace the batch's: it is refused, and nothing is touched."""
    (tmp_path / "ada.yaml").write_text("student: ada\nanswers:\n  blocks-x: 75\n")
    out = OutFolder(tmp_path / "out")
    assert main(["grade", "memory-analysis", str(tmp_path / "ada.yaml"), "-o", str(out.path)]) == 0
    (out.path / "gradebook.csv").write_text("as it was")
    with out.locked():
        assert main(["report", str(out.path)]) == 2
    assert capsys.readouterr().err.endswith("another grader is writing here; wait for it\n")
    assert (out.path / "gradebook.csv").read_text() == "as it was"
    assert main(["report", str(out.path)]) == 0
    assert "ada" in (out.path / "gradebook.csv").read_text()


def test_an_out_folder_below_a_file_is_a_wrong_use(
    small_class: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and a message that suggests what to do; nothing is lost."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert main(["grade", "tiled-matmul", str(small_class), "-o", str(blocked / "out")]) == 2
    assert "is no folder; choose another one with -o" in capsys.readouterr().err


def test_what_was_not_graded_is_tried_again_by_the_same_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hint names it, and a smaller number of jobs; where all are graded there is none."""
    (tmp_path / "class").mkdir()
    (tmp_path / "class/ada.yaml").write_text("student: ada\nanswers: {bytes-read: 1}\n")
    command = ["grade", "memory-analysis", str(tmp_path / "class"), "-o", str(tmp_path / "out")]
    hint = "run the same command again for what was not graded, with a smaller --jobs"
    with monkeypatch.context() as context:
        context.setattr("grader.classroom.batch.executor._in_process", lambda *_: 1 // 0)
        assert main(command) == 3
    assert hint in capsys.readouterr().err
    assert main(command) == 0
    assert hint not in capsys.readouterr().err
