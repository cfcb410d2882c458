"""The assignment `memory-analysis`, from the sheet to the grade, as students and staff use it."""

from __future__ import annotations

import json
import zipfile
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
import yaml

from grader.classroom.course.download import read_download
from grader.cli.main import main
from grader.grading.assignment import staff_folder
from grader.grading.submission import ANSWERS
from grader.kinds import pipeline
from grader.kinds.answers.sheets import model_answers, with_expressions_worked_out
from grader.model import Submission, Verdict
from grader.reports import text
from grader.reports.audience import student_view
from tests.bundled import bundled, read_table

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade
    from tests.conftest import Golden

ASSIGNMENT = bundled("memory-analysis")
STAFF = staff_folder(ASSIGNMENT)
MISTAKES = read_table(STAFF / "mistakes" / "mistakes.yaml")
SEED = ASSIGNMENT.answers.seed
LESSON = {
    "bytes-read": 64_704,
    "bytes-written": 9_460,
    "operations-owners": 4_561_040,
    "operations-all": 6_553_600,
    "blocks-x": 75,
    "blocks-y": 63,
    "blocks": 4_725,
    "last-rows": 8,
    "last-columns": 16,
    "shared-32": 8 * 1024,
    "shared-64": 32 * 1024,
    "shared-128": 128 * 1024,
}


def graded(content: str | bytes, student: str = "ada", file: str = "answers.yaml", seed: int = SEED) -> Grade:
    """The grade of a file."""
    plan = pipeline.make_plan(ASSIGNMENT, seed, None, visible_only=False)
    source = content.encode() if isinstance(content, str) else content
    return pipeline.grade(plan, Submission(student, file, source, "digest"), None)


def lost(grade: Grade) -> list[str]:
    """The items that failed."""
    return [item.result.item.id for item in grade.items if item.result.verdict is Verdict.FAIL]


def test_the_lessons_numbers_are_the_expected_ones() -> None:
    """The model gives what the lessons print."""
    own = yaml.safe_load(model_answers(ASSIGNMENT, "ada"))["answers"]
    assert {name: own[name] for name in LESSON} == LESSON


def test_the_models_own_answers_earn_everything_whoever_it_is_for() -> None:
    """Also with another seed."""
    for student, seed in (("ada", SEED), ("Bob Müller", SEED), ("ada", 5)):
        grade = graded(model_answers(ASSIGNMENT, student, seed), student, seed=seed)
        assert (grade.verdict, grade.score) == (Verdict.PASS, Fraction(100))
    assert (grade.backend, grade.device) == ("model", "no GPU")


def test_everybody_has_other_numbers_and_always_the_same() -> None:
    """By the seed and the id, in which case does not count."""

    def answers(student: str, seed: int = SEED) -> str:
        return model_answers(ASSIGNMENT, student, seed).partition("\n")[2]

    assert len({answers(student) for student in ("ada", "bob", "eve")}) == 3
    assert answers("ADA") == answers("ada")
    assert answers("ada", SEED + 1) != answers("ada")


def test_answers_of_another_student_lose_the_questions_with_ones_own_numbers() -> None:
    """They lose nothing else; a sheet that names another student is pointed out."""
    grade = graded(model_answers(ASSIGNMENT, "ada"), "bob")
    assert lost(grade) == ["own"]
    assert "the sheet is that of `ada`" in text.render(grade).plain.replace("\n      ", " ").casefold()


def test_the_report_on_a_sheet_without_a_name_shows_whose_numbers_were_used() -> None:
    """A file may be called anything; a sheet with a name, as `questions` writes it, needs no word."""
    nameless = model_answers(ASSIGNMENT, "ada").partition("\n")[2]
    output = " ".join(text.render(graded(nameless, "x", "x.yaml")).plain.split())
    assert "The numbers are those of `x`, after the name of what was handed in" in output
    assert "as `student: NAME`" in output
    assert model_answers(ASSIGNMENT, "ada").startswith('student: "ada"\n')
    own = graded(model_answers(ASSIGNMENT, "ada"), "ada")
    assert "numbers are those of" not in text.render(own).plain


def test_an_empty_sheet_is_accepted_and_earns_nothing() -> None:
    """The skeleton, as it is handed out."""
    grade = graded((ASSIGNMENT.path / "skeleton.yaml").read_bytes())
    assert (grade.verdict, grade.score, grade.max_score) == (Verdict.FAIL, Fraction(0), Fraction(100))
    skeleton = yaml.safe_load((ASSIGNMENT.path / "skeleton.yaml").read_text())
    assert set(skeleton["answers"]) == {question.id for question in ASSIGNMENT.answers.questions}


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_loses_exactly_its_items(name: str) -> None:
    """For several students: what is drawn never hides a mistake."""
    content = (STAFF / "mistakes" / name).read_bytes()
    for student in ("ada", "bob", "eve"):
        filled = with_expressions_worked_out(ASSIGNMENT, content, student, SEED)
        assert lost(graded(filled, student)) == MISTAKES[name]["loses"]


