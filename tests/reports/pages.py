"""Pages as tests look at them: without style sheet and script, which are ours, or their words alone."""

from __future__ import annotations

import re

import lxml.html


def content(page: str) -> str:
    """The page without its style sheet and its script, and without their hashes."""
    bare = re.sub(r"<(style|script)>.*?</\1>", r"<\1></\1>", page, flags=re.DOTALL)
    return re.sub(r"sha256-[\w+/=]+", "sha256-…", bare)


def words_of(page: str) -> str:
    """The text of the page, on one line."""
    return " ".join(lxml.html.document_fromstring(content(page)).text_content().split())


def outside_of_brackets(text: str) -> list[str]:
    """The lines with words outside of ⟦brackets⟧, which may lie within one another."""
    before = ""
    while text != before:
        text, before = re.sub(r"⟦[^⟦⟧]*⟧", "", text), text
    return [line.strip() for line in text.splitlines() if re.search(r"[^\W\d_]{2,}", line)]
