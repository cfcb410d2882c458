"""A page in a real Chromium: a script looks at it, or uses it by keyboard, and returns what it saw.

It stands in a frame, for no window of Chromium's is as narrow as a phone.
The page's content security policy lets no script in but ours, so the copy that is opened has none.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import escape, unescape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES = {"laptop": (1280, 800), "phone": (390, 844)}
LIGHT, DARK = 1, 0
"""Chromium's `preferredColorScheme`."""

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')

CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
"""Fills ``faint`` with texts whose contrast is too low."""

SCROLLS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def browser() -> str:
    """The browser to use: Debian's chromium, or what GRADER_BROWSER names."""
    path = os.environ.get("GRADER_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    assert path, "no browser: apt-get install --no-install-recommends chromium"
    return path


def page_value(page: str, script: str, folder: Path, *, size: str = "laptop", scheme: int = LIGHT) -> Any:  # noqa: ANN401 - what the script returns
    """Return the value of ``script`` on a page; a page that throws anything fails."""
    open_page, policies = _POLICY.subn("", page)
    assert policies == 1
    watch = "<script>window.onerror = (words) => { top.document.title = 'thrown: ' + words; };</script>"
    ask = (
        f"<script>addEventListener('load', () => {{ const answer = (() => {{ {script} }})();"
        "const box = document.createElement('pre'); box.id = 'measured';"
        "box.textContent = JSON.stringify(answer); top.document.documentElement.append(box); });</script>"
    )
    path = folder / "page_value.html"
    text = open_page.replace("<head>", f"<head>{watch}", 1) + ask
    path.write_text(text, "utf-8", "backslashreplace")
    width, height = SIZES[size]
    frame = f'<iframe src="{path.name}" width="{width}" height="{height}" style="border: 0"></iframe>'
    window = folder / "window.html"
    window.write_text(f"<!doctype html><body style='margin: 0'>{frame}", "utf-8")
    command = [
        browser(),
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        f"--user-data-dir={folder / 'home'}",
        "--window-size=1300,900",
        f"--blink-settings=preferredColorScheme={scheme}",
        "--allow-file-access-from-files",  # the window may ask its frame
        "--dump-dom",
        window.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=90)
    assert "<title>thrown: " not in done.stdout, done.stdout.partition("<title>")[2][:200]
    answer = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    assert answer, "the script did not come to its end"
    return json.loads(unescape(answer[1]))


def run(page: Path, fragment: str, home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open the page at a fragment, without a window and without a network."""
    command = [
        browser(),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--enable-logging=stderr",
        f"--user-data-dir={home}",
        "--window-size=1280,800",
        *options,
        f"{page.as_uri()}#{fragment}",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=90)


def rendered_page(page: Path, fragment: str, home: Path) -> str:
    """The page's elements after its script ran; nothing may have been refused or thrown."""
    done = run(page, fragment, home, "--dump-dom")
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not messages, "\n".join(messages)
    return done.stdout


_COLLECTING = """
function answers(number, text) {
  const line = document.createElement("pre");
  line.className = "answer"; line.id = `a${number}`; line.textContent = text;
  document.body.append(line);
}
"""


def page_answers(
    pages: Sequence[str], script: str, folder: Path, *, size: str = "laptop", scheme: int = LIGHT
) -> list[Any]:
    """Return ``script``'s answer about each page, all opened at once: it calls ``answer``, now or later."""
    width, height = SIZES[size]
    frames = []
    for number, page in enumerate(pages):
        bare = _POLICY.sub("", page)
        answer = f"const answer = (value) => parent.answers({number}, JSON.stringify(value));"
        asking = bare.replace("</body>", f"<script>{{{answer}{script}}}</script></body>")
        frames.append(f'<iframe width="{width}" height="{height}" srcdoc="{escape(asking)}"></iframe>')
    document = folder / "frames.html"
    document.write_text(
        f'<!doctype html><meta charset="utf-8"><script>{_COLLECTING}</script><body>{"".join(frames)}</body>',
        encoding="utf-8",
    )
    options = (f"--blink-settings=preferredColorScheme={scheme}", "--virtual-time-budget=30000")
    done = run(document, "", folder / "home", "--dump-dom", *options)
    answers = re.findall(r'<pre class="answer" id="a(\d+)">(.*?)</pre>', done.stdout, re.DOTALL)
    by_number = {int(number): json.loads(unescape(text)) for number, text in answers}
    assert set(by_number) == set(range(len(pages))), done.stderr[-500:]
    return [by_number[number] for number in range(len(pages))]


def axe() -> str:
    """The text of axe-core, which the package brings along."""
    spec = find_spec("axe_playwright_python")
    assert spec is not None, "no axe-core: .ci/browser installs it"
    assert spec.origin is not None
    return Path(spec.origin).with_name("axe.min.js").read_text(encoding="utf-8")
