"""The page in a real browser: it is driven by its address, and what it shows is read back."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from grader.reports import trace_files
from tests.browser import (
    CONTRAST,
    DARK,
    LIGHT,
    SCROLLS,
    SIZES,
    axe,
    page_answers,
    page_value,
    rendered_page,
    run,
)
from tests.mistakes import mistake
from tests.simulation.trace.tracing import MATMUL, TILED, product, scene, tiles

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model.trace import TraceScene

pytestmark = pytest.mark.browser


def cells(page: str, grid: str) -> list[str]:
    """The texts of the cells of the grid with this caption, in their order."""
    figure = next(part for part in page.split("<figure>")[1:] if f"<strong>{grid}</strong>" in part)
    return re.findall(r'<i class="cell[^"]*"[^>]*>([^<]*)</i>', figure.split("</figure>")[0])


def words_of(page: str, element: str) -> str:
    """The text in the element with this id."""
    inside = re.search(rf'id="{element}"[^>]*>(.*?)</(?:p|output|section|div)>', page, re.DOTALL)
    assert inside
    return html.unescape(re.sub("<[^>]*>", "", inside[1]))


@cache
def _lesson() -> TraceScene:
    return scene(product(TILED, tiles(8, 4), tiles(8, 4).T.copy(), 4), TILED)


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    """The page of the worked example."""
    path = tmp_path / "lesson.html"
    path.write_text(trace_files.render(_lesson()), encoding="utf-8")
    return path


def test_a_step_shows_tiles_sums_and_the_line(lesson: Path, tmp_path: Path) -> None:
    """Step 7 is the last turn of the first phase: the lesson's partial sums, line 22 marked."""
    page = rendered_page(lesson, "step=7&thread=5", tmp_path / "home")
    assert '<body data-step="7">' in page
    assert cells(page, "sum") == [
        "30",
        "70",
        "110",
        "150",
        "70",
        "174",
        "278",
        "382",
        "110",
        "278",
        "446",
        "614",
        "150",
        "382",
        "614",
        "846",
    ]
    assert cells(page, "tileB")[:4] == ["1", "5", "9", "13"]
    assert "Line 22, turn 4 of 4: all threads load from tileA" in words_of(page, "telling")
    assert re.search(r'<li [^>]*class="ran now"[^>]*aria-current="step"><b>22</b>', page)
    assert "loads tileA[1][3] = 8" in page
    assert page.split("<script")[0].count("now read") == 8 + 1  # a column, a row; the legend


def test_the_end_shows_what_was_stored(lesson: Path, tmp_path: Path) -> None:
    """A step beyond the last one is the last one, and C holds the products."""
    page = rendered_page(lesson, "step=9999", tmp_path / "home")
    assert cells(page, "C")[:5] == ["1404", "1740", "2076", "2412", "·"]
    assert "the kernel ends" in words_of(page, "telling")


def test_a_hazard_is_red_at_its_elements_and_lines(tmp_path: Path) -> None:
    """Without the second barrier, cells, lines, interval and sentence show it, not by colour alone."""
    source = mistake(MATMUL / "mistakes/no_second_barrier.cu").decode()
    path = tmp_path / "racy.html"
    path.write_text(trace_files.render(scene(product(source, tiles(8, 4), tiles(8, 4), 4), source)))
    page = rendered_page(path, "step=10", tmp_path / "home")
    figure = next(part for part in page.split("<figure>") if "<strong>subTileM" in part)
    assert figure.split("</figure>")[0].count(" bad") == 16
    assert "✗" in words_of(page, "telling")
    assert re.search(r'<li class="ran[^"]* wrong"', page)
    assert re.search(r'<i [^>]*class="here bad"[^>]*>✗</i>', page)


def test_beyond_the_edge_cells_are_hatched(tmp_path: Path) -> None:
    """Zero fill has a look of its own as long as it lasts, and the sentence counts it."""
    path = tmp_path / "edge.html"
    trace = product(TILED, tiles(6, 4), tiles(6, 4), 4, at=(1, 1, 0))
    path.write_text(trace_files.render(scene(trace, TILED)))
    page = rendered_page(path, "step=9", tmp_path / "home")
    assert "12 of them a zero" in words_of(page, "telling")
    figure = next(part for part in page.split("<figure>") if "<strong>tileA" in part)
    assert figure.split("</figure>")[0].count(" zero") == 12


def test_the_page_can_be_looked_at(lesson: Path, tmp_path: Path) -> None:
    """A picture comes out at the size of a laptop's window and of a phone's."""
    for name, size in (("laptop", "1280,800"), ("phone", "390,844")):
        picture = tmp_path / f"{name}.png"
        run(lesson, "step=3", tmp_path / "home", f"--screenshot={picture}", f"--window-size={size}")
        assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert picture.stat().st_size > 10_000


@cache
def _large() -> str:
    return trace_files.render(scene(product(TILED, tiles(64, 16), tiles(64, 16), 16), TILED))


