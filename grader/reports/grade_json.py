"""grade.json: a grade as other programs read it; written only, for the grader itself reads `record_json`.

Format version 1. Points are numbers of at most two decimals for reading; the exact fraction stands beside
each as text (``"points": 8.33, "points_exact": "25/3"``). JSON has no infinity and no NaN: a float that
is not finite is the text ``"inf"``, ``"-inf"`` or ``"nan"``. Keys keep one order, so that two equal grades
are two equal files. Keys may be added within a version; none is renamed or removed.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from grader.base.text import escape_character, is_visible, listed
from grader.grading.checks.speedup import estimate_problem
from grader.model import Clause
from grader.reports import wording
from grader.reports.wording import in_its_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.model import (
        Adjustment,
        CaseGrade,
        Cause,
        Detail,
        Estimate,
        Finding,
        Grade,
        HandIn,
        ItemGrade,
        KernelEstimate,
        Ratio,
        Timing,
    )

FORMAT_VERSION: Final = 1

Json: TypeAlias = "dict[str, Any]"

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Remains of a file name that is not UTF-8 (PEP 383); no JSON reader has to accept it."""

_MOST_EXACT = 2**53
"""Below it double precision, which JavaScript has for all numbers, holds each one (RFC 8259, section 6)."""

BEYOND_ASCII = re.compile(r"[^\n -~]")


def dump(grade: Grade) -> str:
    """Write a grade as JSON text that ends in a line feed, and holds nothing that UTF-8 cannot."""
    return _written(as_json(grade))


def dump_estimate(estimate: Estimate) -> str:
    """Write an estimate by itself, as a grade has it."""
    return _written(_estimate(estimate))


def dump_all(grades: Iterable[Grade]) -> Iterator[str]:
    """Write several grades as one JSON array of what `dump` writes, grade by grade."""
    before = "["
    for grade in grades:
        yield f"{before}\n{dump(grade).rstrip()}".replace("\n", "\n  ")
        before = ","
    yield "\n]\n" if before == "," else "[]\n"


@in_its_words
def as_json(grade: Grade) -> Json:
    """Write a grade as plain dictionaries, lists, texts and numbers."""
    return {
        "format_version": FORMAT_VERSION,
        "assignment": {
            "id": grade.assignment_id,
            "title": grade.assignment_title,
            "digest": grade.assignment_digest,
        },
        "submission": {
            "id": grade.submission_id,
            "file": grade.submission_file,
            "digest": grade.submission_digest,
            **(_hand_in(grade.hand_in) if grade.hand_in else {}),
        },
        "backend": {"name": grade.backend, "device": grade.device, "toolkit": grade.toolkit},
        "seed": _seed(grade.seed),
        "verdict": grade.verdict.value,
        **_points("score", grade.score),
        **_points("max_score", grade.max_score),
        **_points("skipped_points", grade.skipped_points),
        "error": grade.error,
        "items": [_item(item) for item in grade.items],
        "cases": [_case(case) for case in grade.cases],
        "timing": _timing(grade.timing) if grade.timing else {},
        "estimate": _estimate(grade.estimate) if grade.estimate else {},
        "versions": dict(grade.versions),
        "seconds": plain(dict(grade.seconds)),
        **({"cause": _cause(grade.cause)} if grade.cause else {}),
        **({"advice": [plain(asdict(advice)) for advice in grade.advice]} if grade.advice else {}),
        **({"witnesses": dict(grade.witnesses)} if grade.witnesses else {}),
        **(
            {"adjustments": [_adjustment(grade, one) for one in grade.adjustments]}
            if grade.adjustments
            else {}
        ),
        **({"rescored": {"assignment_digest": grade.rescored}} if grade.rescored else {}),
    }


