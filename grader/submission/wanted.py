"""What a student is to hand in: which files hold it, and how messages speak of it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """Endings of files that may hold it, in groups of falling preference, and words for it.

    ``beside`` matches the names of files that belong to it where they lie in the same folder, or where an
    ``#include`` names them in a folder beside or below. ``one`` is what
    messages ask for, ``file`` what one file is, ``text`` what it holds, and ``group`` several of them.
    """

    groups: tuple[tuple[str, ...], ...]
    beside: re.Pattern[str] | None
    one: str
    file: str
    kind: str
    text: str
    group: str

    @property
    def endings(self) -> tuple[str, ...]:
        """All endings, the preferred ones first."""
        return tuple(ending for group in self.groups for ending in group)


SOURCE = Wanted(
    groups=((".cu",), (".c", ".cpp", ".cuh"), (".h",)),
    beside=re.compile(r"\w[\w.+ -]*\.(h|cuh|hpp|hxx|hh|inl|inc)", re.IGNORECASE),
    one=".cu file",
    file="the file with your kernel",
    kind="a source file",
    text="the source text of your kernel",
    group="source files",
)
"""A kernel or a program, with its headers."""

ANSWERS = Wanted(
    groups=((".yaml", ".yml", ".json"),),
    beside=None,
    one=".yaml or .json file",
    file="the file with your answers",
    kind="a file with answers",
    text="your answers as YAML or JSON text",
    group="files with answers",
)
"""A file with answers to questions."""
