"""The words of a class as staff see it: its page, its table in the terminal, submissions that are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS: Mapping[str, str] = {
    "kind-compile": "does not compile",
    "kind-wrong-output": "wrong output",
    "kind-race": "race",
    "kind-out-of-bounds": "out of bounds",
    "kind-misaligned": "misaligned access",
    "kind-uninitialised": "uninitialised read",
    "kind-barrier-divergence": "barrier not reached by all",
    "kind-fault": "stops with a fault",
    "kind-timeout": "does not end",
    "kind-slow": "slow",
    "kind-traffic": "too much memory traffic",
    "kind-mistake": "wrong output",
    "kind-structure": "not built as asked",
    "kind-answer": "wrong answer",
    "kind-undefined": "builds differ",
    "kind-host": "host code",
    "kind-unsupported": "instruction that is not interpreted",
}
"""What a finding is called in a few words, by its kind; its full sentence is in the submission's report."""

_NOTES: Mapping[str, str] = {
    "note-error": "error of ours: {reason}",
    "note-too-much-work": "not judged as a whole: too much work for the emulator",
    "note-line": "{what}, line {line}",
    "note-lines": "{what}, lines {line} and {other_line}",
    "lookalike": "`{name}` looks like `{other}`, but has {letters}",
}

_CAUSES: Mapping[str, str] = {
    "cause-of-code": "{what} ({code})",
    "cause-of-answer": "wrong answer: {question}",
    "cause-of-item": "{item} fails",
}

_TABLE: Mapping[str, str] = {
    "class-submission": "submission",
    "class-score": "score",
    "class-speed": "speed",
    "class-note": "note",
    "class-legend": "✓ pass   ✗ fail, or the points earned{waits}   – not judged here   ! error of ours",
    "class-legend-waits": "   ○ fails with another item",
    "class-submissions": "{count} submissions",
    "class-submissions-one": "{count} submission",
    "class-full": "{count} with full marks",
    "class-not-graded": "{count} not graded, through no fault of theirs",
    "class-unjudged": "{count} to look at, with too much work for the emulator",
    "class-mean": "mean {points}",
}

_OVERVIEW: Mapping[str, str] = {
    "class-none": "no submissions",
    "class-staff-only": "{submissions}, for staff only",
    "class-waiting": "{count} still to be graded",
    "class-refresh": "this page loads itself again every {seconds} seconds",
    "class-on-this-page": "on this page",
    "class-students": "Students",
    "class-mistakes": "Mistakes",
    "class-cases": "Cases",
    "class-similar": "Similar submissions",
    "class-nothing-yet": "Nothing is graded yet.",
    "class-scores": "Scores",
    "class-the-mean": "mean",
    "class-median": "median",
    "class-middle": "middle half",
    "class-from-to": "{lower} to {upper}",
    "class-full-marks": "full marks",
    "class-of": "{count} of {total}",
    "class-histogram": "submissions by their score: {bars}",
    "class-histogram-bar": "{lower} to {upper} %: {number}",
    "class-items": "Rubric items",
    "class-item": "item",
    "class-pass": "pass",
    "class-share": "share",
    "class-partly": "{number} partly",
    "class-failed": "{number} fail",
    "class-item-waiting": "{number} not judged",
    "class-not-judged": "not judged here",
    "class-frequent": "What costs most",
    "class-mistake": "mistake",
    "class-who": "who",
    "class-more": "{count} more",
    "class-nobody": "Nobody loses a point.",
}

_STUDENTS: Mapping[str, str] = {
    "class-search": "search",
    "class-search-hint": "name, note …",
    "class-search-keys": "press / to come here, Escape to empty it",
    "class-show": "show",
    "class-show-all": "all {number}",
    "class-any": "any",
    "class-section": "section",
    "class-all": "all",
    "class-late-only": "late only",
    "class-late": "late",
    "class-all-submissions": "all submissions",
    "class-student": "student",
    "class-student-title": "the staff’s page; the report is what the student sees",
    "class-report": "report",
    "class-marks": (
        "✓ pass, ✗ fail or the points earned, ○ fails with another item, – not judged here, ! error of ours."
    ),
    "class-to-search": "to search",
    "class-to-move": "to go from student to student",
    "class-to-open": "to open one",
    "class-shown": "{shown} of {rows} shown",
    "class-state-look": "to look at",
    "class-state-full": "full marks",
    "class-state-partly": "partly",
    "class-state-nothing": "nothing",
    "class-state-excused": "excused",
}

_MISTAKES: Mapping[str, str] = {
    "class-shared": "Mistakes, and who shares them",
    "class-shared-by": (
        "By what explains most of what is lost. A group has the same mistake, the same items lost and the "
        "same findings: read one, and comment on all."
    ),
    "class-group": "{count} lose {items}:",
    "class-group-one": "{count} loses {items}:",
    "class-names-more": "and {number} more",
    "class-same-code": "The compiler makes the same code of {names}.",
    "class-same-code-all": "The compiler makes the same code of all {number}.",
    "class-one-comment": "one comment for all {number}",
    "class-into": "Into `{file}`:",
    "class-addresses": "Their addresses, to write to all of them:",
    "class-alone": "What one alone has",
    "class-says": "what it says",
}

_CASES: Mapping[str, str] = {
    "class-case": "case",
    "class-who-sees": "who sees it",
    "class-fail": "fail",
    "class-fail-alone": "fail in it alone",
    "class-catches-nobody": "catches nobody",
    "class-visible": "visible",
    "class-hidden": "hidden",
    "class-after_due_date": "after due date",
    "class-after_published": "after published",
}

_SIMILAR: Mapping[str, str] = {
    "similar-staff-only": "similar submissions, for staff only",
    "similar-compared": (
        "Compared by tokens, whatever names and numbers are; what was handed out, the staff’s own kernels "
        "and what many share is left out."
    ),
    "similar-no-verdict": "This is a place to look, not a verdict",
    "similar-why": (
        "a short task has few solutions, and people may have worked together where that is allowed."
    ),
    "similar-pair": "{share} %: {first} and {second}",
    "similar-same": "With the same tokens: {names}.",
    "similar-lines": "{count} more lines",
    "similar-lines-one": "{count} more line",
    "similar-none": "No two submissions are alike beyond that.",
    "similar-more": "{count} more pairs are less alike.",
    "similar-more-one": "{count} more pair is less alike.",
}

CLASS: Mapping[str, str] = {
    **KINDS,
    **_NOTES,
    **_CAUSES,
    **_TABLE,
    **_OVERVIEW,
    **_STUDENTS,
    **_MISTAKES,
    **_CASES,
    **_SIMILAR,
}
"""By name, with fields for what is filled in; ``-one`` is for a ``count`` of 1."""
