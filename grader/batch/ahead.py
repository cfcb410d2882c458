"""What is made once for all submissions, before the processes are forked that grade them.

These are compiled templates and what else pages are made of, texts of mistakes, the fields of records, the
digest of what builds, what is kept of CUDA's headers, and how bubblewraps are made here. It is made when this
is loaded. Who loads it before processes are forked spares each of them 80 ms.
"""

from __future__ import annotations

from rich.cells import cell_len

from grader.mistakes import bundled_texts
from grader.model import Grade
from grader.model.codec import read_types
from grader.nvcc import headers
from grader.nvcc.cache import builds_folder, made_by
from grader.reports.pages import asset, template
from grader.sandbox import bubblewrap

TEMPLATES = tuple(map(template, ("page.html.j2", "submission.html.j2", "trace.html.j2")))
SCRIPTS = tuple(map(asset, ("submission.js", "highlight.js", "among.js", "watch.js")))
STYLES = tuple(map(asset, ("style.css", "submission.css", "watch.css")))
TEXTS = bundled_texts()
BUILDER = made_by()
WIDTH = cell_len("…")
"""What measures it reads a table of all characters."""

read_types(Grade)
if (builds := builds_folder()) is not None:
    headers.load_newest(builds)
bubblewrap.load()
