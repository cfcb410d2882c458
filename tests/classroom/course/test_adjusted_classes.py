"""A class that is graded with what staff decided: from the command line to the files that it leaves."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from grader.cli import main
from grader.grading.assignment import find_assignment
from tests.classroom.course.layouts import PUSHED
from tests.classroom.course.test_adjustments import DUE, STAFF
from tests.classroom.course.test_import_commands import QUESTIONS, answers
from tests.classroom.course.test_layouts import written

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_class_is_adjusted_and_stays_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In every report; by later batches and `rescore` without the option, and when the file changes."""
    sheet = model = answers("lovelaceada_12345")
    download = written(
        tmp_path / "download",
        {"lovelaceada_LATE_12345_678901_answers.yaml": sheet, "hoppergrace_12346_678902_answers.yaml": model},
    )
    out, file = tmp_path / "out", tmp_path / "decided.yaml"
    file.write_text("late: {flat: 20%}\nstudents: {nobody: {days_late: 1}}\n", encoding="utf-8")
    command = ["grade", QUESTIONS, str(download), "-o", str(out)]

    def stored() -> dict[str, object]:
        grade: dict[str, object] = json.loads((out / "grades/lovelaceada_12345/grade.json").read_text())
        return grade

    assert main(command) == 0
    assert stored()["score"] == 100
    assert main([*command, "--adjustments", str(file)]) == 0
    assert "decided.yaml: no submission is known as `nobody`" in capsys.readouterr().err
    assert (stored()["score"], stored()["adjustments"]) == (
        80,
        [
            {
                "kind": "late",
                "points": -20,
                "points_exact": "-20",
                "item": "",
                "days": 1,
                "comment": "",
                "by": "",
            }
        ],
    )
    assert "late by 1 day: −20 points" in (out / "grades/lovelaceada_12345/report.html").read_text("utf-8")
    heading, _, hers = (out / "gradebook.csv").read_text("utf-8").splitlines()
    assert heading.endswith(",error,student,late,adjusted")
    assert hers.startswith("lovelaceada_12345,answers.yaml,80,100")
    assert hers.endswith(",,lovelaceada,late,late by 1 day: −20 points")
    assert main([*command, "--only", "lovelaceada_12345"]) == 0
    assert stored()["score"] == 80
    assert main(["rescore", str(out)]) == 0
    assert stored()["score"] == 80
    file.write_text("late: {flat: 5%}\n", encoding="utf-8")
    assert main([*command, "--adjustments", str(file)]) == 0
    assert stored()["score"] == 95


def test_decisions_are_checked_before_anything_is_graded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that cannot be applied ends the command with exit code 2, and no grade."""
    download = written(
        tmp_path / "download", {"lovelaceada_LATE_12345_678901_answers.yaml": b"answers: {}\n"}
    )
    (tmp_path / "decided.yaml").write_text("late: {per_day: 5%}\n", encoding="utf-8")
    command = ["grade", QUESTIONS, str(download), "-o", str(tmp_path / "out"), "--adjustments"]
    for name in ("decided.yaml", "missing.yaml"):
        assert main([*command, str(tmp_path / name)]) == 2
    assert "is late by an unknown time" in capsys.readouterr().err
    assert not (tmp_path / "out/grades").exists()


def test_times_that_only_some_have_are_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If no submission has one, a message states that only `days_late` counts."""
    names = [f"HW3_{who}_attempt_2026-11-01-10-00-00_answers.yaml" for who in ("ada", "bob")]
    download = written(tmp_path / "download", dict.fromkeys(names, b"answers: {}\n"))
    plain = written(tmp_path / "plain", {"ada.yaml": b"answers: {}\n", "bob.yaml": b"answers: {}\n"})
    (tmp_path / "decided.yaml").write_text(DUE, encoding="utf-8")
    command = ["grade", QUESTIONS, "--adjustments", str(tmp_path / "decided.yaml"), "-o"]
    assert main([*command, str(tmp_path / "one"), str(download)]) == 0
    assert "time" not in capsys.readouterr().err
    (tmp_path / "decided.yaml").write_text(f"{DUE}students: {{ada: {{days_late: 1}}}}\n", encoding="utf-8")
    assert main([*command, str(tmp_path / "two"), str(plain)]) == 0
    assert "no time of any submission is known; only `days_late` counts" in capsys.readouterr().err


