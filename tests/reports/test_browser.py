"""The page of a submission in a real browser: for every reader, on every screen, and for hostile files."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from grader.reports import html
from tests.browser import CONTRAST, DARK, LIGHT, SCROLLS, SIZES, asked, run, shown
from tests.reports.payloads import PAYLOADS
from tests.reports.pictured import pictured
from tests.reports.sample_grades import SOURCE, compile_error, full_marks, our_error

pytestmark = pytest.mark.browser

LOOKS = pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
ON_EACH = pytest.mark.parametrize("size", SIZES)


def pages() -> list[str]:
    """Pages of every sort: all drawn, nothing wrong, nothing compiled, an error of ours."""
    grades = (pictured(), full_marks(), compile_error(), our_error())
    return [html.render(grade, source_lines=SOURCE) for grade in grades]


def axe() -> str:
    """The text of axe-core, which the package brings along."""
    spec = find_spec("axe_playwright_python")
    assert spec is not None, "no axe-core: .ci/browser installs it"
    assert spec.origin is not None
    return Path(spec.origin).with_name("axe.min.js").read_text(encoding="utf-8")


@LOOKS
@ON_EACH
def test_axe_finds_nothing(scheme: int, size: str, tmp_path: Path) -> None:
    """Nothing that keeps somebody from reading it, whatever it is read with."""
    probe = axe().replace("</script", "<\\/script") + (
        ";axe.run({resultTypes: ['violations']}).then(r => answer(r.violations.map("
        "v => [v.id, v.nodes.map(n => n.html.slice(0, 160) + ' ' + n.failureSummary)])));"
    )
    assert asked(pages(), probe, tmp_path, scheme=scheme, size=size) == [[]] * 4


@LOOKS
def test_every_text_stands_out_from_its_ground(scheme: int, tmp_path: Path) -> None:
    """By the computed colours a contrast of 4.5 at least (WCAG 2.2, criterion 1.4.3)."""
    assert asked(pages(), f"{CONTRAST} answer(faint);", tmp_path, scheme=scheme) == [[]] * 4


@ON_EACH
def test_nothing_is_beyond_the_screen(size: str, tmp_path: Path) -> None:
    """No page is wider than what it is read on; long lines scroll by themselves."""
    answers = asked(pages(), f"answer([{SCROLLS}, innerWidth]);", tmp_path, size=size)
    assert answers == [[False, SIZES[size][0]]] * 4


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
    ((tab, said),) = asked(pages()[:1], probe, tmp_path)
    assert tab == 0
    assert said[0] == said[2] == "C[0][32]: 533, expected 33 ± 0.5"
    assert said[1] != said[0]


def test_every_link_leads_somewhere(tmp_path: Path) -> None:
    """From an item to its section and back, from a finding to its line and back."""
    probe = """
    const links = [...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute("href").slice(1));
    const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
    answer([links.length, links.filter(id => !ids.includes(id)), ids.length - new Set(ids).size]);
    """
    for number, dead, twice in asked(pages()[:1], probe, tmp_path):
        assert number > 10
        assert (dead, twice) == ([], 0)


def test_the_policy_lets_the_page_be_what_it_is(tmp_path: Path) -> None:
    """Nothing of it is refused: the style sheet, the script and every picture are its own."""
    page = tmp_path / "report.html"
    page.write_text(pages()[0], encoding="utf-8")
    assert 'tabindex="0" class' not in shown(page, "", tmp_path / "home")[:200]
    run(page, "", tmp_path / "home", f"--print-to-pdf={tmp_path / 'report.pdf'}")
    assert (tmp_path / "report.pdf").read_bytes()[:5] == b"%PDF-"


def test_no_payload_acts(tmp_path: Path) -> None:
    """As a file's name, as a line of it, as what is said of it: nothing runs, even without the policy."""
    hostile = [
        html.render(pictured(words, words), source_lines=[words] * len(SOURCE)).replace(
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
    assert asked(hostile, probe, tmp_path) == [[[], 0, 0, 3]] * len(PAYLOADS)
