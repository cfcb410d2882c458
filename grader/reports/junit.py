"""JUnit XML, as Jenkins, GitLab and GitHub read it: a flat suite per submission.

The test cases of a suite come from the rubric and the cases alone, never from what ran: their names and
order are the same for every submission, one that does not compile included. Items that speak of the whole
submission give one test case; all others one per case, and in what a student gets one for all hidden cases.
``failure`` is the student's, ``error`` ours, and ``skipped`` was not judged here; no test case holds two of
them. Points are in the suite's properties and, for readers of single test cases, in ``[[PROPERTY|points=…]]``
lines of their output; an item's points are divided among the cases that earned them, so that they add up (but
for rounding). Extra credit and penalties have a maximum of 0, so that the maxima add up, too; a penalty's
points are negative.

Every test case has a ``time``, its share of the seconds that its case took. Dialects: ``strict`` is valid by
the schema of Jenkins' xUnit plugin; ``extended`` adds ``file`` and ``line``, which GitLab and annotating
actions read; ``items`` has one test case for each item, for readers that count tests, such as Artemis.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET  # only written here, never parsed
from collections import Counter
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from junit_xml import TestCase, TestSuite

from grader.base.text import headline, many_lines, one_line
from grader.grading.checks import CHECKS
from grader.model import Verdict
from grader.model.messages import text_of
from grader.reports import excerpts, wording
from grader.reports.selection import alone, case_name
from grader.reports.wording import in_its_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from grader.model import CaseGrade, Finding, Grade, ItemGrade
    from grader.reports.selection import ShownItem

WHOLE_SUBMISSION = {check.name for check in CHECKS if check.whole_submission}
"""The checks that look at no case of their own."""

MARKER = re.compile(r"\[\[(?=\w+\|)")
LONGEST_MESSAGE = 2_000
LONGEST_OUTPUT = 20_000


class ItemOutcome(NamedTuple):
    """One test case to be: an item, and the case it speaks of (none: the whole submission)."""

    item: ItemGrade
    case: CaseGrade | None
    verdict: Verdict
    points: Fraction
    max_points: Fraction


DIALECTS = ("strict", "extended", "items")


def render(
    grades: Sequence[Grade],
    dialect: str = "strict",
    sources: Mapping[str, Sequence[str]] = MappingProxyType({}),
    further: excerpts.Further = excerpts.NONE_FURTHER,
) -> str:
    """Write a document with a suite per grade, in the order given, in one of `DIALECTS`.

    ``sources`` are the lines of submissions' files by their ids, to quote from where they are there;
    ``further`` are those of other files, where there is one submission.
    """
    return "".join(parts(grades, dialect, sources, further))


def parts(
    grades: Sequence[Grade],
    dialect: str = "strict",
    sources: Mapping[str, Sequence[str]] = MappingProxyType({}),
    further: excerpts.Further = excerpts.NONE_FURTHER,
) -> Iterator[str]:
    """Output of `render`, suite by suite: that of a large class takes more memory than the class."""
    root = ET.Element("testsuites", _counts(grades, dialect))
    root.text = "\n"
    opening, _, closing = ET.tostring(root, encoding="unicode").partition("\n")
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n{opening}\n'
    for grade in grades:
        quoted = excerpts.Sources(grade.submission_file, sources.get(grade.submission_id, ()), further)
        suite = _suite_element(grade, dialect, quoted)
        ET.indent(suite, level=1)
        yield f"  {ET.tostring(suite, encoding='unicode')}\n"
    yield f"{closing}\n"


def _counts(grades: Iterable[Grade], dialect: str) -> dict[str, str]:
    """The attributes of the whole document; an error of ours that no item reports is a test of its own."""
    total: Counter[str] = Counter(tests=0, failures=0, errors=0)
    for grade in grades:
        verdicts = Counter(outcome.verdict for outcome in _outcomes(grade, dialect))
        alone = bool(grade.error) and not verdicts[Verdict.ERROR]
        total["tests"] += verdicts.total() + alone
        total["failures"] += verdicts[Verdict.FAIL]
        total["errors"] += verdicts[Verdict.ERROR] + alone
    return {name: str(number) for name, number in total.items()}


def _outcomes(grade: Grade, dialect: str) -> list[ItemOutcome]:
    return list(_per_item(grade) if dialect == "items" else outcomes(grade))


@in_its_words
def _suite_element(grade: Grade, dialect: str, sources: excerpts.Sources) -> ET.Element:
    shown = {item.result.item.id: item for item in alone(grade)}
    listed = _outcomes(grade, dialect)
    tests = [_explained(outcome, shown[outcome.item.result.item.id]) for outcome in listed]
    suite: ET.Element = _suite(grade, tests, sources).build_xml_doc()
    # The schema has no such attribute, and nothing is ever disabled.
    del suite.attrib["disabled"]
    _add_times(suite, listed)
    if dialect == "extended":
        _add_places(suite, grade, tests)
    return suite


def outcomes(grade: Grade) -> Iterator[ItemOutcome]:
    """List a grade's test cases in the order of the rubric, and within an item of the cases."""
    for item in grade.items:
        cases = _cases_of(item, grade)
        most = item.max_points if item.result.item.counts else Fraction(0)
        if not cases:
            yield ItemOutcome(item, None, item.result.verdict, item.points, most)
            continue
        verdicts = _verdicts(item, cases)
        earning = Verdict.FAIL if item.result.item.penalty else Verdict.PASS
        number = verdicts.count(earning)
        share, none, most = item.points / (number or len(cases)), Fraction(0), most / len(cases)
        for case, verdict in zip(cases, verdicts, strict=True):
            earns = verdict is earning or not number
            yield ItemOutcome(item, case, verdict, share if earns else none, most)


