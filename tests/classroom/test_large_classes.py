"""A class of thousands: no evidence is held, nothing piles up and nothing stays open."""

from __future__ import annotations

import ctypes
import gc
import shutil
import subprocess
import sys
import tracemalloc
import xml.etree.ElementTree as ET  # of documents that are ours
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader.base.errors import UsageError
from grader.classroom.batch import BatchSession, OutFolder, executor, grade_class, reading
from grader.classroom.batch.executor import Graded
from grader.classroom.batch.folder import load_grade
from grader.classroom.batch.reading import load_class, readable_grades
from grader.classroom.batch.removed_students import remove_others
from grader.classroom.batch.smaller_grades import Slimming
from grader.cli import main
from grader.grading.assignment import expand_cases
from grader.kinds import pipeline
from grader.model import Submission
from grader.reports import files, junit
from tests.bundled import bundled
from tests.reports.sample_grades import GRADES, full_marks, sample_class
from tests.sealing import changed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


SOLUTION = Path(__file__).resolve().parents[2] / "reference/matmul/solution.cu"
NAME = "student-000"
FEW, MANY = 3, 15
MOST = 100_000
"""Bytes of memory that one more submission may take: a third of its grade with all evidence."""

MOST_ALIKE = 7_000
"""Bytes of memory that a grade may take which is like others."""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One submission with its grade, in a folder `class` and a folder `out`."""
    folder = tmp_path_factory.mktemp("one")
    (folder / "class").mkdir()
    shutil.copy(SOLUTION, folder / "class" / f"{NAME}.cu")
    assert main(_grade(folder)) == 0
    return folder


def _grade(folder: Path) -> list[str]:
    options = ["--seed", "1", "--sandbox", "local", "--i-trust-these-files", "--backend", "emulator"]
    return ["grade", "tiled-matmul", str(folder / "class"), "-o", str(folder / "out"), *options]


def _many(graded: Path, folder: Path, number: int, first: int = 0) -> Path:
    """A class in which everybody handed in the same and has been graded."""
    shutil.copytree(graded, folder)
    handed_in, out = folder / "class", folder / "out"
    stored = OutFolder(out)
    vouched, session = stored.journal().vouched[NAME], stored.graded_session()
    names = [f"student-{student:03}" for student in range(first, first + number)]
    for name in names:
        if name == NAME:
            continue
        shutil.copy(handed_in / f"{NAME}.cu", handed_in / f"{name}.cu")
        shutil.copytree(out / "grades" / NAME, out / "grades" / name)
        record = out / "grades" / name / "record.json"
        changed(record, _renaming(name))
        (record.parent / "source" / f"{NAME}.cu").rename(record.parent / "source" / f"{name}.cu")
    if NAME not in names:
        (handed_in / f"{NAME}.cu").unlink()
        shutil.rmtree(out / "grades" / NAME)
    stored.begin(session)
    for name in names:
        kept = {file.replace(NAME, name): checksum for file, checksum in vouched.kept.items()}
        stored.note(name, vouched.digest, vouched.verdict, kept)
    stored.note_class(names)
    return folder


def _renaming(name: str) -> Callable[[str], str]:
    return lambda text: text.replace(NAME, name)


def _peak(command: Sequence[str]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        assert main(list(command)) == 0
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("command", ["grade", "report", "rescore", "merge"])
def test_one_more_submission_takes_little_memory(command: str, graded: Path, tmp_path: Path) -> None:
    """The evidence of a class is read one submission after the other, whatever is done to it."""
    peaks: list[int] = []
    for number in (FEW, FEW, MANY):  # the first one also loads what is loaded once
        folder = _many(graded, tmp_path / f"{len(peaks)}-{number}", number)
        assert (folder / "out/grades" / NAME / "record.json").stat().st_size > MOST / 4
        other = _many(graded, tmp_path / f"{len(peaks)}-other", 1, first=MANY) if command == "merge" else None
        commands = {
            "grade": _grade(folder),
            "report": ["report", str(folder / "out")],
            "rescore": ["rescore", str(folder / "out")],
            "merge": ["merge", str(folder / "out"), f"{other}/out", "-o", str(folder / "whole")],
        }
        peaks.append(_peak(commands[command]))
    assert (peaks[2] - peaks[1]) / (MANY - FEW) < MOST


def test_what_grades_have_alike_is_held_once(graded: Path) -> None:
    """Of a grade like others only its times and its name are held: a tenth of what was read."""
    record = OutFolder(graded / "out")
    slim = Slimming()
    slim(load_grade(record, NAME))
    gc.collect()
    tracemalloc.start()
    try:
        held = [slim(load_grade(record, NAME)) for _ in range(MANY)]
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] / len(held) < MOST_ALIKE
    finally:
        tracemalloc.stop()


FREED_IN_BETWEEN = """
import sys
from pathlib import Path

from grader.classroom.batch.memory import give_back_large_blocks

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if sys.argv[1] == "asked":
    give_back_large_blocks()
large = b"x" * 600_000
del large  # by itself glibc learns from it how large blocks are
before = resident()
large, small = [], []
for number in range(100):
    large.append(b"x" * 300_000 + b"%d" % number)
    small.append(b"y" * 20_000 + b"%d" % number)
