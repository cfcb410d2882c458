"""Results of one submission for platforms that start a grader and read one file of it.

    prairielearn   results.json of an external grader (PrairieLearn, "External Grading", grading results)
    classroom50    result.json of an autograder (Classroom 50, schema classroom50/result/v1)

What they say is what a student may see. What failed on our side, or is for staff to decide, is never a score:
PrairieLearn is told that the submission could not be graded, which costs no attempt, and Classroom 50 gets no
result at all.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from grader.errors import OurError, UsageError
from grader.model import Verdict
from grader.reports import text, wording
from grader.reports.audience import student_view
from grader.reports.excerpts import NONE_FURTHER, Sources
from grader.text import many_lines, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from grader.model import Grade, ItemGrade
    from grader.reports.excerpts import Further

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
        "tests": [_test(shown, item, sources) for item in shown.items],
    }
    written = (json.dumps(_cut(results, most), ensure_ascii=True, indent=1) + "\n" for most in LENGTHS)
    return next(
        (one for one in written if len(one) <= MOST_BYTES), json.dumps(results | {"output": "", "tests": []})
    )


def _cut(results: dict[str, Any], most: int) -> dict[str, Any]:
    """The same with outputs of at most so many characters."""
    tests = [test | {"output": many_lines(test["output"], most)} for test in results["tests"]]
    return results | {"output": many_lines(results["output"], most), "tests": tests}


def _summary(grade: Grade) -> str:
    nothing = "" if grade.max_score else "nothing could be judged here"
    return wording.unscored(grade) or nothing or wording.score(grade)


def _share(grade: Grade) -> Fraction:
    return min(max(grade.score / grade.max_score, Fraction(0)), Fraction(1))


def _test(grade: Grade, item: ItemGrade, sources: Sources) -> dict[str, Any]:
    """An item; what was not judged, extra credit and penalties have no maximum."""
    judged = item.result.verdict in {Verdict.PASS, Verdict.FAIL}
    counts = judged and item.result.item.counts
    return {
        "name": text.title(item) + text.apart(item),
        "points": wording.number(item.points) if judged else 0,
        "max_points": wording.number(item.max_points) if counts else 0,
        "message": wording.look(item.result).word,
        "output": text.details(grade, item, sources),
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
        **_said(environment),
        "assignment_type": "group" if environment.get("ASSIGNMENT_TYPE") == "group" else "individual",
        "datetime": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": min(most, _whole(shown.score, shown.max_score)),
        "max-score": most,
        "tests": [_counted(item) for item in shown.items],
    }
    return json.dumps(result, ensure_ascii=True, indent=1) + "\n"


def _said(environment: Mapping[str, str]) -> dict[str, str]:
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
        "test-name": text.title(item) + text.apart(item),
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
