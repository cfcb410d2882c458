"""Content of the page of a submission, in the order of the page: `view` gives it to the template.

`grader.reports.selection` decides what the page shows; pictures are added here, each once. Each part can be
linked to: ``#item-2``, ``#finding-5``, ``#line-13``. Pictures are drawn of the evidence of cases that the
reader may see: the cases of the findings that are selected.
"""

from __future__ import annotations

import shlex
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from grader.base.records import mutable
from grader.base.text import capital, one_line
from grader.grading.checks.traffic import METRICS
from grader.grading.checks.wording import plain_percent, sizes
from grader.model import TRACED, FindingKind
from grader.model.messages import text_of
from grader.reports import estimate, excerpts, pictures, wording
from grader.reports.wording import FAILED, PARTLY, PASSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markupsafe import Markup

    from grader.model import CaseEvidence, ExampleArray, Finding, Grade, Ratio
    from grader.reports.selection import Selection, ShownFinding, ShownItem, Start
    from grader.reports.trace_files import Embedded

MOST_HEAT_MAPS = 4
"""Heat maps on one page: what is wrong with further cases mostly looks the same."""
MOST_RACES = 2
"""The same of races."""
MOST_COLUMNS = 32
"""Numbers side by side in an example."""
_SHORT_DIGEST = 12


class DrawnFinding(NamedTuple):
    """A finding with what is drawn of it; nothing where it is shown further up."""

    number: int
    finding: Finding
    where: str
    shown: ShownFinding | None = None
    """The finding as its item shows it; None in the start."""
    quoted: tuple[excerpts.QuotedLine, ...] = ()
    race: pictures.Race | None = None
    heat: pictures.Heat | None = None
    example: tuple[ExampleArray, ...] = ()
    example_sizes: str = ""
    trace: str = ""
    """The command that shows what its block did."""
    how_to_read: bool = False
    """True if it is the first map of the page, which says how all of them are read."""
    watch: bool = False
    """True if the page has the trace of a block in which the same happens."""
    drawn: bool = True
    """True if it is explained here, and not further up."""


class DrawnItem(NamedTuple):
    """A rubric item with its findings, and its hint where that is new."""

    shown: ShownItem
    findings: tuple[DrawnFinding, ...]
    hint: str


class DrawnStart(NamedTuple):
    """The start with its item, and its findings drawn."""

    shown: Start
    item: ShownItem
    findings: tuple[DrawnFinding, ...]


class AmountBar(NamedTuple):
    """An amount with its bar."""

    label: str
    bar: Markup
    value: str


class Bars(NamedTuple):
    """Amounts to compare."""

    title: str
    rows: tuple[AmountBar, ...]


