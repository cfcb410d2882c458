"""The class page in a real browser: filters, keyboard, contrast, payloads, and a large class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pypdf
import pytest

from grader.model import Alike, HandIn, Student
from grader.reports import class_page
from tests.browser import CONTRAST, DARK, LIGHT, SCROLLS, SIZES, axe, page_answers, page_value, run
from tests.reports.payloads import PAYLOADS
from tests.reports.sample_grades import (
    SOURCE,
    full_marks,
    missing_barrier,
    our_error,
    partial_credit,
    sample_class,
)

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

pytestmark = pytest.mark.browser

NAMES = 'const names = () => [...document.querySelectorAll("#table tbody tr")].filter((row) => !row.hidden)'
NAMES += '.map((row) => row.querySelector("a").textContent);'
KEY = "const press = (key) => document.activeElement.dispatchEvent("
KEY += 'new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));'
TYPE = "const type = (id, value) => { const at = document.getElementById(id); at.value = value;"
TYPE += 'at.dispatchEvent(new Event("input", { bubbles: true })); };'


def page(grades: list[Grade] | None = None) -> str:
    """The page of a class with sections."""
    whole = sample_class() if grades is None else grades
    rows = [
        replace(one, hand_in=HandIn("x", students=(Student(name=f"N{n}", section=f"S{n % 2}"),), late=n == 1))
        for n, one in enumerate(whole)
    ]
    return class_page.render(rows, source_of=lambda _: SOURCE)


def test_search_and_filters_leave_what_fits(tmp_path: Path) -> None:
    """Together; what is asked for stands in the address, so that it outlives a reload."""
    script = f"""{NAMES}{TYPE} const all = names().length;
      type("search", "RACE lines"); const race = names(); type("search", "");
      type("state", "full"); const full = names(); type("state", "");
      type("section", "S1"); const section = names().length;
      const count = document.getElementById("count").textContent;
      return {{ all, race, full, section, hash: location.hash, count }};"""
    answer = page_value(page(), script, tmp_path)
    assert answer["race"] == ["grace"]
    assert answer["full"] == ["ada"]
    assert answer["section"] == answer["all"] // 2
    assert answer["hash"] == "#section=S1"
    assert answer["count"] == f"{answer['section']} of {answer['all']} shown"


def test_a_heading_sorts_and_turns_round(tmp_path: Path) -> None:
    """The order is announced to screen readers; errors of ours come first among scores."""
    script = f"""{NAMES} const button = document.querySelector("th[data-sort=score] button");
      button.click(); const up = names(); button.click();
      return {{ up, down: names(), sorted: button.parentElement.getAttribute("aria-sort") }};"""
    answer = page_value(page([full_marks(), missing_barrier(), partial_credit()]), script, tmp_path)
    assert answer == {
        "up": ["edsger", "grace", "ada"],
        "down": ["ada", "grace", "edsger"],
        "sorted": "descending",
    }


def test_the_keyboard_reaches_every_student(tmp_path: Path) -> None:
    """From anywhere to the search, into the table, back, and out."""
    script = f"""{KEY} const at = () => document.activeElement.id || document.activeElement.textContent;
      const keys = ["/", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "Escape"];
      return keys.map((key) => {{ press(key); return at(); }});"""
    steps = page_value(page([full_marks(), missing_barrier()]), script, tmp_path)
    assert steps == ["search", "ada", "grace", "ada", "search", "ada", "search"]


def test_a_students_page_gets_the_others(tmp_path: Path) -> None:
    """Of all that are shown, in their order; from a group, of the others in it."""
    grades = [replace(missing_barrier(), submission_id=name) for name in ("ada", "bob é", "eve")]
    grades += [replace(full_marks(), submission_id="zoe")]
    script = f"""{TYPE} const link = (from) => {{ const one = from.querySelector("a[href*=staff]");
        one.focus(); return new URLSearchParams(one.hash.slice(1)).get("among"); }};
      const body = document.querySelector("#table tbody"), all = link(body);
      type("state", "full"); const full = link([...body.rows].find((row) => !row.hidden));
      return [all, full, link(document.querySelector(".group"))];"""
    assert page_value(class_page.render(grades), script, tmp_path) == [
        "ada/bob é/eve/zoe",
        "zoe",
        "ada/bob é/eve",
    ]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_all_can_be_read(size: str, scheme: int, tmp_path: Path) -> None:
    """Every text has a contrast of 4.5 or more, and no page scrolls sideways."""
    assert page_value(
        page(), f"{CONTRAST} return [{SCROLLS}, faint];", tmp_path, size=size, scheme=scheme
    ) == [
        False,
        [],
    ]


@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing(size: str, tmp_path: Path) -> None:
    """On the page of a class, of one that is being graded, and of submissions that are alike."""
    pairs = [Alike("ada", "bob", 1.0, frozenset({3}), frozenset({3}), ("eve",))]
    alike = class_page.render_similar("Tiled", pairs, {"ada": SOURCE, "bob": SOURCE})
    pages = [page(), class_page.render(sample_class(), waiting=3).replace('http-equiv="refresh"', ""), alike]
    probe = (
        axe().replace("</script", "<\\/script")
        + ";axe.run().then((r) => answer(r.violations.map((v) => v.id)));"
    )
    assert page_answers(pages, probe, tmp_path, size=size) == [[]] * 3


def test_payloads_do_nothing(tmp_path: Path) -> None:
    """In names, sections and sources."""
    grades = [
        replace(
            missing_barrier(),
            submission_id=words,
            hand_in=HandIn(words, students=(Student(name=words, section=words),)),
        )
        for words in PAYLOADS.values()
    ]
    whole = class_page.render(grades, source_of=lambda _: [next(iter(PAYLOADS.values()))] * len(SOURCE))
    script = """const acts = (one) => [...one.attributes].some(({ name }) => name.startsWith("on"));
      const acting = [...document.querySelectorAll("*")].filter(acts).length;
      return [document.scripts.length, document.title, acting];"""
    assert page_value(whole, script, tmp_path) == [3, "Tiled matrix multiplication", 0]


def test_two_thousand_can_be_searched_and_most_rows_are_not_laid_out(tmp_path: Path) -> None:
    """All rows are there, for the browser's own search too; a search leaves one, which is then to be seen."""
    grades = [replace(full_marks(), submission_id=f"student{number:04d}") for number in range(2000)]
    script = f"""{NAMES}{TYPE} const rows = [...document.querySelectorAll("#table tbody tr")];
      const laidOut = () => rows.filter((row) => row.firstElementChild.firstElementChild.checkVisibility(
        {{ contentVisibilityAuto: true }})).map((row) => row.querySelector("a").textContent);
      const all = names().length, before = laidOut().length;
      const elements = Math.max(...rows.map((row) => row.getElementsByTagName("*").length));
      type("search", "student1234"); rows[1234].querySelector("a").focus();
      return [all, names(), before, laidOut(), elements];"""
    whole = page(grades)
    rows, names, before, after, elements = page_value(whole, script, tmp_path)
    assert (rows, names, after) == (2000, ["student1234"], ["student1234"])
    assert before < 100
    assert elements <= 4 + 5 + len(grades[0].items)  # a name, a person and a link; cells
    assert len(whole) < 2_000_000


