"""How fast a submission was, in words and numbers that every report shares.

Names in what was timed come from files of the staff: they are made harmless here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.checks.credit import decimals, milliseconds
from grader.checks.wording import sizes
from grader.model import Verdict
from grader.text import count, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from grader.model import Adjustment, CheckResult, Grade, ItemGrade, Ratio, Resources, Timing
    from grader.reports.layout import Page


class KernelTime(NamedTuple):
    """One kernel: what it is called, its time in ms, its GFLOP/s, and how many times as fast it is."""

    kernel: str
    milliseconds: str
    gflops: str
    speedup: str


class Speed(NamedTuple):
    """What a report tells of the timing: a heading, a row for each kernel, and remarks of a line each."""

    heading: str
    rows: tuple[KernelTime, ...]
    remarks: tuple[str, ...]


def measured(grade: Grade) -> Ratio | None:
    """The speedup over the baseline; None where nothing was timed."""
    return grade.timing.speedup if grade.timing else None


def times(grade: Grade) -> str:
    """`1.52×` for a table, empty where nothing was timed."""
    ratio = measured(grade)
    return f"{ratio.median:.2f}×" if ratio else ""


def speed(grade: Grade) -> Speed | None:
    """All that is told of the timing, harmless; None where no speedup came of it."""
    timing = grade.timing
    if timing is None or timing.speedup is None:
        return None
    return Speed(_heading(grade, timing), tuple(_rows(timing)), tuple(_remarks(timing)))


def write(page: Page, grade: Grade) -> None:
    """Put it on a page for the terminal, if there is anything to tell."""
    timing = speed(grade)
    if timing is None:
        return
    page.blank()
    page.line((timing.heading, "bold"))
    kernel, time, rate = (max((len(row[n]) for row in timing.rows), default=0) for n in range(3))
    for row in timing.rows:
        numbers = f"{row.kernel:<{kernel}}  {row.milliseconds:>{time}}  {row.gflops:>{rate}}"
        page.line(f"  {numbers}  {row.speedup}")
    for remark in filter(None, timing.remarks):
        page.paragraph(remark, indent=2)


def _heading(grade: Grade, timing: Timing) -> str:
    shape = sizes(timing.shape)
    parts = (f" at {shape}" if shape else "", f" on {grade.device}" if grade.device else "")
    return one_line("Speed" + "".join(parts))


def _rows(timing: Timing) -> Iterator[KernelTime]:
    """The baseline first, then the submission and what there is to compare it with."""
    taken, gflops = dict(timing.milliseconds), dict(timing.gflops)
    labels = {
        timing.baseline: f"{timing.baseline} kernel",
        "student": "this submission",
        "solution": "model solution",
        "library": "library",
    }
    names = sorted(taken, key=[*labels, *taken].index)
    speedups = {"student": timing.speedup, "solution": timing.solution}
    for name, shown in zip(names, milliseconds(*(taken[name] for name in names)), strict=True):
        rate = f"{_number(gflops[name])} GFLOP/s" if name in gflops else ""
        ratio = speedups.get(name)
        speedup = _ratio_in_words(ratio, "×") if ratio else ""
        yield KernelTime(one_line(labels.get(name, name), 40), f"{shown} ms", rate, speedup)


def _remarks(timing: Timing) -> Iterator[str]:
    share = timing.roofline_share
    parts = [] if share is None else [f"{100 * share:.3g} % of what this device could do at best"]
    yield "; ".join([*parts, *_used(timing.resources), *_occupied(timing.occupancy)])
    left_out = f", {timing.dropped:,} of them left out" if timing.dropped else ""
    parts = [f"{timing.rounds:,} rounds{left_out}"]
    if timing.first_milliseconds > 0:
        parts.append(f"first launch {milliseconds(timing.first_milliseconds)[0]} ms")
    if timing.control:
        parts.append(f"{one_line(timing.baseline, 40)} against itself {_ratio_in_words(timing.control)}")
    yield "; ".join(parts)


def _ratio_in_words(ratio: Ratio, unit: str = "") -> str:
    """`1.52× (1.51 to 1.53)`."""
    ends = (ratio.median, ratio.low, ratio.high)
    median, low, high = (f"{value:.{decimals(ends)}f}" for value in ends)
    return f"{median}{unit} ({low} to {high})"


def _used(resources: Resources | None) -> Iterator[str]:
    """`38 registers a thread, 2,048 bytes of shared memory a block, no spills`."""
    if resources:
        spills = f"{resources.spill_bytes:,} bytes spilt" if resources.spill_bytes else "no spills"
        shared = f"{resources.shared_bytes:,} bytes of shared memory a block"
        yield f"{resources.registers} registers a thread, {shared}, {spills}"


def _occupied(occupancy: float | None) -> Iterator[str]:
    if occupancy is not None:
        yield f"occupancy {100 * occupancy:.3g} %"


def _number(rate: float) -> str:
    """`7,642`, `98.2`."""
    return f"{rate:,.0f}" if rate >= 1000 else f"{rate:.3g}"  # noqa: PLR2004 - four digits need no decimals


def number(points: Fraction) -> int | float:
    """Round to two decimals; whole points are an ``int``."""
    rounded = round(points, 2)
    return int(rounded) if rounded.denominator == 1 else float(rounded)


def shown(points: Fraction) -> str:
    """Write points as people do: ``15``, ``8.33``."""
    return str(number(points))


def counted(points: Fraction) -> str:
    """``1 point``, ``8.33 points``."""
    return f"{shown(points)} {'point' if points == 1 else 'points'}"


def signed(points: Fraction) -> str:
    """Write points that are added or taken off: ``+5``, ``−10``, ``0``."""
    rounded = number(points)
    return f"{'+' if rounded > 0 else '−' if rounded < 0 else ''}{abs(rounded)}"


def unscored(grade: Grade) -> str:
    """Why a platform that records a number gets none: our error, or a doubt for staff; else empty."""
    if grade.verdict is Verdict.ERROR:
        reason = one_line(grade.error or "see below", 1000)
        return f"not graded, through no fault of the submission: {reason}"
    if grade.took_too_much_work:
        return "no score yet: what took too much work to be judged here is for the course's staff to decide"
    return ""


def of_item(item: ItemGrade) -> str:
    """``5 of 10``, ``+5 of +10`` (extra credit), ``−10 of −10`` (a penalty); a dash where not judged."""
    judged = item.result.verdict in {Verdict.PASS, Verdict.FAIL} and item.result.judged
    most = shown(item.max_points)
    if item.result.item.penalty:
        return f"{signed(item.points) if judged else '–'} of −{most}"
    if item.result.item.extra:
        return f"{signed(item.points) if judged else '–'} of +{most}"
    return f"{shown(item.points) if judged else '–'} of {most}"


def score(grade: Grade) -> str:
    """``75 of 90 points``."""
    return f"{shown(grade.score)} of {counted(grade.max_score)}"


def adjustment(one: Adjustment) -> str:
    """What staff decided: ``late by 2 days: −20 points``, ``edges: +6.25 points, by …: why``."""
    points = f"{signed(one.points)} {'point' if abs(one.points) == 1 else 'points'}"
    why = f"{f', by {one.by}' if one.by else ''}{f': {one.comment}' if one.comment else ''}"
    if one.kind == "excused":
        return f"excused{why}"
    if one.kind == "late" and not one.days:
        return f"not late{why}"
    if one.kind == "late":
        return f"late by {count(one.days, 'day')}: {points}{why}"
    return f"{f'`{one.item}`' if one.item else 'score'} changed: {points}{why}"


MARKS = {Verdict.PASS: "✓", Verdict.FAIL: "✗", Verdict.SKIP: "–", Verdict.ERROR: "!"}
STYLES = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.SKIP: "yellow", Verdict.ERROR: "magenta"}
WORDS = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.SKIP: "skip",
    Verdict.ERROR: "error",
}


class Look(NamedTuple):
    """The mark and the word of an item's outcome, the colour of a terminal and the class of a page."""

    mark: str
    word: str
    style: str
    name: str


NOT_JUDGED = Look("○", "not judged", "yellow", "skip")
"""A state of its own: it earns nothing as long as something else fails, and nobody knows more of it."""


def look(result: CheckResult) -> Look:
    """How the outcome of an item looks."""
    verdict = result.verdict
    if verdict is Verdict.FAIL and not result.judged:
        return NOT_JUDGED
    return Look(MARKS[verdict], WORDS[verdict], STYLES[verdict], verdict.value)