def _per_item(grade: Grade) -> Iterator[ItemOutcome]:
    """List one test case for each item, with all of its points."""
    for item in grade.items:
        most = item.max_points if item.result.item.counts else Fraction(0)
        yield ItemOutcome(item, None, item.result.verdict, item.points, most)


def _add_times(suite: ET.Element, listed: Sequence[ItemOutcome]) -> None:
    """Give each test case its share of its case's seconds, so that the sum is that of the suite."""
    shares = Counter(outcome.case.case.id for outcome in listed if outcome.case)
    total = 0.0
    for test, outcome in zip(suite.iter("testcase"), [*listed, None], strict=False):
        case = outcome.case if outcome else None
        seconds = case.seconds / shares[case.case.id] if case else 0.0
        seconds = seconds if math.isfinite(seconds) else 0.0
        test.set("time", f"{seconds:.3f}")
        total += seconds
    suite.set("time", f"{total:.3f}")


def _add_places(suite: ET.Element, grade: Grade, tests: Sequence[_Explained]) -> None:
    """Say the file of each test case, and the line of its first finding that has one."""
    for test, explained in zip(suite.iter("testcase"), tests, strict=False):
        test.set("file", one_line(grade.submission_file))
        lines = [finding.line for finding in explained.findings if finding.line]
        if lines and explained.outcome.verdict is Verdict.FAIL:
            test.set("line", str(lines[0]))


def _verdicts(item: ItemGrade, cases: list[CaseGrade]) -> list[Verdict]:
    """Give the verdict of each case; the item's own where it was decided by something else than a case."""
    verdicts = dict(item.result.case_verdicts)
    if item.result.verdict not in verdicts.values():
        return [item.result.verdict for _ in cases]
    return [verdicts.get(case.case.id, item.result.verdict) for case in cases]


def _cases_of(item: ItemGrade, grade: Grade) -> list[CaseGrade]:
    """List the cases that an item speaks of: all, or those with its tags and ids."""
    rubric = item.result.item
    if rubric.check in WHOLE_SUBMISSION:
        return []
    named = {case for case, _ in item.result.case_verdicts} | set(rubric.cases)
    return [
        case
        for case in grade.cases
        if not rubric.cases or case.case.id in named or named & set(case.case.tags)
    ]


def _suite(grade: Grade, listed: Sequence[_Explained], sources: excerpts.Sources) -> TestSuite:
    name = one_line(grade.submission_id) or "submission"
    classname = f"{one_line(grade.assignment_id)}.{name.replace('.', '_')}"
    tests = [_test(grade, explained, classname, sources) for explained in listed]
    if grade.error and not any(test.is_error() for test in tests):
        tests.append(_ungraded(grade, classname))
    return TestSuite(name, tests, properties=_properties(grade))


def _properties(grade: Grade) -> dict[str, str]:
    """Give the points of the suite; none where there was no judgement, for that is not a zero."""
    shown = {
        "assignment": grade.assignment_id,
        "file": grade.submission_file,
        "backend": grade.backend,
        "verdict": grade.verdict.value,
        "max_score": wording.points_text(grade.max_score),
        "skipped_points": wording.points_text(grade.skipped_points),
    }
    if grade.verdict != Verdict.ERROR:
        shown["score"] = wording.points_text(grade.score)
    fast = wording.measured(grade)
    if fast is not None:
        shown |= {"gpu": grade.device, "speedup": f"{fast.median:.4f}"}
        shown |= {"speedup.low": f"{fast.low:.4f}", "speedup.high": f"{fast.high:.4f}"}
    model = grade.estimate
    if model is not None and model.ratio is not None:
        ratio = model.ratio
        shown |= {"estimated.gpu": model.device_name, "estimated.speedup": f"{ratio.median:.4f}"}
        shown |= {"estimated.low": f"{ratio.low:.4f}", "estimated.high": f"{ratio.high:.4f}"}
    for item in grade.items:
        if item.result.verdict in {Verdict.PASS, Verdict.FAIL}:
            shown[f"points.{item.result.item.id}"] = wording.points_text(item.points)
        most = item.max_points if item.result.item.counts else Fraction(0)
        shown[f"max_points.{item.result.item.id}"] = wording.points_text(most)
    return {one_line(key): one_line(value) for key, value in shown.items()}


