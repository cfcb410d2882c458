"""`grader.toml`: what a course says once for every `grade`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.cli import main
from tests.course.test_import_commands import QUESTIONS, answers, grades, names
from tests.course.test_layouts import written

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which staff work, with a class of one and a roster."""
    written(tmp_path, {"class/ada-1.yaml": answers("ada"), "roster.csv": b"login,name\nada,Ada\nbob,Bob\n"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_a_course_says_once_is_not_typed_again(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Roster and output come from the file; what is typed comes first."""
    (course / "grader.toml").write_text('roster = "roster.csv"\nout = "graded"\n', encoding="utf-8")
    assert main(["grade", QUESTIONS, "class"]) == 0
    assert "1 student of the roster without one" in capsys.readouterr().err
    assert grades(course / "graded") == {"ada-1": ("pass", 100)}
    assert main(["grade", QUESTIONS, "class", "-o", "elsewhere"]) == 0
    assert grades(course / "elsewhere") == {"ada-1": ("pass", 100)}


def test_the_platform_that_reports_go_back_to_is_said_once(course: Path) -> None:
    """What is typed comes first; without either, it has to be typed."""
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
    "bytes": ("\udcff", "grader.toml: is not TOML that can be read: "),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_it_is_said(course: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With the key, what was expected, and exit code 2."""
    text, message = WRONG[case]
    (course / "grader.toml").write_bytes(text.encode(errors="surrogateescape"))
    assert main(["grade", QUESTIONS, "class", "-o", "out"]) == 2
    assert message in capsys.readouterr().err
    assert not (course / "out").exists()
