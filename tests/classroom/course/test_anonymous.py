"""An anonymous class: no report shows whose it is, and everything still finds its way back."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from grader.classroom.course.anonymous import Identities, empty_identities, pseudonymous
from grader.classroom.course.download import read_download
from grader.cli import main
from tests.classroom.course.layouts import KERNEL, LAYOUTS
from tests.classroom.course.test_import_commands import QUESTIONS, answers, grades, names
from tests.classroom.course.test_layouts import written

if TYPE_CHECKING:
    from pathlib import Path

ROSTER = (
    "Identifier,Full name,Email address,ID number,Username,Group\n"
    "Participant 12345,Ada Lovelace,ada@analytical.example,K4711,adalove,\n"
    "Participant 54321,Grace Hopper,grace@navy.example,K4712,gracehop,\n"
    "Participant 60606,Linus Pauling,linus@caltech.example,K4713,linusp,\n"
)
NAMES = ("lovelace", "hopper", "pauling", "analytical", "navy", "caltech", "myhandin")
SECRETS = (*NAMES, "k4711", "k4712", "k4713", "12345", "54321", "60606", "adalove", "gracehop", "linusp")
WORKSHEET = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)"\n'
    '"Participant 12345","Ada Lovelace",ada@analytical.example,-,,100,Yes,-,-\n'
    '"Participant 54321","Grace Hopper",grace@navy.example,-,,100,Yes,-,-\n'
)


@pytest.fixture
def moodle(tmp_path: Path) -> Path:
    """A download of two sheets under names that show whose they are, of which one is another student's."""
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    front = "_assignsubmission_file/myhandin_"
    files = {
        f"Ada Lovelace_12345{front}lovelace.yaml": answers("12345"),
        f"Grace Hopper_54321{front}hopper.yaml": b"student: Linus Pauling\n" + answers("60606"),
    }
    return written(tmp_path / "download", files)


def command(moodle: Path, out: Path, *more: str) -> list[str]:
    """Grade it with its roster."""
    return [
        "grade",
        QUESTIONS,
        str(moodle),
        "-o",
        str(out),
        "--roster",
        str(moodle.parent / "roster.csv"),
        *more,
    ]


def leaks(out: Path, *texts: str) -> set[str]:
    """The secrets in anything outside ``OUT/private``, names of files included."""
    for path in out.rglob("*"):
        if path.relative_to(out).parts[0] != "private":
            texts += (
                str(path.relative_to(out)),
                path.read_text("utf-8", "replace") if path.is_file() else "",
            )
    everything = "\n".join(texts).lower()
    return {secret for secret in SECRETS if re.search(alone(secret), everything)}


def alone(secret: str) -> str:
    """A pattern for a secret; digits count as a whole number, for digests and times hold any."""
    return rf"(?<![0-9a-f.]){secret}(?![0-9a-f])" if secret.isdigit() else re.escape(secret)


def who(out: Path) -> dict[str, str]:
    """The pseudonyms, by the ids that submissions would have."""
    people = json.loads((out / "private/identities.json").read_text())["people"]
    return {one["submission"]: one["pseudonym"] for one in people}


