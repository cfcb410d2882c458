"""Search for the smallest shape at which a wrong function still fails, by calling it again.

It is looked for as for a kernel (`grader.kinds.attempts.smaller`), but each attempt is a run in the sandbox:
attempts are few, and those that begin at one shape share a stage. It is a courtesy: it changes no verdict.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from grader.base.errors import log_swallowed
from grader.base.records import mutable
from grader.kinds.attempts.smaller import SmallestShapes, at_sizes, shrunk, sizes_of
from grader.model import Visibility

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.kinds.attempts.smaller import Sizes
    from grader.kinds.function.calling import FurtherCalls
    from grader.model import Case, CaseEvidence

CALLS = 48
"""Calls of the function that all attempts for one submission may take together."""

SECONDS, EMULATOR_SECONDS = 1.0, 0.2
"""Most seconds for each call, and on the emulator: smaller shapes take less than the case."""


@mutable
class SmallerCalls:
    """Calls of one submission's function at smaller shapes than its cases have."""

    further: FurtherCalls
    calls_left: int = CALLS
    shapes: SmallestShapes = field(default_factory=SmallestShapes)

    def with_smallest(self, cases: tuple[CaseEvidence, ...]) -> tuple[CaseEvidence, ...]:
        """The cases, those that are visible and wrong with the smallest shape that fails."""
        try:
            return tuple(self._with_smallest(case) if _is_shown(case) else case for case in cases)
        except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
            log_swallowed("calling a function at a smaller shape")
            return cases

    def _with_smallest(self, evidence: CaseEvidence) -> CaseEvidence:
        case, mistake = evidence.case, next(c.mistake for c in evidence.comparisons if c.wrong)
        first_failing = partial(self._first_failing, case)
        smallest = self.shapes.of(case, mistake, lambda sizes: shrunk(sizes, (_smaller,), first_failing))
        example = self.shapes.example(case, smallest)
        return replace(evidence, smallest=smallest, example=evidence.example if example is None else example)

    def _first_failing(self, case: Case, attempts: Iterator[Sizes]) -> Sizes | None:
        """The first shape at which an output is wrong, as far as the calls last.

        One that cannot be called is none.
        """
        shapes = tuple(islice(attempts, self.calls_left))
        if not shapes:
            return None
        self.calls_left -= len(shapes)
        cases = tuple(
            replace(at_sizes(case, sizes), id=f"smaller-{number}") for number, sizes in enumerate(shapes)
        )
        program = replace(self.further.program, seconds=SECONDS, emulator_seconds=EMULATOR_SECONDS)
        evidence = self.further.in_cases(cases, self.further.task_with(self.further.oracle), program)
        failing = [one for one in evidence if _is_wrong(one)]
        for one in failing:
            self.shapes.keep_example(one.case, one.example)
        return sizes_of(failing[0].case) if failing else None


def _is_shown(case: CaseEvidence) -> bool:
    """True if a smaller shape is worth looking for: no mistake of the host explains the result."""
    of_host = any(c.wrong and c.explanation and not c.mistake for c in case.comparisons)
    return case.case.visibility is Visibility.VISIBLE and _is_wrong(case) and not of_host


def _is_wrong(case: CaseEvidence) -> bool:
    """True if a call came to its end and left something wrong that a kernel computed."""
    computed = case.completed and not case.error and not case.too_much_work and case.launches != 0
    return computed and any(comparison.wrong for comparison in case.comparisons)


def _smaller(size: int) -> Iterator[int]:
    """A few smaller ones, the smallest first."""
    yield from sorted(
        {less for less in (1, size // 4, size // 2, size - size // 4, size - 1) if 0 < less < size}
    )
