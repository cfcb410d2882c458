"""`output`: every element of every output is within its error bound, and the inputs are as they were.

A case passes where its run came to the end, no `in` array was written to and no element is wrong. An item
takes all its cases or nothing, or with `partial: per-case` earns the share of cases that pass. The message
quotes the first visible case that fails and shows the mistake that most elements show; of hidden ones it
gives the number that fail, and the mistake.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, ClassVar

from grader.base.records import frozen
from grader.base.text import capital
from grader.grading.checks import wording
from grader.grading.checks.cases import (
    CaseVerdict,
    add_up_verdicts,
    cases_of_item,
    is_visible,
    merge_findings,
    no_verdict_reason,
    nothing_to_judge,
    our_trouble,
    refusal,
    shown_findings,
    stopped_by,
    verdict_where_given_up,
)
from grader.grading.checks.check import FindingsCheck
from grader.grading.checks.undefined import on_gpu
from grader.model import Finding, FindingKind, Verdict
from grader.model.messages import current, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.model import Build, CaseEvidence, CheckResult, Comparison, Evidence, Named

TELLING = 1e-5
"""Right and a relative error above this: a sum has cancelled to nearly nothing, and its share says little."""


_TOLD = tuple(kind for kind in FindingKind if kind is not FindingKind.HOST)
"""Kinds of findings reported of a run that was cut short.

The host's mistake that ended it counts as a fault.
"""


@frozen(kw_only=True)
class OutputCheck(FindingsCheck):
    """The answers are right."""

    name: ClassVar[str] = "output"
    kinds: ClassVar[tuple[str, ...]] = ("kernel", "function")
    title: ClassVar[str] = "right answers"

    def considered(self, evidence: Evidence) -> Evidence:
        """The evidence without what single launches left: other items ask for that."""
        return replace(evidence, cases=tuple(map(_handed_back, evidence.cases)))

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge the outputs of the item's cases."""
        empty = nothing_to_judge(self.item, evidence)
        if empty is not None:
            return empty
        judged = tuple(judge(case, evidence.build_of(case)) for case in cases_of_item(self.item, evidence))
        failing = tuple(case for case in judged if case.verdict is Verdict.FAIL)
        explains = failing or evidence.build.implied
        message = _message(judged, failing) + (_assumed(evidence.build) if explains else "")
        return add_up_verdicts(self.item, judged, message, _hint(failing), _findings(failing))


def _handed_back(case: CaseEvidence) -> CaseEvidence:
    return replace(case, comparisons=tuple(c for c in case.comparisons if not c.kernel))


def _assumed(build: Build) -> str:
    """Instance of a template that ran, and values taken for granted, where constants have other names."""
    values = dict(build.constants)
    constants = tuple(
        text_of(
            "launched-with-side" if name in build.implied else "launched-with", name=name, value=values[name]
        )
        for name in build.assumed
    )
    undefined = text_of("undefined-constants", constants=text_of("and").join(constants)) if constants else ""
    sentences = (wording.instance(build), undefined)
    return "".join(f". {sentence}" for sentence in sentences if sentence)


def judge(case: CaseEvidence, built: Build | None = None) -> CaseVerdict:
    """Verdict on the answer of one case; ``built`` has the student's names of the arrays."""
    wrong = wrong_comparison(case)
    trouble = our_trouble(case) or _nothing_compared(case) or ("" if wrong or case.of_host else case.question)
    if trouble:
        return CaseVerdict(case, Verdict.ERROR, trouble)
    if refusal(case):
        return CaseVerdict(case, Verdict.FAIL, text_of("the-kernel-cannot", refusal=refusal(case)))
    if not case.completed:
        return _cut_short(case)
    if case.launches == 0:
        reason = (wrong and wrong.explanation) or text_of("no-kernel-computed")
    elif case.of_host:
        reason = _computed_on_host(case)
    elif case.changed_inputs:
        label = built.label if built else str
        names = ", ".join(wording.parameter(name, label(name)) for name in case.changed_inputs)
        name = "wrote-into-input" if case.program is None else "function-wrote-into-input"
        reason = text_of(name, names=names)
    elif wrong is not None:
        reason = wrong.explanation
    elif case.computed_by is not None:
        return CaseVerdict(case, Verdict.ERROR, current().clause(case.computed_by))
    else:
        return CaseVerdict(case, Verdict.PASS)
    return CaseVerdict(case, Verdict.FAIL, reason)


def _nothing_compared(case: CaseEvidence) -> str:
    """Failure of ours where a launch ended and left nothing to compare; empty otherwise."""
    is_empty = case.completed and not case.comparisons and case.launches != 0
    return text_of("no-output-compared") if is_empty else ""


