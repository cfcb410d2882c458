"""A grade in the terminal: the score, each rubric item, and for what failed where it is and what to try."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from textwrap import dedent
from typing import TYPE_CHECKING, Literal, TypeAlias

from grader.messages import text_of
from grader.model import Finding, FindingKind, Severity, Verdict
from grader.reports import estimate, excerpts, wording
from grader.reports.audience import FAILED, student_view
from grader.reports.layout import Page
from grader.reports.wording import MARKS, STYLES, in_its_words, look
from grader.text import capital, many_lines, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from grader.model import Advice, CaseGrade, Cause, Grade, ItemGrade

Audience: TypeAlias = Literal["student", "staff"]
SourceLines: TypeAlias = Sequence[str]

MOST_FINDINGS = 5
MOST_QUOTED = 2
"""Wrong outputs in full: what is wrong with the others is mostly the same."""
MOST_CASES = 8
MOST_HAZARD_CASES = 2
"""The same of races and bad accesses, which are told by their lines: where to see them is enough."""
HAZARDS = ("races", "memory")
"""The checks that tell of those."""
ANSWERS = "answers"
"""The check whose cases are questions."""
MOST_ADVICE = 3
_QUOTED = " " * 6
"""What stands before a line that is quoted."""
SHORT = 120
"""Characters of a name or title that a heading holds."""
LONG = 1_500
"""Characters of a message or hint: a screenful, whatever a compiler has to say."""


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
    shown = student_view(grade) if audience == "student" else grade
    page, sources = Page(width, ascii_only), excerpts.Sources(grade.submission_file, source_lines, further)
    _headline(page, shown)
    _overview(page, shown)
    _cause(page, shown, sources)
    shapes = True
    for items in _worth_telling(shown):
        _item(page, shown, items, sources, shapes=shapes)
        shapes = shapes and not items[0].result.case_verdicts
    _skipped(page, shown)
    wording.write(page, shown)
    estimate.write(page, shown)
    _advice(page, shown)
    if audience == "staff":
        _appendix(page, shown)
    return page.text()


def details(grade: Grade, item: ItemGrade, sources: excerpts.Sources, *, width: int = 100) -> str:
    """What is said of one item below its title, as on the page of the whole grade, which must be a view."""
    page = Page(width)
    _item(page, grade, [item], sources)
    _, _, *lines = page.lines  # an empty line, and the title
    return dedent("\n".join(line.plain for line in lines))


def _headline(page: Page, grade: Grade) -> None:
    file = one_line(grade.submission_file or grade.submission_id, SHORT)
    page.line((one_line(grade.assignment_title, SHORT), "bold"), ": ", file)
    if grade.verdict == Verdict.ERROR:
        why = one_line(grade.error or text_of("see-below"), 1000)
        page.paragraph(text_of("not-graded-submission", reason=why), style="bold magenta")
    else:
        style = "bold green" if grade.score >= grade.max_score else "bold"
        points = wording.counted(grade.skipped_points)
        skipped = f"; {text_of('not-judged-here', points=points)}" if grade.skipped_points else ""
        page.line((wording.score(grade), style), skipped)
        for adjustment in grade.adjustments:
            page.paragraph(one_line(wording.adjustment(adjustment), LONG), indent=2)
    page.blank()


def _overview(page: Page, grade: Grade) -> None:
    rows = [(item, wording.of_item(item)) for item in grade.items]
    room = max((len(text) for _, text in rows), default=0)
    words = max((len(look(item.result).word) for item, _ in rows), default=0)
    for item, text in rows:
        appearance = look(item.result)
        mark = f"{appearance.mark} {appearance.word:<{max(words, 5)}}"
        page.line("  ", (mark, appearance.style), f"  {text:>{room}}  {title(item)}{apart(item)}")


def _cause(page: Page, grade: Grade, sources: excerpts.Sources) -> None:
    """What explains the rest and the line that shows it, before the items one after the other."""
    if grade.cause is None:
        return
    page.blank()
    page.line((text_of("first"), "bold red"))
    page.paragraph(caused(grade.cause), indent=4)
    _quotation(page, sources.quote(_at_line(grade, grade.cause.line), page.width - len(_QUOTED)))
    hint = many_lines(capital(grade.cause.hint), LONG)
    page.paragraph(hint, indent=4, opening=_try(), style="cyan")


def _at_line(grade: Grade, line: int | None) -> Finding:
    """A line to quote; of a long one that part where a finding has its array."""
    findings = (finding for item in grade.items for finding in item.result.findings)
    at_line = (finding.address for finding in findings if line in excerpts.lines_of(finding))
    return Finding(FindingKind.MISTAKE, line=line, address=next(filter(None, at_line), ""))


def caused(cause: Cause) -> str:
    """Write what explains the rest as a sentence, with its line where the message names none; harmless."""
    message = one_line(cause.message, LONG)
    if cause.line is not None and not cause.names_line:
        message = text_of("with-its-line", sentence=message, line=cause.line)
    return capital(message)


def _try() -> str:
    """What stands before a hint."""
    return f"{text_of('try')} "


def title(item: ItemGrade) -> str:
    """Give the item's title, or its id where it has none; harmless."""
    return one_line(item.result.item.title or item.result.item.id, SHORT)


