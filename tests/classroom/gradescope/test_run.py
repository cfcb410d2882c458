"""`run_autograder`: results.json for everything that can happen, in a folder laid out as Gradescope does."""

from __future__ import annotations

import json
import stat
import time
from typing import TYPE_CHECKING, NoReturn

import pytest

from grader import __version__
from grader.base.errors import OurError
from grader.classroom.gradescope import run
from grader.classroom.gradescope.run import must_be_out_of_reach
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.reports import wording
from grader.reports.audience import student_view
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.classroom.gradescope.container_folder import (
    GROUP,
    LATE,
    RACE,
    REFERENCE,
    SOLUTION,
    lay_out,
    results_of,
)
from tests.json_rows import json_rows
from tests.reports.test_leaks_of_doubt import setting, with_outcome

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Golden

BROKEN = SOLUTION.replace(b";", b"", 1)
SUBMISSIONS: dict[str, tuple[dict[str, bytes], object]] = {
    "full-marks": ({"README.md": b"# ours", "tiled.cu": SOLUTION}, None),
    "race": ({"tiled.cu": RACE}, None),
    "does-not-compile": ({"tiled.cu": BROKEN}, None),
    "nothing": ({}, None),
    "two-files": ({"one.cu": SOLUTION, "two.cu": RACE}, None),
    "late": ({"tiled.cu": SOLUTION}, LATE),
    "group": ({"tiled.cu": SOLUTION}, GROUP),
}


