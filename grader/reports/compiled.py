"""The templates of a submission's pages, compiled when this is loaded.

A process that grades one submission is loaded before it is forked: so each of them finds them compiled.
"""

from __future__ import annotations

from grader.reports.pages import template

SUBMISSION, TRACE = template("submission.html.j2"), template("trace.html.j2")
