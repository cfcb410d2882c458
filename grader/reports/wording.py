"""Shared wording of all reports: points, verdicts, states of items and speed, in a course's words.

The words of a report are those of the course whose grade it shows, English where the course says nothing. A
function that writes a report of one grade is decorated with `in_its_words`, and of a class with
`in_their_words`; inside, `text_of` gives each text by its name in `grader.model.messages.reports`, and in a
template ``words`` does the same. The outcome of a rubric item is distinguished further than by its verdict:
each state has a mark and a word. Names in what was timed come from files of the staff: they are made harmless
here.
"""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Concatenate, NamedTuple, ParamSpec, TypeVar

from grader.base.text import one_line
from grader.grading.checks.credit import decimals, milliseconds
from grader.grading.checks.wording import sizes
from grader.model import Verdict
from grader.model.messages import fits, sentences_of, speaking, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from fractions import Fraction

    from grader.model import Adjustment, Grade, ItemGrade, Named, Ratio, Resources, Timing
    from grader.reports.layout import Page


class KernelTime(NamedTuple):
    """One kernel: what it is called, its time in ms, its GFLOP/s, and how many times as fast it is."""

    kernel: str
    milliseconds: str
    gflops: str
    speedup: str


class Speed(NamedTuple):
    """Report of the timing: a heading, a row for each kernel, and remarks of a line each."""

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
    """The report of the timing, made harmless; None where no speedup came of it."""
    timing = grade.timing
    if timing is None or timing.speedup is None:
        return None
    return Speed(_heading(grade, timing), tuple(_rows(timing)), tuple(_remarks(timing)))


def write(page: Page, grade: Grade) -> None:
    """Put it on a page for the terminal, if there is anything to report."""
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
    name = "speed" + ("-at" if shape else "") + ("-on" if grade.device else "")
    return one_line(text_of(name, shape=shape, device=grade.device))


def _rows(timing: Timing) -> Iterator[KernelTime]:
    """The baseline first, then the submission and what there is to compare it with."""
    taken, gflops = dict(timing.milliseconds), dict(timing.gflops)
    labels = {
        timing.baseline: text_of("kernel-of", baseline=timing.baseline),
        "student": text_of("kernel-student"),
        "solution": text_of("kernel-solution"),
        "library": text_of("kernel-library"),
    }
    names = sorted(taken, key=[*labels, *taken].index)
    speedups = {"student": timing.speedup, "solution": timing.solution}
    for name, shown in zip(names, milliseconds(*(taken[name] for name in names)), strict=True):
        rate = f"{_number(gflops[name])} GFLOP/s" if name in gflops else ""
        ratio = speedups.get(name)
        speedup = ratio_in_words(ratio, "×") if ratio else ""
        yield KernelTime(one_line(labels.get(name, name), 40), f"{shown} ms", rate, speedup)


def _remarks(timing: Timing) -> Iterator[str]:
    share = timing.roofline_share
    parts = [] if share is None else [text_of("roofline", share=f"{100 * share:.3g}")]
    yield "; ".join([*parts, *_used(timing.resources), *_occupied(timing.occupancy)])
    rounds = "rounds-dropped" if timing.dropped else "rounds"
    parts = [text_of(rounds, rounds=timing.rounds, dropped=timing.dropped)]
    if timing.first_milliseconds > 0:
        parts.append(text_of("first-launch", time=milliseconds(timing.first_milliseconds)[0]))
    if timing.control:
        baseline = one_line(timing.baseline, 40)
        parts.append(text_of("against-itself", baseline=baseline, ratio=ratio_in_words(timing.control)))
    yield "; ".join(parts)


def ratio_in_words(ratio: Ratio, unit: str = "") -> str:
    """`1.52× (1.51 to 1.53)`."""
    ends = (ratio.median, ratio.low, ratio.high)
    median, low, high = (f"{value:.{decimals(ends)}f}" for value in ends)
    return text_of("range", median=median + unit, low=low, high=high)