@pytest.fixture(autouse=True)
def _no_other_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not everybody who runs the tests is root: who compiles is seen in the container's test."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    monkeypatch.setattr(run, "find_tools", lambda: tools)
    monkeypatch.setattr(run, "must_be_out_of_reach", lambda *_: None)


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_results_are_as_they_were(
    name: str, tmp_path: Path, golden: Golden, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole file; the staff's log has the seed, which no results have."""
    root = lay_out(tmp_path / "autograder", *SUBMISSIONS[name])
    assert run.main(root) == 0
    written = (root / "results/results.json").read_text(encoding="utf-8").replace(__version__, "VERSION")
    digest = load_assignment(root / "source/assignments/small").digest
    written = written.replace(digest, "DIGEST")
    golden(f"gradescope/{name}.json", json_rows(written, indent=1, ascii_only=True))
    assert "seed" not in written
    assert "seed 7" in capsys.readouterr().out


def test_points_and_quotes_are_there(tmp_path: Path) -> None:
    """A race costs its item, and the line is quoted where it is reported."""
    root = lay_out(tmp_path / "autograder", {"tiled.cu": RACE})
    run.main(root)
    results = results_of(root)
    tests = {test["name"]: test for test in results["tests"]}
    assert tests["Threads wait for each other"]["score"] == 0
    assert "\n  > 17 | " in tests["Threads wait for each other"]["output"]
    assert tests["Right for others"]["visibility"] == "after_due_date"
    assert results["score"] == sum(test["score"] for test in results["tests"])


@pytest.mark.slow
def test_what_was_not_judged_of_hidden_cases_is_noted_for_staff_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The score that is recorded counts it as lost, so staff have to see that it may be too low."""
    plan, submission, evidence = setting(tmp_path, "kernel", "solution")
    graded = pipeline.judge(plan, submission, with_outcome(evidence, "a question", "first-one"))
    monkeypatch.setattr(run, "_grade", lambda *_: graded)
    root = lay_out(tmp_path / "autograder", {"tiled.cu": SOLUTION})
    assert run.main(root) == 0
    results = results_of(root)
    assert results.pop("extra_data")["not_judged"] == wording.unscored(graded) != ""
    assert results["score"] == float(student_view(graded).score) < float(graded.max_score)
    assert "question" not in json.dumps(results)


def _out_of_memory(*_: object) -> NoReturn:
    raise MemoryError("no memory left")


def _refused(*_: object) -> NoReturn:
    raise OurError("the compiler is missing")


@pytest.mark.parametrize(
    ("failing", "words"), [(_refused, "the compiler is missing"), (_out_of_memory, "too little memory")]
)
def test_our_own_failure_is_a_sentence_and_no_score(
    failing: object,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    golden: Golden,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An error that we know of, and one that no one expects; the log alone shows which."""
    monkeypatch.setattr(run, "find_tools", failing)
    root = lay_out(tmp_path / "autograder", {"tiled.cu": SOLUTION})
    assert run.main(root) == 3
    results = results_of(root)
    assert results["output"].startswith("not graded, through no fault of the submission: ")
    assert words not in results["output"]
    assert words in capsys.readouterr().out
    assert "score" not in results
    if failing is _refused:
        golden("gradescope/our-error.json", (root / "results/results.json").read_text(encoding="utf-8"))


def test_grading_ends_before_its_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that takes too long, anywhere, ends in results that blame no student."""
    monkeypatch.setattr(run, "find_tools", lambda: time.sleep(30))
    root = lay_out(tmp_path / "autograder", {"tiled.cu": SOLUTION}, seconds=0.2)
    assert run.main(root) == 3
    assert "grading took longer than 0 s and was ended" in results_of(root)["output"]


def test_a_link_to_the_staffs_files_is_not_followed(tmp_path: Path) -> None:
    """The grader is root: what a student's link leads to is not the student's."""
    root = lay_out(tmp_path / "autograder", {})
    (root / "source/solution.cu").write_bytes(SOLUTION)
    (root / "submission/tiled.cu").symlink_to(root / "source/solution.cu")
    assert run.main(root) == 0
    assert results_of(root)["score"] == 0
    (root / "submission/tiled.cu").unlink()
    (root / "submission/tiled.cu").write_bytes(b'#include "tile.hpp"\n' + SOLUTION)
    (root / "submission/tile.hpp").symlink_to(root / "source/harness.json")
    assert run.main(root) == 0
    assert "seed" not in (root / "results/results.json").read_text(encoding="utf-8")


def test_a_submission_that_takes_too_long_is_ended_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are results of every item, with no blame for the student and no score."""
    monkeypatch.setattr(run, "LEAST_SECONDS", 0.05)
    for_ever = SOLUTION.replace(b"{", b"{ for (volatile long long i = 0; i < 1LL << 40; ++i) {}", 1)
    root = lay_out(tmp_path / "autograder", {"tiled.cu": for_ever}, seconds=run.WRITING_SECONDS + 0.05)
    assert run.main(root) == 0
    results = results_of(root)
    assert "not graded, through no fault of the submission" in results["output"]
    assert "s and was ended" in results["output"]
    assert len(results["tests"]) == 4
    assert "score" not in json.dumps(results["tests"])
    assert "score" not in results


@pytest.mark.parametrize("content", ["", "[]", '{"assignment": "small"}', '{"assignment": 1, "seed": "x"}'])
def test_a_harness_that_cannot_be_read_is_our_error(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output names how to make it again."""
    root = lay_out(tmp_path / "autograder", {"tiled.cu": SOLUTION})
    (root / "source/harness.json").write_text(content, encoding="utf-8")
    assert run.main(root) == 3
    assert "grader export-gradescope" in capsys.readouterr().out
    assert "score" not in results_of(root)


def test_an_assignment_that_is_not_there_is_our_error(tmp_path: Path) -> None:
    """No student's file was looked at."""
    root = lay_out(tmp_path / "autograder", {"tiled.cu": SOLUTION})
    (root / "source/assignments/small/assignment.yaml").unlink()
    assert run.main(root) == 3
    assert "score" not in results_of(root)


def test_results_are_written_where_nothing_was_laid_out(tmp_path: Path) -> None:
    """Even the folder for them may be missing."""
    assert run.main(tmp_path / "empty") == 3
    assert "find the reason in its log" in results_of(tmp_path / "empty")["output"]


def test_the_staffs_files_are_shut_before_anything_is_compiled(tmp_path: Path) -> None:
    """Hidden cases, results, and the results of earlier submissions are for the grader's user alone."""
    root = lay_out(tmp_path / "autograder", {})
    run.main(root)
    for name, mode in run.STAFFS_ONLY:
        assert stat.S_IMODE((root / name).stat().st_mode) == mode


def test_staff_see_their_own_solution_graded_at_set_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Full marks end with 0; less of them is no autograder to be used."""
    root = lay_out(tmp_path / "autograder", {})
    assert run.prove(root / "source") == 0
    assert "100 of 100 points" in capsys.readouterr().out
    own = root / "source/reference/matmul"
    own.mkdir(parents=True)
    for name in ("oracle.py", "hypotheses.py", "feedback.yaml"):
        (own / name).write_bytes((REFERENCE / name).read_bytes())
    (own / "solution.cu").write_bytes(RACE)
    assert run.prove(root / "source") == 3


def test_a_job_that_could_read_the_staffs_files_stops_everything(tmp_path: Path) -> None:
    """It is tried with the file itself before a student's is compiled."""
    file = tmp_path / "assignment.yaml"
    file.write_text("id: x", encoding="utf-8")
    with pytest.raises(OurError, match="could read the staff's files"):
        must_be_out_of_reach(file, LocalSandbox())
    with pytest.raises(OurError, match="is missing"):
        must_be_out_of_reach(tmp_path / "none", LocalSandbox())
