"""Reports speak the language of the course: every word of theirs can be replaced."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment.feedback import read
from grader.model.messages import fits, report_words, text_of
from grader.reports import html, junit, platforms, text
from grader.reports.annotations import annotations_of
from grader.reports.annotations import render as render_annotations
from grader.reports.audience import student_view
from tests.reports import sample_grades
from tests.reports.pages import content

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.model import Grade

GERMAN = report_words(
    read((Path(__file__).parents[1] / "grading/assignment/feedback_de.yaml").read_bytes())[0]
)

REPORTS: dict[str, Callable[[Grade], str]] = {
    "terminal": lambda grade: text.render(grade).plain,
    "html": html.render,
    "junit": lambda grade: junit.render([student_view(grade)]),
    "gradescope": platforms.gradescope,
    "annotations": lambda grade: render_annotations(annotations_of(grade, "a.cu"), "github", ""),
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_speaks_the_words_that_its_grade_keeps(name: str) -> None:
    """The report of another grade afterwards is English again."""
    grade = sample_grades.missing_barrier()
    english, german = REPORTS[name](grade), REPORTS[name](replace(grade, words=GERMAN))
    assert german != english
    assert REPORTS[name](grade) == english


def test_headings_and_verdicts_are_those_of_the_course() -> None:
    """On the page and in the terminal; the page declares its language."""
    grade = replace(sample_grades.missing_barrier(), words=GERMAN)
    page, shown = content(html.render(grade)), text.render(grade).plain
    assert '<html lang="de">' in page
    assert "versuche:" in shown
    assert "Versuche:" in page
    assert "✗ falsch" in shown
    assert not re.search(r"\btry:|\bTry:|✗ fail|\bpoints\b", shown + page)


def test_a_foreign_grade_shows_nothing_but_texts_with_their_fields() -> None:
    """A stored grade may come from anywhere: a field that reads more than a text is not filled in."""
    foreign = (("try", "{try.__class__}"), ("score", "{score:>99999999}"), ("first", "{"), ("zzz", "x"))
    grade = replace(sample_grades.missing_barrier(), words=foreign)
    assert text.render(grade).plain == text.render(sample_grades.missing_barrier()).plain
    assert not any(fits("reports", name, text) for name, text in foreign)
    assert fits("reports", "spills", "{count:,} Byte")


def test_outside_of_a_report_texts_are_english() -> None:
    """No report leaves its language behind."""
    text.render(replace(sample_grades.full_marks(), words=GERMAN))
    assert text_of("first") == "Start here"
