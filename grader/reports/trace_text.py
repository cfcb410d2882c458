"""A trace for the terminal: by interval, what each line did, and the tables that one draws by hand.

Threads and elements have words of their own: `threads (0, 0)–(3, 3)`, `A[0..3][4..7]`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.base.text import one_line, source_line
from grader.model.messages import text_of
from grader.reports.layout import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.text import Text

    from grader.model import Dim3
    from grader.model.trace import (
        Accumulator,
        Number,
        Numbers,
        Trace,
        TracedArray,
        TracedEvent,
        TracedInterval,
        TraceScene,
    )

MOST_INTERVALS = 12
"""Maximum number of intervals that are reported in full; of more the first and the last ones."""

MOST_ROWS = 32
"""Rows of a table."""

_FEW = 8
"""Numbers in a row of which more digits are shown."""

_VECTOR = 16
"""Elements of a vector, or threads of a one-dimensional block, in a row."""

_BESIDE = 4
"""Blanks between two tables."""


def render(scene: TraceScene, *, width: int = 100, ascii_only: bool = False) -> Text:
    """The whole trace; print it with ``end=""``."""
    page = Page(width, ascii_only)
    trace = scene.trace
    block = ", ".join(map(str, trace.block))
    top = text_of("trace-top", kernel=scene.kernel, file=scene.file, title=scene.title)
    page.paragraph(one_line(top), style="bold")
    page.paragraph(text_of("trace-this-block", scene=one_line(described(scene), 400), block=block))
    intervals = list(enumerate(trace.intervals, start=1))
    left_out = len(intervals) - MOST_INTERVALS
    half = MOST_INTERVALS // 2
    for number, interval in intervals:
        if left_out > 0 and number == half + 1:
            page.blank()
            page.paragraph(text_of("trace-left-out", count=left_out))
        if left_out <= 0 or number <= half or number > len(intervals) - half:
            _interval(page, scene, number, interval)
    _end(page, trace)
    return page.text()


def described(scene: TraceScene) -> str:
    """The case and the launch in words, without the block."""
    case = ", ".join(f"{name}={size}" for name, size in scene.shape) or " ".join(scene.arguments)
    parts = [text_of("trace-case-of" if case else "trace-case", case=scene.case, sizes=case)]
    if scene.inputs:
        name = "trace-inputs" if scene.seed is None else "trace-inputs-of"
        parts.append(text_of(name, inputs=scene.inputs, seed=scene.seed or 0))
    if scene.launched is not None:
        name = "trace-launch-of" if scene.launched.line else "trace-launch"
        number, count, line = scene.launched.number, scene.launched.count, scene.launched.line
        parts.append(text_of(name, number=number, launches=count, line=line or 0))
    launch = scene.trace.launch
    grid = text_of("trace-grid", grid=extent(launch.grid), block=extent(launch.block))
    return "; ".join((*parts, grid))


def title_of(accumulator: Accumulator) -> str:
    """Name of the value that a thread gathers."""
    if not accumulator.name:
        return text_of("trace-nameless", line=accumulator.line)
    name = f"{accumulator.name}[{accumulator.element}]" if accumulator.element >= 0 else accumulator.name
    return text_of("trace-twice", name=name, line=accumulator.line) if accumulator.twice else name


def _interval(page: Page, scene: TraceScene, number: int, interval: TracedInterval) -> None:
    page.blank()
    page.line((text_of("trace-number", number=number), "bold"), f", {_ending(interval)}")
    for line, turns, events in _by_line(interval):
        source = scene.source[line - 1] if 0 < line <= len(scene.source) else ""
        heading = (
            text_of("trace-line-times", line=line, times=turns) if turns > 1 else text_of("line", line=line)
        )
        page.line(f"  {heading}: ", (source_line(source.strip()), "dim"))
        for paragraph in _events_in_words(scene.trace, events):
            page.paragraph(paragraph, indent=4)
    for hazard in interval.hazards:
        finding = scene.trace.findings[hazard.finding]
        threads = f" ({threads_in_words(hazard.threads, scene.trace.launch.block)})" if hazard.threads else ""
        message = one_line(finding.message, 600)
        heading = f"{text_of('line', line=finding.line)}: " if finding.line else ""
        page.paragraph(f"{heading}{message}{threads}", indent=2, opening="✗ ", style="red")
    _tables(page, scene, interval)


def _ending(interval: TracedInterval) -> str:
    if interval.ends == "barrier":
        lines = f" {text_of('trace-and')} ".join(map(str, interval.barrier_lines))
        return text_of("trace-up-to-barrier", lines=lines or text_of("trace-unknown-line"))
    return text_of(f"trace-up-to-{interval.ends}")


def _by_line(interval: TracedInterval) -> Iterator[tuple[int, int, list[TracedEvent]]]:
    """The lines in the order in which they were come to: how many times, and all that was done there."""
    events_by_line: dict[int, list[TracedEvent]] = {}
    turns: dict[int, int] = {}
    for step in interval.steps:
        events_by_line.setdefault(step.line, []).extend(step.events)
        turns[step.line] = max(turns.get(step.line, 0), step.turn + 1)
    for line, events in events_by_line.items():
        yield line, turns[line], events


def _events_in_words(trace: Trace, events: Sequence[TracedEvent]) -> Iterator[str]:
    """A sentence for each array and each way in which it was used."""
    groups: dict[tuple[str, int], list[TracedEvent]] = {}
    for event in events:
        groups.setdefault((event.kind, event.target), []).append(event)
    for (kind, target), group in groups.items():
        threads = sorted({thread for event in group for thread in event.threads})
        threads_text = threads_in_words(threads, trace.launch.block)
        if kind == "add":
            yield text_of("trace-add", who=threads_text, array=one_line(title_of(trace.accumulators[target])))
        elif kind == "outside":
            words = list(dict.fromkeys(word for event in group for word in event.words))
            shown = one_line(", ".join(word.rpartition(" ")[0] for word in words[:4]))
            places = f"{shown}{' …' if len(words) > 4 else ''}"  # noqa: PLR2004
            yield f"✗ {text_of('trace-reach', who=threads_text, places=places)}"
        else:
            yield _access(trace, kind, trace.arrays[target], group, threads_text)


def _access(
    trace: Trace, kind: str, array: TracedArray, group: Sequence[TracedEvent], threads_text: str
) -> str:
    elements = sorted({element for event in group for element in event.elements})
    zero = sorted({thread for event in group for thread in event.zero_fill})
    verb = {"load": "trace-loading", "store": "trace-storing", "atomic": "trace-update"}[kind]
    words = text_of(verb, who=threads_text, array=at_element(array, elements))
    if kind != "atomic" and len(elements) == 1 and group[0].values:
        words += f" = {number(group[-1].values[0], 9)}"
    if zero:
        words += f"; {text_of('trace-zero-by', who=threads_in_words(zero, trace.launch.block))}"
    return words


def _tables(page: Page, scene: TraceScene, interval: TracedInterval) -> None:
    """Write what changed: shared arrays and accumulators after the interval; stores to global memory."""
    trace, blocks = scene.trace, list[list[str]]()
    changed = {(event.kind, event.target) for step in interval.steps for event in step.events}
    across = _across(trace)
    for index, values in interval.shared:
        array = trace.arrays[index]
        if changed & {("store", index), ("atomic", index)}:
            columns = array.shape[-1] if len(array.shape) > 1 else _VECTOR
            blocks.append(
                table(text_of("trace-at-end", array=array.name), _rows(values, columns, page.width))
            )
    for index, values in interval.sums:
        if ("add", index) in changed:
            title = text_of("trace-by-thread", sum=title_of(trace.accumulators[index]))
            blocks.append(table(title, _rows(values, across, page.width)))
    for kind, index in sorted(changed):
        if kind == "store" and trace.arrays[index].space == "global":
            values = _stored(trace, interval, index)
            title = text_of("trace-stored", array=trace.arrays[index].name)
            blocks.append(table(title, _rows(values, across, page.width)))
    for lines in _side_by_side(blocks, page.width):
        page.blank()
        for line in lines:
            page.line(line)


def _across(trace: Trace) -> int:
    """Number of threads in a row: those along x, unless there is only one row of them."""
    x, y, z = trace.launch.block
    return x if y * z > 1 else _VECTOR


def _stored(trace: Trace, interval: TracedInterval, index: int) -> Numbers:
    """Stores to a global array: the last value of each thread."""
    values: list[Number] = [None] * math.prod(trace.launch.block)
    for step in interval.steps:
        for event in step.events:
            if event.kind == "store" and event.target == index:
                for thread, value in zip(event.threads, event.values, strict=False):
                    values[thread] = value
    return tuple(values)


def _rows(values: Numbers, across: int, width: int) -> list[list[str]]:
    """Rows of numbers: with fewer digits where it is many, and cut where they are too many for the width."""
    across = max(1, across)
    shown = [number(value, 5 if across <= _FEW else 3) for value in values]
    rows = [shown[first : first + across] for first in range(0, len(shown), across)]
    while len(rows) > 1 and set(rows[-1]) == set(rows[-2]) == {"·"}:  # nothing there yet, and nothing above
        rows.pop()
    cell = 2 + max(map(len, shown), default=1)
    fitting = max(1, (width - 6) // cell)
    if across > fitting:
        rows = [[*row[:fitting], "…"] for row in rows]
    return rows if len(rows) <= MOST_ROWS else [*rows[:MOST_ROWS], ["…"]]


def table(title: str, rows: list[list[str]]) -> list[str]:
    """A title and rows of numbers, right-aligned."""
    cell = max((len(text) for row in rows for text in row), default=1)
    title = one_line(title)
    lines = ["  ".join(text if text == "…" else text.rjust(cell) for text in row) for row in rows]
    room = max([len(title), *map(len, lines)])
    return [line.ljust(room) for line in (title, *lines)]


def _side_by_side(blocks: Iterable[list[str]], width: int) -> Iterator[list[str]]:
    """Tables in rows that fit the width; one that does not fit alone stays as it is, and is cut."""
    row: list[list[str]] = []
    for block in blocks:
        used_width = 2 + sum(len(lines[0]) + _BESIDE for lines in row)
        if row and used_width + len(block[0]) > width:
            yield _joined(row)
            row = []
        row.append(block)
    if row:
        yield _joined(row)


def _joined(row: list[list[str]]) -> list[str]:
    height = max(map(len, row))
    filled = [[*block, *[" " * len(block[0])] * (height - len(block))] for block in row]
    return ["  " + (" " * _BESIDE).join(parts) for parts in zip(*filled, strict=True)]


def _end(page: Page, trace: Trace) -> None:
    """Write what is wrong with the launch as a whole, and what was left out."""
    located = {hazard.finding for interval in trace.intervals for hazard in interval.hazards}
    elsewhere = [unlocated for number, unlocated in enumerate(trace.findings) if number not in located]
    if elsewhere:
        page.blank()
        page.line(text_of("trace-elsewhere-launch"))
        for finding in elsewhere:
            line = f"{text_of('line', line=finding.line)}: " if finding.line else ""
            message = line + one_line(finding.message, 600)
            if finding.block:
                block = ", ".join(map(str, finding.block))
                message = text_of("trace-in-block", sentence=message, block=block)
            page.paragraph(message, indent=2, opening="✗ ", style="red")
    for note in notes_of(trace):
        page.blank()
        page.paragraph(one_line(note, 800))
    if not trace.findings and trace.completed:
        page.blank()
        page.paragraph(text_of("trace-none"))


def notes_of(trace: Trace) -> Iterator[str]:
    """Notes on what was left out of a trace, and why, in the language of the course."""
    for note in trace.notes:
        values = dict(note.values)
        finding = values.pop("finding", None)
        if isinstance(finding, int):
            values["why"] = trace.findings[finding].message
        yield text_of(note.name, **values)


def number(value: Number, digits: int = 5) -> str:
    """A value as people write it; `·` where nothing was stored yet."""
    if value is None:
        return "·"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e9 else f"{value:.{digits}g}"  # noqa: PLR2004
    return str(int(value))


MOST_NAMED = 3
"""Threads or elements that are named one by one."""


def extent(dimensions: Dim3) -> str:
    """`4 × 4`; dimensions of one at the end are left out."""
    x, y, z = dimensions
    return f"{x} × {y} × {z}" if z > 1 else f"{x} × {y}" if y > 1 else str(x)


def thread(number: int, block: Dim3) -> str:
    """`(3, 1)` for ``threadIdx``, with as many places as the block has dimensions."""
    x, y, z = block
    index = (number % x, number // x % y, number // (x * y))
    if y == z == 1:
        return str(index[0])
    return f"({', '.join(map(str, index if z > 1 else index[:2]))})"


def threads_in_words(threads: Sequence[int], block: Dim3) -> str:
    """Words for threads: all of the block, a box of threads, or their number and the first of them."""
    count = math.prod(block)
    if len(threads) == count:
        return text_of("trace-all" if count > 1 else "trace-the-thread")
    if len(threads) == 1:
        return text_of("trace-one", thread=thread(threads[0], block))
    if _box(threads, block[0]) is not None:
        return text_of("trace-box", first=thread(threads[0], block), last=thread(threads[-1], block))
    listed = ", ".join(thread(number, block) for number in threads[:MOST_NAMED])
    more = ", …" if len(threads) > MOST_NAMED else ""
    return text_of("trace-many-named", count=len(threads), threads=listed + more)


def _box(numbers: Sequence[int], columns: int) -> tuple[int, int, int, int] | None:
    """First and last row and column of numbers that fill a rectangle of a grid; None if they do not."""
    if not numbers:
        return None
    columns = max(1, columns)
    rows = [number // columns for number in numbers]
    positions = [number % columns for number in numbers]
    top, bottom, left, right = min(rows), max(rows), min(positions), max(positions)
    if (bottom - top + 1) * (right - left + 1) != len(set(numbers)):
        return None
    return top, bottom, left, right


def at_element(array: TracedArray, elements: Sequence[int]) -> str:
    """`A[0..3][4..7]` where they fill a rectangle, else how many of which array."""
    name = one_line(array.name)
    flat = len(array.shape) < 2  # noqa: PLR2004 - dimensions
    columns = 1 << 62 if flat else array.shape[-1]
    box = _box(elements, columns)
    if box is None or len(array.shape) > 2:  # noqa: PLR2004 - dimensions
        return text_of("trace-elements-of", count=len(elements), array=name)
    top, bottom, left, right = box
    return (
        f"{name}[{_range(left, right)}]" if flat else f"{name}[{_range(top, bottom)}][{_range(left, right)}]"
    )


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}..{last}"
