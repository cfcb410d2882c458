"""Downloads are hostile: names, metadata, archives and rosters that an attacker made to do harm."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.base.errors import UsageError
from grader.classroom.course.download import read_download
from grader.classroom.course.entries import Doubt, Level
from grader.classroom.course.gradescope import MAX_DEPTH, gradescope
from grader.classroom.course.layouts import LAYOUTS as RECOGNISERS
from grader.classroom.course.matching import match_roster
from grader.classroom.course.roster import Roster, read_roster
from grader.cli import import_table
from grader.grading.submission.archives import Folder, Member
from grader.model import Student
from tests.classroom.course.layouts import KERNEL, LAYOUTS, METADATA, PUSHED
from tests.classroom.course.test_layouts import written
from tests.grading.submission.packing import Raw, raw_zip

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.grading.submission.items import Item

HOSTILE_NAMES = (
    "two\nlines_12345_67890_k.cu",
    "=cmd|' C calc'!A0_12345_67890_k.cu",
    "\u202egnp.uc_12345_67890_k.cu",
    "\x1b[31mred_12345_67890_k.cu",
    "\u200b\u200b.cu",
    "lovelaceada_12345_67890_=1+1.cu",
    "+HYPERLINK.cu",
    "a" * 250 + ".cu",
    "..cu",
    "-rf.cu",
    "$(id).cu",
)


def test_names_are_shown_harmlessly_and_kept_whole(tmp_path: Path) -> None:
    """Nothing that a terminal obeys is printed; JSON holds each name as it was."""
    files = dict.fromkeys(HOSTILE_NAMES, KERNEL)
    download = read_download(written(tmp_path / "download", files))
    for part in import_table.render(download, width=100):
        text = part.plain if hasattr(part, "plain") else ""
        assert text.replace("\n", "").isprintable()
    assert import_table.summary(download).isprintable()
    assert import_table.refusal(download).replace("\n", "").isprintable()
    table = json.loads(import_table.dump(download))
    listed = {one["in_download"] for one in table["submissions"]}
    listed |= {name for doubt in table["in_doubt"] for name in doubt["names"]}
    listed |= {one["name"] for one in table["left_out"]}
    assert listed == set(HOSTILE_NAMES)
    assert len({one.id for one in download.submissions}) == len(download.submissions)
    for one in download.submissions:
        assert not set(one.id) & set("/\\\n\x1b=$ ")
        assert not one.id.startswith((".", "-"))


def test_names_that_differ_in_their_unicode_form_only_are_one_name(tmp_path: Path) -> None:
    """No one sees which is whose, so it is asked."""
    names = [unicodedata.normalize(form, "José.cu") for form in ("NFC", "NFD")]
    download = read_download(written(tmp_path, dict.fromkeys(names, KERNEL)))
    assert [question.doubt for question in download.questions] == [Doubt.SAME_NAME]
    assert download.submissions == ()


def test_an_archive_of_too_many_files_is_refused(tmp_path: Path) -> None:
    """60,000 of them are no course's class."""
    (tmp_path / "class.zip").write_bytes(raw_zip(*(Raw(b"%d.cu" % n, b"") for n in range(60_000))))
    with pytest.raises(UsageError, match="the archive holds more than 50,000 files"):
        read_download(tmp_path / "class.zip")


def test_many_files_of_a_platform_are_sorted_without_delay() -> None:
    """The work for a layout grows with the names, not with their square: 20,000 take seconds at most."""
    names = [f"HW3_u{n}_attempt_2026-11-01-10-00-{n % 60:02}_k.cu" for n in range(20_000)]
    items: tuple[Item, ...] = tuple(Member(name, 0, None, lambda _: b"") for name in names)
    entries = RECOGNISERS["Blackboard"](Level("download", items))
    assert entries
    assert len({entry.key for entry in entries}) == 20_000


def test_reading_twice_as_many_files_takes_twice_the_steps(tmp_path: Path) -> None:
    """Calls of functions are counted, for they do not depend on the machine."""
    counts = []
    for number in (400, 800):
        path = tmp_path / f"{number}.zip"
        path.write_bytes(raw_zip(*(Raw(b"s%d.cu" % n, b"x") for n in range(number))))
        counts.append(calls_of(partial(read_download, path)))
    assert counts[1] < 2.5 * counts[0]


