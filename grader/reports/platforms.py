"""Results of one submission for platforms that start a grader and read one file of it.

    gradescope     results.json of an autograder (Gradescope, "Autograder Specifications", results.json)
    prairielearn   results.json of an external grader (PrairieLearn, "External Grading", grading results)
    classroom50    result.json of an autograder (Classroom 50, schema classroom50/result/v1)

What they say is what a student may see. What failed on our side, or is for staff to decide, is never a score,
but for hidden cases, which pass or do not (`grader.grading.checks.secrecy`):
PrairieLearn gets the answer that the submission could not be graded, which costs no attempt, and Classroom 50
gets no result at all.

Gradescope gets a test per rubric item, with the visibility that Gradescope enforces. What a test says is what
a student may see once it is shown: Gradescope keeps a test that is ``after_due_date`` or ``after_published``
until then. Of a hidden test only the verdict is written, so a wrong setting there leaks nothing. Extra credit
and penalties have a maximum of 0; the whole score counts them in. Where there is no whole score, Gradescope
adds up the scores of the tests. So a grade that is an error of ours, or one of which staff have to decide
something, has neither: what was judged would look like all that was earned.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from grader.base.errors import OurError, UsageError
from grader.base.text import many_lines, one_line
from grader.model import Verdict, Visibility
from grader.model.messages import text_of
from grader.reports import text, wording
from grader.reports.audience import Released, student_view
from grader.reports.excerpts import NONE_FURTHER, Sources
from grader.reports.selection import alone, apart, title
from grader.reports.wording import in_its_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from grader.model import Grade, ItemGrade
    from grader.reports.excerpts import Further
    from grader.reports.selection import ShownItem

WIDTH = 100
LONGEST_REASON = 1_000

_RELEASED: dict[Visibility, Released] = {
    Visibility.AFTER_DUE_DATE: "due_date",
    Visibility.AFTER_PUBLISHED: "published",
}
"""Event that has come by the time that Gradescope shows a test."""

_STATUS = {Verdict.PASS: "passed", Verdict.FAIL: "failed"}


@in_its_words
def gradescope(
    grade: Grade,
    source_lines: Sequence[str] = (),
    remarks: Sequence[str] = (),
    extra: Mapping[str, Any] = MappingProxyType({}),
    *,
    further: Further = NONE_FURTHER,
) -> str:
    """Write one submission's results; items that were not judged have no score.

    ``source_lines`` are those of its file, to quote from, and so are those of ``further`` files. ``remarks``
    on how it was handed in stand first; ``extra`` is kept beside the results, and shown only to staff.
    """
    shown = student_view(grade)
    # Of an error the page itself says so.
    doubt = "" if shown.verdict is Verdict.ERROR else wording.unscored(shown)
    about = [many_lines(part) for part in ("\n".join(remarks), doubt) if part]
    page = text.render(shown, width=WIDTH, source_lines=source_lines, further=further)
    results: dict[str, Any] = {
        "output": "\n\n".join([*about, page.plain]),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": list(_gradescope_tests(grade, Sources(grade.submission_file, source_lines, further))),
    }
    if not wording.unscored(shown):
        results["score"] = wording.number(shown.score)
    fast = wording.measured(shown)
    if fast is not None:
        extra = {**extra, "gpu": one_line(shown.device), "speedup": asdict(fast)}
    if shown.estimate is not None and shown.estimate.ratio is not None:
        model = {"gpu": one_line(shown.estimate.device_name), **asdict(shown.estimate.ratio)}
        extra = {**extra, "estimated_speedup": model}
    if extra:
        results["extra_data"] = {**extra}
    return _dump(results)


def gradescope_failure(reason: str) -> str:
    """Write results where grading itself failed before there was a grade: a sentence, and no score."""
    words = text_of("not-graded-submission", reason=one_line(reason, LONGEST_REASON))
    return _dump({"output": words, "output_format": "text", "stdout_visibility": "hidden", "tests": []})


def _dump(results: dict[str, Any]) -> str:
    return json.dumps(results, ensure_ascii=True, indent=1) + "\n"


def _gradescope_tests(grade: Grade, sources: Sources) -> Iterator[dict[str, Any]]:
    """Each item as a student may see it on the day when Gradescope shows it."""
    views = {released: student_view(grade, released) for released in ("", *_RELEASED.values())}
    shown = {released: alone(view) for released, view in views.items()}
    for index, item in enumerate(grade.items):
        released = _RELEASED.get(item.result.item.visibility, "")
        yield _gradescope_test(views[released], shown[released][index], sources)


def _gradescope_test(view: Grade, shown: ShownItem, sources: Sources) -> dict[str, Any]:
    item, result = shown.item, shown.result
    test: dict[str, Any] = {
        "name": shown.title + shown.apart,
        "visibility": result.item.visibility.value,
        "output": text.details(shown, sources, width=WIDTH),
        "output_format": "text",
    }
    if result.verdict in _STATUS:
        test["status"] = _STATUS[result.verdict]
        if not wording.unscored(view):
            test["score"] = wording.number(item.points)
            test["max_score"] = wording.number(item.max_points) if result.item.counts else 0
    return test


MOST_BYTES = 1_000_000
"""PrairieLearn takes no larger file."""

LENGTHS = (20_000, 2_000, 200)
"""Characters of an output, the longest first, of which those are chosen with which all of them fit."""

SUBMISSION = re.compile(r"submit/.+")
ENVIRONMENT = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}
"""The fields of Classroom 50's result that its runner sets in the environment."""