def test_an_export_with_times_of_some_is_a_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is graded until staff state how late the others were."""
    listed = "submission_101:\n  :created_at: 2026-11-01 10:00:00 Z\nsubmission_102:\n  :score: 1\n"
    files = {f"submission_{n}/answers.yaml": b"answers: {}\n" for n in (101, 102)}
    download = written(tmp_path / "d", {**files, "submission_metadata.yml": listed.encode()})
    decided, out = tmp_path / "decided.yaml", tmp_path / "out"
    zoned = DUE.replace("23:59", "23:59 +00:00")
    decided.write_text(zoned, encoding="utf-8")
    command = ["grade", QUESTIONS, str(download), "--adjustments", str(decided), "-o", str(out)]
    assert main(command) == 2
    assert "no time is known of `submission_102`, though others' are" in capsys.readouterr().err
    assert not (out / "grades").exists()
    decided.write_text(f"{zoned}students: {{submission_102: {{days_late: 0}}}}\n", encoding="utf-8")
    assert main(command) == 0


def test_decisions_beside_the_assignment_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An edited file counts at once, one that is gone still does, and two that differ are a question."""
    folder = tmp_path / "quiz"
    shutil.copytree(find_assignment(QUESTIONS), folder)
    beside, out = folder / "adjustments.yaml", tmp_path / "out"
    download = written(tmp_path / "d", {"ada.yaml": answers("ada")})
    command = ["grade", str(folder), str(download), "-o", str(out)]

    def score() -> float:
        graded: float = json.loads((out / "grades/ada/grade.json").read_text())["score"]
        return graded

    for points in (80, 70):
        beside.write_text(f"students: {{ada: {{score: {points}, {STAFF}}}}}\n", encoding="utf-8")
        assert main(command) == 0
        assert score() == points
    beside.unlink()
    capsys.readouterr()
    assert main(command) == 0
    assert "adjustments-beside.yaml counts, for adjustments.yaml beside the assignment is gone" in (
        capsys.readouterr().err.replace("\n", "")
    )
    assert main(["rescore", str(out), "--assignment", str(folder)]) == 0
    assert score() == 70
    given_now = tmp_path / "given.yaml"
    given_now.write_text(f"students: {{ada: {{score: 60, {STAFF}}}}}\n", encoding="utf-8")
    assert main([*command, "--adjustments", str(given_now)]) == 0
    assert main(command) == 0
    assert score() == 60
    beside.write_text("students: {}\n", encoding="utf-8")
    assert main(command) == 2
    assert main(["rescore", str(out), "--assignment", str(folder)]) == 2
    assert "differ; say with --adjustments which one counts" in capsys.readouterr().err
    assert score() == 60


def test_decisions_about_another_assignment_are_given_up_with_it(tmp_path: Path) -> None:
    """--fresh for another assignment starts without them; a refusal leaves them where they are."""
    download = written(tmp_path / "d", {"ada_12345_678901_answers.yaml": b"answers: {}\n"})
    out = tmp_path / "out"
    (tmp_path / "decided.yaml").write_text(f"students: {{12345: {{score: 60, {STAFF}}}}}\n", encoding="utf-8")
    command = ["grade", QUESTIONS, str(download), "-o", str(out)]
    assert main([*command, "--adjustments", str(tmp_path / "decided.yaml")]) == 0
    assert main(["grade", "tile-phases", *command[2:]]) == 2
    assert (out / "adjustments.yaml").is_file()
    assert main(["grade", "tile-phases", *command[2:], "--fresh"]) == 0
    assert not (out / "adjustments.yaml").exists()
    assert "adjustments" not in json.loads((out / "grades/ada_12345/grade.json").read_text())


def test_a_push_to_github_has_the_time_that_classroom_reports(tmp_path: Path) -> None:
    """The times of the repository's own commits do not count; each member of a team is in the table."""
    files = {
        "hw3-submissions/hw3-ada-l/answers.yaml": b"answers: {}\n",
        "hw3-submissions/hw3-ada-l/.git/logs/HEAD": b"0 1 Ada <a@x> 1700000000 +0000\tcommit: in time\n",
        "hw3-submissions/hw3-team-12/answers.yaml": b"answers: {}\n",
        "hw3-submissions/grades.csv": PUSHED,
    }
    download, out = written(tmp_path / "d", files), tmp_path / "out"
    (tmp_path / "decided.yaml").write_text(
        f"{DUE.replace('23:59', '23:59 +00:00')}students: {{team-12: {{items: {{traffic: 15}}, {STAFF}}}}}\n"
    )
    command = [
        "grade",
        QUESTIONS,
        str(download),
        "--adjustments",
        str(tmp_path / "decided.yaml"),
        "-o",
        str(out),
    ]
    assert main(command) == 0
    days = {
        path.parent.name: [
            one["days"] for one in json.loads(path.read_text()).get("adjustments", ()) if one["days"]
        ]
        for path in out.glob("grades/*/grade.json")
    }
    assert days == {"ada-l": [], "team-12": [1]}
