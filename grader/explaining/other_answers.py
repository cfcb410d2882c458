"""Answers of the oracle for other inputs than a case has: they explain a wrong output, and grade nothing.

An oracle is written for the inputs that it draws. Others may make it fail, print, never end, or take all
memory: then there is no answer, the failure is not reported, and time and memory for the questions are
limited.
"""

from __future__ import annotations

import io
import time
import warnings
from contextlib import redirect_stderr
from itertools import chain
from typing import TYPE_CHECKING, Any

from grader.base import staff_code
from grader.base.errors import OurError
from grader.base.memory_limit import limited
from grader.base.records import frozen, mutable
from grader.explaining.formulas.mutants import mutants
from grader.explaining.formulas.sums import mutants_of_sums
from grader.grading.oracle import expected_of
from grader.model import Visibility
from grader.model.compare import data_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from numpy.typing import NDArray

    from grader.grading.oracle import Oracle
    from grader.model import Case

SECONDS = 5.0
"""Time of this process for all questions about one output: a hundred take less than one second of most
oracles. It does not depend on who else uses the machine, so that all of them are asked every time."""

MUTANT_SECONDS = 3.0
"""The same for all mutants of an oracle."""

SECONDS_OF_ONE = 0.25
"""The same for one of them."""

MOST_BYTES = 1 << 30
"""Memory for one question; several submissions are graded at a time."""

LONGER = 4
"""Wall time for one question as a multiple of the time that is left: processes of a class share the cores."""


@mutable
class OtherAnswers:
    """Right values of an array for other inputs; None where the oracle has no answer, or no time."""

    oracle: Oracle
    case: Case
    array: str
    seconds_left: float = SECONDS

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any] | None:
        """The values for these inputs."""
        if self.seconds_left <= 0:
            return None
        began, code = time.process_time(), f"the oracle's `expected` ({self.oracle.folder / 'oracle.py'})"
        try:
            with (
                warnings.catch_warnings(action="ignore"),
                limited(MOST_BYTES),
                redirect_stderr(io.StringIO()),
                staff_code.running(code, LONGER * self.seconds_left),
            ):
                expected = expected_of(self.oracle, inputs, dict(self.case.shape), [self.array])
        except staff_code.TookTooLongError:  # on a busy machine after less time of a processor than there is
            self.seconds_left = 0
            return None
        except OurError:
            return None
        finally:
            self.seconds_left -= time.process_time() - began
        return data_of(expected[self.array][0])


@frozen
class MutantAnswers:
    """Expected values of an array from oracles with one change, each with the mistake that it represents."""

    oracle: Oracle
    case: Case
    array: str
    inputs: Mapping[str, NDArray[Any]]
    threads: tuple[int, ...] = ()
    """Lengths that a block, or a tile, may have along an axis."""
    only: Container[str] | None = None
    """The mistakes that are looked for; all where it is None."""

    def __iter__(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """All that have an answer, as long as there is time; none for hidden cases."""
        if self.case.visibility is not Visibility.VISIBLE:
            return
        seconds_left = MUTANT_SECONDS
        of_sums = mutants_of_sums(
            self.oracle, self.threads, lambda oracle: self._answers(oracle)(self.inputs), self.only
        )
        for mistake, mutant in chain(of_sums, mutants(self.oracle, self.only)):
            given = min(seconds_left, SECONDS_OF_ONE)
            asked = self._answers(mutant, given)
            answer = asked(self.inputs)
            seconds_left -= given - asked.seconds_left
            if seconds_left <= 0:
                return
            if answer is not None:
                yield mistake, answer

    def _answers(self, oracle: Oracle, seconds: float = SECONDS_OF_ONE) -> OtherAnswers:
        return OtherAnswers(oracle, self.case, self.array, seconds)
