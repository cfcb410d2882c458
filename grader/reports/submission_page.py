"""What the page of a submission shows, in the order of the page: `view` gives it to the template.

Each part can be linked to: ``#item-2``, ``#finding-5``, ``#line-13``. Pictures are drawn of the evidence of
cases that the reader may see: those of the findings that are left in `grader.reports.audience.student_view`.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from grader.checks.traffic import METRICS
from grader.checks.wording import plain_percent, sizes
from grader.messages import text_of
from grader.model import TRACED, FindingKind
from grader.reports import estimate, excerpts, pictures, text, wording
from grader.reports.wording import FAILED, PARTLY, PASSED, WAITING, State, state_of
from grader.text import capital, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markupsafe import Markup

    from grader.model import CaseEvidence, Cause, CheckResult, ExampleArray, Finding, Grade, ItemGrade, Ratio
    from grader.reports.trace_files import Embedded

GRAVEST = (FindingKind.OUT_OF_BOUNDS, FindingKind.BARRIER_DIVERGENCE)
"""What makes races at the same line, and so is the cause of them."""

MOST_HEAT_MAPS = 4
"""Heat maps on one page: what is wrong with further cases mostly looks the same."""
MOST_RACES = 2
"""The same of races."""
MOST_COLUMNS = 32
"""Numbers side by side in an example."""
_SHORT_DIGEST = 12


class ShownFinding(NamedTuple):
    """A finding with what is drawn of it; ``repeated`` where a text above says the same already."""

    number: int
    finding: Finding
    repeated: bool
    where: str
    quoted: tuple[excerpts.QuotedLine, ...] = ()
    race: pictures.Race | None = None
    heat: pictures.Heat | None = None
    example: tuple[ExampleArray, ...] = ()
    example_sizes: str = ""
    trace: str = ""
    """The command that shows what its block did."""
    how_to_read: bool = False
    """Whether it is the first map of the page, which says how all of them are read."""
    watch: bool = False
    """Whether the page has the trace of a block in which the same happens."""
    drawn: bool = True
    """Whether it is explained here, and not further up."""


class ShownItem(NamedTuple):
    """A rubric item; ``reason`` is told in the overview where there is nothing else to tell."""

    number: int
    item: ItemGrade
    state: State
    reason: str
    in_detail: bool
    hint: str = ""
    """What to try, where nothing further up says the same."""
    findings: tuple[ShownFinding, ...] = ()
    left_out: int = 0


class Start(NamedTuple):
    """What explains most: to be repaired first. A finding shows where it is, another what it does."""

    message: str
    hint: str
    item: ShownItem
    findings: tuple[ShownFinding, ...]


class AmountBar(NamedTuple):
    """An amount with its bar."""

    label: str
    bar: Markup
    value: str


class Bars(NamedTuple):
    """Amounts to compare."""

    title: str
    rows: tuple[AmountBar, ...]


@dataclass(slots=True)
class _Shown:
    """What is being laid out: findings get numbers in the order of the page, and each is drawn once."""

    grade: Grade
    sources: excerpts.Sources
    cases: dict[str, CaseEvidence]
    embedded: Embedded | None
    findings: int = 0
    heat_maps: int = 0
    races: int = 0
    drawn: set[tuple[object, ...]] = field(default_factory=set)
    """The findings, examples and hints that the page has already."""

    def finding(self, finding: Finding, message: str) -> ShownFinding:
        """Lay a finding out; one that the page has already is not drawn again."""
        self.findings += 1
        lines_in_words = excerpts.lines_in_words(finding)
        is_repeated = text.is_told(finding, message)
        if not self._is_new("finding", finding.message, finding.line, finding.other_line):
            return ShownFinding(self.findings, finding, is_repeated, lines_in_words, drawn=False)
        case = self.cases.get(finding.case) if finding.kind is FindingKind.WRONG_OUTPUT else None
        shape = sizes(case.smallest or case.case.shape) if case else ""
        heat = self._heat(finding, case) if case else None
        return ShownFinding(
            self.findings,
            finding,
            is_repeated,
            lines_in_words,
            self._quoted(finding),
            self._race(finding),
            heat,
            case.example if case and self._is_new("example", shape) else (),
            shape,
            self._trace(finding),
            how_to_read=heat is not None and self._is_new("how to read"),
            watch=self._watch(finding),
        )

    def _quoted(self, finding: Finding) -> tuple[excerpts.QuotedLine, ...]:
        """The lines of a finding, without the indentation that they share; none where they stand already."""
        quoted = tuple(excerpts.without_indentation(self.sources.quote(finding, around=1)))
        return quoted if self._is_new("quoted", quoted) else ()

    def hint(self, hint: str) -> str:
        """The hint as a sentence; nothing where it was given before."""
        return capital(hint) if self._is_new("hint", capital(hint)) else ""

    def _is_new(self, *key: object) -> bool:
        """Whether the page does not have it yet."""
        is_new = key not in self.drawn
        self.drawn.add(key)
        return is_new

    def _race(self, finding: Finding) -> pictures.Race | None:
        race = pictures.race(finding)
        if race is None or self.races == MOST_RACES:
            return None
        self.races += 1
        return race

    def _heat(self, finding: Finding, case: CaseEvidence) -> pictures.Heat | None:
        comparisons = [comparison for comparison in case.comparisons if comparison.wrong]
        of_array = [comparison for comparison in comparisons if comparison.array == finding.array]
        wrong = next(
            iter([*of_array, *(comparison for comparison in comparisons if not comparison.kernel)]), None
        )
        if wrong is None or wrong.heat is None or self.heat_maps == MOST_HEAT_MAPS:
            return None
        if not pictures.says_something(wrong.heat):
            return None
        self.heat_maps += 1
        return pictures.heat(finding, wrong.heat, wrong.label or wrong.array)

    def _watch(self, finding: Finding) -> bool:
        """Whether the embedded trace shows it, and nothing above leads there."""
        trace = self.embedded
        if trace is None:
            return False
        if finding.kind is FindingKind.WRONG_OUTPUT:
            is_it = trace.shows_output
        else:
            is_it = finding.kind in TRACED and (finding.line, finding.other_line) in trace.lines
        return is_it and self._is_new("watch")

    def _trace(self, finding: Finding) -> str:
        """The command that shows what a block did; empty where nobody can run it."""
        case = next((case.case for case in self.grade.cases if case.case.id == finding.case), None)
        if finding.kind not in TRACED or finding.block is None or case is None or not case.shape:
            return ""
        if case.arguments or case.kernel or not self._is_new("trace", finding.kind):
            return ""
        block = ",".join(map(str, finding.block[:2]))
        file = shlex.quote(self.grade.submission_file)
        options = f"--case {shlex.quote(case.id)} --block {block} --html trace.html"
        return one_line(f"grader trace {shlex.quote(self.grade.assignment_id)} {file} {options}", 300)


def view(
    grade: Grade, shown: Grade, sources: excerpts.Sources, embedded: Embedded | None = None
) -> dict[str, object]:
    """All that the template asks for; ``shown`` is the grade as its reader may see it."""
    cases = {case.case.id: case for case in grade.evidence.cases} if grade.evidence else {}
    laid_out = _Shown(shown, sources, cases, embedded)
    start = _start(laid_out)
    items = tuple(_item(laid_out, number, item) for number, item in enumerate(shown.items, start=1))
    items = tuple(_reason_once(items))
    if start:
        start = start._replace(item=items[start.item.number - 1])
    remarks = excerpts.remarks_of(
        _explained_findings(start, items), shown.submission_file, len(sources.lines)
    )
    return {
        "grade": shown,
        "items": items,
        "start": start,
        "score_bar": pictures.bar(_score_bar(items)),
        "rows": tuple(excerpts.rows_of(sources.lines, remarks)),
        "marked_lines": frozenset(remarks),
        "bars_of_items": tuple(_amounts(items)),
        "speed": wording.speed(shown),
        "speedups": tuple(_speedups(shown)),
        "shares": tuple(_shares(shown)),
        "estimate": estimate.shown(shown),
        "estimated_speedups": tuple(_estimated_speedup(shown)),
        "estimated_limits": tuple(_estimated_limits(shown)),
        "facts": tuple(_facts(shown)),
    }


def _item(laid_out: _Shown, number: int, item: ItemGrade) -> ShownItem:
    result, state = item.result, state_of(item)
    quiet = state is PASSED or not (result.judged and state in {FAILED, PARTLY})
    in_detail = bool(not quiet or result.findings or result.message_staff)
    if not in_detail:
        reason = "" if state is PASSED else result.message
        return ShownItem(number, item, state, reason, in_detail)
    message = "" if state is WAITING else result.message
    findings = tuple(laid_out.finding(finding, message) for finding in result.findings[: text.MOST_FINDINGS])
    left_out = len(result.findings) - len(findings)
    reason = result.message if quiet else ""
    return ShownItem(number, item, state, reason, in_detail, laid_out.hint(result.hint), findings, left_out)


def _reason_once(items: Iterable[ShownItem]) -> Iterator[ShownItem]:
    """The same, with a reason that is that of the item before said there alone."""
    before = ""
    for item in items:
        yield item._replace(reason="") if item.reason == before else item
        before = item.reason


def _start(laid_out: _Shown) -> Start | None:
    """The first cause with its finding; where nobody knows one, the first item that fails."""
    grade, cause = laid_out.grade, laid_out.grade.cause
    failing = [
        (number, item)
        for number, item in enumerate(grade.items, start=1)
        if state_of(item) in {FAILED, PARTLY}
    ]
    if cause is not None:
        failing.sort(key=lambda pair: pair[1].result.item.id != cause.item)
    if not failing:
        return None
    number, item = failing[0]
    result = item.result
    message = text.caused(cause) if cause else capital(one_line(result.message, text.LONG))
    hint = cause.hint if cause else result.hint
    findings = tuple(laid_out.finding(finding, message) for finding in _telling(grade, result, cause))
    item_of_start = ShownItem(number, item, state_of(item), "", in_detail=True)
    return Start(message, laid_out.hint(hint), item_of_start, findings)


def _telling(grade: Grade, result: CheckResult, cause: Cause | None) -> Iterator[Finding]:
    """Of what is told first: a finding that shows the line, and one that shows what is wrong in an output."""
    line = cause.line if cause else None
    of_other_items = (item.result.findings for item in grade.items if item.result is not result)
    all_findings = [*result.findings, *(finding for findings in of_other_items for finding in findings)]
    candidates = [
        finding
        for finding in (all_findings if line else result.findings)
        if excerpts.lines_of(finding) and (line is None or line in excerpts.lines_of(finding))
    ]
    yield from sorted(candidates, key=lambda finding: (finding.kind not in GRAVEST, finding.line != line))[:1]
    wrong = [finding for finding in result.findings if finding.kind is FindingKind.WRONG_OUTPUT]
    yield from sorted(wrong, key=lambda finding: not text.is_told(finding, result.message))[:1]


def _explained_findings(start: Start | None, items: tuple[ShownItem, ...]) -> Iterator[tuple[str, Finding]]:
    """Each finding with the part of the page where it is explained."""
    for shown in start.findings if start else ():
        yield "start", shown.finding
    for item in items:
        for finding in item.findings:
            yield f"finding-{finding.number}", finding.finding
        for left_out in item.item.result.findings[len(item.findings) :]:
            yield f"item-{item.number}", left_out


def _score_bar(items: tuple[ShownItem, ...]) -> Iterator[pictures.Part]:
    """A part for each item, as wide as its points; what was lost of it is paler."""
    counting = [item for item in items if item.item.result.item.counts and item.item.max_points > 0]
    total = sum((item.item.max_points for item in counting), start=Fraction(0))
    for item in counting:
        most, points = item.item.max_points, item.item.points
        if item.state in {FAILED, PARTLY, PASSED}:
            yield pictures.Part(float(points / total), "pass" if item.state is PASSED else "partly")
            yield pictures.Part(float((most - points) / total), "lost")
        else:
            yield pictures.Part(float(most / total), item.state.name)


def _amounts(items: tuple[ShownItem, ...]) -> Iterator[Bars]:
    """What each item of traffic compares."""
    for item in items:
        amounts = item.item.result.amounts
        if amounts is None or amounts.metric not in METRICS:
            continue
        target = None if amounts.asked is None else float(amounts.asked) * amounts.baseline
        most = max(amounts.submission, amounts.baseline, target or 0)
        rows = [
            _amount(text_of("bars-yours"), amounts.submission, most, "fill"),
            _amount(text_of("kernel-of", baseline=amounts.baseline_name), amounts.baseline, most, "other"),
        ]
        if amounts.asked is not None and target is not None:
            label = text_of("bars-asked", share=plain_percent(amounts.asked))
            rows.append(_amount(label, int(target), most, "pass"))
        unit = amounts.unit or text_of(METRICS[amounts.metric][1])
        title = text_of("bars-title", title=text.title(item.item), metric=one_line(unit, 60))
        yield Bars(title, tuple(rows))


def _amount(label: str, value: int, most: float, kind: str) -> AmountBar:
    return AmountBar(
        one_line(label, 60), pictures.bar([pictures.Part(value / most if most else 0, kind)]), f"{value:,}"
    )


def _speedups(grade: Grade) -> Iterator[AmountBar]:
    """How many times as fast as the baseline, each with its interval and a line at 1."""
    timing = grade.timing
    if timing is None or timing.speedup is None:
        return
    ratios = {"kernel-student": timing.speedup, "kernel-solution": timing.solution}
    measured = [ratio for ratio in ratios.values() if ratio]
    most = 1.05 * max(1.0, *(ratio.high for ratio in measured))
    for name, ratio in ratios.items():
        if ratio:
            yield AmountBar(text_of(name), _interval(ratio, most), wording.ratio_in_words(ratio, "×"))


def _interval(ratio: Ratio, most: float) -> Markup:
    return pictures.interval(ratio.low, ratio.median, ratio.high, most=most, reference=1.0)


def _shares(grade: Grade) -> Iterator[AmountBar]:
    """Occupancy, and how much of what the device could do is done."""
    timing = grade.timing
    if timing is None or timing.speedup is None:
        return
    shares = {"occupancy-title": timing.occupancy, "roofline-title": timing.roofline_share}
    for name, share in shares.items():
        if share is not None:
            yield AmountBar(
                text_of(name), pictures.bar([pictures.Part(share, "fill")]), f"{100 * share:.3g} %"
            )


def _estimated_speedup(grade: Grade) -> Iterator[AmountBar]:
    """The ratio that a model gives, with its interval and a line at 1."""
    model = grade.estimate
    if model is not None and model.ratio is not None:
        bar = _interval(model.ratio, 1.05 * max(1.0, model.ratio.high))
        yield AmountBar(text_of("kernel-student"), bar, estimate.ratio_in_words(model.ratio))


def _estimated_limits(grade: Grade) -> Iterator[AmountBar]:
    """The share of the submission's time that each limit takes."""
    for limit in estimate.large_limits(grade.estimate) if grade.estimate else ():
        bar = pictures.bar([pictures.Part(limit.share, "fill")])
        yield AmountBar(estimate.limit_name(limit.limit), bar, f"{100 * limit.share:.0f} %")


