"""Pictures for pages, made of data: bars, a heat map of an output, a race between two threads.

They are SVG made of numbers. Text in them is escaped; the style sheet has the colours. Widths are shares of
the element that a picture stands in, so that text keeps its size on every screen. A picture whose numbers
stand beside it as text is hidden from screen readers; any other has a label.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

from grader.base.text import one_line
from grader.model import FindingCode, FindingKind
from grader.model.compare import HEAT
from grader.model.messages import text_of
from grader.model.messages.hazards import spell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.model import Dim3, Finding, HeatMap, WrongElement

KINDS = {
    HEAT[1]: ("right", "heat-right"),
    "?": ("unwritten", "heat-unwritten"),
    "n": ("nan", "heat-nan"),
    "1": ("little", "heat-little"),
    "2": ("more", "heat-more"),
    "3": ("much", "heat-much"),
}
"""The class of a cell and the name of its word, by its character in a heat map."""

LARGEST_CELL = 12
WIDEST = 512
"""Pixels of a cell at most, and of a whole map."""


class Heat(NamedTuple):
    """A heat map on a page: the drawing, and its legend: classes with their words."""

    finding: Finding
    map: HeatMap
    array: str
    drawing: Markup
    legend: tuple[tuple[str, str], ...]

    @property
    def caption(self) -> str:
        """Caption that says what it shows, and how to read it."""
        case = one_line(self.finding.case, 80)
        title = text_of("heat-of-case" if case else "heat-of", array=self.array, case=case)
        rows, columns = self.map.cell
        cells = "heat-element" if (rows, columns) == (1, 1) else "heat-cells"
        parts = [title, text_of(cells, rows=rows, columns=columns)]
        if any(self.map.block):
            parts.append(text_of("heat-blocks", rows=self.map.block[0], columns=self.map.block[1]))
        return "; ".join(parts)


def says_something(heat_map: HeatMap) -> bool:
    """True if there is a pattern: not the same sort of wrong everywhere."""
    return len({sign for row in heat_map.rows for sign in row.strip()}) > 1


def heat(finding: Finding, heat_map: HeatMap, array: str) -> Heat:
    """Draw a heat map, a path for each sort of wrong and a line at the border of each block."""
    rows, columns = len(heat_map.rows), max(map(len, heat_map.rows), default=1)
    array = one_line(array, 80)
    drawn = {sign for row in heat_map.rows for sign in row}
    kinds = {sign: kind for sign, kind in KINDS.items() if sign in drawn}
    paths = [element("path", class_=kind, d=_runs(heat_map, sign)) for sign, (kind, _) in kinds.items()]
    borders = "".join(_borders(heat_map, rows, columns))
    if borders:
        paths.append(element("path", class_="borders", d=borders, vector_effect="non-scaling-stroke"))
    samples = [
        element(
            "rect",
            element("title", reading(array, sample.element)),
            x=sample.column,
            y=sample.row,
            width=1,
            height=1,
        )
        for sample in heat_map.samples
    ]
    side = max(1, min(LARGEST_CELL, WIDEST // columns))
    drawing = element(
        "svg",
        *paths,
        element("g", *samples, class_="samples"),
        class_="heat",
        viewBox=f"0 0 {columns} {rows}",
        width=side * columns,
        height=side * rows,
        role="img",
        aria_label=text_of("heat-table"),
    )
    legend = tuple((kind, text_of(name)) for kind, name in kinds.values())
    return Heat(finding, heat_map, array, drawing, legend)


def reading(array: str, wrong: WrongElement) -> str:
    """`C[3][5]: 1.25, expected 2 ± 1e-06`."""
    index = "".join(f"[{at}]" for at in wrong.index)
    name = "heat-sample-unwritten" if wrong.unwritten else "heat-sample"
    expected, bound = table_number(wrong.expected), table_number(wrong.bound, 2)
    return text_of(
        name, element=f"{array}{index}", got=table_number(wrong.got), expected=expected, bound=bound
    )


def table_number(value: float, digits: int = 6) -> str:
    """Write a number as a table of numbers has it; whole ones without a point."""
    return f"{value:.{digits}g}"


def _runs(heat_map: HeatMap, drawn: str) -> str:
    """A path over all cells with a character, a rectangle for each run of them in a row."""
    pieces = []
    for y, row in enumerate(heat_map.rows):
        x = 0
        for sign, run in groupby(row):
            length = len(list(run))
            if sign == drawn:
                pieces.append(f"M{x} {y}h{length}v1h-{length}z")
            x += length
    return "".join(pieces)


def _borders(heat_map: HeatMap, rows: int, columns: int) -> Iterator[str]:
    """Lines between blocks, in cells; none where blocks would be drawn as a cell or less."""
    height, width = (side / cell for side, cell in zip(heat_map.block, heat_map.cell, strict=True))
    if width > 1 and (height > 1 or rows == 1):
        yield from (f"M{number(x * width)} 0v{rows}" for x in range(1, columns) if x * width < columns)
    if height > 1 and width > 1:
        yield from (f"M0 {number(y * height)}h{columns}" for y in range(1, rows) if y * height < rows)


class Race(NamedTuple):
    """Two accesses that nothing orders: who makes each, what it does, on which line; and what is missing."""

    caption: str
    element: str
    threads: tuple[str, str]
    verbs: tuple[str, str]
    lines: tuple[int | None, int | None]
    missing: str


_VERBS = {
    "RAW": ("race-writes", "race-reads"),
    "WAR": ("race-reads", "race-writes"),
    "WAW": ("race-writes", "race-writes"),
}
_MISSING = {
    FindingCode.RACE_IN_BLOCK: "race-no-barrier",
    FindingCode.RACE_IN_WARP: "race-no-warp-barrier",
    FindingCode.RACE_BETWEEN_BLOCKS: "race-no-order",
    FindingCode.RACE_WITH_COPY: "race-no-wait",
}


def race(finding: Finding) -> Race | None:
    """The two accesses of a race, the earlier one first; None where they are not known."""
    if finding.kind is not FindingKind.RACE or finding.other_line is None or finding.line is None:
        return None
    element_name = one_line(finding.address, 80)
    earlier, later = _VERBS.get(finding.hazard, ("race-uses", "race-uses"))
    one_block = finding.block is not None and finding.other_block is None
    caption = "race-of" if one_block else "race-anywhere"
    return Race(
        text_of(caption, block=_spelt(finding.block), element=element_name),
        element_name,
        (_thread(finding, later=False), _thread(finding, later=True)),
        (text_of(earlier), text_of(later)),
        (finding.other_line, finding.line),
        text_of(_MISSING.get(finding.code, "race-nothing")),
    )


def _thread(finding: Finding, *, later: bool) -> str:
    thread = finding.thread if later else finding.other_thread
    if thread is None:
        return text_of("race-another-thread" if later else "race-some-thread")
    if finding.other_block is None:
        return text_of("race-thread", thread=_spelt(thread))
    block = finding.block if later else finding.other_block
    return text_of("race-thread-of-block", thread=_spelt(thread), block=_spelt(block))


def _spelt(index: Dim3 | None) -> str:
    return "" if index is None else spell(index)


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
