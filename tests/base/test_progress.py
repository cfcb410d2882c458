"""Progress that is shown during a wait: steps of a check, lines of a batch, the class page in between."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.base import steps
from grader.base.steps import Step
from grader.classroom.batch import OutFolder
from grader.classroom.batch.class_page import PageInProgress
from grader.cli import progress
from grader.model import Build, Evidence
from tests.reports.sample_grades import full_marks, missing_barrier

if TYPE_CHECKING:
    from pathlib import Path


def test_a_step_is_heard_only_within() -> None:
    """Outside of it no one listens, and nothing fails."""
    heard: list[Step] = []
    steps.begin(Step("judge"))
    with steps.reporting_to(heard.append):
        steps.begin(Step("case", "mp3", 2, 9))
    steps.begin(Step("judge"))
    assert heard == [Step("case", "mp3", 2, 9)]


def test_nothing_is_drawn_into_a_log_that_is_to_have_colours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """FORCE_COLOR, as in continuous integration and in notebooks, makes no terminal of a file."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.of_check():
        steps.begin(Step("judge"))
    assert capsys.readouterr().err == ""


def test_a_step_names_the_case_that_is_waited_for() -> None:
    """Whatever a case is called is text."""
    assert progress.in_words(Step("case", "mp\x1b[2J3", 2, 9)) == "case mp3 (2 of 9)"
    assert progress.in_words(Step("judge")) == "judging"


@pytest.mark.parametrize(
    ("done", "seconds", "line"),
    [
        (12, 120, "graded 12 of 300 in 2 minutes; about 48 minutes left"),
        (100, 3600, "graded 100 of 300 in 1 hour; about 2 hours left"),
        (0, 65, "graded 0 of 300 in 1 minute"),
    ],
)
def test_a_log_shows_how_long_it_will_take(done: int, seconds: float, line: str) -> None:
    """By what it took so far; nothing where nothing is known."""
    assert progress.how_far(done, 300, seconds) == line


def test_a_log_reports_each_student_only_where_asked() -> None:
    """With the score, and what is wrong."""
    lines: list[str] = []
    for verbose in (False, True):
        with progress.BatchLog(2, lines.append, verbose=verbose) as log:
            log.add(full_marks())
            log.add(missing_barrier())
    assert lines == ["ada: 75/75", "grace: 60/75, race, lines 9 and 13"]


def test_a_log_speaks_while_nothing_is_finished() -> None:
    """A submission that takes long is no silence."""
    lines: list[str] = []
    with progress.BatchLog(2, lines.append, every=0.01) as log:
        while not lines:
            log._over.wait(0.01)
    assert lines[0] == "graded 0 of 2 in 1 minute"


def test_the_class_page_is_there_after_the_first_and_then_now_and_then(tmp_path: Path) -> None:
    """The page has the number of those that are waited for, and is not written for each."""
    now = [0.0]
    page = tmp_path / "index.html"
    evidence = Evidence("emulator", Build(ok=True))
    log = PageInProgress(OutFolder(tmp_path), [replace(full_marks(), evidence=evidence)], 4, lambda: now[0])
    log.add(replace(full_marks(), submission_id="bob"))
    first = page.read_text(encoding="utf-8")
    assert "2 still to be graded" in first
    now[0] = 1.0
    log.add(replace(full_marks(), submission_id="eve"))
    assert page.read_text(encoding="utf-8") == first
    now[0] = 60.0
    log.add(replace(full_marks(), submission_id="zoe"))
    assert "still to be graded" not in page.read_text(encoding="utf-8")