def prairielearn(grade: Grade, source_lines: Sequence[str] = (), further: Further = NONE_FURTHER) -> str:
    """Write results.json; a score is a share of what could be judged, and at most 1."""
    sources = Sources(grade.submission_file, source_lines, further)
    shown = student_view(grade)
    graded = not wording.unscored(shown) and shown.max_score > 0
    message = many_lines(_summary(shown), LENGTHS[1])
    results: dict[str, Any] = {
        "gradable": graded,
        **({"score": float(_share(shown))} if graded else {"format_errors": [message]}),
        "message": message,
        "output": text.render(shown, width=100, source_lines=source_lines, further=further).plain,
        "tests": [_prairielearn_test(item, sources) for item in alone(shown)],
    }
    written = (json.dumps(_cut(results, most), ensure_ascii=True, indent=1) + "\n" for most in LENGTHS)
    return next(
        (one for one in written if len(one) <= MOST_BYTES), json.dumps(results | {"output": "", "tests": []})
    )


def _cut(results: dict[str, Any], most: int) -> dict[str, Any]:
    """The same with outputs of at most ``most`` characters."""
    tests = [test | {"output": many_lines(test["output"], most)} for test in results["tests"]]
    return results | {"output": many_lines(results["output"], most), "tests": tests}


def _summary(grade: Grade) -> str:
    nothing = "" if grade.max_score else text_of("nothing-to-judge")
    return wording.unscored(grade) or nothing or wording.score(grade)


def _share(grade: Grade) -> Fraction:
    return min(max(grade.score / grade.max_score, Fraction(0)), Fraction(1))


def _prairielearn_test(shown: ShownItem, sources: Sources) -> dict[str, Any]:
    """An item; what was not judged, extra credit and penalties have no maximum."""
    item, result = shown.item, shown.result
    judged = result.verdict in {Verdict.PASS, Verdict.FAIL}
    return {
        "name": shown.title + shown.apart,
        "points": wording.number(item.points) if judged else 0,
        "max_points": wording.number(item.max_points) if judged and result.item.counts else 0,
        "message": shown.state.look.word,
        "output": text.details(shown, sources),
    }


def classroom50(grade: Grade, environment: Mapping[str, str], now: datetime) -> str:
    """Write result.json with what the runner says in the ``environment``; points are whole numbers there.

    Full marks are shown for full marks only. Raises UsageError where the runner says too little, and
    OurError where there is no score: the runner then records an error of the autograder.
    """
    shown = student_view(grade)
    if why := wording.unscored(shown):
        raise OurError(why)
    most = _whole(shown.max_score)
    result = {
        "schema": "classroom50/result/v1",
        **_environment_fields(environment),
        "assignment_type": "group" if environment.get("ASSIGNMENT_TYPE") == "group" else "individual",
        "datetime": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": min(most, _whole(shown.score, shown.max_score)),
        "max-score": most,
        "tests": [_counted(item) for item in shown.items],
    }
    return json.dumps(result, ensure_ascii=True, indent=1) + "\n"


def _environment_fields(environment: Mapping[str, str]) -> dict[str, str]:
    fields = {field: one_line(environment.get(name, ""), 500) for field, name in ENVIRONMENT.items()}
    fields["owner"] = fields["owner"] or one_line(environment.get("USERNAME", ""))
    fields["review"] = fields["review"] or fields["commit"]  # as older runners have it
    missing = [name for field, name in ENVIRONMENT.items() if not fields[field]]
    if missing:
        raise UsageError(
            f"Classroom 50's runner sets {', '.join(missing)} in the environment; it is not there"
        )
    if not SUBMISSION.fullmatch(fields["submission"]):
        raise UsageError("SUBMISSION_TAG: expected a tag such as submit/2026-11-02T10-30-00Z-0a1b2c3")
    return fields


def _counted(item: ItemGrade) -> dict[str, Any]:
    most = _whole(item.max_points) if item.result.item.counts else 0
    return {
        "test-name": title(item) + apart(item),
        "passed": item.result.verdict is Verdict.PASS,
        "score": min(most, _whole(item.points, item.max_points)),
        "max-score": most,
    }


def _whole(points: Fraction, full: Fraction | None = None) -> int:
    """Round to a whole number of at least 0; what is less than ``full`` does not become it."""
    rounded = max(0, round(points))
    return (
        max(0, round(full) - 1) if full is not None and points < full and rounded >= round(full) else rounded
    )
