"""`grader doctor` as a command: its words, its columns, its exit code."""

from __future__ import annotations

import pwd
from typing import TYPE_CHECKING

import pytest

from grader.authoring.doctor import Mark, ReportLine, examination
from grader.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from grader.authoring.doctor.examination import ClassWishes
    from tests.conftest import Golden

PATH = "/a/path/that/is/far/longer/than/its/column/and/stays/whole/so/that/it/can/be/copied/bin/nvcc"
CHECKED = [
    ReportLine(Mark.OK, "compiler", f"nvcc 13.0.88 at {PATH}"),
    ReportLine(Mark.UNKNOWN, "gpu", "not looked for: a package is not installed", "get it with `pip`"),
    ReportLine(Mark.PROBLEM, "docker", "a container may escape", "update it", needed=False),
]
SOUND = [ReportLine(Mark.OK, "sandbox", "docker: a kernel was compiled in it")]
UNSOUND = [ReportLine(Mark.PROBLEM, "sandbox", "nothing shuts strangers' files in", "install bubblewrap")]


@pytest.fixture
def wishes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[ClassWishes]:
    """The list that collects the wishes for a class, in an empty folder, on a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("GRADER_SANDBOX", "local")
    monkeypatch.delenv("GRADER_TRUST", raising=False)
    return []


def _lines(
    monkeypatch: pytest.MonkeyPatch,
    wishes: list[ClassWishes],
    checked: list[ReportLine],
    of_class: list[ReportLine],
) -> None:
    def examine_class(wish: ClassWishes) -> list[ReportLine]:
        wishes.append(wish)
        return of_class

    monkeypatch.setattr(examination, "examine", lambda *_: checked)
    monkeypatch.setattr(examination, "examine_class", examine_class)


@pytest.mark.parametrize(
    ("name", "of_class", "options", "code"),
    [
        ("sound", SOUND, (), 0),
        ("sound-with-folder", SOUND, ("-o", "out"), 0),
        ("unsound", UNSOUND, (), 0),
        ("unsound-with-folder", UNSOUND, ("-o", "out"), 3),
    ],
)
def test_a_file_and_a_class_are_two_matters(
    monkeypatch: pytest.MonkeyPatch,
    wishes: list[ClassWishes],
    capsys: pytest.CaptureFixture[str],
    golden: Golden,
    name: str,
    of_class: list[ReportLine],
    options: tuple[str, ...],
    code: int,
) -> None:
    """An unsound class fails the command only if its folder is named; one's own file can be checked still."""
    _lines(monkeypatch, wishes, CHECKED, of_class)
    assert main(["doctor", *options]) == code
    golden(f"cli/doctor-{name}.txt", capsys.readouterr().out)


def test_where_the_staff_s_files_are_not_installed_a_class_needs_an_assignment_of_its_own(
    monkeypatch: pytest.MonkeyPatch, wishes: list[ClassWishes], capsys: pytest.CaptureFixture[str]
) -> None:
    """`grade` refuses those that come with the grader there, so the output does not promise to grade them."""
    _lines(
        monkeypatch, wishes, CHECKED, [*SOUND, ReportLine(Mark.NONE, "staff", "not installed", "clone it")]
    )
    assert main(["doctor", "-o", "out"]) == 0
    assert capsys.readouterr().out.endswith("\na class can be graded here, on an assignment of your own\n")


def test_who_has_no_home_has_no_folder_for_builds(
    monkeypatch: pytest.MonkeyPatch, wishes: list[ClassWishes]
) -> None:
    """As in a container with a user that the system does not know: no build is kept, and all else goes on."""
    _lines(monkeypatch, wishes, CHECKED, SOUND)
    for variable in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)

    def unknown(_uid: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert main(["doctor"]) == 0
    assert wishes[0].builds is None
    assert main(["list"]) == 0


def test_without_a_compiler_nothing_is_reported_of_a_class(
    monkeypatch: pytest.MonkeyPatch, wishes: list[ClassWishes], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of it could be tried."""
    _lines(monkeypatch, wishes, [ReportLine(Mark.PROBLEM, "compiler", "no working nvcc", "get one")], SOUND)
    assert main(["doctor"]) == 3
    assert (wishes, "class" in capsys.readouterr().out) == ([], False)


def test_it_asks_about_the_class_that_grader_toml_describes(
    monkeypatch: pytest.MonkeyPatch, wishes: list[ClassWishes], tmp_path: Path
) -> None:
    """Typed options come first, then its folder and its sandbox, and then those of the environment."""
    _lines(monkeypatch, wishes, CHECKED, UNSOUND)
    (tmp_path / "grader.toml").write_text('out = "grades"\nsandbox = "docker"\n', encoding="utf-8")
    assert main(["doctor"]) == 3
    assert main(["doctor", "-o", "other"]) == 3
    (tmp_path / "grader.toml").unlink()
    monkeypatch.setenv("GRADER_TRUST", "1")
    assert main(["doctor", "--no-cache"]) == 0
    asked = [(wish.sandbox, str(wish.out), wish.trusted, wish.builds is None) for wish in wishes]
    assert asked == [
        ("docker", "grades", False, False),
        ("docker", "other", False, False),
        ("local", "None", True, True),
    ]


def test_a_grader_toml_that_is_wrong_is_reported_before_anything_is_tried(
    monkeypatch: pytest.MonkeyPatch,
    wishes: list[ClassWishes],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One sentence, exit code 2."""
    _lines(monkeypatch, wishes, CHECKED, SOUND)
    (tmp_path / "grader.toml").write_text("out = 7\n", encoding="utf-8")
    assert main(["doctor"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("grader: grader.toml: out: expected a text in quotes")
