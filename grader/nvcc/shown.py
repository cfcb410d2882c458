"""Text from compilers and students, made fit to be shown."""

from __future__ import annotations

import re

LONGEST = 400
"""Characters of a compiler's sentence that are kept."""

_FOLDERS = re.compile(r"(?<![\w.<>/])(?:/[^\s\"'`<>():;,/]+)*/(?=[^\s\"'`<>():;,/]+)")


def harmless(text: str) -> str:
    """One line without control characters and without absolute folders, cut at `LONGEST`."""
    text = _FOLDERS.sub("", " ".join(text.split()))
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
