"""Submissions that are alike, as a page for staff: a place to look, not a verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from grader.reports.class_page import folder_of
from grader.reports.pages import asset, page
from grader.text import source_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from grader.course.similarity import Alike

MOST_LINES = 300
"""Of a file that are shown."""


_DIGEST = re.compile(r'<meta name="digest" content="([0-9a-f]+)">')


class Side(NamedTuple):
    """A submission of a pair: its id, its quoted folder, and its lines, each with whether it is marked."""

    name: str
    folder: str
    lines: list[tuple[int, str, bool]]
    more: int


def digest_in(page: str) -> str:
    """The digest that a page, or its beginning, says it was written with; empty where it says none."""
    match = _DIGEST.search(page)
    return match[1] if match else ""


def render(
    title: str,
    pairs: Sequence[Alike],
    sources: Mapping[str, Sequence[str]],
    digest: str = "",
    more: int = 0,
) -> str:
    """Write the page; ``sources`` are the files' lines, and ``digest`` tells what it is made of.

    ``more`` is how many pairs there are beside these.
    """
    return page(
        "similar.html.j2",
        style=asset("class.css"),
        heading=title,
        digest=digest,
        pairs=[
            (
                pair,
                round(100 * pair.share),
                (
                    _side(pair.first, pair.first_lines, sources),
                    _side(pair.second, pair.second_lines, sources),
                ),
            )
            for pair in pairs
        ],
        more=more,
    )


def _side(name: str, marked: Collection[int], sources: Mapping[str, Sequence[str]]) -> Side:
    lines = sources.get(name, ())
    lines = lines[:-1] if lines and not lines[-1] else lines  # nothing is behind the last line feed
    shown = [
        (number, source_line(line), number in marked) for number, line in enumerate(lines[:MOST_LINES], 1)
    ]
    return Side(name, folder_of(name), shown, len(lines) - len(shown))
