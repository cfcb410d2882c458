"""`grader.toml`: the options that a course sets once for every `grade`."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from grader.cli import main
from tests.classroom.course.test_import_commands import QUESTIONS, answers, grades, names
from tests.classroom.course.test_layouts import written


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which staff work, with a class of one and a roster."""
    written(tmp_path, {"class/ada-1.yaml": answers("ada"), "roster.csv": b"login,name\nada,Ada\nbob,Bob\n"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_a_course_sets_once_is_not_typed_again(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Roster and output come from the file; what is typed comes first."""
    (course / "grader.toml").write_text('roster = "roster.csv"\nout = "graded"\n', encoding="utf-8")
    assert main(["grade", QUESTIONS, "class"]) == 0
    told = capsys.readouterr().err
    assert "1 student of the roster without one" in told
    assert told.startswith("grader.toml in this folder sets roster = roster.csv, out = graded; what is typed")
    assert grades(course / "graded") == {"ada-1": ("pass", 100)}
    assert main(["grade", QUESTIONS, "class", "-o", "elsewhere"]) == 0
    assert grades(course / "elsewhere") == {"ada-1": ("pass", 100)}


@pytest.mark.parametrize("folder", ["class", "class/eve"])
def test_a_course_file_among_the_submissions_is_refused(
    folder: str, course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It names the file of decisions: a student who hands one in would decide about points."""
    written(course, {f"{folder}/grader.toml": b'adjustments = "mine.yaml"\n'})
    monkeypatch.chdir(course / folder)
    assert main(["grade", QUESTIONS, str(course / "class"), "-o", str(course / "out")]) == 2
    assert "grader.toml: lies among the submissions" in capsys.readouterr().err
    assert not (course / "out").exists()


@pytest.mark.parametrize(
    "named", ["answers.yaml", "hand-in.zip", "sub/../answers.yaml", "link-out.yaml", "link.yaml"]
)
def test_a_course_file_beside_a_file_that_was_handed_in_is_refused(
    named: str, course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the folder of one student: what decides about points would be handed in with what it is about."""
    written(
        course,
        {
            "eve/grader.toml": b'adjustments = "mine.yaml"\n',
            "eve/mine.yaml": b"students:\n  answers: {score: 100, comment: shown, by: Tim}\n",
            "eve/answers.yaml": answers("eve"),
            "eve/sub/grader.toml": b"",
        },
    )
    monkeypatch.chdir(course / "eve")
    with zipfile.ZipFile("hand-in.zip", "w") as archive:
        archive.write("answers.yaml")
    Path("link-out.yaml").symlink_to("../class/ada-1.yaml")
    Path("link.yaml").symlink_to("answers.yaml")
    assert main(["grade", QUESTIONS, named, "-o", str(course / "out")]) == 2
    output = capsys.readouterr().err
    assert f"grader.toml: lies beside {named}, where a student may have put it; move" in output
    assert not (course / "out").exists()


@pytest.mark.parametrize(
    ("folder", "named", "where"),
    [
        ("eve/sub", "../answers.yaml", "lies below the folder of ../answers.yaml"),
        ("eve/sub/deeper", "../../hand-in.zip", "lies below the folder of ../../hand-in.zip"),
        ("class/bob", "../eve", "lies in a folder beside ../eve"),
        ("class/bob/sub", "../../eve", "lies in a folder beside ../../eve"),
        ("class/eve", ".", "lies among the submissions"),
        ("link", "..", "lies among the submissions"),
        ("unpacked/eve", "../../hand-ins/class.zip", "lies beside or below k.cu"),
        ("unpacked/eve/sub", "../../../hand-ins/class.zip", "lies beside or below k.cu"),
        ("out", "../class", "lies among the submissions"),
    ],
)
def test_a_course_file_anywhere_around_what_students_handed_in_is_refused(
    folder: str,
    named: str,
    where: str,
    course: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Below what is graded, in another student's folder, by a link, in an unpacked archive, in OUT."""
    written(
        course,
        {
            "eve/answers.yaml": answers("eve"),
            "class/eve/answers.yaml": answers("eve"),
            "unpacked/eve/k.cu": b"",
            "hand-ins/class.zip": b"",
        },
    )
    (course / "class/link").mkdir()
    (course / "link").symlink_to("class/link")
    for archive_path in (course / "eve/hand-in.zip", course / "hand-ins/class.zip"):
        with zipfile.ZipFile(archive_path, "w") as archive:
            archive.writestr("answers.yaml", answers("eve"))
    (course / folder).mkdir(parents=True, exist_ok=True)
    (course / folder / "grader.toml").write_text('adjustments = "mine.yaml"\n', encoding="utf-8")
    monkeypatch.chdir(course / folder)
    assert main(["grade", QUESTIONS, named, "-o", str(course / "out")]) == 2
    assert f"grader.toml: {where}" in capsys.readouterr().err
    assert not (course / "out/grades").exists()


def test_a_course_file_that_leads_to_a_students_is_refused(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The student may change what it says."""
    written(course, {"class/eve/grader.toml": b'out = "eves"\n'})
    (course / "grader.toml").symlink_to("class/eve/grader.toml")
    assert main(["grade", QUESTIONS, "class", "-o", "out"]) == 2
    assert "grader.toml: lies among the submissions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("folder", "where"),
    [
        ("class", "lies among the submissions"),
        ("class/eve/sub", "lies among the submissions"),
        ("out/grades", "lies among the submissions"),
        ("elsewhere/eve", "lies beside or below k.cu"),
        ("elsewhere/eve/sub", "lies beside or below k.cu"),
    ],
)
def test_commands_about_a_graded_class_refuse_a_students_course_file(
    folder: str,
    where: str,
    course: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The class stays known by its path; an unpacked copy by its sources. Staff's own file counts."""
    (course / "grader.toml").write_text('lms = "folders"\n', encoding="utf-8")
    assert main(["grade", QUESTIONS, "class", "-o", "out"]) == 0
    (course / "book.csv").write_text("name,points\nada-1,\n", encoding="utf-8")
    book = ["--into", str(course / "book.csv"), "--column", "points"]
    written(course, {"elsewhere/eve/k.cu": b"", f"{folder}/grader.toml": b'lms = "mail"\nscale = false\n'})
    capsys.readouterr()
    monkeypatch.chdir(course / folder)
    for command in (["gradebook", *book], ["feedback", "-o", str(course / "feedback.zip")]):
        assert main([command[0], str(course / "out"), *command[1:]]) == 2
        assert f"grader.toml: {where}" in capsys.readouterr().err
    monkeypatch.chdir(course)
    assert main(["gradebook", "out", *book]) == 0
    assert main(["feedback", "out", "-o", "feedback.zip"]) == 0


def test_the_doctor_refuses_a_students_course_file(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would try another sandbox than the class will get."""
    written(course, {"class/eve/k.cu": b"", "class/eve/grader.toml": b'sandbox = "local"\n'})
    monkeypatch.chdir(course / "class/eve")
    monkeypatch.setattr("grader.authoring.doctor.examination.examine", lambda *_: ())
    monkeypatch.setattr("grader.authoring.doctor.examination.can_grade", lambda _: True)
    assert main(["doctor"]) == 2
    assert "grader.toml: lies beside or below k.cu" in capsys.readouterr().err


def test_a_course_file_beside_the_folder_that_holds_an_archive_counts(course: Path) -> None:
    """It is not in the folder of what was handed in; without such a file, any archive may lie anywhere."""
    (course / "downloads").mkdir()
    with zipfile.ZipFile("downloads/class.zip", "w") as archive:
        for name in ("ada-1", "bob-2"):
            archive.write("class/ada-1.yaml", f"{name}.yaml")
    (course / "grader.toml").write_text('out = "graded"\n', encoding="utf-8")
    assert main(["grade", QUESTIONS, "downloads/class.zip"]) == 0
    assert set(grades(course / "graded")) == {"ada-1", "bob-2"}
    (course / "grader.toml").rename(course / "downloads/grader.toml")
    assert main(["grade", QUESTIONS, "downloads/class.zip", "-o", "elsewhere"]) == 0


def test_checking_one_file_reads_no_course_file(course: Path) -> None:
    """It belongs to the user who types the command, and nothing in it decides a check."""
    (course / "grader.toml").write_text("out = 3\n", encoding="utf-8")
    assert main(["check", QUESTIONS, "class/ada-1.yaml"]) == 1  # its numbers are drawn for another name


def test_the_platform_that_reports_go_back_to_is_set_once(course: Path) -> None:
    """A typed option comes first; without either, it has to be typed."""
    (course / "grader.toml").write_text('lms = "folders"\nout = "graded"\n', encoding="utf-8")
    assert main(["grade", QUESTIONS, "class"]) == 0
    assert main(["feedback", "graded", "-o", "feedback.zip"]) == 0
    assert list(names(course / "feedback.zip")) == ["ada-1/report.html"]
    assert main(["feedback", "graded", "-o", "feedback.zip", "--for", "moodle"]) == 2
    (course / "grader.toml").unlink()
    with pytest.raises(SystemExit) as ended:
        main(["feedback", "graded", "-o", "feedback.zip"])
    assert ended.value.code == 2


WRONG = {
    "no platform": ('lms = "moodel"\n', "grader.toml: lms: `moodel` is none; did you mean `moodle`?"),
    "an unknown key": ('rooster = "r.csv"\n', "grader.toml: unknown key `rooster`; did you mean `roster`?"),
    "no text": ("out = 3\n", 'grader.toml: out: expected a text in quotes, such as "out"'),
    "no TOML": ("roster: r.csv\n", "grader.toml: is not TOML that can be read: "),
    "no sandbox": ('sandbox = "dokcer"\n', "sandbox: `dokcer` is none; did you mean `docker`?"),
    "a NUL": ('out = "a\\u0000b"\n', "grader.toml: out: `a\\x00b` has a NUL character"),
    "a roster with a NUL": ('roster = "\\u0000"\n', "grader.toml: roster: `\\x00` has a NUL character"),
    "adjustments with a NUL": ('adjustments = "a\\u0000"\n', "adjustments: `a\\x00` has a NUL character"),
    "a sandbox with a NUL": ('sandbox = "a\\u0000"\n', "sandbox: `a\\x00` is none"),
    "a name that is too long": (f'out = "{"a" * 300}"\n', "is no path: File name too long"),
    "bytes": ("\udcff", "grader.toml: is not TOML that can be read: "),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_it_is_reported(
    course: Path, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the key, what was expected, and exit code 2."""
    text, message = WRONG[case]
    (course / "grader.toml").write_bytes(text.encode(errors="surrogateescape"))
    assert main(["grade", QUESTIONS, "class", "-o", "out"]) == 2
    assert message in capsys.readouterr().err
    assert not (course / "out").exists()


LONG = "a" * 300
IMPOSSIBLE = ("a\0b", LONG, f"{LONG}/b", "x/" * 3000, "\ud800")


@pytest.mark.parametrize("name", IMPOSSIBLE, ids=("NUL", "long", "long folder", "deep", "surrogate"))
@pytest.mark.parametrize("option", ["-o", "--roster", "--adjustments", "--json", "--nvcc", "", "ASSIGNMENT"])
def test_what_is_typed_and_can_be_no_path_is_a_usage_error(
    option: str, name: str, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of any option, and of what is graded."""
    typed = {"": ["grade", QUESTIONS, name], "ASSIGNMENT": ["grade", name, "class"]}
    command = typed.get(option, ["grade", QUESTIONS, "class", option, name])
    try:
        code: object = main([*command, *(() if option == "-o" else ("-o", "out"))])
    except SystemExit as ended:
        code = ended.code
    output = capsys.readouterr().err
    assert "fault of the grader" not in output
    assert code == 2 or (option == "--nvcc" and code == 0)  # of questions no compiler is asked
    assert (course / "class").is_dir()
