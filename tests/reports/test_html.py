"""Pages for a browser: well formed, self-contained, and not to be scripted by a file name."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from grader.model import HandIn, Student
from grader.reports import class_page, html
from tests.reports.pages import content, words_of
from tests.reports.sample_grades import GRADES, SOURCE, hidden_item, hostile, missing_barrier, sample_class

if TYPE_CHECKING:
    from tests.conftest import Golden

ACTIVE = {"script", "iframe", "object", "embed", "img", "link", "form", "base", "b"}


def _elements(page: str) -> list[etree._Element]:
    parser = etree.HTMLParser(encoding="utf-8")
    return list(etree.fromstring(page.encode(), parser).iter(etree.Element))


def test_page_of_a_submission(golden: Golden) -> None:
    """The page shows what the terminal shows."""
    golden("reports/missing-barrier.html", content(html.render(missing_barrier(), source_lines=SOURCE)))


def test_page_of_a_class(golden: Golden) -> None:
    """A row per submission, with a link to its page."""
    golden("reports/class.html", content(class_page.render(sample_class()[:-1])))


@pytest.mark.parametrize("name", GRADES)
def test_pages_hold_nothing_active(name: str) -> None:
    """No element that loads or runs anything, and no attribute but our own, whatever a file is called."""
    grade = GRADES[name]()
    of_class = class_page.render([grade], source_of=lambda _: SOURCE)
    for page, ours in (
        (html.render(grade, source_lines=SOURCE), {"script"}),
        (of_class, {"script", "form"}),
    ):
        tags = [element.tag for element in _elements(page)]
        assert not set(tags) & ACTIVE - ours
        assert all(tags.count(tag) == 1 for tag in ours)
        for element in _elements(page):
            assert not any(attribute.startswith("on") for attribute in element.attrib)


def test_the_staffs_page_shows_whose_it_is_and_leads_to_the_class() -> None:
    """With the names that a roster gives; a student's page links to no other submission's."""
    hand_in = HandIn("x", students=(Student(name="Grace Hopper"),), time="2026-11-24 23:50", attempts=3)
    grade = replace(missing_barrier(), hand_in=hand_in)
    staff, student = html.render(grade, audience="staff"), html.render(grade)
    assert "grace, Grace Hopper" in words_of(staff)
    assert {'href="../../index.html"', 'href="report.html"'} <= set(re.findall(r'href="[^"]*"', staff))
    assert "index.html" not in re.sub(r'href="https://[^"]*"', "", student)
    for page in (staff, student):
        assert "handed in 2026-11-24 23:50 · the attempt that counts, of 3" in words_of(page)


def test_a_link_stays_inside_the_folder() -> None:
    """A hostile name is percent-encoded as one part of a path."""
    links = [
        str(element.get("href"))
        for element in _elements(class_page.render([hostile()]))
        if element.tag == "a"
    ]
    pages = {link for link in links if not link.startswith("#")}
    assert {link.rpartition("/")[2] for link in pages} == {"staff.html", "report.html"}
    assert all(link.startswith("grades/%3Dcmd") and link.count("/") == 2 for link in pages)


def test_a_students_page_hides_what_is_hidden() -> None:
    """The page follows the same rule as the terminal."""
    page = html.render(hidden_item(), source_lines=SOURCE)
    assert "secret" not in page
    assert "dot-product" not in page
    assert "The secret message" in html.render(hidden_item(), audience="staff")