def _hand_in(hand_in: HandIn) -> Json:
    """Write whose it is and how it came in; unknown values are left out."""
    students = [{key: text for key, text in asdict(student).items() if text} for student in hand_in.students]
    return {
        "name": hand_in.name,
        "student": listed([student.name for student in hand_in.students if student.name]),
        "students": students,
        "attempt": hand_in.attempt,
        "attempts": hand_in.attempts,
        "late": hand_in.late,
        "time": hand_in.time,
        "layout": hand_in.layout,
    }


def _adjustment(grade: Grade, adjustment: Adjustment) -> Json:
    return {
        "kind": adjustment.kind,
        **_points("points", adjustment.points),
        "item": adjustment.item,
        "days": adjustment.days,
        "comment": adjustment.comment,
        "by": adjustment.by,
        **({"earlier": True} if grade.is_of_earlier(adjustment) else {}),
    }


def _seed(value: int) -> int | str:
    """A seed, as a text where a reader that keeps numbers in double precision would round it."""
    return value if value < _MOST_EXACT else str(value)


def plain(value: Any) -> Any:  # noqa: ANN401 - any value that a backend measured
    """Turn a measurement into what JSON can hold.

    Raises:
        TypeError: there is no such form.

    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    raise TypeError(f"a {type(value).__name__} cannot be stored in grade.json")


def _written(value: object) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return BEYOND_ASCII.sub(_visible, LONE_SURROGATE.sub(_as_escape, text)) + "\n"


def _visible(character: re.Match[str]) -> str:
    """Write as JSON's escapes what a terminal would obey, or what is invisible; a reader gets it back."""
    return character[0] if is_visible(character[0]) else json.dumps(character[0])[1:-1]


def _as_escape(surrogate: re.Match[str]) -> str:
    """Spell a lone surrogate out, as visible text within a JSON string."""
    return escape_character(surrogate[0]).replace("\\", "\\\\")


def _points(name: str, value: Fraction) -> Json:
    return {name: wording.number(value), f"{name}_exact": str(value)}


def _timing(timing: Timing) -> Json:
    """Fields of the record, all of them, and what follows from them; of findings the sentences."""
    fields = {
        "baseline": timing.baseline,
        "shape": dict(timing.shape),
        "speedup": _ratio(timing.speedup),
        "control": _ratio(timing.control),
        "solution": _ratio(timing.solution),
        "level": timing.level,
        "settled": timing.settled,
        "rounds": timing.rounds,
        "dropped": timing.dropped,
        "launches": timing.launches,
        "verified": timing.verified,
        "milliseconds": dict(timing.milliseconds),
        "first_milliseconds": timing.first_milliseconds,
        "gflops": dict(timing.gflops),
        "floor_milliseconds": timing.floor_milliseconds,
        "roofline_share": timing.roofline_share,
        "resources": timing.resources and asdict(timing.resources),
        "occupancy": timing.occupancy,
        "findings": [finding.message for finding in timing.findings],
        "details": dict(timing.details),
        "error": timing.error,
    }
    return {name: plain(value) for name, value in fields.items()}


def _estimate(estimate: Estimate) -> Json:
    """Fields of the record, all of them; of a problem its sentence."""
    fields = {
        "device": estimate.device,
        "device_name": estimate.device_name,
        "baseline": estimate.baseline,
        "shape": dict(estimate.shape),
        "ratio": _ratio(estimate.ratio),
        "error_bound": estimate.error_bound,
        "kernels": {name: _kernel(kernel) for name, kernel in estimate.kernels},
        "changes": [asdict(change) for change in estimate.changes],
        "compared": estimate.compared,
        "problem": estimate.problem,
        "message": estimate_problem(estimate),
    }
    return {name: plain(value) for name, value in fields.items()}


def _kernel(kernel: KernelEstimate) -> Json:
    limits = [
        {**asdict(limit), "lines": [{"line": line, "share": share} for line, share in limit.lines]}
        for limit in kernel.limits
    ]
    return {
        "milliseconds": kernel.milliseconds,
        "occupancy": kernel.occupancy,
        "launches": kernel.launches,
        "limits": limits,
    }


