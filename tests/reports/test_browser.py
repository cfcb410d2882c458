"""The page of a submission in a real browser: for every reader, on every screen, and for hostile files."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.reports import html
from tests.browser import CONTRAST, DARK, LIGHT, SCROLLS, SIZES, axe, page_answers, rendered_page, run
from tests.reports.grade_with_pictures import grade_with_pictures
from tests.reports.payloads import PAYLOADS
from tests.reports.sample_grades import SOURCE, compile_error, full_marks, missing_barrier, our_error
from tests.reports.test_watching import racy, watched

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.browser

LOOKS = pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
ON_EACH = pytest.mark.parametrize("size", SIZES)


def pages() -> list[str]:
    """Pages of every sort: all drawn, nothing wrong, nothing compiled, an error of ours, with a trace."""
    grades = (grade_with_pictures(), full_marks(), compile_error(), our_error())
    return [*(html.render(grade, source_lines=SOURCE) for grade in grades), watched(racy())]


@LOOKS
@ON_EACH
def test_axe_finds_nothing(scheme: int, size: str, tmp_path: Path) -> None:
    """Nothing keeps a user from reading it, whatever it is read with."""
    probe = axe().replace("</script", "<\\/script") + (
        ";axe.run({resultTypes: ['violations']}).then(r => answer(r.violations.map("
        "v => [v.id, v.nodes.map(n => n.html.slice(0, 160) + ' ' + n.failureSummary)])));"
    )
    assert page_answers(pages(), probe, tmp_path, scheme=scheme, size=size) == [[]] * 5


@LOOKS
def test_every_text_stands_out_from_its_ground(scheme: int, tmp_path: Path) -> None:
    """By the computed colours a contrast of 4.5 at least (WCAG 2.2, criterion 1.4.3)."""
    assert page_answers(pages(), f"{CONTRAST} answer(faint);", tmp_path, scheme=scheme) == [[]] * 5


@ON_EACH
def test_nothing_is_beyond_the_screen(size: str, tmp_path: Path) -> None:
    """No page is wider than what it is read on; long lines scroll by themselves."""
    answers = page_answers(pages(), f"answer([{SCROLLS}, innerWidth]);", tmp_path, size=size)
    assert answers == [[False, SIZES[size][0]]] * 5


def test_a_heat_map_is_read_with_the_keyboard(tmp_path: Path) -> None:
    """It takes the focus, and the arrows go from one element to the next; the numbers stand below it."""
    probe = """
    const map = document.querySelector("svg.heat"), reading = document.querySelector(".reading");
    const press = (key) => map.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    const said = [];
    map.focus(); map.dispatchEvent(new FocusEvent("focus")); said.push(reading.textContent);
    press("ArrowDown"); said.push(reading.textContent);
    press("ArrowUp"); said.push(reading.textContent);
    answer([map.tabIndex, said]);
    """
    ((tab, readings),) = page_answers(pages()[:1], probe, tmp_path)
    assert tab == 0
    assert readings[0] == readings[2] == "C[0][32]: 533, expected 33 ± 0.5"
    assert readings[1] != readings[0]


JUMP = """
const bar = document.querySelector(".jump"), told = bar.querySelector("output"), gone = [];
const line = (remark) => remark.parentElement.previousElementSibling.id;
const press = (...keys) => { for (const key of keys) {
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); }
  const at = document.activeElement;
  gone.push([at.id || line(at), told.textContent]); };
"""


def test_marks_are_gone_through_with_the_keyboard(tmp_path: Path) -> None:
    """From what to start with over the findings to the lines of the file, and round; each takes the focus."""
    probe = f"""{JUMP} press("j"); press("j"); press("k", "k");
    bar.querySelector("input").checked = false; press("j"); answer([bar.hidden, gone]);"""
    ((hidden, gone),) = page_answers([html.render(missing_barrier(), source_lines=SOURCE)], probe, tmp_path)
    assert not hidden
    first, second, last, kept = gone
    assert first == ["start", "1 of 4"]
    assert second == ["finding-2", "2 of 4"]
    assert last == kept == ["line-13", "4 of 4"]


def test_marks_are_gone_through_with_the_pointer(tmp_path: Path) -> None:
    """Two buttons do the same as the keys; a page without marks has none."""
    probe = """
    const bar = document.querySelector(".jump"), buttons = [...bar.querySelectorAll("button")];
    buttons[1].click(); buttons[1].click(); buttons[0].click();
    answer([bar.hidden, document.activeElement.id, bar.querySelector("output").textContent]);
    """
    race, right = page_answers(
        [html.render(missing_barrier(), source_lines=SOURCE), pages()[1]], probe, tmp_path
    )
    assert race == [False, "start", "1 of 4"]
    assert right[0]


def test_one_submission_leads_to_the_next(tmp_path: Path) -> None:
    """Of those that the page of the class names; on its own, or to a student, it leads nowhere."""
    folder = tmp_path / "grades" / "bob é"
    folder.mkdir(parents=True)
    (folder / "staff.html").write_text(html.render(missing_barrier(), audience="staff"))
    links = re.compile(r'<a rel="(prev|next)"([^>]*)>')

    def led(fragment: str) -> dict[str, str]:
        dom = rendered_page(folder / "staff.html", fragment, tmp_path / "home")
        return {} if re.search(r'id="among" hidden', dom) else dict(links.findall(dom))

    assert led("") == led("among=ada/eve") == {}
    assert led("among=ada/bob é/eve%2Fx") == {
        "prev": ' href="../ada/staff.html#among=ada/bob%20%C3%A9/eve%2Fx"',
        "next": ' href="../eve/staff.html#among=ada/bob%20%C3%A9/eve%2Fx"',
    }
    assert 'hidden=""' in led("among=ada/bob é")["next"]
    assert 'id="among"' not in html.render(missing_barrier())


COLOURED = """
const told = (kind) => [...CSS.highlights.get(kind)].map(
  (range) => range.startContainer.data.slice(range.startOffset, range.endOffset));