def _facts(grade: Grade) -> Iterator[str]:
    """What graded it, and what was graded."""
    release = dict(grade.versions).get("grader", "")
    toolkit = f"nvcc {grade.toolkit.removeprefix('nvcc ')}" if grade.toolkit else ""
    parts = [f"grader {release}".strip(), grade.device or grade.backend, toolkit]
    yield text_of("graded-by", parts=one_line(", ".join(part for part in parts if part), 200))
    if grade.submission_digest:
        yield text_of("file-digest", digest=one_line(grade.submission_digest, 80)[:_SHORT_DIGEST])
    if grade.seed:
        yield text_of("seed-of", seed=grade.seed)
    if grade.hand_in and grade.hand_in.time:
        yield text_of("handed-in", time=one_line(grade.hand_in.time, 60))
    if grade.hand_in and grade.hand_in.attempts > 1:
        yield text_of("attempts", count=grade.hand_in.attempts)


class ExampleTable(NamedTuple):
    """An array of an example in rows: each number, and the class of its cell."""

    title: str
    extents: str
    rows: tuple[tuple[tuple[str, str], ...], ...]


def example_tables(example: Sequence[ExampleArray]) -> Iterator[ExampleTable]:
    """Inputs, and for each output what is expected beside what came out; wide ones are cut."""
    for array in example:
        name = one_line(array.name, 60)
        if not array.states:
            yield _table(text_of("example-input", array=name), array.shape, array.values)
            continue
        yield _table(text_of("example-expected", array=name), array.shape, array.expected)
        yield _table(text_of("example-got", array=name), array.shape, array.values, array.states)


_CLASSES = {"x": "much", "n": "nan", "?": "unwritten"}


def _table(title: str, shape: tuple[int, ...], values: Sequence[float], states: str = "") -> ExampleTable:
    width = shape[-1] if shape else 1
    cells = [
        ("·" if state == "?" else pictures.shown(value), _CLASSES.get(state, ""))
        for value, state in zip(values, states or " " * len(values), strict=True)
    ]
    rows = [cells[start : start + width][:MOST_COLUMNS] for start in range(0, len(cells), width or 1)]
    return ExampleTable(title, " × ".join(map(str, shape)), tuple(tuple(row) for row in rows[:MOST_COLUMNS]))
