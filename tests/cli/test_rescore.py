"""`grader rescore`: another rubric for what is stored, and nothing is run."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import grader
from grader.classroom.batch import BatchSession, OutFolder
from grader.cli.main import main
from grader.grading.assignment import expand_cases, load_assignment
from grader.kinds import pipeline
from grader.model import (
    Build,
    CaseEvidence,
    Comparison,
    Counters,
    Estimate,
    Evidence,
    Finding,
    FindingKind,
    ProgramRun,
    Ratio,
    Resources,
    Structure,
    Submission,
)
from grader.reports.files import of_submission
from tests.sealing import changed_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.model import Assignment, Case

SEED = 7
SOUND = (Path(__file__).parents[1] / "grading" / "assignment" / "scale.yaml").read_text()
TRAFFIC = "  - {id: moved, points: 5, check: traffic, metric: flops, baseline: naive, %s}\n"
BUILD = Build(ok=True, ptx=".version", program=b"ELF", resources=Resources(registers=12), log="secret source")


class Course:
    """An assignment's folder, and the folder with the grades."""

    def __init__(self, folder: Path) -> None:
        self.assignment = folder / "assignments" / "scale"
        self.out = OutFolder(folder / "out")
        self.reference = folder / "reference" / "scaling"
        self.assignment.mkdir(parents=True)
        self.reference.mkdir(parents=True)
        for kernel in ("naive", "solution"):
            (self.reference / f"{kernel}.cu").write_text(f"// {kernel}\n")

    def writes(self, text: str) -> Assignment:
        """Write the assignment's file."""
        (self.assignment / "assignment.yaml").write_text(text)
        return load_assignment(self.assignment)

    def grades(self, assignment: Assignment, **submissions: Evidence) -> None:
        """Store grades as a batch does."""
        session = BatchSession(assignment.id, assignment.digest, "emulator", SEED, "1.0", "nvcc")
        self.out.begin(session)
        plan = pipeline.Plan(assignment, SEED, expand_cases(assignment, SEED), ())
        for name, evidence in submissions.items():
            submission = Submission(name, f"{name}.cu", b"", f"digest of {name}")
            grade = pipeline.judge(plan, submission, evidence, (("run", 1.5),))
            self.out.write(of_submission(grade), name)
            self.out.note(name, submission.digest, grade.verdict)
        self.out.note_class(list(submissions))

    def rescore(self) -> int:
        """Run the command."""
        return main(["rescore", str(self.out.path), "--assignment", str(self.assignment)])

    def grade(self, name: str) -> dict[str, Any]:
        """A stored grade."""
        stored: dict[str, Any] = json.loads(self.out.path.joinpath("grades", name, "grade.json").read_text())
        return stored


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course with one assignment."""
    return Course(tmp_path)


def shown(case: Case, *, wrong: int = 0, flops: int = 50) -> CaseEvidence:
    """A case that ran, with a number of wrong elements, and a race that no check has asked about."""
    error = 1.0 if wrong else 0.0
    return CaseEvidence(
        case,
        comparisons=(Comparison("y", 100, wrong, 0, error, 1e-6),),
        findings=(Finding(FindingKind.RACE, "a race", line=3, case=case.id),) if wrong else (),
        counters=Counters(flops=flops),
        baselines=(("naive", Counters(flops=100)),),
    )


def evidence(assignment: Assignment, **fields: int) -> Evidence:
    """Evidence of every case."""
    cases = tuple(shown(case, **fields) for case in expand_cases(assignment, SEED))
    return Evidence("emulator", BUILD, cases, structures=(("scale", Structure()),))


def test_other_points_and_other_items_give_other_scores(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """Points and a new item; the reports are written again, and the output counts what changed."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made), bob=evidence(made, wrong=3))
    races = "  - {id: races, points: 20, check: races}\n"
    course.writes(SOUND.replace("points: 90", "points: 70") + races)
    assert course.rescore() == 0
    printed = capsys.readouterr().out
    assert "0 of 2 grades changed" in printed, "the points moved to an item that only ada passes"
    ada, bob = course.grade("ada"), course.grade("bob")
    assert (ada["score"], ada["max_score"], bob["score"]) == (100, 100, 10)
    assert [item["id"] for item in ada["items"]] == ["compiles", "right", "races"]
    assert ada["rescored"] == {"assignment_digest": made.digest}
    assert dict(ada["seconds"])["run"] == 1.5
    assert "races" in (course.out.path / "gradebook.csv").read_text()
    assert "A race, 4 times" in (course.out.path / "grades/bob/report.html").read_text()


