"""A stored grade.json, read back as a `Grade` to render reports from.

The file may be foreign, truncated or written by a later version: it is checked against the schema below,
and the first thing that does not fit is named. What a rubric item's check alone knows (its options) is
not stored.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from grader import model
from grader.errors import UsageError
from grader.reports.stored_case import StoredCase
from grader.reports.stored_timing import Timing

FORMAT_VERSION: Final = 1

EXACT = re.compile(r"-?\d{1,400}(/0*[1-9]\d{0,400})?")
"""``25/3``; the length is bounded because arithmetic on what a file holds should be."""


def _exact(value: object) -> Fraction:
    if not isinstance(value, str) or not EXACT.fullmatch(value):
        raise ValueError("expected an exact fraction such as 25/3")
    return Fraction(value)


Exact = Annotated[Fraction, BeforeValidator(_exact)]
Place = tuple[int, int, int] | None


class Stored(BaseModel):
    """Anything in the file: keys that a later version adds are passed over."""

    model_config = ConfigDict(extra="ignore", arbitrary_types_allowed=True)


class StoredAssignment(Stored):
    """``assignment``."""

    id: str
    title: str
    digest: str


class StoredSubmission(Stored):
    """``submission``."""

    id: str
    file: str
    digest: str


class StoredBackend(Stored):
    """``backend``."""

    name: str
    device: str
    toolkit: str


class StoredFinding(Stored):
    """One of ``items[].findings``; the fields are those of `grader.model.Finding`."""

    kind: model.FindingKind
    message: str
    hazard: str
    file: str
    line: int | None
    other_line: int | None
    case: str
    block: Place
    thread: Place
    other_thread: Place
    address: str
    severity: model.Severity
    count: int
    other_block: Place
    witnesses: tuple[str, ...] = ()
    repair: str = ""
    steps: tuple[str, ...] = ()
    withheld: bool = False
    wrong_map: tuple[str, ...] = ()
    map_cell: tuple[int, int] = (1, 1)
    smallest: dict[str, int] = {}

    def record(self) -> model.Finding:
        """The record of it."""
        return model.Finding(**{**dict(self), "smallest": tuple(self.smallest.items())})


class StoredAdvice(Stored):
    """One of ``advice``; the fields are those of `grader.model.Advice`."""

    kind: model.AdviceKind
    message: str
    file: str
    line: int | None
    array: str
    weight: float


class StoredCause(Stored):
    """``cause``; the fields are those of `grader.model.Cause`."""

    code: str
    message: str
    hint: str
    item: str
    line: int | None


class StoredItem(Stored):
    """One of ``items``."""

    id: str
    title: str
    check: str
    verdict: model.Verdict
    points_exact: Exact
    max_points_exact: Exact
    fraction_exact: Exact
    message: str
    hint: str
    item_hint: str
    visibility: model.Visibility
    cases: tuple[str, ...]
    needs: tuple[str, ...]
    partial: str
    case_verdicts: dict[str, model.Verdict]
    extra: bool = False
    penalty: bool = False
    message_staff: str = ""
    judged: bool = True
    findings: tuple[StoredFinding, ...]


class StoredRescored(Stored):
    """``rescored``: what it was graded with before a changed rubric was applied."""

    assignment_digest: str = ""


class StoredGrade(Stored):
    """The whole file."""

    format_version: Literal[1]
    assignment: StoredAssignment
    submission: StoredSubmission
    backend: StoredBackend
    seed: int
    verdict: model.Verdict
    score_exact: Exact
    max_score_exact: Exact
    skipped_points_exact: Exact
    error: str
    items: tuple[StoredItem, ...]
    cases: tuple[StoredCase, ...]
    timing: Timing
    versions: dict[str, str]
    seconds: dict[str, float]
    advice: tuple[StoredAdvice, ...] = ()
    cause: StoredCause | None = None
    witnesses: dict[str, str] = {}
    rescored: StoredRescored = StoredRescored()


def load(text: str, name: str = "grade.json") -> model.Grade:
    """Read what `grade_json.dump` wrote; ``name`` is the file, for the message.

    Raises:
        UsageError: this is no grade.json of format version 1.

    """
    try:
        stored = StoredGrade.model_validate_json(text)
    except ValidationError as error:
        what = f"{name} is not a stored grade of format version {FORMAT_VERSION} ({_first_problem(error)})"
        raise UsageError(f"{what}; grade the submission again") from None
    return _grade(stored)


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    what = problem["msg"].removeprefix("Value error, ")
    return f"{where}: {what}" if where else what


def _grade(stored: StoredGrade) -> model.Grade:
    return model.Grade(
        assignment_id=stored.assignment.id,
        assignment_title=stored.assignment.title,
        assignment_digest=stored.assignment.digest,
        submission_id=stored.submission.id,
        submission_file=stored.submission.file,
        submission_digest=stored.submission.digest,
        backend=stored.backend.name,
        device=stored.backend.device,
        toolkit=stored.backend.toolkit,
        seed=stored.seed,
        verdict=stored.verdict,
        score=stored.score_exact,
        max_score=stored.max_score_exact,
        skipped_points=stored.skipped_points_exact,
        items=tuple(_item(item) for item in stored.items),
        cases=tuple(case.grade() for case in stored.cases),
        timing=tuple(stored.timing.items()),
        versions=tuple(stored.versions.items()),
        seconds=tuple(stored.seconds.items()),
        error=stored.error,
        advice=tuple(model.Advice(**dict(each)) for each in stored.advice),
        cause=None if stored.cause is None else model.Cause(**dict(stored.cause)),
        witnesses=tuple(stored.witnesses.items()),
        rescored=stored.rescored.assignment_digest,
    )


def _item(stored: StoredItem) -> model.ItemGrade:
    item = model.RubricItem(
        id=stored.id,
        title=stored.title,
        points=stored.max_points_exact,
        check=stored.check,
        cases=stored.cases,
        needs=stored.needs,
        partial=stored.partial,
        visibility=stored.visibility,
        hint=stored.item_hint,
        extra=stored.extra,
        penalty=stored.penalty,
    )
    result = model.CheckResult(
        item=item,
        verdict=stored.verdict,
        fraction=stored.fraction_exact,
        message=stored.message,
        hint=stored.hint,
        findings=tuple(finding.record() for finding in stored.findings),
        case_verdicts=tuple(stored.case_verdicts.items()),
        message_staff=stored.message_staff,
        judged=stored.judged,
    )
    return model.ItemGrade(result, stored.points_exact, stored.max_points_exact)
