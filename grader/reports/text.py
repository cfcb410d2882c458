"""A grade in the terminal: the score, each rubric item, and for what failed where it is and what to try."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from textwrap import dedent
from typing import TYPE_CHECKING, TypeAlias

from grader.base.text import many_lines, one_line
from grader.model import Finding, FindingKind, Verdict
from grader.model.messages import text_of
from grader.reports import estimate, excerpts, wording
from grader.reports.layout import Page
from grader.reports.selection import LONG, SHORT, case_name, selected
from grader.reports.wording import MARKS, STYLES, in_its_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.text import Text

    from grader.model import Grade
    from grader.reports.selection import Audience, Selection, ShownFinding, ShownItem, Start

SourceLines: TypeAlias = Sequence[str]

_QUOTED = " " * 6
"""Indentation of a line that is quoted."""


@in_its_words
def render(
    grade: Grade,
    *,
    audience: Audience = "student",
    width: int = 100,
    source_lines: SourceLines = (),
    further: excerpts.Further = excerpts.NONE_FURTHER,
    ascii_only: bool = False,
) -> Text:
    """Lay out the feedback on one submission; ``source_lines`` are its file's, to quote from.

    So are the lines of ``further`` files.
    """
    shown = selected(grade, audience)
    page, sources = Page(width, ascii_only), excerpts.Sources(grade.submission_file, source_lines, further)
    _headline(page, shown.grade)
    _overview(page, shown.items)
    if shown.start is not None and shown.start.cause is not None:
        _start(page, shown.start, sources)
    for items in _together(shown.items):
        _item(page, items, sources)
    _skipped(page, shown.items)
    wording.write(page, shown.grade)
    estimate.write(page, shown.grade)
    _advice(page, shown)
    if audience == "staff":
        _appendix(page, shown.grade)
    return page.text()


def details(item: ShownItem, sources: excerpts.Sources, *, width: int = 100) -> str:
    """Report of one item below its title, as on the page of the whole grade, and an estimated speed."""
    page = Page(width)
    _item(page, [item], sources)
    _, _, *lines = page.lines  # an empty line, and the title
    return "\n".join([dedent("\n".join(line.plain for line in lines)), *item.estimate])


def _headline(page: Page, grade: Grade) -> None:
    file = one_line(grade.submission_file or grade.submission_id, SHORT)
    page.line((one_line(grade.assignment_title, SHORT), "bold"), ": ", file)
    if grade.verdict == Verdict.ERROR:
        page.paragraph(wording.not_graded(grade), style="bold magenta")
    else:
        style = "bold green" if grade.score >= grade.max_score else "bold"
        points = wording.counted(grade.skipped_points)
        skipped = f"; {text_of('not-judged-here', points=points)}" if grade.skipped_points else ""
        page.line((wording.score(grade), style), skipped)
        for sentence in wording.adjustments(grade):
            page.paragraph(one_line(sentence, LONG), indent=2)
    page.blank()


def _overview(page: Page, items: Sequence[ShownItem]) -> None:
    points = [wording.of_item(shown.item) for shown in items]
    room = max(map(len, points), default=0)
    words = max((len(shown.state.look.word) for shown in items), default=0)
    for shown, earned in zip(items, points, strict=True):
        appearance = shown.state.look
        mark = f"{appearance.mark} {appearance.word:<{max(words, 5)}}"
        page.line("  ", (mark, appearance.style), f"  {earned:>{room}}  {shown.title}{shown.apart}")


def _start(page: Page, start: Start, sources: excerpts.Sources) -> None:
    """Write what explains the rest and the line that shows it, before the items one after the other."""
    page.blank()
    page.line((text_of("first"), "bold red"))
    page.paragraph(start.message, indent=4)
    _quotation(page, sources.quote(_at_line(start), page.width - len(_QUOTED)))
    page.paragraph(many_lines(start.hint, LONG), indent=4, opening=_try(), style="cyan")


def _at_line(start: Start) -> Finding:
    """The line to quote; of a long one that part where a finding has its array."""
    line = start.cause.line if start.cause else None
    at_line = (finding.address for finding in start.findings if line in excerpts.lines_of(finding))
    return Finding(FindingKind.MISTAKE, line=line, address=next(filter(None, at_line), ""))


def _try() -> str:
    """Text before a hint."""
    return f"{text_of('try')} "


def _together(items: Iterable[ShownItem]) -> Iterator[list[ShownItem]]:
    """Give the items to write in full; those that only repeat a message go together."""
    group: list[ShownItem] = []
    for shown in items:
        if not shown.in_detail and shown.result.verdict not in {Verdict.FAIL, Verdict.ERROR}:
            continue
        if group and not shown.repeats:
            yield group
            group = []
        group.append(shown)
    if group:
        yield group


def _item(page: Page, items: Sequence[ShownItem], sources: excerpts.Sources) -> None:
    """One item in full: what is wrong, where, and what to try."""
    shown, result = items[0], items[0].result
    page.blank()
    appearance = shown.state.look
    for one in items:
        page.line((f"{appearance.mark} {one.title}{one.apart}", f"bold {appearance.style}"))
    if result.message_staff:
        page.paragraph(many_lines(result.message_staff, LONG), indent=4)
    page.paragraph(many_lines(result.message, LONG), indent=4)
    for finding in shown.findings:
        _finding(page, finding, sources)
    if shown.more:
        page.line(f"    {text_of('more-findings', count=shown.more)}")
    _map(page, shown)
    if shown.failed_cases is not None:
        page.paragraph(shown.failed_cases.sentence, indent=4)
    if shown.hint:
        hint = text_of("same-hint") if shown.hint_before else shown.hint
        page.paragraph(many_lines(hint, LONG), indent=4, opening=_try(), style="cyan")


def _map(page: Page, shown: ShownItem) -> None:
    """Write where the output of the case that is reported first is wrong."""
    wrong = (one.finding for one in shown.findings if one.finding.kind is FindingKind.WRONG_OUTPUT)
    finding = next(wrong, None)
    if finding is None or not excerpts.says_something(finding):
        return
    page.paragraph(one_line(excerpts.legend(finding, ascii_only=page.ascii_only)), indent=4)
    for line in excerpts.drawing(finding, ascii_only=page.ascii_only):
        page.line(f"      {line}")


def _finding(page: Page, shown: ShownFinding, sources: excerpts.Sources) -> None:
    """One finding, with its source lines; its message only where the item's does not contain it already."""
    if not shown.is_stated:
        page.paragraph(many_lines(shown.words, LONG // 3), indent=4, opening="- ")
    lines_in_words = excerpts.lines_in_words(shown.finding)
    if lines_in_words:
        page.line(f"      {lines_in_words}")
    _quotation(page, sources.quote(shown.finding, page.width - len(_QUOTED)))
    if shown.repair:
        page.paragraph(many_lines(shown.repair, LONG // 3), indent=6, opening=_try())
    for number, step in enumerate(shown.finding.steps, start=1):
        page.paragraph(one_line(step, LONG // 3), indent=8, opening=f"{text_of('step', number=number)} ")


def _quotation(page: Page, rows: Sequence[excerpts.QuotedLine]) -> None:
    for row in rows:
        page.line(_QUOTED, (row.gutter, "dim"), (row.code, "bold" if row.marked else ""))


def _advice(page: Page, shown: Selection) -> None:
    """Write what could be better about a right kernel."""
    if not shown.advice:
        return
    page.blank()
    page.line((text_of("advice"), "bold"))
    for advice in shown.advice:
        page.paragraph(advice, indent=2, opening="- ")


def _skipped(page: Page, items: Iterable[ShownItem]) -> None:
    skipped = [shown for shown in items if shown.result.verdict == Verdict.SKIP]
    if not skipped:
        return
    usual = (shown.item.max_points for shown in skipped if shown.result.item.counts)
    total = wording.counted(sum(usual, start=Fraction(0)))
    page.blank()
    page.line((text_of("skipped", points=total), STYLES[Verdict.SKIP]))
    for shown in skipped:
        message = many_lines(shown.result.message, LONG)
        page.paragraph(f"{shown.title}: {message}", indent=2, opening=f"{MARKS[Verdict.SKIP]} ")


def _appendix(page: Page, grade: Grade) -> None:
    """Write the part for staff: every case with its error, and what graded it."""
    page.blank()
    page.line(("Cases", "bold"))
    for case in grade.cases:
        mark = f"{MARKS[case.verdict]} {text_of(case.verdict.value):<5}"
        error = "" if case.max_error is None else f"  error {case.max_error:.3g}"
        bound = "" if case.error_bound is None else f", bound {case.error_bound:.3g}"
        page.line("  ", (mark, STYLES[case.verdict]), f"  {case_name(case)}{error}{bound}")
    page.blank()
    if grade.witnesses:
        looked = ", ".join(f"{name}: {outcome}" for name, outcome in grade.witnesses)
        page.paragraph(one_line(f"Looked at by {looked}", LONG))
    graded_by = [grade.backend, grade.device, grade.toolkit, f"seed {grade.seed}"]
    page.line(("Graded by ", "dim"), one_line(", ".join(part for part in graded_by if part)))
