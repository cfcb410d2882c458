"""`output`: every element of every output is within its error bound, and the inputs are as they were.

A case passes where its run came to the end, no `in` array was written to and no element is wrong. An item
takes all its cases or nothing, or with `partial: per-case` earns the share of cases that pass. The message
quotes the first visible case that fails and shows the mistake that most elements show; of hidden ones it
tells how many fail, and the mistake.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, ClassVar

from grader.checks import wording
from grader.checks.cases import (
    CaseVerdict,
    add_up_verdicts,
    cases_of_item,
    given_up,
    is_visible,
    merge_findings,
    nothing_to_judge,
    our_trouble,
    refusal,
    shown_findings,
    stopped_by,
)
from grader.checks.check import FindingsCheck
from grader.model import Finding, FindingKind, Verdict
from grader.text import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.model import Build, CaseEvidence, CheckResult, Comparison, Evidence, Named

TELLING = 1e-5
"""Right and a relative error above this: a sum has cancelled to nearly nothing, and its share says little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputCheck(FindingsCheck):
    """The answers are right."""

    name: ClassVar[str] = "output"
    title: ClassVar[str] = "right answers"

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


def _assumed(build: Build) -> str:
    """Which instance of a template ran, and what was taken for granted, where constants have other names."""
    values = dict(build.constants)
    side = dict.fromkeys(build.implied, ", the side of its shared arrays")
    taken = " and ".join(
        f"`{name}`, so it was launched with {values[name]}{side.get(name, '')}" for name in build.assumed
    )
    sentences = (wording.instance(build), f"The file defines no {taken}" if taken else "")
    return "".join(f". {sentence}" for sentence in sentences if sentence)


def judge(case: CaseEvidence, built: Build | None = None) -> CaseVerdict:
    """Whether one case gave the right answer; ``built`` knows what the student calls the arrays."""
    trouble = our_trouble(case)
    if not trouble and case.completed and not case.comparisons:
        trouble = "no output was compared"
    if trouble:
        return CaseVerdict(case, Verdict.ERROR, trouble)
    if refusal(case):
        return CaseVerdict(case, Verdict.FAIL, f"the kernel {refusal(case)}")
    if not case.completed:
        return _cut_short(case)
    if case.changed_inputs:
        label = built.label if built else str
        names = ", ".join(wording.parameter(name, label(name)) for name in case.changed_inputs)
        return CaseVerdict(case, Verdict.FAIL, f"the kernel wrote into its input {names}")
    wrong = wrong_comparison(case)
    if wrong is not None:
        return CaseVerdict(case, Verdict.FAIL, wrong.explanation)
    return CaseVerdict(case, Verdict.PASS)


def _cut_short(case: CaseEvidence) -> CaseVerdict:
    """A case that did not come to its end, by the kernel's own doing or because the emulator gave it up."""
    if case.too_much_work:
        return CaseVerdict(case, Verdict.SKIP, given_up(case))
    return CaseVerdict(case, Verdict.FAIL, f"the run did not come to its end: {stopped_by(case)}")


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
    """How many elements speak for a case's reason: all of them where no element is to blame."""
    if not case.completed or case.changed_inputs:
        return 1 + sum(comparison.total for comparison in case.comparisons)
    return sum(comparison.wrong for comparison in case.comparisons)


def _hint(failing: Sequence[CaseVerdict]) -> str:
    quoted = _to_quote(failing)
    comparison = None if quoted is None else wrong_comparison(quoted.case)
    return "" if comparison is None else comparison.hint


def _message(judged: tuple[CaseVerdict, ...], failing: tuple[CaseVerdict, ...]) -> str:
    """How many cases are right, the first visible one that is not, and how many hidden ones are not."""
    total = len(judged)
    if not failing:
        return ("the one case is right" if total == 1 else f"all {total} cases are right") + _verified(judged)
    parts = [_how_many_right(total - len(failing), total)]
    quoted = _to_quote(failing)
    if quoted is not None and quoted.visible:
        wrong = wrong_comparison(quoted.case)
        explained = f"; {wrong.explanation}" if wrong is not None and wrong.explanation else ""
        parts.append(_quote(quoted) + explained)
        if quoted.case.smallest:
            parts.append(f"The smallest shape found to fail: {_sizes(quoted.case.smallest)}")
    hidden = sum(not case.visible for case in failing)
    if hidden:
        verb = "fails" if hidden == 1 else "fail"
        reason = f": {quoted.reason}" if quoted is not None and quoted.reason else ""
        after = " as well" if quoted is not None and quoted.visible else reason
        parts.append(f"{count(hidden, 'hidden case')} {verb}{after}")
    return ". ".join([parts[0], *(wording.capital(part.removesuffix(".")) for part in parts[1:])])