def test_headings_are_on_every_printed_page_and_nothing_is_cut_off(tmp_path: Path) -> None:
    """Those that sort, too; no layout of a phone, and all of a note."""
    long = replace(our_error(), error="a reason of which all is to be read, to its last word: end")
    path = tmp_path / "index.html"
    path.write_text(page([long] * 60), encoding="utf-8")
    run(path, "", tmp_path / "home", f"--print-to-pdf={tmp_path / 'class.pdf'}")
    texts = [
        " ".join(sheet.extract_text().split()) for sheet in pypdf.PdfReader(tmp_path / "class.pdf").pages
    ]
    with_rows = [text for text in texts if "barbara" in text and "to its last word: end" in text]
    assert len(with_rows) > 1
    assert all("student section late score compiles" in text for text in with_rows)
    assert all("speedup note" in text for text in with_rows)
    assert sum(text.count("word: end") for text in texts) >= 60


def test_columns_are_those_of_their_headings(tmp_path: Path) -> None:
    """Each row is laid out for itself, and all of them agree."""
    script = """const left = (cell) => Math.round(cell.getBoundingClientRect().left);
      const edges = (row) => [...row.cells].map(left);
      const [head, ...rows] = document.getElementById("table").rows;
      return [edges(head), ...rows.map(edges)];"""
    head, *rows = page_value(page(), script, tmp_path)
    assert len(head) == len(set(head))
    assert rows == [head] * len(rows)
