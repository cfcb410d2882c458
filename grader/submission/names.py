"""File names → ids that are safe as folder names and in reports, and endings."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
"""Endings of archives that are opened."""

MAX_CHARACTERS = 60
"""At most four bytes each: an id with a suffix still fits into a file name."""


_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Fillers and selectors: letters and marks that nobody sees."""


_LATIN = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјһӏорсухԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧαιοορυν",
    "ABESIJKMHOPCTYXaesijhlopcyxdqwABEZHIKMNOPTYXaioopuv",
)
"""Letters of Cyrillic and Greek, and the Latin ones that they look like."""


def ending(name: str) -> str:
    """The ending of a file name in small letters, ``.cu`` or ``.tar.gz``; empty where it has none."""
    suffixes = PurePosixPath(name).suffixes[-2:]
    both = "".join(suffixes).lower()
    return both if both in ARCHIVES else "".join(suffixes[-1:]).lower()


def stem(name: str) -> str:
    """The name without its ending."""
    return name[: len(name) - len(ending(name))]


def ids(labels: Mapping[str, str]) -> dict[str, str]:
    """An id for each key, made from its label; unique by its looks, so that case and script do not count.

    The order of ``labels`` does not matter. Labels that need no change get their id first; of those that
    would share one the later, in alphabetical order of the keys, get ``-2``, ``-3`` …
    """
    taken: set[str] = set()
    given: dict[str, str] = {}
    for key in sorted(labels, key=lambda key: (safe(labels[key]) != labels[key], key)):
        wish = unique = safe(labels[key])
        number = 1
        while looks(unique) in taken:
            number += 1
            unique = f"{wish}-{number}"
        taken.add(looks(unique))
        given[key] = unique
    return given


def looks(name: str) -> str:
    """What a name looks like: two that give the same are told apart by nobody who reads them.

    Letters of Cyrillic and Greek that look like Latin ones count as those (Unicode's confusables, UTS 39).
    """
    return unicodedata.normalize("NFKC", name).translate(_LATIN).casefold().translate(_LATIN)


def safe(label: str) -> str:
    """``label`` with ``_`` for all but letters, digits, ``.``, ``-`` and ``_``, and no dot or dash first."""
    composed = unicodedata.normalize("NFC", label)
    kept = "".join(character if _is_safe(character) else "_" for character in composed)
    return kept.lstrip(".-")[:MAX_CHARACTERS].rstrip(".") or "submission"


def _is_safe(character: str) -> bool:
    seen = unicodedata.category(character)[0] in "LMN" and not _UNSEEN.match(character)
    return seen or character in "._-"