answer([told("word"), told("comment"), told("string"), document.querySelectorAll(".source code *").length]);
"""


def test_words_comments_and_strings_of_a_file_stand_apart(tmp_path: Path) -> None:
    """Without an element made of it; a comment goes on over lines, and what is in it is nothing else."""
    source = ["#define N 1", "int interior; /* if", "float", "*/ for (;;) {} // int"]
    source += ['f("\\"int", \'"\'); /*/ x', "*/ do"]
    (answer,) = page_answers([html.render(missing_barrier(), source_lines=source)], COLOURED, tmp_path)
    words, comments, strings, elements = answer
    assert words == ["#define", "int", "for", "do"]
    assert comments == ["/* if", "float", "*/", "// int", "/*/ x", "*/"]
    assert strings == [r'"\"int"', """'"'"""]
    assert elements == 0


def test_every_link_leads_somewhere(tmp_path: Path) -> None:
    """From an item to its section and back, from a finding to its line and back."""
    probe = """
    const links = [...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute("href").slice(1));
    const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
    answer([links.length, links.filter(id => !ids.includes(id)), ids.length - new Set(ids).size]);
    """
    for number, dead, twice in page_answers(pages()[:1], probe, tmp_path):
        assert number > 10
        assert (dead, twice) == ([], 0)


def test_the_policy_lets_the_page_be_what_it_is(tmp_path: Path) -> None:
    """Nothing of it is refused: the style sheet, the script and every picture are its own."""
    page = tmp_path / "report.html"
    page.write_text(pages()[0], encoding="utf-8")
    assert 'tabindex="0" class' not in rendered_page(page, "", tmp_path / "home")[:200]
    run(page, "", tmp_path / "home", f"--print-to-pdf={tmp_path / 'report.pdf'}")
    assert (tmp_path / "report.pdf").read_bytes()[:5] == b"%PDF-"


def test_no_payload_acts(tmp_path: Path) -> None:
    """As a file's name, as a line of it, as a message about it: nothing runs, even without the policy."""
    hostile = [
        html.render(grade_with_pictures(words, words), source_lines=[words] * len(SOURCE)).replace(
            "<head>", "<head><script>window.acted = []; window.alert = (x) => acted.push(x);</script>", 1
        )
        for words in (text.encode(errors="replace").decode() for text in PAYLOADS.values())
    ]
    probe = """
    const all = [...document.querySelectorAll("*")];
    const foreign = all.filter(e => ["img", "iframe", "form", "base", "x"].includes(e.localName));
    const handlers = all.flatMap(e => [...e.attributes]).filter(a => /^on/i.test(a.name));
    setTimeout(() => answer([acted, handlers.length, foreign.length, document.scripts.length]), 50);
    """
    assert page_answers(hostile, probe, tmp_path) == [[[], 0, 0, 3]] * len(PAYLOADS)


WATCH = """const until = (is, then) => { const wait = () => is() ? then() : setTimeout(wait, 20); wait(); };
const frame = () => document.querySelector("#watch iframe");
const inside = () => frame() && frame().contentDocument;
const isThere = () => inside() && inside().body && inside().body.dataset.step;
document.querySelector(".watch button").click();
until(isThere, () => { const open = document.getElementById("watch").open;
  const telling = inside().getElementById("telling").textContent, step = inside().body.dataset.step;
  document.querySelector("#watch button").click();
  answer([open, step, telling, document.getElementById("watch").open, inside().scripts.length]); });"""


def test_a_block_is_watched_from_where_the_hazard_is(tmp_path: Path) -> None:
    """In a window of its own, which closes again; the source is shown as text."""
    payloads = replace(racy(), source=(*racy().source, *PAYLOADS.values()), title=PAYLOADS["script"])
    (opened, step, telling, open_after, scripts), *_ = page_answers([watched(payloads)], WATCH, tmp_path)
    assert (opened, open_after, scripts) == (True, False, 3)  # words, data, ours
    assert int(step) > 0
    assert "✗" in telling


ESCAPE = (
    WATCH.partition('document.querySelector(".watch button").click()')[0]
    + """
const button = document.querySelector(".watch button"), box = document.getElementById("watch");
const escape = () => inside().dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
const focused = () => document.activeElement;
button.focus(); button.click();
until(isThere, () => until(() => focused() === frame(), () => {
  inside().querySelector("#threads [tabindex]").click(); escape();
  setTimeout(() => { const kept = box.open; escape();
    until(() => !box.open, () => { const back = focused() === button;
      button.click();
      setTimeout(() => answer([kept, back, box.open, focused() === frame()]), 50); }); }, 200);
}));"""
)


def test_escape_closes_the_window_of_a_trace_and_the_focus_returns(tmp_path: Path) -> None:
    """In the frame, which has the focus at once; a thread that is kept is let go first."""
    assert page_answers([watched(racy())], ESCAPE, tmp_path) == [[True, True, True, True]]


@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing_around_a_trace(size: str, tmp_path: Path) -> None:
    """The window is open; the page in it is tried by itself."""
    script = axe().replace("</script", "<\\/script") + (
        ";document.querySelector('.watch button').click();"
        "axe.run({ iframes: false }).then((r) => answer(r.violations.map((v) => v.id)));"
    )
    assert page_answers([watched(racy())], script, tmp_path, size=size) == [[]]
