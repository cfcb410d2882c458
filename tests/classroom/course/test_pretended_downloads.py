"""Folders that a student makes to look like a download of another student's work."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grader.classroom.course.download import read_download, read_only_one
from grader.classroom.course.entries import PLAIN, Doubt
from grader.cli import main
from grader.model import HandIn
from tests.classroom.course.layouts import KERNEL, PUSHED
from tests.classroom.course.test_import_commands import QUESTIONS, answers
from tests.classroom.course.test_layouts import written

ADAS_LIST = b"""\
submission_1:
  :submitters:
  - :name: Ada
    :sid: '7'
  :created_at: 2026-01-01 00:00:00 Z
"""
ADAS_ROW = b"\r\n".join(
    (PUSHED.split(b"\r\n", 1)[0], b"HW3,u,s,ada-l,ada@example.edu,mine,r,2026-01-01T10:00:00Z,0,1,", b"")
)
PRETENDED: dict[str, dict[str, bytes]] = {
    "Gradescope": {"submission_1/k.cu": KERNEL, "submission_metadata.yml": ADAS_LIST},
    "GitHub Classroom": {"mine/k.cu": KERNEL, "grades.csv": ADAS_ROW},
    "Moodle": {"Ada Lovelace_7_assignsubmission_file_/k.cu": KERNEL},
    "Canvas": {"lovelaceada_12345_678901_k.cu": KERNEL},
    "Blackboard": {
        "HW3_ada_attempt_2026-11-01-10-00-00_k.cu": KERNEL,
        "HW3_ada_attempt_2026-11-01-10-00-00.txt": b"Name: Ada (ada)\n",
    },
    "Brightspace": {"12345-67890 - Ada Lovelace - Nov 1, 2026 1000 AM/k.cu": KERNEL},
    "Sakai": {"Lovelace, Ada(ada)/Submission attachment(s)/k.cu": KERNEL},
    "ILIAS": {"Lovelace_Ada_ada_4711/k.cu": KERNEL},
}
"""By platform."""


def pretending(folder: Path, layout: str) -> Path:
    """A student's folder that pretends to be a download of this platform."""
    return written(folder, PRETENDED[layout])


@pytest.mark.parametrize("layout", PRETENDED)
def test_of_one_students_folder_nothing_in_it_says_whose_it_is(tmp_path: Path, layout: str) -> None:
    """In a platform's run the name is the folder's, and no time is known."""
    (submission,) = read_only_one(pretending(tmp_path / "student", layout)).submissions
    assert (submission.id, submission.source) == ("student", KERNEL)
    assert submission.hand_in == HandIn("student", PLAIN, file="student")


@pytest.mark.parametrize("layout", PRETENDED)
def test_a_list_in_the_only_students_folder_is_a_question(tmp_path: Path, layout: str) -> None:
    """In a class of one; in an archive of it as well, unless all of that is read as one student's."""
    folder = pretending(tmp_path / "class/eve", layout)
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "class")
    download, archived = read_download(tmp_path / "class"), read_download(Path(packed))
    assert not download.submissions
    assert [question.doubt for question in download.questions] == [Doubt.OWN_LIST]
    assert archived.questions == download.questions or archived.layout == PLAIN
    if layout in {"Gradescope", "GitHub Classroom"}:  # a file says it, and not the names alone
        assert [question.doubt for question in read_download(folder).questions] == [Doubt.OWN_LIST]


@pytest.mark.parametrize("layout", PRETENDED)
def test_a_list_in_a_folder_of_a_download_is_the_students(tmp_path: Path, layout: str) -> None:
    """A platform's name in the download around it says whose the folder is, and nothing in it another."""
    folder = pretending(tmp_path / "Eve Smith_9_assignsubmission_file_", layout)
    (submission,) = read_download(folder).submissions
    assert submission.hand_in == HandIn(folder.name, PLAIN, file=folder.name)


def test_an_export_of_one_student_is_believed_under_the_platforms_name(tmp_path: Path) -> None:
    """Its own folder, or the one that the archive holds."""
    folder = pretending(tmp_path / "in/assignment_77_export", "Gradescope")
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "in")
    for path in (folder, tmp_path / "in", Path(packed)):
        (submission,) = read_download(path).submissions
        assert submission.hand_in
        assert [student.name for student in submission.hand_in.students] == ["Ada"]


FOR_PLATFORMS = {
    "two sheets": ({"a.yaml": b"answers: {}\n", "b.yaml": b"answers: {}\n"}, "holds 2 .yaml"),
    "two folders": ({"a/a.yaml": b"answers: {}\n", "b/b.yaml": b"answers: {}\n"}, "several folders"),
    "nothing": ({}, "is empty"),
    "a list": ({"submission_1/a.yaml": answers("student"), "submission_metadata.yml": ADAS_LIST}, ""),
}


@pytest.mark.parametrize("command", ["grade", "check"])
@pytest.mark.parametrize("case", FOR_PLATFORMS)
def test_a_run_for_a_platform_writes_a_result_whatever_is_in_the_folder(
    tmp_path: Path, case: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With exit code 0, and what its student can do about it."""
    files, message = FOR_PLATFORMS[case]
    folder = tmp_path / "student"
    folder.mkdir()
    written(folder, files)
    out = ["-o", str(tmp_path / "out")] if command == "grade" else []
    assert main([command, QUESTIONS, str(folder), *out, "--format", "prairielearn"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert results["gradable"] is True
    assert message in results["output"]
    if out:
        assert [path.name for path in (tmp_path / "out/grades").iterdir()] == ["student"]
