"""Cases × (mistakes and mutants): what each case is good for.

A column is something that must not get through: a mutant, or an item that a mistake has to lose. A row is a
case; it catches a column if something failed in it. A case that catches nothing is of no use at all; one
whose catch the others make as well is spare. Which of several such cases is spare is a choice: the smallest
set that catches everything is looked for greedily, most catches first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.validation.records import CaseUse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.validation.records import Mistake, Mutant, Outcome

    Columns = Mapping[str, frozenset[str]]


def columns(
    mistakes: Iterable[tuple[Mistake, Outcome]], mutants: Iterable[tuple[Mutant, Outcome]]
) -> dict[str, frozenset[str]]:
    """For each thing to be caught the cases that catch it; what no single case catches has no column."""
    found: dict[str, set[str]] = {}
    for mistake, outcome in mistakes:
        for case, items in outcome.kills:
            for item in set(items) & set(mistake.loses):
                found.setdefault(f"{mistake.file} ({item})", set()).add(case)
    for mutant, outcome in mutants:
        for case, _ in outcome.kills:
            found.setdefault(mutant.id, set()).add(case)
    return {name: frozenset(cases) for name, cases in found.items()}


def case_uses(cases: Iterable[str], caught_by: Columns) -> tuple[CaseUse, ...]:
    """What each case is good for, in the order given."""
    rows = {case: frozenset(name for name, by in caught_by.items() if case in by) for case in cases}
    kept = _smallest(rows)
    return tuple(
        CaseUse(
            case=case,
            caught=len(row),
            alone=tuple(name for name in caught_by if caught_by[name] == {case}),
            spare=case not in kept,
        )
        for case, row in rows.items()
    )


def _smallest(rows: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """A small set of cases that catches all that all of them catch: the greedy set cover (Chvátal, 1979)."""
    left = frozenset[str]().union(*rows.values())
    kept: set[str] = set()
    while left:
        best = max(rows, key=lambda case: len(rows[case] & left))
        kept.add(best)
        left -= rows[best]
    return frozenset(kept)
