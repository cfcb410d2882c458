"""Objects that are made once for all submissions, before the processes are forked that grade them.

These are compiled templates and what else pages are made of, texts of mistakes, the fields of records and
their ``__init__``, the digest of what builds, what is kept of CUDA's headers, and how bubblewraps are made
here. It is made when this is loaded. Loading it before processes are forked spares each of them 80 ms.
"""

from __future__ import annotations

from rich.cells import cell_len

from grader.base.records import write_all
from grader.model import Grade
from grader.model.codec import read_types
from grader.model.mistakes import bundled_texts
from grader.reports.pages import asset, template
from grader.toolchain.nvcc import headers, program_headers
from grader.toolchain.nvcc.cache import builder_digest, builds_folder
from grader.toolchain.sandbox import bubblewrap

TEMPLATES = tuple(map(template, ("page.html.j2", "submission.html.j2", "trace.html.j2")))
SCRIPTS = tuple(map(asset, ("submission.js", "highlight.js", "among.js", "watch.js")))
STYLES = tuple(map(asset, ("style.css", "submission.css", "watch.css")))
TEXTS = bundled_texts()
BUILDER = builder_digest()
WIDTH = cell_len("…")
"""Width of a character; measuring it reads a table of all characters."""

read_types(Grade)
if (builds := builds_folder()) is not None:
    headers.load_newest(builds)
    program_headers.load_newest(builds)
bubblewrap.load()
write_all()
