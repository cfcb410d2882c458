"""Every word of a page is a text that the course may say otherwise, or it is data.

All texts of reports are put in brackets; what is read on a page outside of them has to be of the grade.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import lxml.etree
import lxml.html
import pytest

from grader.cli import setup
from grader.model import Alike, HandIn, Student
from grader.model.messages import TABLES, sentences_of, speaking
from grader.reports import class_page, class_table, html
from tests.reports.pages import content, outside_of_brackets
from tests.reports.sample_estimates import ESTIMATE, UNKNOWN_OPCODE
from tests.reports.sample_grades import SOURCE, sample_class

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.model import CheckResult, Grade

BRACKETED = tuple((name, f"⟦{text}⟧") for name, text in TABLES["reports"].items())
READ = ("title", "aria-label", "placeholder", "data-shown")
"""Attributes that a user reads or hears, or that a script makes words of."""
DATA = ("pre", "code", "kbd", "script", "style")
"""Elements with lines of a source, names and keys."""


def _without_sentences(result: CheckResult) -> CheckResult:
    """An item's result whose sentences, which were made when it was judged, hold no letters."""
    findings = tuple(replace(one, message="1", repair="") for one in result.findings)
    item = replace(result.item, id="i", title="i")
    return replace(result, item=item, message="1", hint="", findings=findings, message_staff="")


def _bracketed(grade: Grade, number: int) -> Grade:
    """A grade in brackets, and without words of its own."""
    items = tuple(replace(item, result=_without_sentences(item.result)) for item in grade.items)
    cases = tuple(replace(one, case=replace(one.case, id="c", shape=())) for one in grade.cases)
    student = Student(name=str(number), section=str(number % 2))
    return replace(
        grade,
        assignment_title="1",
        assignment_id="1",
        submission_id=f"s{number}",
        submission_file="f",
        device="",
        error=grade.error and "1",
        items=items,
        cases=cases,
        hand_in=HandIn("x", students=(student,), late=number == 1),
        words=BRACKETED,
        versions=(),
        cause=grade.cause and replace(grade.cause, message="1", hint="", title="1"),
        timing=grade.timing and replace(grade.timing, baseline="1", shape=()),
        estimate=(
            replace(ESTIMATE, device_name="1", baseline="1", shape=())
            if number % 2
            else replace(UNKNOWN_OPCODE, details=())
        ),
        advice=(),
        adjustments=(),
        for_student=None,
    )


CLASS = [_bracketed(grade, number) for number, grade in enumerate(sample_class())]


def unbracketed(page: str) -> list[str]:
    """The lines of a page with words outside of brackets, which may lie within one another."""
    root = lxml.html.document_fromstring(content(page))
    lxml.etree.strip_elements(root, *DATA, with_tail=False)
    read_out = [str(text) for name in READ for text in root.xpath(f"//@{name}")]
    return [line for text in (root.text_content(), *read_out) for line in outside_of_brackets(text)]


def alike() -> str:
    """The page of submissions that are alike, with more lines than are shown."""
    pairs = [Alike("s1", "s2", 1.0, frozenset({3}), frozenset({3}), ("s3",))] * 61
    with speaking(sentences_of((("reports", BRACKETED),))):
        return class_page.render_similar("1", pairs, {"s1": SOURCE, "s2": SOURCE * 99})


PAGES: dict[str, Callable[[], str]] = {
    "class": lambda: class_page.render(CLASS, source_of=lambda _: SOURCE, similar=True),
    "class that is being graded": lambda: class_page.render(CLASS, waiting=3),
    "class of one": lambda: class_page.render(CLASS[:1], waiting=3),
    "similar": alike,
    "submissions": lambda: "".join(html.render(grade, source_lines=SOURCE) for grade in CLASS),
    "staff": lambda: "".join(html.render(grade, audience="staff", source_lines=SOURCE) for grade in CLASS),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_holds_no_word_that_a_course_cannot_say_otherwise(name: str) -> None:
    """Headings, labels, filters, messages, and what is read out or shown beside the pointer."""
    page = PAGES[name]()
    assert "⟦" in page
    assert unbracketed(page) == []


def test_the_table_of_a_class_holds_none_either() -> None:
    """In the terminal."""
    table = class_table.render_class(CLASS, width=200).plain
    assert unbracketed(f"<p>{table}</p>") == []


def test_below_the_table_a_command_reports_in_its_own_words_where_the_reports_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """To staff, in English, each on a line that nothing breaks; the table above is the course's."""
    setup.print_class(CLASS, resumed=2, out=Path("a-folder"), width=60)
    assert outside_of_brackets(capsys.readouterr().out) == [
        f"2 of {len(CLASS)} were graded before and are unchanged.",
        f"seed {CLASS[0].seed}: with --seed {CLASS[0].seed} another folder is graded on the same cases",
        "for the class   a-folder/index.html, gradebook.csv, junit.xml: for staff only",
        "per submission  a-folder/grades/<submission>/report.html, results.json, junit.xml;",
        "staff.html, record.json, grade.json show hidden cases: for staff",
    ]


def test_a_word_outside_of_brackets_would_be_seen() -> None:
    """In a text, and in what is read out."""
    page = '<p title="so">⟦a ⟦b⟧ c⟧ x</p><p aria-label="⟦a⟧">⟦a⟧ but</p><code>int</code>'
    assert unbracketed(page) == ["x but", "so"]
