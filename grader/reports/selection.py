"""Selection of what a reader is shown of a grade, made once; every report only lays it out.

It is made of a view: of the whole grade for staff, for a student of what `grader.reports.audience` leaves. So
what is secret is decided before, and nothing here brings it back. `select` reads a grade from the top, as a
page does: a waiting item leaves out the findings that were shown before, and a hint is given once. `alone`
takes each item for itself, for reports whose items are read one by one.

Texts are as long as they are, and may hold anything, except where a docstring calls them harmless: a layout
makes them so at its own length.
"""

from __future__ import annotations

import shlex
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from grader.base.records import frozen, mutable
from grader.base.text import capital, one_line
from grader.model import FindingKind, Severity, Verdict, Visibility
from grader.model.messages import text_of
from grader.reports import estimate, excerpts
from grader.reports.audience import FAILED as FAILING
from grader.reports.audience import student_view
from grader.reports.wording import FAILED, PARTLY, PASSED, State, state_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.model import Advice, CaseGrade, Cause, CheckResult, Finding, Grade, ItemGrade
    from grader.reports.audience import Released

Audience: TypeAlias = Literal["student", "staff"]

MOST_FINDINGS = 5
MOST_OUTPUTS = 2
"""Wrong outputs in full: what is wrong with the others is mostly the same."""
MOST_CASES = 8
MOST_HAZARD_CASES = 2
"""Maximum number of cases of races and bad accesses, which are reported by their lines: where to see them is
enough."""
HAZARDS = ("races", "memory")
"""The checks that report races and bad accesses."""
ANSWERS = "answers"
"""The check whose cases are questions: each is a finding."""
MOST_ADVICE = 3
SHORT = 120
"""Characters of a name or title that a heading holds."""
LONG = 1_500
"""Characters of a message or hint: a screenful, however long a compiler's message is."""

GRAVEST = (FindingKind.OUT_OF_BOUNDS, FindingKind.BARRIER_DIVERGENCE)
"""Kinds of findings that make races at the same line, and so are the cause of them."""


@frozen
class ShownFinding:
    """A finding of an item, in its place."""

    finding: Finding
    words: str
    """Its message, with its case or its severity where those say more."""
    is_stated: bool
    """True if the item's message says the same already."""
    before: bool
    """True if it is shown further up, by this item or another."""
    in_start: bool
    """True if the start shows the same."""
    repair: str
    """Its repair; empty where the item's hint names it."""


@frozen
class FailedCases:
    """The cases in which an item fails and that no finding of it shows."""

    cases: tuple[CaseGrade | str, ...]
    """Those to be named; a case that the grade does not have is an id alone."""
    count: int
    is_all: bool
    """True if they are all cases of the grade."""
    others_are_shown: bool
    with_shapes: bool
    """True unless an item further up has named cases with their shapes."""

    @property
    def sentence(self) -> str:
        """The sentence that names them; harmless."""
        if self.is_all:
            return text_of("cases-all", count=self.count)
        names = [_name(case, with_shapes=self.with_shapes) for case in self.cases]
        listed = "; ".join(names)
        if self.count > len(names):
            listed = text_of("names-and-more", names=listed, count=self.count - len(names))
        return text_of("cases-more" if self.others_are_shown else "cases", names=listed, count=self.count)


@frozen
class ShownItem:
    """A rubric item; ``title`` and ``apart`` are harmless."""

    number: int
    item: ItemGrade
    state: State
    title: str
    apart: str
    """Remark that it is extra credit or a penalty; empty for most."""
    in_detail: bool
    """True if there is more of it to show than its message."""
    repeats: bool
    """True if it has a message alone, and the one before of its verdict has the same alone."""
    findings: tuple[ShownFinding, ...] = ()
    """The findings to show, wrong outputs last."""
    left_out: tuple[Finding, ...] = ()
    """All others."""
    hint: str = ""
    hint_before: bool = False
    """True if the hint was given further up."""
    hint_in_start: bool = False
    """True if the start gives it."""
    failed_cases: FailedCases | None = None
    estimate: tuple[str, ...] = ()
    """Lines of the estimated speed where it was skipped for want of a GPU."""

    @property
    def result(self) -> CheckResult:
        """Its outcome."""
        return self.item.result

    @property
    def fails(self) -> bool:
        """True if it was judged, and earns too little."""
        return self.state in {FAILED, PARTLY}

    @property
    def in_brief(self) -> str:
        """Its message where that is all, and it does not pass."""
        return "" if self.in_detail or self.state is PASSED else self.result.message

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """All of its findings, those to be shown first."""
        return (*(one.finding for one in self.findings), *self.left_out)

    @property
    def more(self) -> int:
        """Number of findings to be counted; wrong outputs left out are cases that fail."""
        return sum(finding.kind is not FindingKind.WRONG_OUTPUT for finding in self.left_out)


@frozen
class Start:
    """The place to start: what explains the rest, or else the first item that fails."""

    cause: Cause | None
    message: str
    """A sentence; harmless."""
    hint: str
    number: int
    """The number of its item."""
    findings: tuple[Finding, ...]
    """One that shows the line, and one that shows the wrong output."""


