"""Sizes that a file writes down as macros or constants: found, and set to those of a case.

Only the value changes: ``#define WIDTH 1024`` becomes ``#define WIDTH 34``, in its place, and the compiler
sees a file in which the student wrote that number. Definitions are found by patterns, for macros around one
may hide from a parser what the compiler sees.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.cpp import CppText

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.model import KernelInterface


def _definition(name: str) -> re.Pattern[str]:
    """A macro without parameters, or a constant of the language; its value is the group ``value``."""
    word = re.escape(name)
    macro = rf"^[ \t]*#[ \t]*define[ \t]+{word}[ \t]+(?P<value>[^\s/](?:[^\n/]|/(?![/*]))*)"
    constant = rf"\b(?:const|constexpr)\b[^;(){{}}=\n]{{1,100}}\b{word}[ \t]*=[ \t]*(?P<given>[^;,\n]+)"
    return re.compile(f"{macro}|{constant}", re.MULTILINE)


def undefined(interface: KernelInterface, texts: Iterable[bytes]) -> tuple[str, ...]:
    """The names of the first size that no text defines under any of them; empty where all are defined."""
    sources = [_without_comments(text.decode(errors="replace")) for text in texts] if interface.sizes else []
    for name, aliases in interface.sizes:
        names = (name, *aliases)
        if not any(_definition(each).search(source) for each in names for source in sources):
            return names
    return ()


def set_to(interface: KernelInterface, texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """The texts with the sizes that the interface gives, under all of their names."""
    given = dict(interface.given)
    values = {
        each: given[name] for name, aliases in interface.sizes for each in (name, *aliases) if name in given
    }
    return {file: _set(text, values) for file, text in texts.items()} if values else dict(texts)


def _set(text: bytes, values: Mapping[str, int]) -> bytes:
    source = text.decode(errors="replace")
    for name, value in values.items():
        matches = list(_definition(name).finditer(_without_comments(source)))
        for match in reversed(matches):
            group = "value" if match["value"] is not None else "given"
            end = match.start(group) + len(match[group].rstrip())
            source = f"{source[: match.start(group)]}{value}{source[end:]}"
    return source.encode()


def _without_comments(source: str) -> str:
    """The text with blanks for comments and strings; as it is where it cannot be parsed in time."""
    return CppText(source).without_comments or source