def apart(item: ItemGrade) -> str:
    """Say of extra credit and of a penalty that it is one."""
    if item.result.item.extra:
        return f" {text_of('extra-credit')}"
    return f" {text_of('penalty')}" if item.result.item.penalty else ""


def _worth_telling(grade: Grade) -> Iterator[list[ItemGrade]]:
    """Give the items that failed or have findings; neighbours that only share one message go together."""
    items_to_tell = [
        item
        for item in _without_repetitions(grade)
        if item.result.verdict in FAILED
        or item.result.message_staff
        or (item.result.findings and item.result.verdict != Verdict.SKIP)
    ]
    for _, items in groupby(items_to_tell, key=_all_there_is_to_say):
        yield list(items)


def _without_repetitions(grade: Grade) -> Iterator[ItemGrade]:
    """Leave out what an item that was not judged has in common with those before it, and all of its cases."""
    sentences: set[str] = set() if grade.cause is None else {grade.cause.message, capital(grade.cause.hint)}
    for item in grade.items:
        result = item.result
        if not result.judged or result.verdict == Verdict.ERROR:
            findings = tuple(
                f for f in result.findings if not any(is_told(f, earlier) for earlier in sentences)
            )
            hint = result.hint if findings and result.hint not in sentences else ""
            result = replace(result, findings=findings, hint=hint, case_verdicts=())
        elif result.hint and result.hint in sentences:
            result = replace(result, hint=text_of("same-hint"))
        sentences |= {result.message, result.hint, *(finding.message for finding in result.findings)}
        yield replace(item, result=result)


def is_told(finding: Finding, text: str) -> bool:
    """Tell whether a text has a finding's message, which begins with a capital where it begins a sentence."""
    return finding.message in text or capital(finding.message) in text


def _all_there_is_to_say(item: ItemGrade) -> tuple[str, ...]:
    """Key an item by its message alone where it has nothing else, and by its id where it has."""
    result = item.result
    if (
        result.findings
        or result.hint
        or result.message_staff
        or any(verdict in FAILED for _, verdict in result.case_verdicts)
    ):
        return result.message, result.item.id
    return result.message, "", result.verdict