@frozen
class Selection:
    """All that a reader is shown of a grade, in its order."""

    grade: Grade
    start: Start | None
    items: tuple[ShownItem, ...]
    advice: tuple[str, ...]
    """Advice on right work, the most rewarding first; its texts are harmless."""


@mutable
class _Reader:
    """A reader from the top: the texts that stand above, and those of the start."""

    view: Grade
    start: Start | None = None
    sentences: set[str] = field(default_factory=set)
    findings: set[tuple[object, ...]] = field(default_factory=set)
    bare: dict[bool, tuple[Verdict, str] | None] = field(default_factory=dict)
    """The verdict and message of the last item that was not skipped (False), and of the last that was (True),
    where it has nothing else."""
    shapes: bool = False

    def item(self, number: int, item: ItemGrade) -> ShownItem:
        """Select what is shown of the next item."""
        result, state = item.result, state_of(item)
        if not result.judged or result.verdict is Verdict.ERROR:
            result = self._only_new(result)
        verdicts = result.case_verdicts
        first, left_out = _most_telling(result)
        findings = tuple(self._finding(finding, result) for finding in first)
        says_more = bool(findings or result.message_staff)
        is_bare = not (says_more or result.hint or any(verdict in FAILING for _, verdict in verdicts))
        shown = ShownItem(
            number,
            item,
            state,
            title(item),
            apart(item),
            in_detail=says_more or state in {FAILED, PARTLY},
            repeats=is_bare and self._repeats(result),
            findings=findings,
            left_out=left_out,
            hint=result.hint,
            hint_before=bool(result.hint) and result.hint in self.sentences,
            hint_in_start=self.start is not None and capital(result.hint) == self.start.hint,
            failed_cases=self._failed_cases(result, findings),
            estimate=tuple(estimate.lines_beside(self.view, item)),
        )
        self._remember(shown, is_bare=is_bare)
        self.shapes = self.shapes or bool(shown.in_detail and verdicts)
        return shown

    def _only_new(self, result: CheckResult) -> CheckResult:
        """Leave out of an item that is not judged its cases, and what texts further up say."""
        new = [f for f in result.findings if not any(contains_message(f, text) for text in self.sentences)]
        hint = result.hint if new and result.hint not in self.sentences else ""
        return replace(result, findings=tuple(new), hint=hint, case_verdicts=())

    def _finding(self, finding: Finding, result: CheckResult) -> ShownFinding:
        """Select what is shown of a finding, and remember it."""
        key = _key(finding)
        before = key in self.findings
        self.findings.add(key)
        return ShownFinding(
            finding,
            _in_words(finding),
            is_stated=contains_message(finding, result.message),
            before=before,
            in_start=self.start is not None and key in map(_key, self.start.findings),
            repair=finding.repair if finding.repair[1:] not in result.hint else "",
        )

    def _failed_cases(self, result: CheckResult, findings: Sequence[ShownFinding]) -> FailedCases | None:
        """Select the cases that failed and that no finding shows; hidden ones are in the item's message."""
        check, together = result.item.check, text_of("hidden-cases-together")
        failed = [name for name, verdict in result.case_verdicts if verdict in FAILING and name != together]
        outputs = {one.finding.case for one in findings if one.finding.kind is FindingKind.WRONG_OUTPUT}
        names = [name for name in failed if name not in outputs]
        if not names or check == ANSWERS:
            return None
        cases = {case.case.id: case for case in self.view.cases}
        most = MOST_HAZARD_CASES if check in HAZARDS else MOST_CASES
        return FailedCases(
            tuple(cases.get(name, name) for name in names[:most]),
            len(names),
            is_all=len(names) == len(cases) > MOST_OUTPUTS,
            others_are_shown=bool(outputs),
            with_shapes=not self.shapes,
        )

    def _repeats(self, result: CheckResult) -> bool:
        return self.bare.get(result.verdict is Verdict.SKIP) == (result.verdict, result.message)

    def _remember(self, shown: ShownItem, *, is_bare: bool) -> None:
        result = shown.result
        self.sentences |= {result.message, shown.hint, *(one.message for one in shown.all_findings)}
        if shown.in_detail or shown.state is not PASSED:
            self.bare[result.verdict is Verdict.SKIP] = (result.verdict, result.message) if is_bare else None


def selected(grade: Grade, audience: Audience = "student", released: Released = "") -> Selection:
    """Select what students, or staff, are shown of a grade; ``released`` is what students may see by now."""
    return select(student_view(grade, released) if audience == "student" else grade)


def select(view: Grade) -> Selection:
    """Select what is shown of a view, read from the top."""
    start = _start(view)
    reader = _Reader(view, start)
    if view.cause is not None:
        reader.sentences = {view.cause.message, capital(view.cause.hint)}
    items = tuple(reader.item(number, item) for number, item in enumerate(view.items, start=1))
    return Selection(view, start, items, tuple(map(_advised, view.advice[:MOST_ADVICE])))


