"""The class page while a batch runs: what is graded so far, written anew now and then."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.reports import class_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.batch.folder import OutFolder
    from grader.model import Grade

PAGE = "index.html"
_SHARE = 20
"""At most one part in so many of the time goes into writing the page."""


class PageInProgress:
    """Collects grades and writes the page of those that there are, the first one at once."""

    def __init__(
        self, out: OutFolder, graded: Iterable[Grade], total: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._out, self._total, self._clock = out, total, clock
        self._grades = {grade.submission_id: _lean(grade) for grade in graded}
        self._next = clock()

    def add(self, grade: Grade) -> None:
        """Take a grade in; write the page where that is due. Raises StorageError."""
        self._grades[grade.submission_id] = _lean(grade)
        began = self._clock()
        if began < self._next:
            return
        waiting = max(0, self._total - len(self._grades))
        grades = [self._grades[name] for name in sorted(self._grades)]
        page = class_page.render(grades, source_of=self._out.source_lines, waiting=waiting)
        self._out.write({PAGE: page})
        took = self._clock() - began
        self._next = began + max(class_page.REFRESH_SECONDS, _SHARE * took)


def _lean(grade: Grade) -> Grade:
    """The grade without the evidence of its cases, which no page shows and which takes much memory."""
    if grade.evidence is None:
        return grade
    return replace(grade, evidence=replace(grade.evidence, cases=()))