def _computed_on_host(case: CaseEvidence) -> str:
    """Sentence that the host computed the result, for a visible case with the evidence.

    Numbers in it would reveal the shapes of hidden cases.
    """
    if case.computed_by is None or not is_visible(case):
        return text_of("computed-on-host")
    return text_of("computed-on-host-because", shown=current().clause(case.computed_by))


def _cut_short(case: CaseEvidence) -> CaseVerdict:
    """A case that did not come to its end, by the kernel's own doing or because the emulator gave it up."""
    if case.too_much_work:
        return CaseVerdict(case, verdict_where_given_up(case), no_verdict_reason(case))
    return CaseVerdict(case, Verdict.FAIL, text_of("did-not-end", reason=stopped_by(case)))


def wrong_comparison(case: CaseEvidence) -> Comparison | None:
    """The first output that is wrong."""
    return next((comparison for comparison in case.comparisons if comparison.wrong), None)


def _to_quote(failing: Sequence[CaseVerdict]) -> CaseVerdict | None:
    """The case to tell of: a visible one if any, and the first with what most elements have wrong.

    Small shapes look like several mistakes at once; the one that explains most is the likely one.
    """
    candidates = [case for case in failing if case.visible] or failing
    weights: Counter[str] = Counter()
    for judged in candidates:
        if judged.reason:
            weights[judged.reason] += _weight(judged.case)
    weightiest = weights.most_common(1)[0][0] if weights else ""
    return next((case for case in candidates if case.reason == weightiest), None)


def _weight(case: CaseEvidence) -> int:
    """Number of elements that support a case's reason: all of them where no element is to blame."""
    if not case.completed or case.changed_inputs:
        return 1 + sum(comparison.total for comparison in case.comparisons)
    return sum(comparison.wrong for comparison in case.comparisons)


def _hint(failing: Sequence[CaseVerdict]) -> str:
    quoted = _to_quote(failing)
    if quoted is not None and quoted.case.of_host and quoted.case.launches:
        return text_of("computed-on-host-hint")
    comparison = None if quoted is None else wrong_comparison(quoted.case)
    return "" if comparison is None else comparison.hint


def _message(judged: tuple[CaseVerdict, ...], failing: tuple[CaseVerdict, ...]) -> str:
    """Message: the number of right cases, the first visible wrong one, and the number of wrong hidden ones.

    A result of a GPU with an undefined output comes last.
    """
    total = len(judged)
    remark = on_gpu(case.case for case in judged)
    if not failing:
        return ". ".join(filter(None, (text_of("all-right", count=total) + _verified(judged), remark)))
    right = sum(case.verdict is Verdict.PASS for case in judged)
    parts = [_how_many_right(right, total, total - right - len(failing))]
    quoted = _to_quote(failing)
    if quoted is not None and quoted.visible:
        wrong = wrong_comparison(quoted.case)
        is_stated = quoted.case.launches == 0  # the quote is that explanation
        explained = f"; {wrong.explanation}" if wrong and wrong.explanation and not is_stated else ""
        parts.append(_quote(quoted) + explained)
        if quoted.case.smallest:
            parts.append(text_of("smallest-shape", sizes=_sizes(quoted.case.smallest)))
    hidden = sum(not case.visible for case in failing)
    if hidden:
        parts.append(_hidden_message(hidden, quoted))
    if remark:
        parts.append(remark)
    return ". ".join([parts[0], *(capital(part.removesuffix(".")) for part in parts[1:])])


def _hidden_message(hidden: int, quoted: CaseVerdict | None) -> str:
    """Number of hidden cases that fail, and the reason where no visible case has given it."""
    if quoted is not None and quoted.visible:
        return text_of("hidden-fail-as-well", count=hidden)
    if quoted is not None and quoted.reason:
        return text_of("hidden-fail-because", count=hidden, reason=quoted.reason)
    return text_of("hidden-fail", count=hidden)


def _verified(judged: tuple[CaseVerdict, ...]) -> str:
    """Number of elements compared in visible cases, and the error; hidden ones would reveal their size."""
    comparisons = [comparison for case in judged if case.visible for comparison in case.case.comparisons]
    if not comparisons:
        return ""
    worst = max(comparison.max_relative_error for comparison in comparisons)
    close = text_of("relative-error", error=wording.small(worst)) if worst else text_of("no-error")
    if worst > TELLING:
        off = max(comparison.max_error for comparison in comparisons)
        close = text_of("absolute-error", error=wording.small(off))
    elements = text_of("elements", count=sum(case.total for case in comparisons))
    name = "compared" if all(case.visible for case in judged) else "compared-visible"
    return text_of(name, elements=elements, close=close)


def _how_many_right(right: int, total: int, undecided: int) -> str:
    if total == 1:
        return text_of("the-one-wrong")
    text = text_of("some-right", count=right, total=total) if right else text_of("none-right", total=total)
    return text + (text_of("not-judged-cases", count=undecided) if undecided else "")


