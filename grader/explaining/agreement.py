"""Mistake on which the wrong outputs of all cases agree, and its texts.

A mistake is named where it would have produced every wrong output that can tell mistakes apart. An output
that is right has a say as well: what it would have shown is no mistake of this submission.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import mutable
from grader.explaining.facts import ENOUGH, Diagnosis
from grader.explaining.mistake import Says, Shows
from grader.explaining.table import excluded_by, saying, showing
from grader.model import Visibility
from grader.model.mistakes import texts_of_course

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.explaining.facts import WrongOutput
    from grader.model import Assignment, Build, Case, CaseEvidence, Comparison, Named, RubricItem

FEW = 16
"""Elements of the largest array below which everything looks like everything."""


def can_tell_mistakes_apart(output: WrongOutput) -> bool:
    """True if a case can tell mistakes apart: not where an array is a line, or holds one number only."""
    arrays = [array for name, array in output.inputs if array.ndim and name != output.array]
    if output.reads_outside:
        if np.isnan(output.values).all():  # what was read there is in all of them
            return False
    elif output.reads_unset is False and not (np.isfinite(output.values) | output.unwritten).any():
        return False  # it is all that comes of a division by 0, whatever made the 0
    if any(array.size < 2 or array.min() == array.max() for array in arrays):  # noqa: PLR2004 - one alone
        return False
    if max((array.size for array in (*arrays, output.got)), default=0) < FEW:
        return False
    matrices = (array.shape for array in (*arrays, output.got) if array.ndim > 1)
    return all(min(shape) > 1 for shape in matrices)


def describe_mistake(
    mistake: str,
    array: str,
    inputs: Sequence[str],
    constants: Named[int],
    feedback: Named[Named[str]] = (),
) -> Diagnosis:
    """The texts of a mistake that an output shows, with the names of an assignment.

    ``array`` is the output, ``inputs`` are the arrays that are read, in the order of the parameters.
    """
    course_texts = texts_of_course(feedback)
    mistake_texts = course_texts.mistake(mistake)
    names = list(inputs) or [course_texts.phrase("the-input")]
    names_in_text = {
        "output": array,
        "a": names[0],
        "b": names[min(1, len(names) - 1)],
        "tile": next((name for name, _ in constants), course_texts.phrase("the-tile")),
    }
    return Diagnosis(
        mistake=mistake,
        title=mistake_texts.title,
        explanation=mistake_texts.explanation.format(**names_in_text),
        hint=mistake_texts.hint.format(**names_in_text),
        concept=mistake_texts.concept,
        read=course_texts.pointer(mistake_texts.concept),
    )


@mutable
class StillPossible:
    """Mistakes that the cases judged so far leave to be voted for, so that no others are looked for.

    The clear outputs of the cases that the same items look at must all show the mistake that is voted for,
    whichever of these items decides (`_voted_mistake`).
    """

    assignment: Assignment
    _left: dict[tuple[str, str, tuple[str, ...]], frozenset[str]] = field(default_factory=dict)

    def in_output(self, case: Case, array: str) -> frozenset[str] | None:
        """The mistakes that an output of a case may still have; None where it may be any."""
        return self._left.get(self._group(case, array))

    def judged(self, case: Case, comparison: Comparison) -> None:
        """Take into account which mistakes fit an output that students may see.

        Where errors are small, that may be all that is left of it at the vote, where it contradicts nothing.
        """
        shown = case.visibility is Visibility.VISIBLE and comparison.wrong
        if shown and _is_clear(comparison) and showing(Shows.IN_SMALL_ERRORS).isdisjoint(comparison.fitting):
            group, fitting = self._group(case, comparison.array), frozenset(comparison.fitting)
            self._left[group] = self._left.get(group, fitting) & fitting

    def _group(self, case: Case, array: str) -> tuple[str, str, tuple[str, ...]]:
        return case.kernel, array, tuple(item.id for item in _items_of(self.assignment, case))


def agree_on_mistakes(
    assignment: Assignment, built: Build, cases: tuple[CaseEvidence, ...]
) -> tuple[CaseEvidence, ...]:
    """The cases, each wrong output with the mistake that explains the others; without one where none does.

    Only cases of one kernel that students may see vote, if any of them is wrong: messages about them must
    not tell of hidden ones.
    """
    groups: dict[tuple[str, str], list[tuple[CaseEvidence, Comparison]]] = {}
    for case in cases:
        for comparison in case.comparisons:
            groups.setdefault((case.case.kernel, comparison.array), []).append((case, comparison))
    named: dict[tuple[str, str], str] = {}
    for (_, array), outputs in groups.items():
        wrong = _without_ruled_out(outputs)
        for case, _ in wrong:
            named[case.case.id, array] = _voted_mistake(assignment, case, wrong)
    return tuple(_with_mistakes(assignment, built, case, named) for case in cases)


def _without_ruled_out(
    outputs: Sequence[tuple[CaseEvidence, Comparison]],
) -> list[tuple[CaseEvidence, Comparison]]:
    """The wrong outputs, without mistakes that another visible one rules out.

    A larger one that is right would show mistakes of threads, a wrong one that not everything is the same.
    That partial blocks are wrong is only known where whole ones are right.
    """
    visible = [(case, one) for case, one in outputs if case.case.visibility is Visibility.VISIBLE]
    largest = max((one.total for case, one in visible if not one.wrong and case.completed), default=0)
    wrong = [one for _, one in visible if one.wrong and one.total >= FEW]
    never = {
        mistake for mistake in showing(Shows.IN_ALL_CASES) if any(mistake not in one.fitting for one in wrong)
    }
    whole_blocks = any(showing(Shows.AT_EDGES) & {*one.fitting} for one in wrong)
    remaining = []
    for case, one in outputs:
        ruled_out = never | (showing(Shows.OF_ANY_SHAPE) if one.total <= largest else frozenset())
        if not whole_blocks and one.total >= largest:
            ruled_out |= showing(Shows.IN_PARTIAL_BLOCKS)
        if one.wrong:
            fitting = tuple(mistake for mistake in one.fitting if mistake not in ruled_out)
            remaining.append((case, replace(one, fitting=fitting)))
    return remaining


def _voted_mistake(
    assignment: Assignment, case: CaseEvidence, wrong: Sequence[tuple[CaseEvidence, Comparison]]
) -> str:
    """The mistake of a case: that of all, or else that of the cases of the first item that looks at it."""
    for cases in (wrong, _of_its_item(assignment, case, wrong)):
        visible = [pair for pair in cases if pair[0].case.visibility is Visibility.VISIBLE]
        common = common_mistakes([comparison for _, comparison in visible or cases])
        if common:  # and if two exclude each other, no smaller number of cases decides between them
            return next(iter(without_opposites(common)), "")
    return ""


def _of_its_item(
    assignment: Assignment, case: CaseEvidence, wrong: Sequence[tuple[CaseEvidence, Comparison]]
) -> list[tuple[CaseEvidence, Comparison]]:
    item = next(_items_of(assignment, case.case), None)
    return [pair for pair in wrong if item is None or item.looks_at(pair[0].case)]


def _items_of(assignment: Assignment, case: Case) -> Iterator[RubricItem]:
    """The items that look at the outputs of a case; the first one decides."""
    return (item for item in assignment.rubric if item.check == "output" and item.looks_at(case))


def _is_clear(comparison: Comparison) -> bool:
    """True if an output can tell mistakes apart by itself."""
    return comparison.telling and comparison.total >= ENOUGH


def common_mistakes(wrong: Sequence[Comparison]) -> list[str]:
    """The mistakes that fit all of these that can tell; those that fit the others, too, if any does.

    A few numbers can not, where other cases have more.
    """
    clear = [comparison for comparison in wrong if comparison.telling] or list(wrong)
    clear = [comparison for comparison in clear if comparison.total >= ENOUGH] or clear
    specific = [comparison for comparison in clear if {*comparison.fitting} != showing(Shows.IN_SMALL_ERRORS)]
    candidates = list(_in_all(specific or clear))
    fitting_all = [mistake for mistake in _in_all(wrong) if mistake in candidates]
    where = saying(Says.WHERE)
    if where.issuperset(fitting_all) and not where.issuperset(candidates):
        return candidates
    return fitting_all or candidates


def without_opposites(mistakes: Sequence[str]) -> list[str]:
    """These mistakes, without two that exclude each other."""
    return [mistake for mistake in mistakes if excluded_by(mistake) not in mistakes]


def _in_all(wrong: Iterable[Comparison]) -> Iterator[str]:
    first, *others = [comparison.fitting for comparison in wrong] or [()]
    return (mistake for mistake in first if all(mistake in fitting for fitting in others))


def _with_mistakes(
    assignment: Assignment,
    built: Build,
    case: CaseEvidence,
    named: dict[tuple[str, str], str],
) -> CaseEvidence:
    built, arrays = dict(built.others).get(case.case.kernel, built), assignment.interface.arrays
    inputs = [built.label(array.name) for array in arrays if array.extents and array.direction != "out"]
    comparisons = []
    for comparison in case.comparisons:
        mistake = named.get((case.case.id, comparison.array), "")
        if not mistake:
            comparisons.append(replace(comparison, mistake="", explanation="", hint=""))
            continue
        array = built.label(comparison.array)
        diagnosis = describe_mistake(mistake, array, inputs, built.constants, assignment.feedback)
        comparisons.append(
            replace(comparison, mistake=mistake, explanation=diagnosis.explanation, hint=diagnosis.advice)
        )
    return replace(case, comparisons=tuple(comparisons))