def _item(
    page: Page, grade: Grade, items: list[ItemGrade], sources: excerpts.Sources, *, shapes: bool = True
) -> None:
    """One item in full: what is wrong, where, and what to try."""
    item, result = items[0], items[0].result
    page.blank()
    appearance = look(result)
    for item_of_group in items:
        page.line(
            (f"{appearance.mark} {title(item_of_group)}{apart(item_of_group)}", f"bold {appearance.style}")
        )
    if result.message_staff:
        page.paragraph(many_lines(result.message_staff, LONG), indent=4)
    page.paragraph(many_lines(result.message, LONG), indent=4)
    wrong = [finding for finding in result.findings if finding.kind == FindingKind.WRONG_OUTPUT]
    wrong.sort(key=lambda finding: not is_told(finding, result.message))  # the one that is told counts
    findings = [finding for finding in result.findings if finding.kind != FindingKind.WRONG_OUTPUT]
    for finding in (*findings[:MOST_FINDINGS], *wrong[:MOST_QUOTED]):
        _finding(page, finding, result.message, sources)
        if result.hint != text_of("same-hint") and untold_repair(finding, result.hint):
            page.paragraph(many_lines(finding.repair, LONG // 3), indent=6, opening=_try())
        for number, step in enumerate(finding.steps, start=1):
            opening = f"{text_of('step', number=number)} "
            page.paragraph(one_line(step, LONG // 3), indent=8, opening=opening)
    more = len(findings) - MOST_FINDINGS
    if more > 0:
        page.line(f"    {text_of('more-findings', count=more)}")
    _map(page, wrong)
    if item.result.item.check != ANSWERS:  # there each case is a question, and told of above
        _failing_cases(page, grade, item, [finding.case for finding in wrong[:MOST_QUOTED]], shapes=shapes)
    if result.hint:
        page.paragraph(many_lines(result.hint, LONG), indent=4, opening=_try(), style="cyan")


def _map(page: Page, wrong: list[Finding]) -> None:
    """Where the output of the case that is told first is wrong."""
    finding = next(iter(wrong), None)
    if finding is None or not excerpts.says_something(finding):
        return
    page.paragraph(one_line(excerpts.legend(finding, ascii_only=page.ascii_only)), indent=4)
    for line in excerpts.drawing(finding, ascii_only=page.ascii_only):
        page.line(f"      {line}")


def _failing_cases(page: Page, grade: Grade, item: ItemGrade, quoted: list[str], *, shapes: bool) -> None:
    """The cases that failed and are not quoted above; with their shapes where no item before had a list."""
    failed = [name for name, verdict in item.result.case_verdicts if verdict in FAILED]
    unquoted = [name for name in failed if name not in quoted]
    if not unquoted:
        return
    if len(unquoted) == len(grade.cases) > MOST_QUOTED:
        page.paragraph(text_of("cases-all", count=len(unquoted)), indent=4)
        return
    cases = {case.case.id: case for case in grade.cases}
    names = [case_name(cases[n]) if shapes and n in cases else one_line(n) for n in unquoted]
    most = MOST_HAZARD_CASES if item.result.item.check in HAZARDS else MOST_CASES
    listed = "; ".join(names[:most])
    if len(names) > most:
        listed = text_of("names-and-more", names=listed, count=len(names) - most)
    heading = "cases-more" if quoted else "cases"
    page.paragraph(text_of(heading, names=listed, count=len(unquoted)), indent=4)


def case_name(case: CaseGrade) -> str:
    """Give a case's id and, where they may be known, its shape and sizes or its arguments; harmless."""
    sizes = dict((*case.case.sizes, *case.case.shape))
    shape = ", ".join(f"{name}={size}" for name, size in sizes.items())
    inputs = shape or shlex.join(case.case.arguments)
    return one_line(f"{case.case.id} ({inputs})" if inputs else case.case.id)


def _finding(page: Page, finding: Finding, message: str, sources: excerpts.Sources) -> None:
    """One finding, with its source lines; its message only where the item's does not tell it already."""
    quoted = sources.quote(finding, page.width - len(_QUOTED))
    lines_in_words = excerpts.lines_in_words(finding)
    if is_told(finding, message) and not quoted and not lines_in_words:
        return
    if not is_told(finding, message):
        page.paragraph(_finding_in_words(finding), indent=4, opening="- ")
    if lines_in_words:
        page.line(f"      {lines_in_words}")
    _quotation(page, quoted)


def _quotation(page: Page, rows: Sequence[excerpts.QuotedLine]) -> None:
    for row in rows:
        page.line(_QUOTED, (row.gutter, "dim"), (row.code, "bold" if row.marked else ""))


def _finding_in_words(finding: Finding) -> str:
    message = many_lines(finding.message, LONG // 3)
    if finding.kind == FindingKind.MISTAKE and finding.case:  # another than the one of the item's message
        return text_of("finding-in-case", case=one_line(finding.case, SHORT), sentence=message)
    if finding.severity == Severity.ERROR:
        return message
    return f"{text_of(f'severity-{finding.severity}')}: {message}"


def untold_repair(finding: Finding, hint: str) -> bool:
    """Tell whether a finding has a repair that the hint, which writes it as a sentence, does not name."""
    return bool(finding.repair) and finding.repair[1:] not in hint


def _advice(page: Page, grade: Grade) -> None:
    """What could be better about a right kernel, the most rewarding first."""
    if not grade.advice:
        return
    page.blank()
    page.line((text_of("advice"), "bold"))
    for advice in grade.advice[:MOST_ADVICE]:
        page.paragraph(advised(advice), indent=2, opening="- ")


def advised(advice: Advice) -> str:
    """Write a piece of advice with its line; harmless."""
    message = one_line(advice.message, LONG // 3)
    return message if advice.line is None else text_of("line-of", line=advice.line, sentence=message)


def _skipped(page: Page, grade: Grade) -> None:
    skipped = [item for item in grade.items if item.result.verdict == Verdict.SKIP]
    if not skipped:
        return
    usual = (item.max_points for item in skipped if item.result.item.counts)
    total = wording.counted(sum(usual, start=Fraction(0)))
    page.blank()
    page.line((text_of("skipped", points=total), STYLES[Verdict.SKIP]))
    for item in skipped:
        message = many_lines(item.result.message, LONG)
        page.paragraph(f"{title(item)}: {message}", indent=2, opening=f"{MARKS[Verdict.SKIP]} ")


def _appendix(page: Page, grade: Grade) -> None:
    """What staff want beside it: every case with its error, and what graded it."""
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