def _verified(judged: tuple[CaseVerdict, ...]) -> str:
    """How much was compared in visible cases, and how close it is; hidden ones would tell their size."""
    comparisons = [comparison for case in judged if case.visible for comparison in case.case.comparisons]
    if not comparisons:
        return ""
    which = "" if all(case.visible for case in judged) else "in the visible ones "
    worst = max(comparison.max_relative_error for comparison in comparisons)
    close = f"relative error at most {wording.small(worst)}" if worst else "no error"
    if worst > TELLING:
        close = f"off by at most {wording.small(max(comparison.max_error for comparison in comparisons))}"
    return f" ({which}{count(sum(case.total for case in comparisons), 'element')}, {close})"


def _how_many_right(right: int, total: int) -> str:
    if total == 1:
        return "the one case is wrong"
    return f"{right or 'none'} of {total} cases {_is_or_are(max(right, 1))} right"


def _is_or_are(number: int) -> str:
    return "is" if number == 1 else "are"


def _quote(judged: CaseVerdict) -> str:
    """A visible case with its shape, and what is wrong with it."""
    case = judged.case.case
    if refusal(judged.case):  # for all shapes alike, but for a grid that is too large
        return judged.reason
    shape = _sizes(case.shape)
    where = f"in case `{wording.printable(case.id)}`" + (f" ({shape})" if shape else "")
    if case.kernel:
        where += f" `{case.kernel}` is wrong:"
    wrong = wrong_comparison(judged.case)
    if not judged.case.completed or judged.case.changed_inputs or wrong is None:
        return f"{where} {judged.reason}"
    return f"{where} {element_sentence(wrong, added=_added(judged.case, wrong))}"


def _sizes(shape: Named[int]) -> str:
    """`M=1, K=17, N=1`."""
    return ", ".join(f"{name}={value}" for name, value in shape)


def _added(case: CaseEvidence, wrong: Comparison) -> bool:
    """Whether the output is NaN because the kernel read it before it had stored anything there."""
    reads = any(
        finding.kind is FindingKind.UNINITIALISED and finding.array == (wrong.label or wrong.array)
        for finding in case.findings
    )
    return reads and wrong.first is not None and isnan(wrong.first.got)


def element_sentence(wrong: Comparison, *, added: bool = False) -> str:
    """`C[54][0]` should be …: the first wrong element, and how many; ``added``: to what it held before."""
    named = wording.parameter(wrong.array, wrong.label)
    held = wording.printable(wrong.label or wrong.array)
    total = f"{wrong.wrong:,} of {count(wrong.total, 'element')} {_is_or_are(wrong.wrong)} wrong"
    if wrong.unwritten and not added:
        total += f", {wrong.unwritten:,} as before the launch"
    if wrong.first is None:
        return f"{named} is wrong ({total})"
    first = wrong.first
    index = "".join(f"[{i}]" for i in first.index)
    element = wording.parameter(wrong.array, wrong.label, index)
    expected = f"{element} should be {wording.number(first.expected)}"
    margin = f" (at most {wording.small(first.bound)} off)" if first.bound else ""
    actual = f"is {wording.number(first.got)}"
    if added:  # bit for bit the poison, perhaps, but something was stored
        actual += f", because `{held}` held NaN before the launch and `+=` keeps it"
    elif first.unwritten:
        actual = "is still what it was before the launch"
    return f"{expected}{margin} but {actual} ({total})"


def _findings(failing: tuple[CaseVerdict, ...]) -> tuple[Finding, ...]:
    """Each mistake once, what stopped a run, and per failing visible case what is wrong there."""
    stopped = merge_findings(shown_findings(case.case for case in failing if not case.case.completed))
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
    """Each mistake that explains an output, the one that is told first; with its case where it is visible."""
    seen = set()
    quoted = _to_quote(failing)
    for judged in sorted(failing, key=lambda case: (case is not quoted, not case.visible)):
        for comparison in judged.case.comparisons:
            if comparison.explanation and comparison.explanation not in seen:
                seen.add(comparison.explanation)
                case = judged.case.case.id if is_visible(judged.case) else ""
                yield Finding(FindingKind.MISTAKE, comparison.explanation, case=case)
