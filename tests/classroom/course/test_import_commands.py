"""From a download to grades and back: `--dry-run`, `--roster`, `--only`, sheets of a roster, feedback."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from typing import TYPE_CHECKING

import pytest

from grader.cli import main
from grader.kinds.answers.sheets import model_answers
from tests.bundled import bundled
from tests.classroom.course.test_layouts import written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Golden

QUESTIONS = "memory-analysis"
"""Nothing of it is compiled: grading a class takes no time."""


def answers(student: str) -> bytes:
    """The sheet of this student with all answers right, and nothing that names whose it is."""
    assignment = bundled(QUESTIONS)
    filled = model_answers(assignment, student, assignment.answers.seed)
    return filled.split("\n", 1)[1].encode()


def grades(out: Path) -> dict[str, tuple[str, float]]:
    """By submission: its verdict and score."""
    stored = (json.loads(path.read_text()) for path in out.glob("grades/*/grade.json"))
    return {one["submission"]["id"]: (one["verdict"], one["score"]) for one in stored}


@pytest.fixture
def canvas(tmp_path: Path) -> Path:
    """A download of two sheets, one of them late, and a text entry; each filled in by the roster's name."""
    files = {
        "lovelaceada_12345_678901_answers.yaml": answers("ada"),
        "hoppergrace_LATE_12346_678902_answers.yaml": answers("grace"),
        "curiemarie_12347_text.html": b"<p>I could not upload</p>",
    }
    return written(tmp_path / "download", files)


