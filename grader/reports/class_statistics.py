"""A class as a whole: where the scores lie, what became of each item, who shares a mistake, what cases catch.

Excused submissions and errors of ours count nowhere here: neither says anything of the class.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from fractions import Fraction
from statistics import quantiles
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.base.text import headline
from grader.model import FindingCode, FindingKind, Verdict
from grader.model.messages import text_of
from grader.model.mistakes import bundled_texts
from grader.reports.audience import FAILED as FAILING
from grader.reports.selection import failing
from grader.reports.wording import FAILED, PARTLY, PASSED, WAITING, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grader.model import CaseGrade, Finding, Grade, ItemGrade

BINS = 10
_OF_THE_COMPILER = (FindingCode.UNSPECIFIED, FindingCode.COMPILER_MESSAGE)
"""The codes of findings that are reported in the compiler's own words."""
_ONE = Fraction(1)
_IN_QUOTES = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'")
"""The names in what a compiler says."""


@frozen
class Scores:
    """Scores as shares of what could be had; ``counts`` count ten equal parts, full marks in the last."""

    counts: tuple[int, ...]
    mean: Fraction
    lower: Fraction
    median: Fraction
    upper: Fraction
    full: int


@frozen
class ItemOutcomes:
    """Number of submissions by outcome of an item; all else (skipped, an error of ours) is left out."""

    item: str
    title: str
    passed: int
    partly: int
    failed: int
    waiting: int
    """Failed because another item did: nothing more is known of them."""

    @property
    def judged(self) -> int:
        """Number of submissions that could earn its points."""
        return self.passed + self.partly + self.failed + self.waiting


