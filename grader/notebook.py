"""For notebooks (Jupyter, Colab): `grader check`, with its page shown below the cell.

    from grader.notebook import check
    check("tiled-matmul", "mine.cu")

It is the command in a process of its own, so whatever becomes of it, the notebook goes on.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.base.search_paths import without_working_folder

if TYPE_CHECKING:
    from os import PathLike

_FRAME = (
    '<iframe srcdoc="{}" sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox" '
    'style="width: 100%; height: 40em; border: 0; resize: vertical"></iframe>'
)
_BASE = '<base href="about:srcdoc">'
"""Base of links within a page: in a frame it would be the notebook (HTML, "fallback base URL")."""

_FOR_COLOURS = frozenset({"FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"})
"""Jupyter asks each program for a terminal's control characters; a report's text is shown as it stands."""


@frozen
class CheckReport:
    """Output and exit code of `grader check`.

    ``exit_code`` is 0 for full marks, 1 below, 2 for wrong usage and 3 where the grader failed; ``text`` is
    what a terminal shows; ``page`` is the page of `--html`, empty where nothing was graded.
    """

    exit_code: int
    text: str
    page: str

    def __repr__(self) -> str:
        """The text, where nothing shows pages."""
        return self.text

    def _repr_html_(self) -> str:
        """The page in a frame, so that its styles and the notebook's leave each other alone (IPython)."""
        if not self.page:
            return f"<pre>{escape(self.text)}</pre>"
        return _FRAME.format(escape(self.page.replace("<head>", f"<head>{_BASE}", 1)))


def check(assignment: str | PathLike[str], file: str | PathLike[str], *options: str) -> CheckReport:
    """Check a file on the visible cases; ``options`` are those of `grader check`, such as ``"--seed=2"``."""
    with tempfile.TemporaryDirectory(prefix="grader-") as folder:
        page = Path(folder) / "report.html"
        # -P: a file of the student's beside the notebook is no module of ours.
        command = [sys.executable, "-P", "-m", "grader", "check", f"--html={page}", *options]
        done = subprocess.run(
            [*command, "--", str(assignment), str(file)],
            check=False,
            env=without_working_folder({name: os.environ[name] for name in os.environ.keys() - _FOR_COLOURS}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        written = page.read_text(encoding="utf-8", errors="replace") if page.is_file() else ""
    return CheckReport(done.returncode, done.stdout, written)