def _ratio(ratio: Ratio | None) -> Json | None:
    return None if ratio is None else asdict(ratio)


def _item(grade: ItemGrade) -> Json:
    result, item = grade.result, grade.result.item
    return {
        "id": item.id,
        "title": item.title,
        "check": item.check,
        "verdict": result.verdict.value,
        **_points("points", grade.points),
        **_points("max_points", grade.max_points),
        "fraction_exact": str(result.fraction),
        "message": result.message,
        **({"message_staff": result.message_staff} if result.message_staff else {}),
        **({} if result.judged else {"judged": False}),
        **({"question": True} if result.is_question else {}),
        **({"estimated": True} if result.estimated else {}),
        "hint": result.hint,
        "item_hint": item.hint,
        "visibility": item.visibility.value,
        "cases": list(item.cases),
        "needs": list(item.needs),
        "partial": item.partial,
        **({"extra": True} if item.extra else {}),
        **({"penalty": True} if item.penalty else {}),
        "case_verdicts": {case: verdict.value for case, verdict in result.case_verdicts},
        "findings": [_finding(finding) for finding in result.findings],
    }


RARE = frozenset(
    {
        *("repair", "witnesses", "wrong_map", "smallest", "steps", "withheld"),
        *("code", "access", "details", "constants"),
    }
)
"""Fields that few findings have."""


def _finding(finding: Finding) -> Json:
    """Fields of the record, each under its own name, in the record's order, places as lists of three.

    What the constant `RARE` names, and ``map_cell``, is there only where there is any.
    """
    values = {
        **asdict(finding),
        "smallest": dict(finding.smallest),
        "access": finding.access and asdict(finding.access),
        "details": {name: _detail(value) for name, value in finding.details},
        "constants": dict(finding.constants),
    }
    if not finding.wrong_map:
        del values["map_cell"]
    return {name: plain(value) for name, value in values.items() if value or name not in RARE}


def _cause(cause: Cause) -> Json:
    """Fields of the record, except those that only the layout of a text asks for."""
    return {name: plain(value) for name, value in asdict(cause).items() if name != "names_line"}


def _detail(value: Detail) -> Any:  # noqa: ANN401 - any value of JSON
    """Value of a message's field as JSON; a clause has its name beside its values."""
    if not isinstance(value, tuple):
        return value
    return [
        {"clause": part.name, **{name: _detail(item) for name, item in part.values}}
        if isinstance(part, Clause)
        else part
        for part in value
    ]


def _case(grade: CaseGrade) -> Json:
    case = grade.case
    return {
        "id": case.id,
        "shape": plain(dict(case.shape)),
        "tags": list(case.tags),
        "visibility": case.visibility.value,
        "inputs": case.inputs,
        "seed": plain(case.seed),
        "verdict": grade.verdict.value,
        "max_error": plain(grade.max_error),
        "error_bound": plain(grade.error_bound),
        **_verified(grade),
        "seconds": plain(grade.seconds),
        "counters": plain(asdict(grade.counters)),
        **({"kernel": case.kernel} if case.kernel else {}),
        **({"too_much_work": True} if grade.too_much_work else {}),
        **_program(grade),
    }


def _verified(grade: CaseGrade) -> Json:
    """Write how many elements were compared and how close they are; nothing where none were."""
    if not grade.elements:
        return {}
    return {"elements": grade.elements, "max_relative_error": plain(grade.max_relative_error)}


def _program(grade: CaseGrade) -> Json:
    """Write what a program was given and how it ended; nothing for a kernel."""
    case = grade.case
    if not (grade.ending or case.arguments or case.stdin or case.sizes):
        return {}
    inputs: Json = {"arguments": list(case.arguments), "stdin": case.stdin}
    if case.sizes:
        inputs["sizes"] = dict(case.sizes)
    return {"program": {**inputs, "ending": grade.ending, "returncode": grade.returncode}}