@frozen
class CauseGroup:
    """Submissions with one cause, the same outcome of every item and the same codes of findings.

    ``same_code`` are those among them whose PTX is the same but for names.
    """

    grades: tuple[Grade, ...]
    lost: tuple[str, ...]
    """The items that they fail."""
    same_code: tuple[tuple[str, ...], ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the submissions, in the order of the class."""
        return tuple(grade.submission_id for grade in self.grades)


@frozen
class SharedCause:
    """Cause of lost points, and the submissions that share it; ``line`` is that of the first one's file."""

    key: str
    title: str
    groups: tuple[CauseGroup, ...]
    line: int | None

    @property
    def example(self) -> Grade:
        """One that shows it."""
        return self.groups[0].grades[0]

    @property
    def is_of_one(self) -> bool:
        """True if only one submission has it."""
        return len(self.ids) == 1

    @property
    def ids(self) -> tuple[str, ...]:
        """Submissions that have it, those with the same outcome side by side."""
        return tuple(name for group in self.groups for name in group.ids)


@frozen
class CaseCatch:
    """Number of submissions that fail in a case, and number of those that fail in no other."""

    case: CaseGrade
    """The case, as one of the submissions has it."""
    failing: int
    alone: int


def counting(grades: Iterable[Grade]) -> list[Grade]:
    """The grades that say something of the class."""
    return [grade for grade in grades if grade.verdict is not Verdict.ERROR and not grade.excused]


def share(grade: Grade) -> Fraction:
    """The score as a share of what could be had; 1 where nothing could."""
    return grade.score / grade.max_score if grade.max_score else _ONE


def scores_of(grades: Sequence[Grade]) -> Scores | None:
    """Distribution of the scores; None where there is none."""
    shares = sorted(share(grade) for grade in counting(grades))
    if not shares:
        return None
    counts = Counter(min(max(int(value * BINS), 0), BINS - 1) for value in shares)
    quarters = quantiles(shares, n=4, method="inclusive") if len(shares) > 1 else shares * 3
    lower, median, upper = map(Fraction, quarters)
    mean = sum(shares, Fraction(0)) / len(shares)
    full = sum(value >= 1 for value in shares)
    return Scores(tuple(counts[index] for index in range(BINS)), mean, lower, median, upper, full)


OUTCOMES = {PASSED: "passed", PARTLY: "partly", FAILED: "failed", WAITING: "waiting"}
"""The states of an item that could earn its points; all else is not judged."""


def outcome(item: ItemGrade) -> str:
    """Outcome of an item: ``passed``, ``partly``, ``failed`` or ``waiting``; empty if not judged."""
    return OUTCOMES.get(state_of(item), "")


def item_outcomes(grades: Sequence[Grade]) -> list[ItemOutcomes]:
    """Outcomes of every item, in the order of the rubric."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    titles: dict[str, str] = {}
    for grade in counting(grades):
        for item in grade.items:
            titles.setdefault(item.result.item.id, item.result.item.title)
            counts[item.result.item.id][outcome(item)] += 1
    return [
        ItemOutcomes(item, title, *(counts[item][kind] for kind in OUTCOMES.values()))
        for item, title in titles.items()
    ]


def shared_causes(grades: Sequence[Grade]) -> list[SharedCause]:
    """Causes of lost points, the most frequent first; in it the largest group first."""
    by_cause: dict[tuple[str, str], list[Grade]] = defaultdict(list)
    for grade in counting(grades):
        if cause := cause_of(grade):
            by_cause[cause].append(grade)
    causes = [
        SharedCause(key, title, groups := _groups(sharing), _line(groups[0].grades[0]))
        for (key, title), sharing in by_cause.items()
    ]
    return sorted(causes, key=lambda cause: -len(cause.ids))


def cause_of(grade: Grade) -> tuple[str, str] | None:
    """Main cause of a submission's lost points, as a key and a title; None where it loses nothing."""
    items = failing(grade)
    if not items:
        return None
    if grade.cause is not None:
        return grade.cause.code, grade.cause.title or _title(grade.cause.code)
    item = items[0].result.item.id
    finding = next(iter(items[0].result.findings), None)
    return _of_finding(finding) or (f"{item} fails", text_of("cause-of-item", item=item))


def _of_finding(finding: Finding | None) -> tuple[str, str] | None:
    """The key and the title of a finding that nothing else explains; None where it says too little."""
    if finding is None:
        return None
    details = dict(finding.details)
    if finding.kind is FindingKind.COMPILE and finding.code in _OF_THE_COMPILER:
        words = _IN_QUOTES.sub("…", headline(str(details.get("text", finding.message))))
        return words, words
    if finding.kind is FindingKind.ANSWER and finding.case:
        return f"answer {finding.case}", text_of("cause-of-answer", question=finding.case)
    code = str(finding.code or details.get("mistake", ""))
    what = text_of(f"kind-{finding.kind}")
    return (code, text_of("cause-of-code", what=what, code=code)) if code else None


def _title(code: str) -> str:
    """The name of a mistake, or its code in words: of grades that do not keep what the course calls it."""
    bundled = bundled_texts()
    texts = bundled.findings.get(code) or bundled.outputs.get(code)
    return texts.title if texts and texts.title else code.replace("-", " ")


def _line(grade: Grade) -> int | None:
    """The line to look at, in the student's file."""
    if grade.cause is not None and grade.cause.line is not None:
        return grade.cause.line
    findings: list[Finding] = [finding for item in failing(grade) for finding in item.result.findings]
    return next((finding.line for finding in findings if finding.line), None)


def _groups(grades: Sequence[Grade]) -> tuple[CauseGroup, ...]:
    by_outcome: dict[tuple[object, ...], list[Grade]] = defaultdict(list)
    for grade in grades:
        outcomes = tuple((item.result.item.id, outcome(item)) for item in grade.items)
        codes = {str(f.code or f.kind) for item in grade.items for f in item.result.findings}
        by_outcome[(outcomes, *sorted(codes))].append(grade)
    groups = [_group(alike) for alike in by_outcome.values()]
    return tuple(sorted(groups, key=lambda group: -len(group.grades)))


def _group(grades: Sequence[Grade]) -> CauseGroup:
    by_code: dict[str, list[str]] = defaultdict(list)
    for grade in grades:
        if grade.evidence is not None and grade.evidence.build.digest:
            by_code[grade.evidence.build.digest].append(grade.submission_id)
    lost = tuple(item.result.item.id for item in grades[0].items if state_of(item) in {PARTLY, FAILED})
    return CauseGroup(tuple(grades), lost, tuple(tuple(ids) for ids in by_code.values() if len(ids) > 1))


def case_catches(grades: Sequence[Grade]) -> list[CaseCatch]:
    """Catches of each case, in the order of the assignment."""
    cases: dict[str, CaseGrade] = {}
    counts: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for grade in counting(grades):
        fails = [one.case.id for one in grade.cases if one.verdict in FAILING]
        counts.update(fails)
        alone.update(fails if len(fails) == 1 else ())
        for one in grade.cases:
            cases.setdefault(one.case.id, one)
    return [CaseCatch(case, counts[name], alone[name]) for name, case in cases.items()]
