"""A real browser for pages: Debian's chromium, without a window and without a network."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def browser() -> str:
    """The browser to use: Debian's chromium, or what GRADER_BROWSER names."""
    path = os.environ.get("GRADER_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    assert path, "no browser: apt-get install --no-install-recommends chromium"
    return path


def run(page: Path, fragment: str, home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page at a fragment."""
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


def shown(page: Path, fragment: str, home: Path) -> str:
    """The page's elements after its script ran; nothing may have been refused or thrown."""
    done = run(page, fragment, home, "--dump-dom")
    told = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not told, "\n".join(told)
    return done.stdout


DARK = "--blink-settings=preferredColorScheme=0"
"""For a reader who asks for dark pages."""


_COLLECTING = """
function answers(number, text) {
  const line = document.createElement("pre");
  line.className = "answer"; line.id = `a${number}`; line.textContent = text;
  document.body.append(line);
}
"""


def asked(
    pages: Sequence[str], probe: str, folder: Path, *options: str, size: tuple[int, int] = (1280, 800)
) -> list[Any]:
    """What a script of ours answers in each page, in frames of one size; it calls ``answer`` with a value.

    The pages' content security policies are taken out, which would forbid it.
    """
    width, height = size
    frames = []
    for number, page in enumerate(pages):
        bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
        answer = f"const answer = (value) => parent.answers({number}, JSON.stringify(value));"
        asking = bare.replace("</body>", f"<script>{{{answer}{probe}}}</script></body>")
        frames.append(f'<iframe width="{width}" height="{height}" srcdoc="{html.escape(asking)}"></iframe>')
    document = folder / "frames.html"
    document.write_text(
        f'<!doctype html><meta charset="utf-8"><script>{_COLLECTING}</script><body>{"".join(frames)}</body>',
        encoding="utf-8",
    )
    done = run(document, "", folder / "home", "--dump-dom", "--virtual-time-budget=30000", *options)
    answers = re.findall(r'<pre class="answer" id="a(\d+)">(.*?)</pre>', done.stdout, re.DOTALL)
    by_number = {int(number): json.loads(html.unescape(text)) for number, text in answers}
    assert set(by_number) == set(range(len(pages))), done.stderr[-500:]
    return [by_number[number] for number in range(len(pages))]