@mutable
class _Drawing:
    """Drawing in progress: findings get numbers in the order of the page, and nothing is drawn twice."""

    grade: Grade
    sources: excerpts.Sources
    cases: dict[str, CaseEvidence]
    embedded: Embedded | None
    findings: int = 0
    heat_maps: int = 0
    races: int = 0
    drawn: set[tuple[object, ...]] = field(default_factory=set)
    """The quotations, examples and commands that the page has already."""

    def item(self, shown: ShownItem) -> DrawnItem:
        """Draw an item's findings; an example may be that of a wrong output that is left out."""
        hint = "" if shown.hint_before or shown.hint_in_start else capital(shown.hint)
        drawn = [self.of_item(finding) for finding in shown.findings]
        for finding in shown.left_out:
            if drawn and not any(one.example for one in drawn):
                example, shape = self._example(finding)
                drawn[-1] = drawn[-1]._replace(example=example, example_sizes=shape)
        return DrawnItem(shown, tuple(drawn), hint)

    def of_item(self, shown: ShownFinding) -> DrawnFinding:
        """Draw a finding of an item; one that is shown further up is named only."""
        if shown.before or shown.in_start:
            self.findings += 1
            where = excerpts.lines_in_words(shown.finding)
            return DrawnFinding(self.findings, shown.finding, where, shown, drawn=False)
        return self.finding(shown.finding)._replace(shown=shown)

    def finding(self, finding: Finding) -> DrawnFinding:
        """Draw a finding."""
        self.findings += 1
        case = self.cases.get(finding.case) if finding.kind is FindingKind.WRONG_OUTPUT else None
        heat = self._heat(finding, case) if case else None
        example, shape = self._example(finding)
        return DrawnFinding(
            self.findings,
            finding,
            excerpts.lines_in_words(finding),
            quoted=self._quoted(finding),
            race=self._race(finding),
            heat=heat,
            example=example,
            example_sizes=shape,
            trace=self._trace(finding),
            how_to_read=heat is not None and self._is_new("how to read"),
            watch=self._watch(finding),
        )

    def _quoted(self, finding: Finding) -> tuple[excerpts.QuotedLine, ...]:
        """The lines of a finding, without the indentation that they share; none where they stand already."""
        quoted = tuple(excerpts.without_indentation(self.sources.quote(finding, around=1)))
        return quoted if self._is_new("quoted", quoted) else ()

    def _example(self, finding: Finding) -> tuple[tuple[ExampleArray, ...], str]:
        """The numbers of a wrong output at a small shape, and the shape; none where they stand already."""
        case = self.cases.get(finding.case) if finding.kind is FindingKind.WRONG_OUTPUT else None
        if case is None:
            return (), ""
        shape = sizes(case.smallest or case.case.shape)
        return (case.example if self._is_new("example", shape) else ()), shape

    def _is_new(self, *key: object) -> bool:
        """True if the page does not have it yet."""
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
        """True if the embedded trace shows it, and nothing above leads there."""
        trace = self.embedded
        if trace is None:
            return False
        if finding.kind is FindingKind.WRONG_OUTPUT:
            is_it = trace.shows_output
        else:
            is_it = finding.kind in TRACED and (finding.line, finding.other_line) in trace.lines
        return is_it and self._is_new("watch")

    def _trace(self, finding: Finding) -> str:
        """The command that shows what a block did; empty where it cannot be run."""
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
    grade: Grade, shown: Selection, sources: excerpts.Sources, embedded: Embedded | None = None
) -> dict[str, object]:
    """Values that the template asks for; ``shown`` is what its reader is shown of the grade."""
    cases = {case.case.id: case for case in grade.evidence.cases} if grade.evidence else {}
    grade = shown.grade
    drawing = _Drawing(grade, sources, cases, embedded)
    start = _start(drawing, shown)
    items = tuple(map(drawing.item, shown.items))
    remarks = excerpts.remarks_of(
        _explained_findings(start, items), grade.submission_file, len(sources.lines)
    )
    return {
        "grade": grade,
        "items": items,
        "start": start,
        "advice": shown.advice,
        "score_bar": pictures.bar(_score_bar(shown.items)),
        "rows": tuple(excerpts.rows_of(sources.lines, remarks)),
        "marked_lines": frozenset(remarks),
        "bars_of_items": tuple(_amounts(shown.items)),
        "speed": wording.speed(grade),
        "speedups": tuple(_speedups(grade)),
        "shares": tuple(_shares(grade)),
        "estimate": estimate.displayed_estimate(grade),
        "estimated_speedups": tuple(_estimated_speedup(grade)),
        "estimated_limits": tuple(_estimated_limits(grade)),
        "facts": tuple(_facts(grade)),
    }


def _start(drawing: _Drawing, shown: Selection) -> DrawnStart | None:
    start = shown.start
    if start is None:
        return None
    return DrawnStart(start, shown.items[start.number - 1], tuple(map(drawing.finding, start.findings)))


def _explained_findings(
    start: DrawnStart | None, items: Iterable[DrawnItem]
) -> Iterator[tuple[str, Finding]]:
    """Each finding with the part of the page where it is explained."""
    for drawn in start.findings if start else ():
        yield "start", drawn.finding
    for item in items:
        for drawn in item.findings:
            yield f"finding-{drawn.number}", drawn.finding
        for left_out in item.shown.left_out:
            yield f"item-{item.shown.number}", left_out


def _score_bar(items: Sequence[ShownItem]) -> Iterator[pictures.Part]:
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


def _amounts(items: Iterable[ShownItem]) -> Iterator[Bars]:
    """Amounts that each item of traffic compares."""
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
        title = text_of("bars-title", title=item.title, metric=one_line(unit, 60))
        yield Bars(title, tuple(rows))


def _amount(label: str, value: int, most: float, kind: str) -> AmountBar:
    return AmountBar(
        one_line(label, 60), pictures.bar([pictures.Part(value / most if most else 0, kind)]), f"{value:,}"
    )


def _speedups(grade: Grade) -> Iterator[AmountBar]:
    """Speedups over the baseline, each with its interval and a line at 1."""
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
    """Facts on what graded it, and on what was graded."""
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
        ("·" if state == "?" else pictures.table_number(value), _CLASSES.get(state, ""))
        for value, state in zip(values, states or " " * len(values), strict=True)
    ]
    rows = [cells[start : start + width][:MOST_COLUMNS] for start in range(0, len(cells), width or 1)]
    return ExampleTable(title, " × ".join(map(str, shape)), tuple(tuple(row) for row in rows[:MOST_COLUMNS]))