def calls_of(action: Callable[[], object]) -> int:
    """The number of calls of functions of Python."""
    calls = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(counted)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", ["x_HW1_ada_attempt_2026-11-02-10-00-00_x.cu", "a_attempt_b.cu", "k.cu"])
def test_a_file_of_blackboard_that_is_called_like_an_attempt_stays_with_its_student(name: str) -> None:
    """The first `_attempt_` with a time is the platform's; what follows is the student's to choose."""
    front = "HW1_{}_attempt_2026-11-01-10-00-00_{}"
    names = (front.format("eve", name), front.format("ada", "k.cu"))
    members = tuple(Member(one, 0, None, lambda _: b"") for one in names)
    entries = RECOGNISERS["Blackboard"](Level("download", members))
    assert [(entry.key, entry.item.name) for entry in entries or ()] == [("eve", name), ("ada", "k.cu")]


METADATA_ATTACKS = {
    "an alias": b"a: &a [x]\nsubmission_101: *a\n",
    "many aliases": b"a: &a [x, x]\nb: &b [*a, *a]\nsubmission_101: *b\n",
    "nested": b"submission_101: " + b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
    "nested without end": b"[" * 500_000,
    "no YAML": b"submission_101: {",
    "bytes": b"\xff\xfe\x00",
    "a control character": b"submission_101: \x1b[31m",
}


def export(folder: Path, metadata: bytes) -> Path:
    """An export of Gradescope with such a list."""
    return written(folder / "export", {"submission_101/k.cu": KERNEL, "submission_metadata.yml": metadata})


@pytest.mark.parametrize("attack", METADATA_ATTACKS)
def test_metadata_that_is_no_list_is_refused(tmp_path: Path, attack: str) -> None:
    """With what to do about it, and without recursion or memory."""
    with pytest.raises(UsageError, match="is not the list that Gradescope writes; export"):
        read_download(export(tmp_path, METADATA_ATTACKS[attack]))


STRANGE_METADATA = {
    "empty": b"",
    "a list": b"- a\n- b\n",
    "a text": b"hello",
    "no mapping": b"submission_101: 7\n",
    "submitters of another kind": b"submission_101:\n  :submitters: {a: b}\n  :created_at: [1]\n",
    "a tag": b"submission_101: !!python/object/apply:os.system ['touch /tmp/owned']\n",
    "tags inside": b"submission_101:\n  :submitters:\n  - !ruby/object:User {':name': !!binary aGk=}\n",
}


@pytest.mark.parametrize("case", STRANGE_METADATA)
def test_metadata_without_names_costs_no_student_their_grade(tmp_path: Path, case: str) -> None:
    """The folders are graded; tags mean nothing."""
    (submission,) = read_download(export(tmp_path, STRANGE_METADATA[case])).submissions
    assert submission.id == "submission_101"
    assert submission.source == KERNEL
    assert submission.hand_in
    names = [student.name for student in submission.hand_in.students]
    assert names == (["aGk="] if case == "tags inside" else [])


LISTS = {
    "a quote that is never closed": PUSHED + b'"x',
    "bytes of no encoding": PUSHED.replace(b"ada-l,", b"\x81\xff\xfe,", 1),
    "NUL": PUSHED.replace(b"grace", b"gr\0ce"),
    "a field without end": PUSHED + b"x" * 200_000,
    "formulas and control characters": PUSHED.replace(b"Team 12", b"=1+1\x1b[2J"),
    "headings twice": PUSHED.split(b"\n")[0].strip() * 2 + PUSHED,
    "a folder": None,
}


@pytest.mark.parametrize("case", LISTS)
def test_a_list_of_repositories_that_is_none_is_refused_or_harmless(tmp_path: Path, case: str) -> None:
    """No submission is lost for it, and nothing in it acts."""
    folder = written(
        tmp_path / "d", {f"hw3-submissions/hw3-{who}/k.cu": KERNEL for who in ("ada-l", "team-12")}
    )
    content = LISTS[case]
    if content is None:
        written(folder / "hw3-submissions/grades.csv", {"k.cu": KERNEL})
    else:
        written(folder, {"hw3-submissions/grades.csv": content})
    try:
        download = read_download(folder)
    except UsageError as problem:
        assert re.fullmatch(r"[^\x00-\x1f]*grades\.csv[^\x00-\x1f]*", str(problem))  # noqa: PT017 - either way is right
        return
    assert {one.source for one in download.submissions} == {KERNEL}
    assert len(download.submissions) == (3 if case == "a folder" else 2)
    for one in download.submissions:
        assert one.hand_in
        assert all(student.group.isprintable() for student in one.hand_in.students)