def test_no_report_shows_whose_it_is(
    moodle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither their names nor their contents, nor what is printed; scores are those of the named class."""
    out, plain = tmp_path / "out", tmp_path / "plain"
    (tmp_path / "decided.yaml").write_text("students: {adalove: {days_late: 1}}\nlate: {per_day: 10%}\n")
    assert main(command(moodle, out, "--anonymous", "--adjustments", str(tmp_path / "decided.yaml"))) == 0
    printed = capsys.readouterr()
    assert leaks(out, printed.out, printed.err) == set()
    assert (out / "private").stat().st_mode & 0o77 == 0
    assert sorted(path.name for path in (out / "private").iterdir()) == [
        "adjustments.yaml",
        "identities.json",
        "import.json",
    ]
    assert main(command(moodle, plain, "--adjustments", str(tmp_path / "decided.yaml"))) == 0
    assert leaks(plain) >= {"lovelace", "adalove"}
    assert {who(out)[name]: score for name, score in grades(plain).items()} == grades(out)
    assert grades(out)[who(out)["Ada_Lovelace_12345"]] == ("pass", 90)
    report = (out / "grades" / who(out)["Grace_Hopper_54321"] / "report.html").read_text("utf-8")
    assert "The sheet belongs to another student than the one who handed it in" in report


def test_a_class_stays_anonymous(moodle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the same pseudonyms: when it is taken up again, changes, is reported, rescored, and comes back."""
    out = tmp_path / "out"
    assert main(command(moodle, out, "--anonymous")) == 0
    before = who(out)
    capsys.readouterr()
    assert main(command(moodle, out)) == 0
    assert "2 of 2 were graded before and are unchanged" in capsys.readouterr().out
    linus = moodle / "Linus Pauling_60606_assignsubmission_file"
    written(linus, {"linusp.yaml": answers("60606")})
    (tmp_path / "decided.yaml").write_text("students: {linusp: {score: 7, comment: c, by: W}}\n")
    assert main(command(moodle, out, "--adjustments", str(tmp_path / "decided.yaml"))) == 0
    assert "2 of 3 were graded before" in capsys.readouterr().out
    assert who(out).items() > before.items()
    hers = who(out)["Linus_Pauling_60606"]
    for again in (
        ["rescore", str(out)],
        ["report", str(out)],
        command(moodle, out, "--only", "Linus_Pauling_60606"),
        command(moodle, out, "--only", hers),
        command(moodle, out, "--fresh"),
    ):
        assert main(again) == 0
        assert grades(out)[hers] == ("pass", 7)
    shutil.move(linus, tmp_path / "aside")
    assert main(command(moodle, out)) == 0
    assert (out / "removed" / hers).is_dir()
    assert leaks(out) == set()
    shutil.move(tmp_path / "aside", linus)
    capsys.readouterr()
    assert main(command(moodle, out)) == 0
    assert "3 of 3 were graded before" in capsys.readouterr().out
    assert who(out)["Linus_Pauling_60606"] == hers


def test_grades_and_reports_find_their_way_back(moodle: Path, tmp_path: Path) -> None:
    """Into the gradebook's rows, and under the names of the download."""
    out, sheet, pack = tmp_path / "out", tmp_path / "worksheet.csv", tmp_path / "feedback.zip"
    assert main(command(moodle, out, "--anonymous")) == 0
    sheet.write_text(WORKSHEET, encoding="utf-8")
    assert main(["gradebook", str(out), "--into", str(sheet)]) == 0
    rows = list(csv.reader(io.StringIO(sheet.read_text("utf-8"))))
    scores = [f"{grades(out)[who(out)[name]][1]:g}" for name in ("Ada_Lovelace_12345", "Grace_Hopper_54321")]
    assert [row[4] for row in rows[1:]] == scores
    assert scores[0] != scores[1]
    assert main(["feedback", str(out), "--for", "moodle", "-o", str(pack)]) == 0
    front = "_assignsubmission_file_/report.html"
    assert sorted(names(pack)) == [f"Ada Lovelace_12345{front}", f"Grace Hopper_54321{front}"]
    assert names(pack)[f"Ada Lovelace_12345{front}"] == (
        out / "grades" / who(out)["Ada_Lovelace_12345"] / "report.html"
    ).read_text("utf-8")
    assert main(["feedback", str(out), "--for", "mail", "-o", str(pack)]) == 0
    assert "ada@analytical.example,Ada Lovelace,Ada_Lovelace_12345/report.html" in names(pack)["mail.csv"]


def test_a_folder_with_names_does_not_become_anonymous(
    moodle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files that were written under names would stay."""
    out = tmp_path / "out"
    assert main(command(moodle, out)) == 0
    for more in ([], ["--fresh"]):
        assert main(command(moodle, out, "--anonymous", *more)) == 2
        assert "holds grades under students' names; choose another folder" in capsys.readouterr().err
    assert not (out / "private").exists()
    assert len(grades(out)) == 2


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"salt": 3}', '{"salt": "x", "people": [{"pseudonym": 1}]}', None]
)
def test_no_pseudonym_is_drawn_anew_where_it_is_lost_who_is_who(
    moodle: Path, tmp_path: Path, damage: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command reports it, and leaves the class as it is."""
    out = tmp_path / "out"
    assert main(command(moodle, out, "--anonymous")) == 0
    path = out / "private/identities.json"
    path.unlink()
    if damage is not None:
        path.write_text(damage, encoding="utf-8")
    (tmp_path / "x.csv").write_text(WORKSHEET, encoding="utf-8")
    pack = str(tmp_path / "f.zip")
    before = {one: one.read_bytes() for one in out.rglob("*") if one.is_file()}
    capsys.readouterr()
    for again in (
        command(moodle, out),
        command(moodle, out, "--anonymous"),
        ["rescore", str(out)],
        ["gradebook", str(out), "--into", str(tmp_path / "x.csv")],
        ["feedback", str(out), "--for", "folders", "-o", pack],
    ):
        assert main(again) == 2
        assert "it alone says who is who in this class" in capsys.readouterr().err
    assert {one: one.read_bytes() for one in out.rglob("*") if one.is_file()} == before


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_submission_reveals_nothing_of_its_student(tmp_path: Path, layout: str) -> None:
    """Its id, its file's name, and why it cannot be graded; names of headers stay, for sources name them."""
    download = read_download(written(tmp_path / "download", LAYOUTS[layout]), assignment="the-assignment")
    shown, identities = pseudonymous(download, empty_identities())
    assert (
        len(identities.people) == len({one.pseudonym for one in identities.people}) == len(shown.submissions)
    )
    own = {one.submission: one for one in identities.people}
    for before in download.submissions:
        (after,) = (one for one in shown.submissions if one.id == own[before.id].pseudonym)
        assert (after.source, after.digest, after.headers) == (before.source, before.digest, before.headers)
        assert after.file.startswith("submission.") or "." not in before.file
        text = f"{after.id} {after.file} {after.problem.message if after.problem else ''}"
        assert before.id not in text
        assert not [one.name for one in own[before.id].hand_in.students if one.name and one.name in text]


def test_what_is_the_matter_with_a_submission_names_no_student(tmp_path: Path) -> None:
    """A problem quotes names of files, and those may be the student's."""
    files = {"Ada Lovelace_12345_assignsubmission_file/notes.txt": b"x", "x.txt": b""}
    folder = written(tmp_path / "d", files)
    (folder / "Ada Lovelace_12345_assignsubmission_file/Ada Lovelace.cu").symlink_to("/etc/passwd")
    (folder / "x.txt").unlink()
    shown, _ = pseudonymous(read_download(folder), Identities("salt"))
    (submission,) = shown.submissions
    assert submission.problem
    assert (
        "lovelace" not in f"{submission.problem.message} {submission.problem.file} {submission.file}".lower()
    )


@pytest.mark.slow
def test_messages_about_a_source_name_the_file_and_no_student(tmp_path: Path) -> None:
    """The compiler's too, which quotes the name of the file."""
    broken = b'#include "hopper.h"\n' + KERNEL.replace(b"{}", b"{ oops }")
    download = written(tmp_path / "d", {"lovelace.cu": broken, "pauling.cu": KERNEL})
    out = tmp_path / "out"
    arguments = ["grade", "vector-add", str(download), "-o", str(out), "--anonymous", "--i-trust-these-files"]
    assert main(arguments) == 0
    assert leaks(out) == {"hopper"}
    assert "submission.cu" in (out / "grades" / who(out)["lovelace"] / "report.html").read_text("utf-8")
