"""The pages of a class: when a batch is done, and while it runs what is graded so far."""

from __future__ import annotations

import time
from hashlib import sha256
from typing import TYPE_CHECKING

from grader import __version__
from grader.classroom.course.similarity import similar
from grader.grading.assignment.bundled import staff_folders
from grader.grading.submission import decode, lines
from grader.model.messages import report_words, sentences_of, speaking
from grader.reports import class_page, files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from grader.classroom.batch.folder import OutFolder
    from grader.model import Assignment, Grade
    from grader.reports.files import Text

PAGE, SIMILAR = "index.html", "similar.html"
_SHARE = 20
"""Reciprocal of the largest share of the time that goes into writing the page."""


def class_files(out: OutFolder, grades: Sequence[Grade]) -> dict[str, Text]:
    """The files of a class; its page links to that of similar submissions where there is one."""
    return files.of_class(grades, out.source_lines, similar=(out.path / SIMILAR).is_file())


def write_similar(out: OutFolder, assignment: Assignment, sources: Mapping[str, bytes]) -> None:
    """Write the page of submissions that are alike, where there are several; raises StorageError.

    ``sources`` are what was handed in, by submission. Comparing takes longer than all else that a batch does
    once everything is graded, so a page that was made of the same texts stays.
    """
    texts = {name: decode(source) for name, source in sources.items() if source}
    if len(texts) <= 1:
        return
    shared_files = _provided_sources(assignment)
    words = report_words(assignment.feedback)
    compared = (__version__, assignment.title, words, shared_files, sorted(texts.items()))
    digest = sha256(repr(compared).encode("utf-8", "backslashreplace")).hexdigest()
    if digest != class_page.digest_in(out.beginning(SIMILAR)):
        pairs, more = similar(texts, shared_files)
        quoted = {name: lines(sources[name]) for pair in pairs for name in (pair.first, pair.second)}
        with speaking(sentences_of(assignment.feedback)):
            page = class_page.render_similar(assignment.title, pairs, quoted, digest, more)
        out.write({SIMILAR: page})


def _provided_sources(assignment: Assignment) -> list[str]:
    """Sources that are handed out with an assignment, and the staff's own kernels."""
    path = assignment.path
    out_folder = path if path.is_dir() else path.parent
    return [
        decode(file.read_bytes())
        for folder in (out_folder, *staff_folders(assignment.reference, assignment.id, path))
        for file in sorted(folder.glob("*.cu"))
    ]


class PageInProgress:
    """Collects grades and writes the page of those that there are, the first one at once."""

    def __init__(
        self, out: OutFolder, graded: Iterable[Grade], total: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._out, self._total, self._clock = out, total, clock
        self._grades = {grade.submission_id: grade for grade in graded}
        self._next = clock()

    def add(self, grade: Grade) -> None:
        """Take in a grade, without its evidence; write the page where that is due. Raises StorageError."""
        self._grades[grade.submission_id] = grade
        began = self._clock()
        if began < self._next:
            return
        waiting = max(0, self._total - len(self._grades))
        grades = [self._grades[name] for name in sorted(self._grades)]
        page = class_page.render(grades, source_of=self._out.source_lines, waiting=waiting)
        self._out.write({PAGE: page})
        took = self._clock() - began
        self._next = began + max(class_page.REFRESH_SECONDS, _SHARE * took)
