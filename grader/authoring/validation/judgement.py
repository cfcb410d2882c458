"""Meaning of the trials: flaws that make an assignment unsound, warnings, and uses of each case."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.authoring.validation.records import CaseUse, Stability
from grader.grading.checks.wording import sizes
from grader.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from grader.authoring.validation.records import Mutant, Report, Staff, StaffMistake, TrialOutcome
    from grader.model import Assignment, RubricItem

    Columns = Mapping[str, frozenset[str]]


def judged(report: Report, staff: Staff, assignment: Assignment) -> Report:
    """The report with its problems, warnings and errors, in the order in which staff would repair them."""
    problems = [
        *staff.problems,
        *_of_solution(report),
        *_of_skeleton(report),
        *_of_baselines(report, assignment),
        *(stray for mistake, outcome in report.mistakes for stray in strays(mistake, outcome)),
        *_of_mutants(report),
        *_of_nothing_tried(report),
        *_of_controls(report),
        *report.stability.strays,
    ]
    return replace(
        report,
        problems=tuple(problems),
        warnings=tuple(_warnings(report, staff, assignment)),
        errors=tuple(dict.fromkeys(_errors(report))),
        unjudged=tuple(mistake.file for mistake, outcome in report.mistakes if unjudged(mistake, outcome)),
    )


def is_full(outcome: TrialOutcome) -> bool:
    """True if everything that could be judged was passed."""
    return outcome.verdict in (Verdict.PASS, Verdict.SKIP) and not outcome.failed and not outcome.error


def strays(mistake: StaffMistake, outcome: TrialOutcome) -> Iterator[str]:
    """Differences of a mistake from the table; empty where there is none, or where we failed.

    An item that is not judged on this machine says nothing either way.
    """
    if outcome.error or set(outcome.failed) == set(mistake.loses) - set(outcome.skipped):
        return
    lost = ", ".join(outcome.failed) or "nothing"
    expected = ", ".join(mistake.loses) or "nothing"
    yield f"{mistake.file} (seed {outcome.seed}) loses {lost}; the table says {expected}"


def unjudged(mistake: StaffMistake, outcome: TrialOutcome) -> bool:
    """True if a mistake should lose an item that is not judged on this machine: without a GPU."""
    return not set(mistake.loses).isdisjoint(outcome.skipped)


def stability(
    solution: Sequence[TrialOutcome],
    mistakes: Sequence[tuple[StaffMistake, TrialOutcome]],
    mistake_seeds: int,
) -> Stability:
    """Results with other seeds than the first one."""
    fallen = [_not_full(outcome) for outcome in solution if not outcome.error and not is_full(outcome)]
    fallen += [stray for mistake, outcome in mistakes for stray in strays(mistake, outcome)]
    errors = [
        f"{o.name} (seed {o.seed}): {o.error}" for o in (*solution, *(o for _, o in mistakes)) if o.error
    ]
    return Stability(len(solution) + 1, mistake_seeds, tuple(fallen), tuple(errors))


def _of_solution(report: Report) -> Iterator[str]:
    for suffix, outcome in (("", report.solution), (" on the GPU", report.on_gpu)):
        if outcome is not None and not outcome.error and not is_full(outcome):
            yield f"{_not_full(outcome)}{suffix}"


def _not_full(outcome: TrialOutcome) -> str:
    lost = f"the {outcome.name} (seed {outcome.seed}) loses {', '.join(outcome.failed) or 'points'}"
    return f"{lost}: {outcome.first_loss}" if outcome.first_loss else lost


def _of_skeleton(report: Report) -> Iterator[str]:
    skeleton = report.skeleton
    if skeleton is None or skeleton.error:
        return
    if not skeleton.built:
        yield f"the skeleton does not compile: {skeleton.first_loss}"
    elif is_full(report.solution) and _share(skeleton) >= _share(report.solution):
        yield "the skeleton earns as much as the model solution; an empty hand-in must earn less"


def of_large_cases(solution: TrialOutcome) -> Iterator[str]:
    """Warnings for staff about cases whose shape is too large for the emulator."""
    for large in solution.large:
        case = f"case `{large.case}` ({sizes(large.shape)})" if large.shape else f"case `{large.case}`"
        if large.given_up:
            yield f"{case} is not judged where there is no GPU: {large.given_up}; {_SMALLER}"
        else:
            yield f"{case} takes {large.seconds:.0f} s, for each submission; {_SMALLER}"


_SMALLER = "a smaller shape shows the same mistakes sooner"

_RESULTS = ("compile", "output", "array", "kernel-output")
"""Checks of what a submission computes."""


def _of_baselines(report: Report, assignment: Assignment) -> Iterator[str]:
    """A baseline may be slow and move much, but what is compared with a wrong one says nothing."""
    outputs = {item.id for item in assignment.rubric if item.check in _RESULTS}
    for outcome in report.baselines:
        wrong = [name for name in outcome.failed if name in outputs]
        if wrong and not outcome.error:
            lost = ", ".join(wrong)
            yield f"the baseline {outcome.name} loses {lost}; nothing can be compared with a wrong kernel"


def _share(outcome: TrialOutcome) -> Fraction:
    """The share of the points that could be reached on this machine."""
    return outcome.score / outcome.max_score if outcome.max_score else Fraction(0)


def _of_mutants(report: Report) -> Iterator[str]:
    outcomes = {mutant.id: outcome for mutant, outcome in report.mutants}
    explained = {explanation.mutant for explanation in report.explained}
    for mutant, _ in report.living():
        if mutant.id not in explained:
            yield f"a mutant survives: {mutant.id} (line {mutant.line})"
    for mark in explained if outcomes else ():
        if mark not in outcomes:
            yield f"equivalent.yaml explains {mark}, which is no mutant of the model solution any more"
        elif outcomes[mark].charged:
            yield f"equivalent.yaml explains {mark}, which loses {', '.join(outcomes[mark].charged)}"


def _of_nothing_tried(report: Report) -> Iterator[str]:
    if is_full(report.solution) and not report.mistakes and not report.counted():
        yield "there are no mistakes and no mutants: nothing shows that any item can be lost"


def _of_controls(report: Report) -> Iterator[str]:
    for control in report.controls:
        if control.holds:
            continue
        if control.wanted:
            cases = ", ".join(control.cases)
            yield f"{control.array} {control.name} leaves the error bound in {cases}, but is right"
        else:
            yield f"{control.array} {control.name} stays within the error bound in every case"


def _warnings(report: Report, staff: Staff, assignment: Assignment) -> Iterator[str]:
    yield from of_large_cases(report.solution)
    if not staff.skeleton:
        yield "there is no skeleton for students to begin with"
    nothing = not report.mistakes and not report.counted()
    if nothing or any(unjudged(mistake, outcome) for mistake, outcome in report.mistakes):
        return
    outcomes = [outcome for _, outcome in (*report.mistakes, *report.mutants)]
    for item in assignment.rubric:
        lost = any(_loses_by_itself(item, outcome) for outcome in outcomes)
        if not lost and item.id not in report.solution.skipped:
            yield f"no mistake and no mutant loses `{item.id}` by itself: nothing shows that it can be lost"
    for use in report.uses:
        if not use.caught:
            yield f"case `{use.case}` catches nothing at all"
    if report.uncontrolled:
        yield report.uncontrolled


def _loses_by_itself(item: RubricItem, outcome: TrialOutcome) -> bool:
    """True if an item failed, and nothing that it needs did."""
    return item.id in outcome.failed and set(item.needs).isdisjoint(outcome.failed)


def _errors(report: Report) -> Iterator[str]:
    outcomes = [report.solution, *([report.skeleton] if report.skeleton else [])]
    outcomes += [*report.baselines, *([report.on_gpu] if report.on_gpu else [])]
    outcomes += [outcome for _, outcome in (*report.mistakes, *report.mutants)]
    for outcome in outcomes:
        if outcome.error:
            yield f"{outcome.name}: {outcome.error}"
    yield from report.stability.errors


def columns(
    mistakes: Iterable[tuple[StaffMistake, TrialOutcome]], mutants: Iterable[tuple[Mutant, TrialOutcome]]
) -> dict[str, frozenset[str]]:
    """Cases that catch each thing to be caught; what no single case catches has no column."""
    caught: dict[str, set[str]] = {}
    for mistake, outcome in mistakes:
        for case, items in outcome.kills:
            for item in set(items) & set(mistake.loses):
                caught.setdefault(f"{mistake.file} ({item})", set()).add(case)
    for mutant, outcome in mutants:
        for case, _ in outcome.kills:
            caught.setdefault(mutant.id, set()).add(case)
    return {name: frozenset(cases) for name, cases in caught.items()}


def case_uses(cases: Iterable[str], caught_by: Columns) -> tuple[CaseUse, ...]:
    """Uses of each case, in the order given."""
    rows = {case: frozenset(name for name, by in caught_by.items() if case in by) for case in cases}
    needed = _smallest(rows)
    return tuple(
        CaseUse(
            case=case,
            caught=len(row),
            alone=tuple(name for name in caught_by if caught_by[name] == {case}),
            spare=case not in needed,
        )
        for case, row in rows.items()
    )


def _smallest(rows: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """A small set of cases that catches all that all of them catch: the greedy set cover (Chvátal, 1979)."""
    uncovered = frozenset[str]().union(*rows.values())
    needed: set[str] = set()
    while uncovered:
        best = max(rows, key=lambda case: len(rows[case] & uncovered))
        needed.add(best)
        uncovered -= rows[best]
    return frozenset(needed)