def _used(resources: Resources | None) -> Iterator[str]:
    """`38 registers a thread, 2,048 bytes of shared memory a block, no spills`."""
    if resources:
        count = resources.spill_bytes
        spills = text_of("spills", count=count) if count else text_of("no-spills")
        used = {"registers": resources.registers, "bytes": resources.shared_bytes}
        yield text_of("resources", spills=spills, **used)


def _occupied(occupancy: float | None) -> Iterator[str]:
    if occupancy is not None:
        yield text_of("occupancy", share=f"{100 * occupancy:.3g}")


def _number(rate: float) -> str:
    """`7,642`, `98.2`."""
    return f"{rate:,.0f}" if rate >= 1000 else f"{rate:.3g}"  # noqa: PLR2004 - four digits need no decimals


@lru_cache(maxsize=1024)  # a class has few different ones, and fractions are slow to divide
def number(points: Fraction) -> int | float:
    """Round to two decimals; whole points are an ``int``."""
    rounded = round(points, 2)
    return int(rounded) if rounded.denominator == 1 else float(rounded)


def points_text(points: Fraction) -> str:
    """Write points as people do: ``15``, ``8.33``."""
    return str(number(points))


def counted(points: Fraction) -> str:
    """``1 point``, ``8.33 points``."""
    return _in_points(points_text(points), points)


def _in_points(written: str, points: Fraction) -> str:
    return text_of("points", points=written, count=int(abs(points) == 1))  # the form for one point


def signed(points: Fraction) -> str:
    """Write points that are added or taken off: ``+5``, ``−10``, ``0``."""
    rounded = number(points)
    return f"{'+' if rounded > 0 else '−' if rounded < 0 else ''}{abs(rounded)}"


def submission_label(grade: Grade) -> str:
    """The id of a submission, and the names of those whose it is."""
    people = grade.hand_in.students if grade.hand_in else ()
    return ", ".join(dict.fromkeys([grade.submission_id, *(one.name for one in people if one.name)]))


def unscored(grade: Grade) -> str:
    """Reason why a platform that records a number gets none: our error, or a doubt for staff; else empty."""
    if grade.verdict is Verdict.ERROR:
        return not_graded(grade)
    if grade.has_question:
        return text_of("no-score-for-question")
    if grade.took_too_much_work:
        return text_of("no-score-yet")
    return ""


def not_graded(grade: Grade) -> str:
    """Reason why a submission is not graded: our error, or a request of the program for staff to decide."""
    key = "not-graded-yet" if grade.is_question else "not-graded-submission"
    return text_of(key, reason=one_line(grade.error or text_of("see-below"), 1000))


def of_item(item: ItemGrade) -> str:
    """``5 of 10``, ``+5 of +10`` (extra credit), ``−10 of −10`` (a penalty); a dash where not judged."""
    judged = item.result.verdict in {Verdict.PASS, Verdict.FAIL} and item.result.judged
    most = points_text(item.max_points)
    if not item.result.item.counts:
        points = signed(item.points) if judged else "–"
        return text_of("points-of", points=points, most=f"{'−' if item.result.item.penalty else '+'}{most}")
    return text_of("points-of", points=points_text(item.points) if judged else "–", most=most)


def score(grade: Grade) -> str:
    """``75 of 90 points``."""
    return text_of("score", score=points_text(grade.score), points=counted(grade.max_score))


def adjustments(grade: Grade) -> list[str]:
    """Staff decisions, each with a word where it was about what had been handed in before."""
    return [
        text_of("adjusted-before", sentence=adjustment(one)) if grade.is_of_earlier(one) else adjustment(one)
        for one in grade.adjustments
    ]


def adjustment(one: Adjustment) -> str:
    """Decision of staff: ``late by 2 days: −20 points``, ``edges: +6.25 points, by …: why``."""
    if one.kind == "comment":
        return f"{one.by}: {one.comment}" if one.by else one.comment
    points = _in_points(signed(one.points), one.points)
    if one.kind == "excused":
        sentence = text_of("excused")
    elif one.kind == "late":
        sentence = text_of("late", count=one.days, points=points) if one.days else text_of("not-late")
    elif one.item:
        sentence = text_of("item-changed", item=one.item, points=points)
    else:
        sentence = text_of("score-changed", points=points)
    if one.by:
        sentence = text_of("adjusted-by", sentence=sentence, person=one.by)
    if one.comment:
        sentence = text_of("adjusted-because", sentence=sentence, comment=one.comment)
    return sentence