def alone(view: Grade) -> tuple[ShownItem, ...]:
    """Select what is shown of each item of a view where nothing stands above it."""
    return tuple(_Reader(view).item(number, item) for number, item in enumerate(view.items, start=1))


def failing(view: Grade) -> list[ItemGrade]:
    """List the items that fail, those that count first: extra credit explains nothing."""
    items = [item for item in view.items if state_of(item) in {FAILED, PARTLY}]
    return sorted(items, key=lambda item: not item.result.item.counts)


def _start(view: Grade) -> Start | None:
    """Select the cause with its finding; without a known cause, the first item that fails."""
    cause, items = view.cause, failing(view)
    items.sort(key=lambda item: _is_silent(item.result))
    if cause is not None:
        items.sort(key=lambda item: item.result.item.id != cause.item)
    if not items:
        return None
    result = items[0].result
    message = caused(cause) if cause else capital(one_line(result.message, LONG))
    hint = capital(cause.hint if cause else result.hint)
    number = next(number for number, item in enumerate(view.items, start=1) if item is items[0])
    return Start(cause, message, hint, number, tuple(dict.fromkeys(_telling(view, result, cause))))


def _is_silent(result: CheckResult) -> bool:
    """True if nothing more can be said of a hidden item, so that it is no place to start."""
    return result.item.visibility is not Visibility.VISIBLE and not (result.findings or result.hint)


def _telling(view: Grade, result: CheckResult, cause: Cause | None) -> Iterator[Finding]:
    """Findings that are shown first: one that shows the line, and one that shows the wrong output."""
    line = cause.line if cause else None
    of_other_items = (item.result.findings for item in view.items if item.result is not result)
    all_findings = [*result.findings, *(finding for findings in of_other_items for finding in findings)]
    candidates = [
        finding
        for finding in (all_findings if line else result.findings)
        if excerpts.lines_of(finding) and (line is None or line in excerpts.lines_of(finding))
    ]
    yield from sorted(candidates, key=lambda finding: (finding.kind not in GRAVEST, finding.line != line))[:1]
    wrong = [finding for finding in result.findings if finding.kind is FindingKind.WRONG_OUTPUT]
    yield from sorted(wrong, key=lambda finding: not contains_message(finding, result.message))[:1]


def _most_telling(result: CheckResult) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Divide findings into those to show and the others; of wrong outputs that in the message comes first."""
    wrong = [finding for finding in result.findings if finding.kind is FindingKind.WRONG_OUTPUT]
    wrong.sort(key=lambda finding: not contains_message(finding, result.message))
    others = [finding for finding in result.findings if finding.kind is not FindingKind.WRONG_OUTPUT]
    return (*others[:MOST_FINDINGS], *wrong[:MOST_OUTPUTS]), (*others[MOST_FINDINGS:], *wrong[MOST_OUTPUTS:])


def _key(finding: Finding) -> tuple[object, ...]:
    """Identify what a reader sees of a finding."""
    return finding.message, finding.file, finding.line, finding.other_line


def contains_message(finding: Finding, text: str) -> bool:
    """Tell whether a text has a finding's message, which begins with a capital where it begins a sentence."""
    return finding.message in text or capital(finding.message) in text


def _in_words(finding: Finding) -> str:
    if finding.kind == FindingKind.MISTAKE and finding.case:  # another than the one of the item's message
        return text_of("finding-in-case", case=one_line(finding.case, SHORT), sentence=finding.message)
    if finding.severity == Severity.ERROR:
        return finding.message
    return f"{text_of(f'severity-{finding.severity}')}: {finding.message}"


def title(item: ItemGrade) -> str:
    """Give the item's title, or its id where it has none; harmless."""
    return one_line(item.result.item.title or item.result.item.id, SHORT)


def apart(item: ItemGrade) -> str:
    """Say of extra credit and of a penalty that it is one."""
    if item.result.item.extra:
        return f" {text_of('extra-credit')}"
    return f" {text_of('penalty')}" if item.result.item.penalty else ""


def caused(cause: Cause) -> str:
    """Write what explains the rest as a sentence, with its line where the message names none; harmless."""
    message = one_line(cause.message, LONG)
    if cause.line is not None and not cause.names_line:
        message = text_of("with-its-line", sentence=message, line=cause.line)
    return capital(message)


def _advised(advice: Advice) -> str:
    """Write a piece of advice with its line; harmless."""
    message = one_line(advice.message, LONG // 3)
    return message if advice.line is None else text_of("line-of", line=advice.line, sentence=message)


def case_name(case: CaseGrade) -> str:
    """Give a case's id and, where they may be known, its shape and sizes or its arguments; harmless."""
    sizes = dict((*case.case.sizes, *case.case.shape))
    shape = ", ".join(f"{name}={size}" for name, size in sizes.items())
    inputs = shape or shlex.join(case.case.arguments)
    return one_line(f"{case.case.id} ({inputs})" if inputs else case.case.id)


def _name(case: CaseGrade | str, *, with_shapes: bool) -> str:
    if isinstance(case, str):
        return one_line(case)
    return case_name(case) if with_shapes else one_line(case.case.id)