@pytest.fixture
def roster(tmp_path: Path) -> Path:
    """Everybody in the course, by their logins."""
    path = tmp_path / "roster.csv"
    rows = ("Ada Lovelace,ada,ada@x.edu", "Grace Hopper,grace,grace@x.edu", "Marie Curie,marie,", "Max,max,")
    path.write_text("name,login,email\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_grades_are_not_written_where_submissions_lie(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They would be read as submissions, and a student's folder that holds grades would be left out."""
    folder = written(tmp_path / "class", {f"{name}/answers.yaml": answers(name) for name in ("ada", "grace")})
    for out in (folder, folder / "ada"):
        assert main(["grade", QUESTIONS, str(folder), "-o", str(out)]) == 2
        output = capsys.readouterr().err
        assert output == f"grader: {out}: that is where submissions lie; choose another folder with -o\n"
    assert sorted(path.name for path in folder.rglob("*")) == ["ada", "answers.yaml", "answers.yaml", "grace"]


def test_grades_may_lie_in_a_folder_of_their_own_beside_submissions(tmp_path: Path) -> None:
    """That is known again, by whatever name the download is given, and is no submission."""
    folder = written(tmp_path / "class", {f"{name}/answers.yaml": answers(name) for name in ("ada", "grace")})
    for _ in range(2):
        assert main(["grade", QUESTIONS, str(folder), "-o", str(folder / "out")]) == 0
        assert sorted(grades(folder / "out")) == ["ada", "grace"]


@pytest.mark.parametrize("where", [".", "hw1"])
def test_a_students_folder_that_looks_like_grades_does_not_vanish(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is a question by its name, at whatever level it lies, and the OUT of the command is none."""
    folder = tmp_path / "class"
    written(folder / where, {f"{name}/answers.yaml": answers(name) for name in ("ada", "eve")})
    command = ["grade", QUESTIONS, str(folder), "-o", str(folder / where / "out")]
    assert main(command) == 0
    written(folder / where, {"eve/journal.jsonl": b"", "eve/grades/x": b""})
    assert main(command) == 2
    assert "`eve`: looks like what `grader grade -o` writes, and is not the OUT of" in capsys.readouterr().err
    assert main([*command, "--skip-unmatched"]) == 0
    assert {"name": "eve", "reason": "unmatched", "of": ""} in json.loads(
        (folder / where / "out/import.json").read_text()
    )["left_out"]
    (folder / where / "eve/journal.jsonl").unlink()
    assert main(command) == 0
    assert sorted(grades(folder / where / "out")) == ["ada", "eve"]


def test_an_only_student_whose_folder_looks_like_grades_is_a_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And not an empty class."""
    written(
        tmp_path, {"class/eve/journal.jsonl": b"", "class/eve/grades/x": b"", "class/eve/a.yaml": b"a: 1"}
    )
    assert main(["grade", QUESTIONS, str(tmp_path / "class"), "-o", str(tmp_path / "out")]) == 2
    assert "`eve`: looks like what `grader grade -o` writes" in capsys.readouterr().err


@pytest.mark.parametrize("where", [".", "ada/.."])
def test_a_download_that_is_where_one_works_has_its_folder_s_name(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report on it begins with that, and not with nothing."""
    monkeypatch.chdir(written(tmp_path / "class", {"ada/answers.yaml": answers("ada"), "b.pdf": b"%PDF"}))
    main(["grade", QUESTIONS, where, "--dry-run", "-o", str(tmp_path / "out")])
    assert "class: 1 submission" in capsys.readouterr().out


def test_a_dry_run_shows_the_table_and_grades_nothing(
    canvas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    """Exit 2 where something is in doubt; --json writes the table for scripts."""
    command = ["grade", QUESTIONS, str(canvas), "--dry-run", "--json", str(tmp_path / "table.json")]
    assert main(command) == 2
    golden("cli/dry-run.txt", capsys.readouterr().out)
    table = json.loads((tmp_path / "table.json").read_text())
    assert [one["late"] for one in table["submissions"]] == [True, False]
    assert table["in_doubt"][0]["code"] == "text-only"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["download", "table.json"]


def test_doubt_is_a_question_before_anything_is_graded(
    canvas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    """Exit 2, with what is in doubt and the two ways on; nothing is written."""
    assert main(["grade", QUESTIONS, str(canvas), "-o", str(tmp_path / "out")]) == 2
    golden("cli/in-doubt.txt", capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_the_others_are_graded_where_staff_ask_for_it(
    canvas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A submission that is skipped is no zero, and import.json lists it."""
    out = tmp_path / "out"
    assert main(["grade", QUESTIONS, str(canvas), "-o", str(out), "--skip-unmatched"]) == 0
    assert sorted(grades(out)) == ["hoppergrace_12346", "lovelaceada_12345"]
    assert "download (Canvas): 2 submissions, 1 late, 1 left out (1 not matched)" in capsys.readouterr().err
    table = json.loads((out / "import.json").read_text())
    assert table["left_out"] == [{"name": "curiemarie_12347_text.html", "reason": "unmatched", "of": ""}]


def test_without_an_out_folder_only_a_dry_run_is_possible(
    canvas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names what is missing."""
    assert main(["grade", QUESTIONS, str(canvas)]) == 2
    assert "-o OUT is missing" in capsys.readouterr().err


def test_a_sheet_under_the_platforms_name_is_judged_with_its_students_numbers(
    canvas: Path, roster: Path, tmp_path: Path
) -> None:
    """With a roster everybody gets their points; when it comes later, what it changes is graded again."""
    out, command = tmp_path / "out", ["grade", QUESTIONS, str(canvas), "--skip-unmatched", "-o"]
    assert main([*command, str(out)]) == 0
    assert {verdict for verdict, _ in grades(out).values()} == {"fail"}
    assert main([*command, str(out), "--roster", str(roster)]) == 0
    assert {verdict for verdict, _ in grades(out).values()} == {"pass"}
    graded = json.loads((out / "grades/lovelaceada_12345/grade.json").read_text())["submission"]
    assert (graded["name"], graded["student"], graded["late"]) == ("lovelaceada_12345", "Ada Lovelace", False)
    assert graded["students"] == [
        {"name": "Ada Lovelace", "id": "12345", "login": "ada", "email": "ada@x.edu"}
    ]


def test_a_sheet_of_another_name_is_a_question_without_a_roster(
    canvas: Path, roster: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is unknown whose numbers count, and no student gets a zero for it."""
    hers = canvas / "lovelaceada_12345_678901_answers.yaml"
    hers.write_bytes(b'student: "ada"\n' + hers.read_bytes())
    command = ["grade", QUESTIONS, str(canvas), "-o", str(tmp_path / "out"), "--skip-unmatched"]
    assert main(command[:5]) == 2
    assert "the sheets were made for other names (ada) than the platform writes" in capsys.readouterr().err
    assert main(command) == 0
    assert list(grades(tmp_path / "out")) == ["hoppergrace_12346"]
    assert main([*command, "--roster", str(roster)]) == 0
    assert grades(tmp_path / "out")["lovelaceada_12345"] == ("pass", 100)


def test_everybodys_sheet_is_written_from_a_roster(
    roster: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file for each row, with the numbers that its answers are graded by."""
    sheets = tmp_path / "sheets"
    assert main(["questions", QUESTIONS, "--roster", str(roster), "-o", str(sheets), "--answers"]) == 0
    assert capsys.readouterr().out == f"4 sheets in {sheets}; grade with the same --roster\n"
    assert sorted(path.name for path in sheets.iterdir()) == [
        "ada.yaml",
        "grace.yaml",
        "marie.yaml",
        "max.yaml",
    ]
    assert answers("ada") == (sheets / "ada.yaml").read_bytes().split(b"\n", 1)[1]
    assert answers("ada") != answers("grace")
    assert main(["questions", QUESTIONS, "--roster", str(roster)]) == 2
    assert main(["questions", QUESTIONS]) == 2


def test_who_is_gone_is_moved_away_and_comes_back(
    canvas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their grades lie in OUT/removed and are in no report; when they are in the class again, they hold."""
    out, aside = tmp_path / "out", tmp_path / "aside.yaml"
    command = ["grade", QUESTIONS, str(canvas), "-o", str(out), "--skip-unmatched"]
    assert main(command) == 0
    hers = canvas / "lovelaceada_12345_678901_answers.yaml"
    shutil.move(hers, aside)
    capsys.readouterr()
    assert main(command) == 0
    assert f"no longer in the class, moved to {out}/removed: `lovelaceada_12345`" in capsys.readouterr().err
    assert (out / "removed/lovelaceada_12345/grade.json").is_file()
    assert list(grades(out)) == ["hoppergrace_12346"]
    shutil.move(aside, hers)
    assert main(command) == 0
    assert "2 of 2 were graded before and are unchanged" in capsys.readouterr().out
    assert sorted(grades(out)) == ["hoppergrace_12346", "lovelaceada_12345"]


def test_a_removed_grade_never_takes_the_place_of_another(canvas: Path, tmp_path: Path) -> None:
    """A student who is removed twice has two folders there."""
    out = tmp_path / "out"
    command = ["grade", QUESTIONS, str(canvas), "-o", str(out), "--skip-unmatched"]
    for attempt in (b"answers: {}\n", b"answers: {blocks: 1}\n"):
        (canvas / "curiemarie_12347_678903_answers.yaml").write_bytes(attempt)
        assert main([*command, "--fresh"]) == 0
        (canvas / "curiemarie_12347_678903_answers.yaml").unlink()
        assert main([*command, "--fresh"]) == 0
    assert sorted(path.name for path in (out / "removed").iterdir()) == [
        "curiemarie_12347",
        "curiemarie_12347~2",
    ]


def test_of_several_removed_grades_the_last_comes_back(
    canvas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not the one before it, and not that of another student whose id ends in a number."""
    out = tmp_path / "out"
    command = ["grade", QUESTIONS, str(canvas), "-o", str(out), "--skip-unmatched"]
    hers = canvas / "curiemarie_12347_678903_answers.yaml"
    for attempt in (b"answers: {}\n", b"answers: {blocks: 1}\n"):
        hers.write_bytes(attempt)
        assert main([*command, "--fresh"]) == 0
        hers.unlink()
        assert main(command) == 0
    (out / "removed/curiemarie_12347-2").mkdir()
    hers.write_bytes(b"answers: {blocks: 1}\n")
    capsys.readouterr()
    assert main(command) == 0
    assert "3 of 3 were graded before and are unchanged" in capsys.readouterr().out
    assert sorted(path.name for path in (out / "removed").iterdir()) == [
        "curiemarie_12347",
        "curiemarie_12347-2",
    ]


def test_grades_of_another_assignment_are_not_mixed_in(
    canvas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A used folder is refused for another assignment; --fresh confirms that it is meant."""
    out = tmp_path / "out"
    assert main(["grade", QUESTIONS, str(canvas), "-o", str(out), "--skip-unmatched"]) == 0
    capsys.readouterr()
    other = ["grade", "tile-phases", str(canvas), "-o", str(out), "--skip-unmatched"]
    assert main(other) == 2
    assert "holds grades of `memory-analysis`, and these are for `tile-phases`" in capsys.readouterr().err
    assert (
        json.loads((out / "grades/lovelaceada_12345/grade.json").read_text())["assignment"]["id"] == QUESTIONS
    )
    assert main([*other, "--fresh"]) == 0


def test_one_submission_can_be_graded_again(
    canvas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--only names it; the others stay as they are."""
    out = tmp_path / "out"
    command = ["grade", QUESTIONS, str(canvas), "-o", str(out), "--skip-unmatched"]
    assert main(command) == 0
    before = {path: path.stat().st_mtime_ns for path in out.glob("grades/*/grade.json")}
    assert main([*command, "--only", "lovelaceada_12345"]) == 0
    changed = [path.parent.name for path, time in before.items() if path.stat().st_mtime_ns != time]
    assert changed == ["lovelaceada_12345"]
    assert main([*command, "--only", "nobody"]) == 2
    assert "--only nobody: no submission is called so; --dry-run lists them" in capsys.readouterr().err
    assert main([*command, "--only", "lovelaceada"]) == 2
    message = "--only lovelaceada: no submission is called so; did you mean `lovelaceada_12345`?"
    assert message in capsys.readouterr().err


def test_one_submission_and_everything_are_not_asked_for_at_once(
    canvas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--fresh draws a new seed for all, and the others, which stay as they are, were graded with another."""
    out = tmp_path / "out"
    command = ["grade", QUESTIONS, str(canvas), "-o", str(out), "--skip-unmatched"]
    assert main([*command, "--fresh", "--only", "lovelaceada_12345"]) == 2
    assert "and --fresh everything, with a new seed: leave one of them out" in capsys.readouterr().err
    assert not out.exists()


def test_who_is_in_another_shard_is_reported_to_be(
    canvas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are in the class, and it is the shard that is another one."""
    command = ["grade", QUESTIONS, str(canvas), "--skip-unmatched", "-o", str(tmp_path / "out")]
    assert main([*command, "--shard", "1/2", "--only", "lovelaceada_12345"]) == 2
    message = "--only lovelaceada_12345: is not in shard 1/2 but in another one; name that with --shard"
    assert message in capsys.readouterr().err


def test_one_file_graded_again_leaves_the_class_as_it_is(
    canvas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though only a part of it is given; where the rest would be graded otherwise by now, it is refused."""
    out, aside = tmp_path / "out", tmp_path / "aside"
    command = ["grade", QUESTIONS, str(canvas), "-o", str(out), "--skip-unmatched"]
    assert main(command) == 0
    table = (out / "import.json").read_bytes()
    aside.mkdir()
    shutil.copy(canvas / "lovelaceada_12345_678901_answers.yaml", aside)
    capsys.readouterr()
    again = ["grade", QUESTIONS, str(aside), "-o", str(out), "--only", "lovelaceada_12345"]
    assert main(again) == 0
    assert "1 of 2 were graded before and are unchanged" in capsys.readouterr().out
    assert sorted(grades(out)) == ["hoppergrace_12346", "lovelaceada_12345"]
    assert (out / "import.json").read_bytes() == table
    assert (out / "gradebook.csv").read_text(encoding="utf-8").count("\n") == 3
    assert not (out / "removed").exists()
    assert main([*again, "--seed", "7"]) == 2
    assert "--only: this has changed since the class was graded: seed (2026 → 7)" in capsys.readouterr().err
    assert main([*command]) == 0
    assert "2 of 2 were graded before" in capsys.readouterr().out


def names(path: Path) -> dict[str, str]:
    """The files of an archive."""
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_reports_go_back_under_the_names_of_a_canvas_download(
    canvas: Path, roster: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Canvas finds user and upload by their numbers; by mail each person is a row."""
    out, pack = tmp_path / "out", tmp_path / "feedback.zip"
    grade = ["grade", QUESTIONS, str(canvas), "-o", str(out), "--skip-unmatched", "--roster", str(roster)]
    assert main(grade) == 0
    assert main(["feedback", str(out), "--for", "canvas", "-o", str(pack)]) == 0
    assert f"2 reports in {pack}" in capsys.readouterr().out
    files = names(pack)
    assert sorted(files) == [
        "hoppergrace_LATE_12346_678902_report.html",
        "lovelaceada_12345_678901_report.html",
    ]
    assert files["lovelaceada_12345_678901_report.html"] == (
        out / "grades/lovelaceada_12345/report.html"
    ).read_text(encoding="utf-8")
    first = pack.read_bytes()
    assert main(["feedback", str(out), "--for", "canvas", "-o", str(pack)]) == 0
    assert pack.read_bytes() == first
    assert main(["feedback", str(out), "--for", "mail", "-o", str(pack)]) == 0
    assert names(pack)["mail.csv"] == (
        "email,name,file\n"
        "grace@x.edu,Grace Hopper,hoppergrace_12346/report.html\n"
        "ada@x.edu,Ada Lovelace,lovelaceada_12345/report.html\n"
    )
    assert main(["feedback", str(out), "--for", "moodle", "-o", str(pack)]) == 2
    assert "no submission came out of a Moodle download" in capsys.readouterr().err


def test_reports_go_back_under_the_names_of_a_moodle_download(tmp_path: Path) -> None:
    """A name of any length or with commas stays whole, for Moodle reads the number behind it."""
    name = "O'Neill, María del Carmen de los Ángeles Fernández y González de la Torre_77001"
    download = written(
        tmp_path / "download", {f"{name}_assignsubmission_file/answers.yaml": b"answers: {}\n"}
    )
    out, pack = tmp_path / "out", tmp_path / "feedback.zip"
    assert main(["grade", QUESTIONS, str(download), "-o", str(out)]) == 0
    assert main(["feedback", str(out), "--for", "moodle", "-o", str(pack)]) == 0
    assert list(names(pack)) == [f"{name}_assignsubmission_file_/report.html"]
    assert main(["feedback", str(out), "--for", "folders", "-o", str(pack)]) == 0
    (folder,) = names(pack)
    assert folder.endswith("_77001/report.html")


TEAMS = {
    f"{name}_assignsubmission_file/answers.yaml": answers("901")
    for name in ("Team 12_77", "Team 13_78", "Ada Lovelace_901", "Default group")
}
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Group\n"
    "Participant 901,Ada Lovelace,ada@x.edu,,\nParticipant 902,Grace Hopper,grace@x.edu,,Team 12\n"
    "Participant 77,Marie Curie,marie@x.edu,,Team 12\nParticipant 903,Linus_P./x,l@x.edu,,Team 13\n"
)


@pytest.mark.parametrize("layout", ["folders", "flat"])
def test_a_teams_report_goes_to_each_participant(
    tmp_path: Path, layout: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Moodle finds a participant by the number, and a team's own number may be that of another student."""
    files = {name if layout == "folders" else name.replace("/", "_"): text for name, text in TEAMS.items()}
    download = written(tmp_path / "download", files)
    (tmp_path / "worksheet.csv").write_text(WORKSHEET, encoding="utf-8")
    out, pack = tmp_path / "out", tmp_path / "feedback.zip"
    command = ["grade", QUESTIONS, str(download), "-o", str(out), "--skip-unmatched"]
    assert main([*command, "--roster", str(tmp_path / "worksheet.csv")]) == 0
    assert main(["feedback", str(out), "--for", "moodle", "-o", str(pack)]) == 0
    assert sorted(names(pack)) == [
        "Ada Lovelace_901_assignsubmission_file_/report.html",
        "Grace Hopper_902_assignsubmission_file_/report.html",
        "Linus P. x_903_assignsubmission_file_/report.html",
        "Marie Curie_77_assignsubmission_file_/report.html",
    ]
    rows = "id,name,group\n77,Grace Hopper,Team 12\n901,Marie Curie,Team 12\n5,Linus Pauling,Team 13\n"
    (tmp_path / "roster.csv").write_text(rows + "9,Ada Lovelace,\n", encoding="utf-8")
    assert main([*command, "--fresh", "--roster", str(tmp_path / "roster.csv")]) == 0
    capsys.readouterr()
    assert main(["feedback", str(out), "--for", "moodle", "-o", str(pack)]) == 0
    assert list(names(pack)) == ["Ada Lovelace_901_assignsubmission_file_/report.html"]
    assert "2 reports left out" in capsys.readouterr().out


def test_numbers_of_teams_are_not_taken_for_students_without_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a roster nothing shows that a folder is a team's, and a message tells staff what that means."""
    download = written(tmp_path / "download", {name: text for name, text in TEAMS.items() if "Team" in name})
    out, pack = tmp_path / "out", tmp_path / "feedback.zip"
    assert main(["grade", QUESTIONS, str(download), "-o", str(out)]) == 0
    assert main(["feedback", str(out), "--for", "moodle", "-o", str(pack)]) == 0
    assert "if teams handed in, grade with the worksheet as --roster" in capsys.readouterr().err


@pytest.mark.parametrize("sheet", [b"answers: {}\n", b"answers: {of_another: 5}\n", b"not: [yaml"])
def test_a_class_of_zeros_is_a_question(
    tmp_path: Path, sheet: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answers to another assignment, or to nothing: the grades are stored, and exit 2 asks."""
    download = written(tmp_path / "d", {f"{name}.yaml": sheet for name in ("ada", "bob", "cy")})
    command = ["grade", QUESTIONS, str(download), "-o", str(tmp_path / "out")]
    assert main(command) == 2
    assert (
        f"no submission has a point: is `{QUESTIONS}` the assignment that these are for?"
        in capsys.readouterr().err
    )
    assert len(grades(tmp_path / "out")) == 3
    (download / "cy.yaml").write_bytes(answers("cy"))
    assert main(command) == 0


@pytest.mark.slow
def test_a_class_that_fails_to_compile_is_a_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2 asks whether it is the right assignment; the grades are stored."""
    files = {f"{name}.cu": b"__global__ void other() {}\n" for name in ("ada", "bob", "cy")}
    out = tmp_path / "out"
    command = ["grade", "vector-add", str(written(tmp_path / "class", files)), "-o", str(out)]
    assert main([*command, "--i-trust-these-files"]) == 2
    assert "everybody fails `compiles`: is `vector-add` the assignment" in capsys.readouterr().err
    assert len(grades(out)) == 3


def test_who_looks_like_another_takes_neither_a_decision_nor_a_grade(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one class it is asked before anything is graded; one file beside a graded class is refused."""
    handed_in, out, other = tmp_path / "class", tmp_path / "out", tmp_path / "other"
    for folder, name in ((handed_in, "ada"), (other, "A\u0501a")):
        folder.mkdir()
        (folder / f"{name}.yaml").write_bytes(answers(name))
    (tmp_path / "decided.yaml").write_text("students: {ada: {score: 80, comment: seen, by: Tim}}\n")
    words = ["-o", str(out), "--adjustments", str(tmp_path / "decided.yaml")]
    assert main(["grade", "memory-analysis", str(handed_in), *words]) == 0
    before = grades(out)
    assert main(["grade", "memory-analysis", str(other), *words, "--only", "A\u0501a"]) == 2
    assert "look alike" in capsys.readouterr().err
    shutil.copy(other / "A\u0501a.yaml", handed_in)
    assert main(["grade", "memory-analysis", str(handed_in), *words]) == 2
    assert "look alike as names of submissions (U+0501 CYRILLIC SMALL LETTER KOMI DE)" in (
        capsys.readouterr().err
    )
    assert grades(out) == before
