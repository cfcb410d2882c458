"""Text from compilers and students, made fit to be shown."""

from __future__ import annotations

import re

from grader.text import sentence

LONGEST = 400
"""Characters of a compiler's sentence that are kept."""

_FOLDERS = re.compile(r"(?<![\w.<>/])(?:/[^\s\"'`<>():;,/]+)*/(?=[^\s\"'`<>():;,/]+)")


def harmless(text: str) -> str:
    """One line without control characters and without absolute folders, cut at `LONGEST`."""
    return sentence(_FOLDERS.sub("", " ".join(text.split())), LONGEST)