@pytest.mark.parametrize("place", ["submission_metadata.yml", "HW3_ada_attempt_2026-11-01-10-00-00.txt"])
def test_a_pipe_or_a_link_in_place_of_a_platforms_file_is_not_read(tmp_path: Path, place: str) -> None:
    """No command waits for it, and what a link leads to is not shown."""
    folder = written(
        tmp_path / "d",
        {"submission_101/k.cu": KERNEL, "HW3_ada_attempt_2026-11-01-10-00-00_k.cu": KERNEL},
    )
    for make in (os.mkfifo, lambda path: path.symlink_to("/etc/passwd")):
        make(folder / place)
        try:
            text = import_table.dump(read_download(folder))
        except UsageError as problem:
            text = str(problem)
        assert "root:" not in text
        (folder / place).unlink()


def test_links_between_students_are_refused_at_any_level(tmp_path: Path) -> None:
    """A folder that is gone through to find the students' is no student's own."""
    for name in ("ada", "bob"):
        written(tmp_path / "course/hw3" / name, {"k.cu": KERNEL} if name == "ada" else {"note.h": b"//"})
    (tmp_path / "course/hw3/bob/k.cu").symlink_to("../ada/k.cu")
    download = read_download(tmp_path / "course", assignment="hw3")
    bob = next(one for one in download.submissions if one.id == "bob")
    assert bob.problem
    assert "is a link that leads out of the submission" in bob.problem.message


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(
    names=st.lists(
        st.one_of(
            st.text(
                st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=40
            ),
            st.builds(
                "".join,
                st.lists(
                    st.sampled_from(
                        ["_", "12345", "LATE", "ada", " - ", "attempt", "assignsubmission", "file", ".cu"]
                    ),
                    max_size=9,
                ),
            ).filter(bool),
        ),
        max_size=8,
        unique=True,
    ),
    rows=st.lists(st.builds(Student, name=st.text(max_size=9), login=st.sampled_from(["", "ada", "12345"]))),
)
def test_no_names_are_an_exception(
    names: list[str], rows: list[Student], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each file, whatever its name, is a submission, left out, or asked about, with a roster or without."""
    path = tmp_path_factory.getbasetemp() / "fuzz.zip"
    path.write_bytes(raw_zip(*(Raw(name.encode(), KERNEL) for name in names)))
    try:
        download = read_download(path)
    except UsageError as problem:
        assert str(problem).isprintable()  # noqa: PT017 - either way is right
        return
    for understood in (download, match_roster(download, Roster("roster.csv", tuple(rows)))):
        assert import_table.refusal(understood).replace("\n", "").isprintable()
        assert json.loads(import_table.dump(understood))
        assert len({one.id for one in understood.submissions}) == len(understood.submissions)


def test_a_roster_cannot_act_in_what_is_printed(tmp_path: Path) -> None:
    """Control characters and overrides in its cells are shown as their codes."""
    (tmp_path / "roster.csv").write_text("id,name\n1,\x1b]0;title\x07\u202eAda\n", encoding="utf-8")
    (student,) = read_roster(tmp_path / "roster.csv").students
    assert student.name.isprintable()
    download = match_roster(
        read_download(written(tmp_path / "d", {"1.cu": KERNEL})), read_roster(tmp_path / "roster.csv")
    )
    assert download.submissions[0].hand_in
    assert download.submissions[0].hand_in.students == (Student(name=student.name, id="1"),)


def test_every_layout_survives_the_metadata_of_another(tmp_path: Path) -> None:
    """A stray file of one platform in the download of another is a file of the platform's, or asked about."""
    for name, files in LAYOUTS.items():
        folder = written(tmp_path / name, {**files, "submission_metadata.yml": METADATA})
        assert read_download(folder, assignment="the-assignment").name == name


def test_the_list_of_an_export_is_optional(tmp_path: Path) -> None:
    """Without it the folders are plain ones."""
    level = Level("export", tuple(Folder(name, "folder") for name in ("submission_101", "submission_102")))
    assert gradescope(level) is None
    folder = written(tmp_path, {"submission_101/k.cu": KERNEL, "submission_102/k.cu": KERNEL})
    assert [one.id for one in read_download(folder).submissions] == ["submission_101", "submission_102"]
