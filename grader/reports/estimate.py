"""Reports of an estimated speed: beside the baseline, what limits it, what would help; or why not.

Lines are those of the student's file. Of the baseline, whose file is the staff's, none is named.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from grader.base.text import capital, one_line, source_line
from grader.grading.checks.credit import decimals, milliseconds
from grader.grading.checks.speedup import FEWEST_ESTIMATED, WRONG_RESULTS, error_in_words, estimate_problem
from grader.grading.checks.wording import sizes
from grader.model import CHANGES, LIMITS, PROBLEMS, STUDENT, Verdict
from grader.model.messages import text_of
from grader.reports.layout import Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.text import Text

    from grader.model import Estimate, EstimatedChange, Grade, ItemGrade, KernelEstimate, LimitShare, Ratio

SPEEDUP = "speedup"
"""The check that asks for a speed."""
MOST_LIMITS = 3
LEAST_SHARE = 0.1
"""Share of the time below which a limit is not worth a line."""
MOST_CHANGES = 3
MOST_LINES = 3
"""Lines of a limit that are named."""
_SHOWN = 0.005
"""Less would read 0 %."""


class EstimateRow(NamedTuple):
    """A line of the block: what it is about (empty where that is said above), and words."""

    label: str
    words: str


class ShownEstimate(NamedTuple):
    """Reported part of an estimate: a heading and rows; or why there is none, and what to try."""

    heading: str
    rows: tuple[EstimateRow, ...] = ()
    problem: str = ""
    hint: str = ""


def displayed_estimate(grade: Grade) -> ShownEstimate | None:
    """The report of the estimate, made harmless; None where there is nothing to report.

    Wrong results are reported by the items.
    """
    estimate = grade.estimate
    if estimate is None or estimate.problem == WRONG_RESULTS:
        return None
    return _layout(estimate, with_points=any(item.result.estimated for item in grade.items))


def _layout(estimate: Estimate, *, with_points: bool = False) -> ShownEstimate | None:
    if estimate.ratio is not None:
        rows = (_ratio(estimate, estimate.ratio), *_limited_by(estimate), *_would_help(estimate))
        return ShownEstimate(_heading(estimate, with_points=with_points), rows)
    if not estimate.problem:
        return None
    hint = text_of(f"hint-{estimate.problem}") if estimate.problem in PROBLEMS else ""
    return ShownEstimate(text_of("estimate-none"), problem=estimate_problem(estimate), hint=hint)


def write(page: Page, grade: Grade) -> None:
    """Put it on a page for the terminal, if there is anything to report."""
    block = displayed_estimate(grade)
    if block is not None:
        page.blank()
        _write(page, block)


def lines_beside(grade: Grade, item: ItemGrade) -> list[str]:
    """The block line by line, to stand beside an item that was skipped for want of a GPU; else nothing."""
    is_skipped = item.result.item.check == SPEEDUP and item.result.verdict is Verdict.SKIP
    block = displayed_estimate(grade) if is_skipped else None
    if block is None:
        return []
    rows = (f"{row.label}: {row.words}" if row.label else f"  {row.words}" for row in block.rows)
    return [block.heading, *rows, *filter(None, (block.problem, block.hint))]


def _write(page: Page, block: ShownEstimate) -> None:
    page.paragraph(block.heading, style="bold")
    width = max((len(row.label) for row in block.rows), default=0)
    for row in block.rows:
        page.paragraph(row.words, indent=2, opening=f"{row.label:<{width}}   ")
    if block.problem:
        page.paragraph(block.problem, indent=2)
    if block.hint:
        page.paragraph(block.hint, indent=2, opening=f"{text_of('try')} ", style="cyan")


def _heading(estimate: Estimate, *, with_points: bool) -> str:
    shape = sizes(estimate.shape)
    remark = text_of("estimate-with-points" if with_points else "estimate-without-points")
    name = "estimate-heading" + ("-at" if shape else "")
    device = estimate.device_name or estimate.device
    return one_line(text_of(name, device=device, shape=shape, remark=remark))


def _numbers(ratio: Ratio) -> dict[str, str]:
    """The ratio and the ends of its interval by their names, with as many decimals as distinguish them."""
    ends = {"median": ratio.median, "low": ratio.low, "high": ratio.high}
    places = decimals(ends.values(), (), FEWEST_ESTIMATED)
    return {name: f"{value:.{places}f}" for name, value in ends.items()}


def ratio_in_words(ratio: Ratio) -> str:
    """`1.5× (1.3 to 1.7)`."""
    numbers = _numbers(ratio)
    return text_of("range", median=f"{numbers['median']}×", low=numbers["low"], high=numbers["high"])


def _ratio(estimate: Estimate, ratio: Ratio) -> EstimateRow:
    words = text_of("estimate-ratio", baseline=estimate.baseline, **_numbers(ratio))
    return EstimateRow(text_of("kernel-student"), one_line(words))


def large_limits(estimate: Estimate) -> tuple[LimitShare, ...]:
    """The limits of the submission that are worth a line, the largest first."""
    kernel = dict(estimate.kernels).get(STUDENT)
    return (
        tuple(limit for limit in kernel.limits if limit.share >= LEAST_SHARE)[:MOST_LIMITS] if kernel else ()
    )


def _limited_by(estimate: Estimate) -> Iterator[EstimateRow]:
    label = text_of("estimate-limited-by")
    for limit in large_limits(estimate):
        yield EstimateRow(label, _limit_in_words(limit))
        label = ""


def _limit_in_words(limit: LimitShare) -> str:
    """`shared-memory bandwidth: 62 % of the time, most on line 20`."""
    most = _most_lines(limit)
    return text_of(
        "estimate-limit-on" if most else "estimate-limit",
        limit=limit_name(limit.limit),
        share=_percent(limit.share),
        lines=", ".join(map(str, most)),
        count=len(most),
    )


def _most_lines(limit: LimitShare) -> list[int]:
    """The fewest lines that have half of what the limit takes together; none where it takes too many."""
    sums = accumulate(share for _, share in limit.lines[:MOST_LINES])
    number = next((number for number, part in enumerate(sums, start=1) if 2 * part >= limit.share), 0)
    return sorted(line for line, _ in limit.lines[:number])


def limit_name(code: str) -> str:
    """Name of a limit for people; the code where a later version has one that this one does not know."""
    return text_of(f"limit-{code}") if code in LIMITS else one_line(code, 60)


def _would_help(estimate: Estimate) -> Iterator[EstimateRow]:
    label = text_of("estimate-would-help")
    for change in estimate.changes[:MOST_CHANGES]:
        yield EstimateRow(label, _change_in_words(estimate, change))
        label = ""


def _change_in_words(estimate: Estimate, change: EstimatedChange) -> str:
    name = text_of(f"change-{change.change}") if change.change in CHANGES else one_line(change.change, 60)
    now = estimate.ratio.median if estimate.ratio else change.ratio
    ratio = f"{change.ratio:.{decimals((now, change.ratio), (), FEWEST_ESTIMATED)}f}"
    if change.line is None:
        return text_of("estimate-change", change=name, ratio=ratio)
    return text_of("estimate-change-on", change=name, ratio=ratio, line=change.line)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def render(
    estimate: Estimate, *, source_lines: Sequence[str] = (), width: int = 100, ascii_only: bool = False
) -> Text:
    """Lay out a whole estimate: the block, and of each kernel all limits; lines of the file are quoted."""
    page = Page(width, ascii_only)
    block = _layout(estimate)
    if block is not None:
        _write(page, block)
    kernels = dict(estimate.kernels)
    labels = {
        STUDENT: text_of("kernel-student"),
        estimate.baseline: text_of("kernel-of", baseline=estimate.baseline),
    }
    times = milliseconds(*(kernels[name].milliseconds for name in labels if name in kernels))
    for (name, label), time in zip(((n, of) for n, of in labels.items() if n in kernels), times, strict=True):
        page.blank()
        _kernel(page, label, time, kernels[name], source_lines if name == STUDENT else ())
    if estimate.ratio is not None and estimate.error_bound > 0:
        page.blank()
        page.paragraph(capital(error_in_words(estimate)))
    return page.text()


def _kernel(page: Page, label: str, time: str, kernel: KernelEstimate, source: Sequence[str]) -> None:
    """Each limit with its share, and the lines that have most of it; without those that would read 0 %."""
    heading = text_of("estimate-kernel", kernel=label, time=time, share=f"{100 * kernel.occupancy:.3g}")
    page.line((one_line(heading), "bold"))
    for limit in kernel.limits:
        if limit.share < _SHOWN:
            continue
        page.line(f"  {_percent(limit.share):>3} %  {limit_name(limit.limit)}")
        for line, share in limit.lines if source else ():
            if 1 <= line <= len(source) and share >= _SHOWN:
                code = source_line(source[line - 1].strip())
                page.line((f"{_percent(share):>13} %  {line:>4} | ", "dim"), code)
