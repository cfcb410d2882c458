"""A trace as text, as JSON and as a page."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import Clause, Finding, FindingKind
from grader.reports import trace_files, trace_text
from tests.json_rows import json_rows
from tests.mistakes import mistake
from tests.simulation.trace.tracing import MATMUL, TILED, product, scene, tiles

if TYPE_CHECKING:
    from grader.model.trace import Trace, TraceScene
    from tests.conftest import Golden


@cache
def _lesson() -> TraceScene:
    return scene(product(TILED, tiles(8, 4), tiles(8, 4).T.copy(), 4), TILED)


def _broken() -> Trace:
    source = mistake(MATMUL / "mistakes/no_load_guard.cu").decode()
    return product(source, tiles(6, 4), tiles(6, 4), 4, at=(1, 1, 0))


def test_the_lesson_as_text(golden: Golden) -> None:
    """The tables that one draws by hand, with the lines of the source."""
    golden("trace/lesson.txt", trace_text.render(_lesson(), width=100).plain)


def test_a_kernel_without_guards_as_text(golden: Golden) -> None:
    """The text shows which threads reach outside, where, and what becomes of it."""
    source = mistake(MATMUL / "mistakes/no_load_guard.cu").decode()
    shape = (("M", 6), ("K", 6), ("N", 6))
    shown = scene(_broken(), source, shape=shape)
    golden("trace/no-load-guard.txt", trace_text.render(shown, width=100).plain)


def test_text_can_do_without_anything_but_ascii() -> None:
    """A terminal that shows nothing else gets nothing else."""
    assert trace_text.render(_lesson(), width=60, ascii_only=True).plain.isascii()


def test_the_json_of_a_trace_keeps_its_form(golden: Golden) -> None:
    """Version 1, whole: a difference here is a difference for whoever reads these files."""
    text = trace_files.dump(_lesson())
    document = json.loads(text)
    assert (document["format"], document["format_version"]) == ("grader-trace", 1)
    written = json.dumps(document | {"source": []}, indent=1, sort_keys=True) + "\n"
    golden("trace/lesson.json", json_rows(written, indent=1, ascii_only=True))


def test_json_spells_what_is_no_number() -> None:
    """NaN and infinity are texts, and an element that no thread stored is null."""
    document = trace_files.document(scene(_broken(), ""))
    values = {str(value) for each in document["intervals"][-1]["sums"] for value in each["values"]}
    assert values == {"nan"}
    assert {value for each in document["arrays"] if each["name"] == "C" for value in each["values"]} == {None}
    json.dumps(document, allow_nan=False)


class _Elements(html.parser.HTMLParser):
    """The elements of a page with their attributes, and the text of each script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Note the text of the element that began last."""
        if self.found and self.found[-1][0] in ("script", "style"):
            self.texts.append(data)


def test_the_page_needs_nothing_else_and_may_do_nothing_else() -> None:
    """No address in it, no handler in an attribute; the policy allows its own script and style by hash."""
    page = trace_files.render(_lesson())
    elements = _Elements(page).found
    assert not [name for _, attributes in elements for name in attributes if name in ("src", "href", "style")]
    assert not [name for _, attributes in elements for name in attributes if name.startswith("on")]
    assert not re.search(r"https?://|@import|url\(|\beval\(|innerHTML|insertAdjacentHTML", page)
    policy = next(each["content"] for tag, each in elements if each.get("http-equiv"))
    assert policy
    assert policy.startswith("default-src 'none'; ")
    style, _, data, script = (text for text in _Elements(page).texts if text.strip())
    for text in (style, script):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert json.loads(data)["format"] == "grader-trace"


@pytest.mark.parametrize(
    "hostile",
    [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "\u202e/* gnirts */",
        "\x1b[31mred",
        "{script} {{ script }} {% raw %} {{ data | safe }}",
    ],
)
def test_a_hostile_source_stays_text(hostile: str) -> None:
    """Whatever the source, file name or array is called: no element more, nothing invisible."""
    finding = Finding(FindingKind.FAULT, hostile, line=1)
    note = Clause("trace-note-cut", (("finding", 0),))
    trace = replace(_lesson().trace, findings=(finding,), notes=(note,))
    trace = replace(trace, arrays=tuple(replace(each, name=hostile) for each in trace.arrays))
    shown = scene(trace, hostile, file=hostile, title=hostile, kernel=hostile)
    page = trace_files.render(shown)
    plain = [tag for tag, _ in _Elements(trace_files.render(_lesson())).found]
    assert [tag for tag, _ in _Elements(page).found] == plain
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "\x1b" not in trace_text.render(shown).plain
    _, _, data, _ = (text for text in _Elements(page).texts if text.strip())
    assert json.loads(data)["source"] == trace_files.document(shown)["source"]


def test_many_intervals_are_cut_in_the_text_only() -> None:
    """The terminal gets the first and the last ones, the JSON all of them."""
    long = replace(_lesson().trace, intervals=_lesson().trace.intervals * 6)
    long_scene = scene(long, TILED)
    shown = trace_text.render(long_scene).plain
    assert "18 intervals left out" in shown
    assert "interval 30" in shown
    assert "interval 15" not in shown
    assert len(trace_files.document(long_scene)["intervals"]) == 30


def test_numbers_are_written_as_people_do() -> None:
    """Whole ones without a point, others with few digits, nothing as a dot."""
    written = [trace_text.number(value) for value in (None, 3.0, 0.123456789, float(np.float32(1e10)), -2)]
    assert written == ["·", "3", "0.12346", "1e+10", "-2"]
