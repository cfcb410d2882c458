"""Submissions of kind ``answers``: a file with a number for each question; nothing is compiled, nothing runs.

    Submission ─reading▶ Sheet of texts ─numbers▶ readings ┐
    Assignment, seed, student ─drawing▶ numbers ─solving▶ expected, steps, misconceptions ┴▶ Evidence

`gathering` puts it together, and is loaded only where there are answers; `staff` reads the staff's own files,
in which answers may be expressions; `sheet` is the way out: the questions with a student's own numbers, and
the file to be filled in.
"""

from __future__ import annotations

from grader.model import Build, Evidence

NAME, DEVICE = "model", "no GPU"
"""What a grade calls what it was compared with."""


def nothing(build: Build) -> Evidence:
    """The evidence where no answer could be read."""
    return Evidence(NAME, build, device=DEVICE)