def _test(grade: Grade, explained: _Explained, classname: str, sources: excerpts.Sources) -> TestCase:
    outcome = explained.outcome
    name = one_line(outcome.item.result.item.id)
    if outcome.case is not None:
        name += f": {one_line(outcome.case.case.id)}"
    test = TestCase(name, classname, stdout=_points(outcome))
    if outcome.verdict is Verdict.PASS:
        return test
    message = _plain(one_line(_message(explained), LONGEST_MESSAGE))
    output = _plain(many_lines(_output(grade, explained, sources), LONGEST_OUTPUT))
    if outcome.verdict == Verdict.FAIL:
        test.add_failure_info(message, output, _kind(explained))
    elif outcome.verdict == Verdict.ERROR:
        test.add_error_info(message, output, "grader")
    elif outcome.verdict == Verdict.SKIP:
        test.add_skipped_info(message, output)
    return test


def _plain(text: str) -> str:
    """Take their meaning from ``[[PROPERTY|…]]`` and ``[[ATTACHMENT|…]]``: only we may say such things."""
    return MARKER.sub("[ [", text)


def _points(outcome: ItemOutcome) -> str:
    """Give the points of one test case in the form that readers of test output know."""
    lines = [f"[[PROPERTY|max_points={wording.points_text(outcome.max_points)}]]"]
    if outcome.item.result.verdict in {Verdict.PASS, Verdict.FAIL}:
        lines.insert(0, f"[[PROPERTY|points={wording.points_text(outcome.points)}]]")
    return "\n".join(lines)


def _ungraded(grade: Grade, classname: str) -> TestCase:
    """Carry an error of ours that no item reports: it must not look like a suite that passed."""
    test = TestCase("grading", classname)
    test.add_error_info(
        one_line(text_of("not-graded-because", reason=grade.error), LONGEST_MESSAGE), None, "grader"
    )
    return test


class _Explained(NamedTuple):
    """A test case with what explains it, where it did not pass.

    ``own`` are the findings of its case, ``findings`` these or else those of no case, and ``reason`` says why
    where there are none of its own.
    """

    outcome: ItemOutcome
    shown: ShownItem
    own: list[Finding]
    findings: list[Finding]
    reason: str


def _explained(outcome: ItemOutcome, shown: ShownItem) -> _Explained:
    findings, case = list(shown.all_findings), outcome.case
    if case is None:
        return _Explained(outcome, shown, [], findings, shown.result.message)
    own = [finding for finding in findings if finding.case == case.case.id]
    if own:
        return _Explained(outcome, shown, own, own, "")
    of_no_case = [finding for finding in findings if not finding.case]
    return _Explained(outcome, shown, [], of_no_case, _reason(shown, case))


def _message(explained: _Explained) -> str:
    """Say by itself what is wrong: the item, the case and its shape, and why."""
    about, case, own = explained.shown.title, explained.outcome.case, explained.own
    why = own[0].message if own else explained.reason
    if case is None or (own and f"`{case.case.id}`" in why):
        return f"{about}: {headline(why)}"
    return text_of("item-of-case", item=about, case=case_name(case), sentence=headline(why))


def _reason(shown: ShownItem, case: CaseGrade) -> str:
    """Say why, where no finding concerns the case: how wrong its output was, else what the item says."""
    result = shown.result
    verdict = dict(result.case_verdicts).get(case.case.id)
    wrong = result.item.check in {"output", "array"} and verdict == Verdict.FAIL
    if wrong and case.max_error is not None and case.error_bound is not None:
        return text_of("largest-error", error=f"{case.max_error:.3g}", bound=f"{case.error_bound:.3g}")
    other = next((finding.case for finding in shown.all_findings if finding.case), "")
    return text_of("fails-too", case=other) if verdict == Verdict.FAIL and other else result.message


def _kind(explained: _Explained) -> str:
    result = explained.shown.result
    if not result.judged:
        return "not-judged"
    return explained.findings[0].kind.value if explained.findings else result.item.check


def _output(grade: Grade, explained: _Explained, sources: excerpts.Sources) -> str:
    """Give the texts of this case alone, else of the item: every finding with its place, and the hint."""
    shown, verdict = explained.shown, explained.outcome.verdict
    lines = [
        *([shown.result.message_staff] if shown.result.message_staff else []),
        *([] if explained.own else [explained.reason]),
    ]
    for finding in explained.findings:
        where = excerpts.lines_in_words(finding)
        message = f"{where}: {finding.message}" if where else finding.message
        quoted = sources.quote(finding)
        lines.append("\n".join([message, *(f"  {row.gutter}{row.code}".rstrip() for row in quoted)]))
    if shown.hint and verdict == Verdict.FAIL:
        lines.append(f"{text_of('try')} {shown.hint}")
    if grade.error and verdict == Verdict.ERROR:
        lines.append(grade.error)
    lines += shown.estimate
    return "\n".join(dict.fromkeys(lines))