def test_the_staffs_solution_is_right_for_everybody() -> None:
    """With the lessons' numbers written out, and expressions for those that are drawn."""
    content = (STAFF / "solution.yaml").read_bytes()
    for student in ("ada", "bob", "eve"):
        assert graded(with_expressions_worked_out(ASSIGNMENT, content, student, SEED), student).score == 100


def test_feedback_on_a_typical_hand_in(golden: Golden) -> None:
    """As a student reads it in a terminal."""
    content = (
        "answers:\n  bytes-read: 16,176\n  bytes-written: 9.46 KB\n  operations-owners: 2280520 flop\n"
        "  operations-all: 4.56e6\n  blocks-x: 75\n  blocks-y: 62\n  blocks: 75 x 62\n  last-columns: 0\n"
        "  threads-64: 4096\n  occupancy: 0.75\n  intensity-naive: 1/4\n  my-bytes-written: 12\n"
    )
    golden("answers/feedback.txt", text.render(graded(content), width=100).plain)


def test_explanations_of_ones_own_numbers_wait_until_grades_are_published() -> None:
    """The staff see them at once, and so does everybody those of the lessons."""
    grade = graded("answers:\n  my-bytes-read: 12\n  bytes-read: 12\n")

    def explained(shown: Grade) -> list[str]:
        return [f.case for item in shown.items for f in item.result.findings if f.steps]

    assert explained(grade) == ["bytes-read", "my-bytes-read"]
    assert explained(student_view(grade)) == ["bytes-read"]
    assert explained(student_view(grade, "published")) == ["bytes-read", "my-bytes-read"]


def test_the_sheet_is_printed_with_the_students_numbers(
    capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    """The questions, and the file to be filled in."""
    assert main(["questions", "memory-analysis", "--student", "ada"]) == 0
    golden("answers/sheet.txt", capsys.readouterr().out)
    assert main(["questions", "memory-analysis", "--student", "ada", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["student"], data["seed"], len(data["questions"])) == ("ada", SEED, 25)
    assert main(["questions", "tiled-matmul", "--student", "ada"]) == 2
    assert "asks no questions" in capsys.readouterr().err


def test_a_sheet_from_the_command_line_is_graded_with_the_same_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file names the student, so that a self-check knows; no compiler is asked for."""
    assert main(["questions", "memory-analysis", "--student", "Ada L", "--answers"]) == 0
    file = tmp_path / "answers.yaml"
    file.write_text(capsys.readouterr().out)
    assert main(["check", "memory-analysis", str(file), "--nvcc", "/nowhere"]) == 0
    assert "100 of 100 points" in capsys.readouterr().out


def test_a_class_is_graded_by_the_names_of_its_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """YAML, JSON and hostile files side by side."""
    for student in ("ada", "bob", "mal"):
        (tmp_path / "class" / student).mkdir(parents=True)
    right = yaml.safe_load(model_answers(ASSIGNMENT, "ada"))
    (tmp_path / "class" / "ada" / "answers.json").write_text(json.dumps(right))
    (tmp_path / "class" / "bob" / "answers.yml").write_text("answers: {blocks: 4725}\n")
    (tmp_path / "class" / "mal" / "answers.yaml").write_text("x: &x [1]\nanswers: *x\n")
    out = tmp_path / "out"
    assert main(["grade", "memory-analysis", str(tmp_path / "class"), "-o", str(out), "-j", "1"]) == 0
    scores = {
        student: json.loads((out / "grades" / student / "grade.json").read_text())["score"]
        for student in ("ada", "bob", "mal")
    }
    assert scores == {"ada": 100, "bob": 3.33, "mal": 0}
    assert "is an alias" in (out / "grades" / "mal" / "report.html").read_text()
    assert "seed 2026" in capsys.readouterr().out


def test_answers_are_found_in_files_folders_and_archives(tmp_path: Path) -> None:
    """One file of a known ending, or a message with what was expected."""
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "answers.yaml").write_text("answers:\n")
    (tmp_path / "ada" / "notes.txt").write_text("scribbles")
    (tmp_path / "bob").mkdir()
    with zipfile.ZipFile(tmp_path / "bob" / "hand-in.zip", "w") as archive:
        archive.writestr("mine/answers.json", "{}")
    (tmp_path / "eve").mkdir()
    for name in ("a.yaml", "b.json"):
        (tmp_path / "eve" / name).write_text("answers:\n")
    (tmp_path / "mal").mkdir()
    (tmp_path / "mal" / "kernel.cu").write_text("// no answers")
    found = {one.id: one for one in read_download(tmp_path, ANSWERS).submissions}
    assert (found["ada"].file, found["ada"].source) == ("answers.yaml", b"answers:\n")
    assert found["bob"].file.endswith("answers.json")
    problems = {name: one.problem.message for name, one in found.items() if one.problem}
    assert "holds 2 .yaml, .yml and .json files" in problems["eve"]
    assert "expected one .yaml or .json file, and it holds `kernel.cu`" in problems["mal"]
