"""The page of a submission in a notebook, in a real Chromium: its style is let in, its links lead there."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from grader.notebook import CheckReport
from grader.reports import html
from tests import browser
from tests.reports.sample_grades import SOURCE, missing_barrier

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.browser]

LOOK = """<script>addEventListener('load', () => {
  const page = document.querySelector('iframe').contentWindow;
  const link = page.document.querySelector('a[href^="#"]');
  link.click();
  setTimeout(() => {
    const answer = { heading: page.document.title, scrolled: page.scrollY, address: page.location.href,
      font: page.getComputedStyle(page.document.body).fontFamily };
    const box = document.createElement('pre'); box.id = 'measured'; box.textContent = JSON.stringify(answer);
    document.body.append(box);
  }, 500);
});</script>"""


def test_a_page_works_in_its_frame(tmp_path: Path) -> None:
    """Its style is let in, and a link within the page leads there and not to the notebook."""
    report = CheckReport(1, "", html.render(missing_barrier(), source_lines=SOURCE))
    shown = report._repr_html_().replace('sandbox="', 'sandbox="allow-same-origin ')  # so that we may look
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><title>notebook</title><body>{shown}{LOOK}", encoding="utf-8")
    done = browser.run(notebook, "", tmp_path / "home", "--virtual-time-budget=5000", "--dump-dom")
    answer = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    assert answer, done.stdout[-500:]
    seen = json.loads(unescape(answer[1]))
    assert seen["scrolled"] > 0
    assert seen["address"].startswith("about:srcdoc#")
    assert "Times" not in seen["font"]
    assert not [line for line in done.stderr.splitlines() if "Content Security Policy" in line]