def test_an_array_of_thousands_of_elements_is_enlarged_until_it_has_numbers(tmp_path: Path) -> None:
    """And made small again; the cells that are used come into view, and what scrolls can be focused."""
    script = """const figure = document.querySelector("figure");
      const [less, more] = figure.querySelectorAll("button");
      const filled = () => [...figure.querySelectorAll(".cell")].filter((cell) => cell.textContent).length;
      const press = (button) => { for (let n = 0; n < 9; n++) button.click(); };
      const before = filled(), first = less.disabled;
      press(more);
      const after = filled(), focusable = figure.querySelector(".scroll").tabIndex;
      press(less);
      return { before, first, after, focusable, last: more.disabled, again: filled() };"""
    answer = page_value(_large(), script, tmp_path)
    assert answer == {"before": 0, "first": True, "after": 4096, "focusable": 0, "last": False, "again": 0}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_the_page_of_a_trace_can_be_read(size: str, scheme: int, tmp_path: Path) -> None:
    """The contrast suffices, and the page does not scroll sideways."""
    page = trace_files.render(_lesson())
    words = f"document.getElementById('on').click(); {CONTRAST} return [{SCROLLS}, faint];"
    assert page_value(page, words, tmp_path, size=size, scheme=scheme) == [False, []]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_axe_finds_nothing_on_the_page_of_a_trace(size: str, scheme: int, tmp_path: Path) -> None:
    """A right kernel's, a race's, and one with arrays that scroll; a thread is chosen and the table open."""
    probe = axe().replace("</script", "<\\/script") + (
        ";choose(1, true); document.getElementById('table').open = true;"
        "axe.run({resultTypes: ['violations']}).then(r => answer(r.violations.map("
        "v => [v.id, v.nodes.map(n => n.html.slice(0, 160) + ' ' + n.failureSummary)])));"
    )
    source = mistake(MATMUL / "mistakes/no_second_barrier.cu").decode()
    racy = trace_files.render(scene(product(source, tiles(8, 4), tiles(8, 4), 4), source))
    pages = [trace_files.render(_lesson()), racy, _large()]
    assert page_answers(pages, probe, tmp_path, size=size, scheme=scheme) == [[]] * 3


def test_on_a_phone_the_line_is_above_the_arrays_and_the_source_a_button_away(tmp_path: Path) -> None:
    """On a laptop the source stands beside them, and neither is there."""
    script = """const line = document.getElementById("line"), to = document.getElementById("to-source");
      for (let n = 0; n < 3; n++) document.getElementById("on").click();
      const text = line.textContent; to.click();
      return [line.checkVisibility(), to.checkVisibility(), text, to.textContent];"""
    page = trace_files.render(_lesson())
    above, button, text, back = page_value(page, script, tmp_path, size="phone")
    assert (above, button, back) == (True, True, "arrays")
    assert re.match(r"\d+  \S", text)
    assert page_value(page, script, tmp_path, size="laptop")[:2] == [False, False]


def test_on_paper_arrays_have_a_size_of_their_own(tmp_path: Path) -> None:
    """Whatever the window's is: three stand side by side, and afterwards the window is as before."""
    script = """const boxes = [...document.querySelectorAll(".cells")];
      const sizes = () => String(boxes.map((box) => box.style.gridTemplateColumns));
      const widest = () => Math.max(...boxes.map((box) => box.getBoundingClientRect().width));
      const before = sizes(); dispatchEvent(new Event("beforeprint"));
      const printed = sizes(), width = widest(); dispatchEvent(new Event("afterprint"));
      return [printed !== before, width <= 400, sizes() === before];"""
    for size in SIZES:
        assert page_value(_large(), script, tmp_path, size=size) == [True, True, True]


def test_on_paper_there_is_the_step_with_all_lines_and_nothing_to_press(lesson: Path, tmp_path: Path) -> None:
    """On a sheet in landscape."""
    paper = tmp_path / "trace.pdf"
    run(lesson, "step=7", tmp_path / "home", f"--print-to-pdf={paper}")
    wide, high = map(int, re.findall(rb"/MediaBox \[0 0 (\d+) (\d+)\]", paper.read_bytes())[0])
    assert wide > high
    as_if_printed = lesson.read_text().replace("@media print {", "@media all {")
    script = """const isThere = (part) => part.checkVisibility();
      const there = (name) => [...document.querySelectorAll(name)].filter(isThere).length;
      const source = document.getElementById("source");
      return [there("button, input"), there("#where"), source.scrollHeight <= source.clientHeight];"""
    assert page_value(as_if_printed, script, tmp_path) == [0, 1, True]


def test_a_number_that_is_too_long_for_its_cell_is_written_smaller(tmp_path: Path) -> None:
    """Cut off it would be read as another one: 10332 as 1033."""
    script = """setSize(sumGrids[0], 22); state.sums[0][0] = 10332; state.sums[0][1] = 7; paint();
      const [long, short] = sumGrids[0].cells.values();
      return [long.textContent, long.scrollWidth <= long.clientWidth, short.style.fontSize];"""
    assert page_value(trace_files.render(_lesson()), script, tmp_path) == ["10332", True, ""]