MARKS = {Verdict.PASS: "✓", Verdict.FAIL: "✗", Verdict.SKIP: "–", Verdict.ERROR: "!"}
STYLES = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.SKIP: "yellow", Verdict.ERROR: "magenta"}


class Look(NamedTuple):
    """The mark of an item's outcome, its word's name, the colour of a terminal and the class of a page."""

    mark: str
    key: str
    style: str
    name: str

    @property
    def word(self) -> str:
        """The word of the outcome."""
        return text_of(self.key)


LOOKS = {verdict: Look(MARKS[verdict], verdict.value, STYLES[verdict], verdict.value) for verdict in Verdict}
NOT_JUDGED = Look("○", "not-judged-yet", "yellow", "skip")


class State(NamedTuple):
    """A mark, the name of its word, and the class that gives a page its colour.

    In a terminal and in the table of a class it has the look of a verdict: there is room for few of them.
    """

    mark: str
    key: str
    name: str
    look: Look

    @property
    def word(self) -> str:
        """The word, in the language of the report."""
        return text_of(self.key)


PASSED = State("✓", "state-passed", "pass", LOOKS[Verdict.PASS])
PARTLY = State("◐", "state-partly", "partly", LOOKS[Verdict.FAIL])
FAILED = State("✗", "state-failed", "fail", LOOKS[Verdict.FAIL])
WAITING = State("○", "state-waiting", "waiting", NOT_JUDGED)
"""State of an item that earns nothing while something else fails and no more is known of it: no cross."""
NEEDS_GPU = State("◇", "state-gpu", "gpu", LOOKS[Verdict.SKIP])
SKIPPED = State("–", "state-skipped", "skip", LOOKS[Verdict.SKIP])
OURS = State("!", "state-error", "error", LOOKS[Verdict.ERROR])


def state_of(item: ItemGrade) -> State:
    """Give the state of an item."""
    result = item.result
    if result.verdict is Verdict.FAIL:
        if not result.judged:
            return WAITING
        return PARTLY if 0 < result.fraction < 1 else FAILED
    if result.verdict is Verdict.SKIP:
        return NEEDS_GPU if result.needs_gpu else SKIPPED
    return PASSED if result.verdict is Verdict.PASS else OURS


Asked = ParamSpec("Asked")
Report = TypeVar("Report")

TABLE = "reports"


def in_its_words(
    write: Callable[Concatenate[Grade, Asked], Report],
) -> Callable[Concatenate[Grade, Asked], Report]:
    """Make a function that writes a report of a grade speak in the words of that grade."""

    @wraps(write)
    def written(grade: Grade, /, *args: Asked.args, **kwargs: Asked.kwargs) -> Report:
        with _speaking(grade.words):
            return write(grade, *args, **kwargs)

    return written


def in_their_words(
    write: Callable[Concatenate[Sequence[Grade], Asked], Report],
) -> Callable[Concatenate[Sequence[Grade], Asked], Report]:
    """Make a function that writes a report of a class speak in the words of its first grade."""

    @wraps(write)
    def written(grades: Sequence[Grade], /, *args: Asked.args, **kwargs: Asked.kwargs) -> Report:
        with _speaking(grades[0].words if grades else ()):
            return write(grades, *args, **kwargs)

    return written


def _speaking(stored: Named[str]) -> AbstractContextManager[None]:
    """Speak in words that a grade keeps.

    A stored grade may be foreign: what is no text of ours, or has other fields, is not filled in.
    """
    words = tuple((name, text) for name, text in stored if fits(TABLE, name, text))
    return speaking(sentences_of(((TABLE, words),)))


@in_its_words
def of_grade(grade: Grade, name: str) -> str:  # noqa: ARG001 - it decides the language
    """Give a text that is printed beside the report of a grade."""
    return text_of(name)
