"""Pictures for pages: SVG made of numbers. Text in them is escaped; the style sheet has the colours.

Widths are shares of the element that a picture stands in, so that text keeps its size on every screen. A
picture whose numbers stand beside it as text is hidden from screen readers; any other has a label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_COLUMN_AREA = 92.0
"""Percent of a histogram's height for its columns; the rest is for the counts above them."""


class Part(NamedTuple):
    """A piece of a bar: its share of the whole bar, 0 to 1, and the class that gives it its colour."""

    share: float
    kind: str


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """Write an element; an attribute that is None is left out.

    ``class_`` is written as `class`, ``stroke_width`` as `stroke-width`. Children that are not `Markup` are
    text, and are escaped.
    """
    written = "".join(
        f' {name.removesuffix("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    inside = "".join(map(escape, children))
    return Markup(f"<{tag}{written}>{inside}</{tag}>")  # noqa: S704 - all but our own names is escaped


def number(value: float) -> str:
    """Write a coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """Write a share as a length, never outside of its picture."""
    return f"{number(100 * min(max(share, 0.0), 1.0))}%"


def bar(parts: Iterable[Part], *, mark: float | None = None) -> Markup:
    """Draw pieces one after the other on a track; ``mark`` is a line across it, at a share of its width."""
    drawn, start = [element("rect", class_="track", width="100%", height="100%")], 0.0
    for part in parts:
        if part.share > 0:
            drawn.append(
                element("rect", class_=part.kind, x=percent(start), width=percent(part.share), height="100%")
            )
        start += part.share
    if mark is not None:
        drawn.append(element("line", class_="limit", x1=percent(mark), x2=percent(mark), y1="0", y2="100%"))
    return element("svg", *drawn, class_="bar", aria_hidden="true")


def interval(
    low: float, middle: float, high: float, *, most: float, reference: float | None = None
) -> Markup:
    """Draw a value with its interval on a scale from 0 to ``most``; ``reference`` is a line across it."""
    drawn = [
        element("rect", class_="track", width="100%", height="100%"),
        element("rect", class_="fill", width=percent(middle / most), height="100%"),
        element(
            "line", class_="whisker", x1=percent(low / most), x2=percent(high / most), y1="50%", y2="50%"
        ),
        *(
            element(
                "line", class_="whisker", x1=percent(end / most), x2=percent(end / most), y1="20%", y2="80%"
            )
            for end in (low, high)
        ),
    ]
    if reference is not None:
        at = percent(reference / most)
        drawn.append(element("line", class_="limit", x1=at, x2=at, y1="0", y2="100%"))
    return element("svg", *drawn, class_="bar", aria_hidden="true")


def histogram(counts: Sequence[int], label: str, *, mark: tuple[float, str] | None = None) -> Markup:
    """Draw a column for each count, the count above it; ``mark`` is a named line at a share of the width."""
    tallest, width = max(counts, default=0) or 1, 1 / max(len(counts), 1)
    drawn = []
    for index, count in enumerate(counts):
        height = _COLUMN_AREA / 100 * count / tallest
        left, top = index * width, 1 - height
        drawn.append(
            element(
                "rect",
                class_="fill",
                x=percent(left + 0.04 * width),
                y=percent(top),
                width=percent(0.92 * width),
                height=percent(height),
            )
        )
        if count:
            drawn.append(
                element(
                    "text", str(count), x=percent(left + width / 2), y=percent(top), dy="-3", class_="count"
                )
            )
    if mark is not None:
        at = percent(mark[0])
        drawn.append(element("line", class_="limit", x1=at, x2=at, y1="0", y2="100%"))
        drawn.append(element("text", mark[1], x=at, y="0", dy="-4", class_="label"))
    return element("svg", *drawn, class_="histogram", role="img", aria_label=label)