def _quote(judged: CaseVerdict) -> str:
    """A visible case with its shape, and what is wrong with it."""
    case = judged.case.case
    if refusal(judged.case):  # for all shapes alike, but for a grid that is too large
        return judged.reason
    wrong = wrong_comparison(judged.case)
    sentence = judged.reason
    has_other_cause = judged.case.changed_inputs or judged.case.launches == 0
    if judged.case.completed and not has_other_cause and wrong is not None:
        called = judged.case.program is not None  # a function, which launches as it likes
        sentence = element_sentence(wrong, added=_added(judged.case, wrong), called=called)
    if case.kernel:
        sentence = text_of("kernel-is-wrong", kernel=case.kernel, sentence=sentence)
    name = "in-case-of-sizes" if case.shape else "in-case"
    return text_of(name, case=wording.printable(case.id), sizes=_sizes(case.shape), sentence=sentence)


def _sizes(shape: Named[int]) -> str:
    """`M=1, K=17, N=1`."""
    return ", ".join(f"{name}={value}" for name, value in shape)


def _added(case: CaseEvidence, wrong: Comparison) -> bool:
    """True if the output is NaN because the kernel read it before it had stored anything there."""
    reads = any(
        finding.kind is FindingKind.UNINITIALISED and finding.array == (wrong.label or wrong.array)
        for finding in case.findings
    )
    return reads and wrong.first is not None and isnan(wrong.first.got)


def element_sentence(wrong: Comparison, *, added: bool = False, called: bool = False) -> str:
    """`C[54][0]` should be …: the first wrong element, and how many; ``added``: to what it held before.

    A function is ``called``, a kernel launched.
    """
    of_call = "-call" if called else ""
    named = wording.parameter(wrong.array, wrong.label)
    held = wording.printable(wrong.label or wrong.array)
    elements = text_of("elements", count=wrong.total)
    total = text_of("wrong-of", count=wrong.wrong, wrong=wrong.wrong, elements=elements)
    if wrong.unwritten and not added:
        total = text_of(f"as-before{of_call}", sentence=total, unwritten=wrong.unwritten)
    if wrong.first is None:
        return text_of("output-wrong", array=named, total=total)
    first = wrong.first
    index = "".join(f"[{i}]" for i in first.index)
    element = wording.parameter(wrong.array, wrong.label, index)
    margin = text_of("margin", bound=wording.small(first.bound)) if first.bound else ""
    actual = text_of("element-is", value=wording.number(first.got))
    if added:  # bit for bit the poison, perhaps, but something was stored
        actual = text_of(f"element-added{of_call}", value=wording.number(first.got), array=held)
    elif first.unwritten:
        actual = text_of(f"element-unwritten{of_call}")
    expected = wording.number(first.expected)
    return text_of(
        "element-wrong", element=element, expected=expected, margin=margin, actual=actual, total=total
    )


def _findings(failing: tuple[CaseVerdict, ...]) -> tuple[Finding, ...]:
    """Each mistake once, what stopped a run, and per failing visible case what is wrong there."""
    cut_short = (case.case for case in failing if not case.case.completed)
    stopped = merge_findings(shown_findings(cut_short, kinds=_TOLD))
    came_to_their_end = (case for case in failing if case.visible and case.case.completed)
    wrong = (_wrong_output(case) for case in came_to_their_end)
    return (*_mistakes(failing), *stopped, *wrong)


def _wrong_output(judged: CaseVerdict) -> Finding:
    wrong = wrong_comparison(judged.case)
    finding = Finding(
        FindingKind.WRONG_OUTPUT, _quote(judged), case=judged.case.case.id, smallest=judged.case.smallest
    )
    if wrong is None:
        return finding
    index = "" if wrong.first is None else "".join(f"[{i}]" for i in wrong.first.index)
    address = wording.printable(wrong.array) + index if index else ""
    return replace(finding, address=address, wrong_map=wrong.wrong_map, map_cell=wrong.map_cell)


def _mistakes(failing: tuple[CaseVerdict, ...]) -> Iterator[Finding]:
    """Mistakes that explain outputs, the one that is reported first; with the case where it is visible."""
    explanations = set()
    quoted = _to_quote(failing)
    for judged in sorted(failing, key=lambda case: (case is not quoted, not case.visible)):
        for comparison in judged.case.comparisons:
            if comparison.explanation and comparison.explanation not in explanations:
                explanations.add(comparison.explanation)
                case = judged.case.case.id if is_visible(judged.case) else ""
                details = (("mistake", comparison.mistake),)
                yield Finding(FindingKind.MISTAKE, comparison.explanation, case=case, details=details)
