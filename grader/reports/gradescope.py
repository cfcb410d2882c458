"""Gradescope's results.json: a test per rubric item, with the visibility that Gradescope enforces.

Format: Gradescope autograder documentation, "Autograder Specifications", results.json. What a test says
is what a student may see once it is shown: Gradescope keeps a test that is ``after_due_date`` or
``after_published`` until then. Of a hidden test nothing but the verdict is told, so a wrong setting there
leaks nothing. Extra credit and penalties have a maximum of 0; the whole score counts them in.

Where there is no whole score, Gradescope adds up those of the tests. So a grade that is an error of ours, or
one of which staff have to decide something, has neither: what was judged would look like all that was earned.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from grader.model import Verdict, Visibility
from grader.reports import estimate, text, wording
from grader.reports.audience import Released, student_view
from grader.reports.excerpts import NONE_FURTHER, Sources
from grader.reports.text import apart, title
from grader.reports.wording import in_its_words
from grader.text import many_lines, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grader.model import Grade, ItemGrade
    from grader.reports.excerpts import Further

WIDTH = 100
LONGEST_REASON = 1_000

_RELEASED: dict[Visibility, Released] = {
    Visibility.AFTER_DUE_DATE: "due_date",
    Visibility.AFTER_PUBLISHED: "published",
}
"""What has come by the time that Gradescope shows a test."""

_STATUS = {Verdict.PASS: "passed", Verdict.FAIL: "failed"}


@in_its_words
def render(
    grade: Grade,
    source_lines: Sequence[str] = (),
    remarks: Sequence[str] = (),
    extra: Mapping[str, Any] = MappingProxyType({}),
    *,
    further: Further = NONE_FURTHER,
) -> str:
    """Write one submission's results; items that were not judged have no score.

    ``source_lines`` are those of its file, to quote from, and so are those of ``further`` files. ``remarks``
    on how it was handed in stand first; ``extra`` is kept beside the results, and shown to nobody but staff.
    """
    shown = student_view(grade)
    # Of an error the page itself says so.
    doubt = "" if grade.verdict is Verdict.ERROR else wording.unscored(grade)
    about = [many_lines(part) for part in ("\n".join(remarks), doubt) if part]
    page = text.render(shown, width=WIDTH, source_lines=source_lines, further=further)
    results: dict[str, Any] = {
        "output": "\n\n".join([*about, page.plain]),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": list(_tests(grade, Sources(grade.submission_file, source_lines, further))),
    }
    if not wording.unscored(grade):
        results["score"] = wording.number(grade.score)
    fast = wording.measured(shown)
    if fast is not None:
        extra = {**extra, "gpu": one_line(shown.device), "speedup": asdict(fast)}
    if shown.estimate is not None and shown.estimate.ratio is not None:
        model = {"gpu": one_line(shown.estimate.device_name), **asdict(shown.estimate.ratio)}
        extra = {**extra, "estimated_speedup": model}
    if extra:
        results["extra_data"] = {**extra}
    return _dump(results)


def failure(reason: str) -> str:
    """Write results where grading itself failed before there was a grade: a sentence, and no score."""
    words = f"not graded, through no fault of the submission: {one_line(reason, LONGEST_REASON)}"
    return _dump({"output": words, "output_format": "text", "stdout_visibility": "hidden", "tests": []})


def _dump(results: dict[str, Any]) -> str:
    return json.dumps(results, ensure_ascii=True, indent=1) + "\n"


def _tests(grade: Grade, sources: Sources) -> Iterator[dict[str, Any]]:
    """Each item as a student may see it on the day when Gradescope shows it."""
    views = {released: student_view(grade, released) for released in ("", *_RELEASED.values())}
    for index, item in enumerate(grade.items):
        view = views[_RELEASED.get(item.result.item.visibility, "")]
        yield _test(view, view.items[index], sources)


def _test(view: Grade, item: ItemGrade, sources: Sources) -> dict[str, Any]:
    result = item.result
    output = [text.details(view, item, sources, width=WIDTH), *estimate.lines_beside(view, item)]
    test: dict[str, Any] = {
        "name": title(item) + apart(item),
        "visibility": result.item.visibility.value,
        "output": "\n".join(output),
        "output_format": "text",
    }
    if result.verdict in _STATUS:
        test["status"] = _STATUS[result.verdict]
        if not wording.unscored(view):
            test["score"] = wording.number(item.points)
            test["max_score"] = wording.number(item.max_points) if result.item.counts else 0
    return test
