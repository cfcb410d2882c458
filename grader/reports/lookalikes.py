"""Ids of a class that a reader cannot tell apart, and the letters in which they differ."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from grader.submission.names import looks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NUMBERED = re.compile(r"-\d+$")
"""What an id gets behind it where another one looks the same (`grader.submission.names.ids`)."""

_MOST_LETTERS = 3


def lookalikes(ids: Sequence[str]) -> Iterator[str]:
    """A sentence for each id that looks like another one because of letters of another script."""
    first: dict[str, str] = {}
    for name in sorted(ids, key=lambda name: bool(_disguised(name))):
        first.setdefault(looks(name), name)
    for name in ids:
        letters = _disguised(name)
        same = (first.get(looks(one)) for one in (name, _NUMBERED.sub("", name)))
        other = next((one for one in same if one not in (None, name)), None)
        if letters and other is not None:
            told = ", ".join(f"U+{ord(each):04X} {_called(each)}" for each in letters[:_MOST_LETTERS])
            yield f"`{name}` looks like `{other}`, but has {told}"


def _disguised(name: str) -> str:
    """The characters of an id that look like one of ASCII and are none, each once."""
    return "".join(
        character
        for character in dict.fromkeys(name)
        if not character.isascii() and looks(character).isascii()
    )


def _called(character: str) -> str:
    return unicodedata.name(character, "a letter of another script")