def test_it_tells_whose_score_changes_by_how_much(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    """The largest loss first, and the mean over all."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made), bob=evidence(made, wrong=3))
    course.writes(SOUND.replace("points: 90", "points: 40"))
    assert course.rescore() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "ada  100/100 → 50/50  (−50)",
        "bob  10/100 → 10/50  (0)",
        f"2 of 2 grades changed by the rubric of {course.assignment}; nothing was run",
        "the score changes by −50 to 0, −25 in the mean",
    ]


def test_what_is_rescored_is_what_grading_would_have_given(course: Course) -> None:
    """But for the note that it was rescored, and the times."""
    before = SOUND + TRAFFIC % "at_most: 0.4"
    after = before.replace("points: 90", "points: 30").replace("0.4", "0.6")
    course.grades(made := course.writes(before), bob=evidence(made, wrong=3), ada=evidence(made))
    course.writes(after)
    assert course.rescore() == 0
    fresh = Course(course.out.path.parent / "fresh")
    fresh.grades(made := fresh.writes(after), bob=evidence(made, wrong=3), ada=evidence(made))
    for name in ("ada", "bob"):
        rescored, graded = course.grade(name), fresh.grade(name)
        assert rescored.pop("rescored")
        del rescored["seconds"], graded["seconds"]
        assert rescored == graded


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("N: 55", "N: 56", "  case `odd`"),
        ("id: odd", "id: odder", "  case `odder`, which is new"),
        ("random: 2", "random: 3", "  case `random-3`, which is new"),
        ("float32", "float64", "  what is to be handed in, and how it is launched"),
        ("{BLOCK_SIZE: 128}", "{BLOCK_SIZE: 64}", "  what is to be handed in, and how it is launched"),
    ],
)
def test_where_something_else_would_run_nothing_is_changed(
    old: str, new: str, message: str, course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names what differs, and what to do instead."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made))
    before = {path: path.read_bytes() for path in course.out.path.rglob("*") if path.is_file()}
    course.writes(SOUND.replace(old, new))
    assert course.rescore() == 2
    lines = capsys.readouterr().err.splitlines()
    assert f"grader: {message}" in lines
    assert lines[-1].endswith("grade again with `grader grade`")
    after = {
        path: path.read_bytes()
        for path in course.out.path.rglob("*")
        if path.name != ".lock" and path.is_file()
    }
    assert after == {path: content for path, content in before.items() if path.name != ".lock"}


def test_another_reference_is_another_run(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    """The staff's kernels decide about baselines."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made))
    (course.reference / "naive.cu").write_text("// faster\n")
    assert course.rescore() == 2
    assert "  the reference\n" in capsys.readouterr().err


def test_an_item_that_asks_for_counters_that_were_not_measured_is_refused(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """A baseline is measured while grading, or not at all; once measured, the limits may change."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made))
    course.writes(SOUND + TRAFFIC % "at_most: 0.4")
    assert course.rescore() == 2
    assert "the counters of the naive kernel in case `whole`, which is new" in capsys.readouterr().err
    counted = load_assignment(course.assignment)
    course.grades(counted, ada=evidence(counted))
    course.writes(SOUND + TRAFFIC % "none_above: 0.7, full_at: 0.2")
    assert course.rescore() == 0
    assert course.grade("ada")["score"] == 102


def test_a_case_may_go_and_come_back(course: Course) -> None:
    """Its evidence is kept; tags and visibility are rubric."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made))
    course.writes(SOUND.replace("  - {random: 2, shape: {N: 1..80}, tags: [non-aligned]}\n", ""))
    assert course.rescore() == 0
    assert len(course.grade("ada")["cases"]) == 2
    course.writes(SOUND.replace("tags: [aligned]", "tags: [whole], visibility: after_published"))
    assert course.rescore() == 0
    cases = course.grade("ada")["cases"]
    assert len(cases) == 4
    assert cases[0]["visibility"] == "after_published"


@pytest.mark.parametrize("command", ["report", "rescore"])
def test_a_folder_of_an_older_version_is_to_be_graded_again(
    command: str, course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has `grade.json`, which is written for others, and no record: that is reported in one line."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made), bob=evidence(made))
    course.out.record_path("ada").rename(course.out.path / "grades/ada/evidence.json")
    before = course.grade("ada")
    assert main([command, str(course.out.path), "--assignment", str(course.assignment)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(
        "ada/record.json: is missing, as where an older version graded; grade the submission again"
    )
    assert course.grade("ada") == before


def test_a_report_needs_no_export(course: Course) -> None:
    """Files that a crash left unwritten beside the record are no obstacle."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made))
    for path in (course.out.path / "grades/ada").iterdir():
        if path != course.out.record_path("ada"):
            path.unlink()
    assert main(["report", str(course.out.path)]) == 0
    assert "ada" in (course.out.path / "gradebook.csv").read_text()


def test_a_batch_goes_on_after_it(course: Course) -> None:
    """The journal vouches for the rescored grades, of the assignment as it is now."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made), bob=evidence(made))
    changed = course.writes(SOUND.replace("points: 90", "points: 40"))
    assert course.rescore() == 0
    session = course.out.session()
    assert session is not None
    assert (session.assignment_digest, session.seed) == (changed.digest, SEED)
    assert course.out.finished() == {"ada": "digest of ada", "bob": "digest of bob"}
    assert course.rescore() == 0
    assert course.grade("ada")["rescored"] == {"assignment_digest": made.digest}, "it is not forgotten"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda text: text.replace('"submission_id":"ada"', '"submission_id":"bob"'),
            "record of another submission",
        ),
        (lambda text: text[:-20], "is no stored grade"),
        (lambda text: text.replace('"evidence"', '"old"'), "holds no evidence"),
        (
            lambda text: text.replace('"counters":{"flops":50}', '"counters":{"flops":"many"}'),
            "counters.flops",
        ),
        (lambda text: text.replace('"id":"odd"', '"id":"even"'), "lacks cases"),
    ],
)
def test_evidence_that_was_tampered_with_is_refused(
    spoil: Callable[[str], str], message: str, course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the file's name, and nothing is changed."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made))
    path = course.out.record_path("ada")
    changed_record(course.out, "ada", spoil)
    before = course.grade("ada")
    course.writes(SOUND.replace("points: 90", "points: 40"))
    assert course.rescore() == 2
    output = capsys.readouterr().err
    assert (message in output, str(path) in output) == (True, True)
    assert course.grade("ada") == before


def test_evidence_holds_no_code(course: Course) -> None:
    """Neither PTX nor an executable, nor the compiler's messages about the source."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made))
    text = course.out.record("ada")
    assert not any(each in text for each in (".version", "RUxG", "secret source"))


def test_an_error_of_ours_stays_one(course: Course) -> None:
    """No rubric makes a grade of it."""
    made = course.writes(SOUND)
    course.grades(made, ada=Evidence("emulator", Build(ok=False, error="the disk is full")))
    course.writes(SOUND.replace("points: 90", "points: 40"))
    assert course.rescore() == 3
    assert course.grade("ada")["verdict"] == "error"
    assert course.out.finished() == {}


def test_another_assignment_is_refused(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    """And so is a folder without grades."""
    assert main(["rescore", str(course.out.path)]) == 2
    assert "no grades here" in capsys.readouterr().err
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made))
    course.writes(SOUND.replace("id: scale", "id: other"))
    assert course.rescore() == 2
    assert "is `other`, and what was graded is `scale`" in capsys.readouterr().err
    assert main(["rescore", str(course.out.path)]) == 2
    assert "--assignment" in capsys.readouterr().err


def test_an_assignment_as_students_have_it_rescores_nothing(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In an installed package it lacks the hidden cases, whose points would be lost."""
    made = course.writes(SOUND)
    course.grades(made, ada=evidence(made))
    package = tmp_path / "site" / "grader"
    for folder in (course.assignment, course.reference):
        shutil.copytree(folder, package / "_data" / folder.parent.name / folder.name)
    monkeypatch.setattr(grader, "__file__", str(package / "__init__.py"))
    assert main(["rescore", str(course.out.path)]) == 2
    assert "`scale` is installed as students have it" in capsys.readouterr().err


def test_programs_are_rescored_by_what_they_printed(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their output is kept; a file that no item looked at is not."""
    text = (
        (Path(__file__).parents[1] / "grading" / "assignment" / "greet.yaml")
        .read_text()
        .replace("  include: [support.h]\n", "")
    )
    made = course.writes(text)
    runs = tuple(
        CaseEvidence(case, program=ProgramRun("exit", 0, b"Hello, world!\n", files=(("big.npy", b"x" * 9),)))
        for case in expand_cases(made, SEED)
    )
    course.grades(made, ada=Evidence("host", BUILD, runs))
    assert "big.npy" not in course.out.record("ada")
    course.writes(f"{text}  - {{id: new, points: 7, check: text, matches: 'Hello,.*!'}}\n")
    assert course.rescore() == 0
    items = {item["id"]: item["points"] for item in course.grade("ada")["items"]}
    assert items["new"] == 7
    course.writes(f"{text}  - {{id: new, points: 7, check: text, of: other.txt, matches: 'Hello'}}\n")
    assert course.rescore() == 2
    assert "the file `other.txt`, which is new" in capsys.readouterr().err


FAST = "  - {id: fast, points: 4, check: speedup, baseline: naive, none_below: 1, full_at: 1.25%s}\n"


def test_an_estimate_is_kept_so_that_a_changed_rubric_may_judge_by_it(course: Course) -> None:
    """The grade has it from the evidence, and a class is not run again for it."""
    made = course.writes(SOUND + FAST % "")
    estimate = Estimate(
        "h200", "NVIDIA H200", "naive", (("N", 4096),), Ratio(1.5, 1.3, 1.7), 0.1, compared=64
    )
    course.grades(made, ada=replace(evidence(made), estimate=estimate))
    stored = course.grade("ada")
    assert stored["estimate"]["ratio"] == {"median": 1.5, "low": 1.3, "high": 1.7}
    assert stored["items"][-1]["verdict"] == "skip"
    course.writes(SOUND + FAST % ", estimate: true")
    assert course.rescore() == 0
    again = course.grade("ada")
    assert (again["items"][-1]["points"], again["items"][-1]["estimated"]) == (4, True)
    assert again["estimate"] == stored["estimate"]


def test_an_estimate_for_another_device_is_not_the_one_that_was_made(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is changed, unless no item is judged by it."""
    made = course.writes(SOUND + FAST % "")
    estimate = Estimate(
        "h200", "NVIDIA H200", "naive", (("N", 4096),), Ratio(1.5, 1.3, 1.7), 0.1, compared=64
    )
    course.grades(made, ada=replace(evidence(made), estimate=estimate))
    elsewhere = SOUND.replace("timing: {", "timing: {estimate_for: t4, ")
    course.writes(elsewhere + FAST % ", estimate: true")
    assert course.rescore() == 2
    assert "what is estimated" in capsys.readouterr().err
    course.writes(elsewhere + FAST % "")
    assert course.rescore() == 0