del large
print(resident() - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library is not glibc")
def test_large_blocks_go_back_to_the_system_where_small_ones_stay() -> None:
    """Thirty megabytes are freed, and by itself the C library keeps them: small blocks lie in between."""
    kept = {}
    for asked in ("asked", "not asked"):
        run = subprocess.run(
            [sys.executable, "-c", FREED_IN_BETWEEN, asked], check=True, capture_output=True, text=True
        )
        kept[asked] = int(run.stdout.split()[-1])
    assert kept["asked"] < 5_000_000
    assert kept["not asked"] > 20_000_000


@pytest.mark.parametrize("ending", ["all", "killed"])
def test_processes_read_a_large_class_as_one_does(
    ending: str, graded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same order, without what is damaged; what is left is read here where one of them is killed."""
    out = OutFolder(_many(graded, tmp_path / "class", MANY) / "out")
    names = [f"student-{student:03}" for student in range(MANY)]
    damaged = out.record_path(names.pop(4))
    damaged.write_text(damaged.read_text(encoding="utf-8")[:-200], encoding="utf-8")
    by_one = readable_grades(out, [*names, damaged.parent.name])
    assert list(by_one) == names
    assert gc.isenabled()
    with pytest.raises(UsageError, match=f"{damaged.parent.name}.*is no stored grade"):
        load_class(out, [*names, damaged.parent.name])
    monkeypatch.setattr(reading, "_WORTH_PROCESSES", 1)
    monkeypatch.setattr(reading, "_SHARE", 4)
    shares: list[object] = []

    def counted(*asked: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever it takes
        for share in by_processes(*asked):
            shares.append(share)
            yield share
            if ending == "killed" and len(shares) == 2:
                raise BrokenProcessPool

    by_processes = reading._by_processes
    monkeypatch.setattr(reading, "_by_processes", counted)
    by_several = readable_grades(out, [*names, damaged.parent.name], jobs=2)
    assert len(shares) == (2 if ending == "killed" else 4)
    assert list(by_several) == names
    assert by_several == by_one
    assert [grade.evidence for grade in by_several.values()] == [grade.evidence for grade in by_one.values()]


def test_nothing_stays_open_when_a_class_is_graded(graded: Path, tmp_path: Path) -> None:
    """As many files are open after a second class as after a first one."""
    assert main(_grade(_many(graded, tmp_path / "first", 2))) == 0
    before = len(list(Path("/proc/self/fd").iterdir()))
    folder = _many(graded, tmp_path / "second", FEW)
    for student in range(2):
        (folder / f"class/student-{student:03}.cu").write_bytes(SOLUTION.read_bytes() + b"// again\n")
    assert main(_grade(folder)) == 0
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_grades_are_made_no_faster_than_they_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few grades wait where writing reports is slower than grading, not a class of them."""
    made = []

    def grade(_context: object, _plan: object, submission: Submission, *_: object) -> Graded:
        made.append(submission.id)
        return Graded(full_marks())

    monkeypatch.setattr(executor, "isolated", grade)
    assignment = bundled("tiled-matmul")
    plan = pipeline.Plan(assignment, 1, expand_cases(assignment, 1)[:1], ())
    submissions = [Submission(f"{number}", "a.cu", b"%d" % number, "") for number in range(50)]
    jobs = 3
    for taken, _ in enumerate(grade_class(plan, submissions, None, jobs=jobs)):
        assert len(made) <= taken + 2 * jobs + 1
    assert len(made) == len(submissions)


def test_the_reports_of_a_class_are_the_same_without_its_evidence() -> None:
    """No page, no gradebook and no JUnit file shows what is left out to save memory."""
    for grades in ([make() for make in GRADES.values()], sample_class()):
        whole, slim = (
            {name: "".join(text) for name, text in files.of_class(of).items()}
            for of in (grades, list(map(Slimming(), grades)))
        )
        assert slim == whole


@pytest.mark.parametrize("dialect", junit.DIALECTS)
def test_the_counts_of_a_junit_document_are_those_of_its_suites(dialect: str) -> None:
    """They stand at its beginning, before any suite is made."""
    root = ET.fromstring(junit.render([make() for make in GRADES.values()], dialect))  # noqa: S314 - ours
    for count in ("tests", "failures", "errors"):
        assert int(root.attrib[count]) == sum(int(suite.get(count, 0)) for suite in root)
    assert len(root) == len(GRADES)


def test_a_class_is_listed_once_however_large_it_is(tmp_path: Path) -> None:
    """A submission that is no longer in it is moved away, and the rest keeps its order."""
    out = OutFolder(tmp_path)
    out.begin(BatchSession("a", "d", "emulator", 1, "0", "13.0"))
    for name in ("cy", "ada", "bob"):
        out.write({"record.json": "{}"}, name)
        out.note(name, "digest", "pass")
    out.note_class(["cy", "ada"])
    assert out.submissions() == ("ada", "cy")
    assert remove_others(out, ["ada", "cy"]) == ("bob",)
