"""What is made once for all submissions: compiled templates, texts of mistakes, the digest of what builds.

It is made when this is loaded. Who loads it before processes are forked spares each of them 50 ms.
"""

from __future__ import annotations

from grader.mistakes import bundled_texts
from grader.nvcc.cache import made_by
from grader.reports.pages import template

TEMPLATES = tuple(map(template, ("submission.html.j2", "trace.html.j2")))
TEXTS = bundled_texts()
BUILDER = made_by()
