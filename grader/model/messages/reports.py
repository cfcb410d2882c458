"""The words of reports: of all, of a submission's page, of estimates, and of a class as staff see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model.messages import advice
from grader.model.messages.trace import TRACE

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEADINGS: Mapping[str, str] = {
    "language": "en",
    "not-graded": "not graded",
    "not-graded-because": "not graded: {reason}",
    "not-graded-submission": "not graded, through no fault of the submission: {reason}",
    "not-graded-yet": "not graded yet, and a question to the course's staff: {reason}",
    "not-graded-file": "not graded, through no fault of the file: {reason}",
    "no-score-yet": (
        "no score yet: what took too long to be judged here is for the course's staff to decide"
    ),
    "no-score-for-question": (
        "no score yet: what could not be judged because of what the program asks for is for the course's "
        "staff to decide"
    ),
    "nothing-to-judge": "nothing could be judged here",
    "see-below": "see below",
    "grader-error": "an error of the grader",
    "grader-error-hidden": "an error of the grader in a hidden case",
    "score": "{score} of {points}",
    "points": "{points} points",
    "points-one": "{points} point",
    "not-judged-here": "{points} not judged here",
    "first": "Start here",
    "start-here": "start here",
    "skipped": "Not judged here: {points}, counted neither for nor against",
    "advice": "Advice, which costs no points",
    "more-shapes": "Grading uses more shapes than this check, and other numbers.",
    "try-emulator": "With `--backend emulator` the file is checked without the GPU.",
}

_ITEMS: Mapping[str, str] = {
    "pass": "pass",
    "fail": "fail",
    "skip": "skip",
    "error": "error",
    "not-judged-yet": "not judged",
    "item-passes": "this item passes; its details are hidden",
    "item-fails": "this item fails; its details are hidden",
    "item-is-skipped": "this item is skipped; its details are hidden",
    "item-is-in-error": "this item is in error; its details are hidden",
    "hidden-cases-together": "hidden cases",
    "item-passes-hidden": "this item passes in cases that are hidden",
    "item-fails-hidden": "this item fails in cases that are hidden",
    "item-is-skipped-hidden": "this item is skipped in cases that are hidden",
    "item-is-in-error-hidden": "this item is in error in cases that are hidden",
    "points-of": "{points} of {most}",
    "extra-credit": "(extra credit)",
    "penalty": "(penalty)",
    "try": "try:",
    "same-hint": "The same as above.",
    "step": "{number}.",
    "more-findings": "… and {count} more",
    "names-and-more": "{names} and {count} more",
    "cases": "cases: {names}",
    "cases-all": "cases: all {count}",
    "cases-more": "… and {count} more cases: {names}",
    "cases-more-one": "… and {count} more case: {names}",
    "item-of-case": "{item}, case {case}: {sentence}",
    "largest-error": "the largest error is {error} where at most {bound} is allowed",
    "fails-too": "fails, too; what is wrong is said of case `{case}`",
}

_FINDINGS: Mapping[str, str] = {
    "severity-warning": "warning",
    "severity-info": "info",
    "line": "line {line}",
    "lines": "line {line} and {other_line}",
    "lines-of-file": "{file}:{line} and {other_line}",
    "line-of": "line {line}: {sentence}",
    "with-its-line": "{sentence} (line {line})",
    "with-its-place": "{sentence} ({file}, line {line})",
    "finding-in-case": "in case `{case}`: {sentence}",
    "map-of": "where {array} is wrong ({signs}):",
    "map-of-case": "where {array} is wrong in case `{case}` ({signs}):",
    "map-output": "the output",
    "map-cells": "{signs}; each for {rows} × {columns} elements, the worst of them",
    "map-right": "right",
    "map-never-written": "never written",
    "map-nan": "NaN",
    "map-wrong": "wrong",
}

_ADJUSTMENTS: Mapping[str, str] = {
    "excused": "excused",
    "not-late": "not late",
    "late": "late by {count} days: {points}",
    "late-one": "late by {count} day: {points}",
    "score-changed": "score changed: {points}",
    "item-changed": "`{item}` changed: {points}",
    "adjusted-by": "{sentence}, by {person}",
    "adjusted-because": "{sentence}: {comment}",
    "adjusted-before": "{sentence} (decided about what was handed in before)",
    "handed-in-anew": "handed in anew since staff decided about their points: {names}",
}

_SPEED: Mapping[str, str] = {
    "speed": "Speed",
    "speed-at": "Speed at {shape}",
    "speed-on": "Speed on {device}",
    "speed-at-on": "Speed at {shape} on {device}",
    "kernel-of": "{baseline} kernel",
    "kernel-student": "this submission",
    "kernel-solution": "model solution",
    "kernel-library": "library",
    "range": "{median} ({low} to {high})",
    "roofline": "{share} % of what this device could do at best",
    "resources": "{registers} registers a thread, {bytes:,} bytes of shared memory a block, {spills}",
    "spills": "{count:,} bytes spilt",
    "no-spills": "no spills",
    "occupancy": "occupancy {share} %",
    "rounds": "{rounds:,} rounds",
    "rounds-dropped": "{rounds:,} rounds, {dropped:,} of them left out",
    "first-launch": "first launch {time} ms",
    "against-itself": "{baseline} against itself {ratio}",
}

_SECTIONS: Mapping[str, str] = {
    "start": "Start here",
    "all-passes": "Everything that was judged passes.",
    "rubric": "What was judged",
    "measured": "Measured",
    "your-file": "Your file",
    "to-overview": "back to the overview",
    "told-above": "The same as above.",
    "graded-by": "graded by {parts}",
    "file-digest": "file {digest}",
    "seed-of": "seed {seed}",
    "handed-in": "handed in {time}",
    "attempts": "the attempt that counts, of {count}",
    "whole-class": "the class",
    "students-page": "what the student sees",
    "among-previous": "previous submission",
    "among-next": "next submission",
    "among-where": "{number} of {others}",
    "lines-left-out": "{count:,} lines left out",
    "lines-left-out-one": "{count} line left out",
    "more-remarks": "and {count} more here",
    "to-watch": "To watch this block step by step:",
    "jump-marks": "From mark to mark",
    "jump-next": "next mark",
    "jump-back": "previous mark",
    "jump-keys": "use keys",
    "jump-where": "{number} of {marks}",
    "watch": "Watch block {block} of case `{case}` step by step",
    "watch-title": "Block {block} of case `{case}`, step by step",
    "watch-close": "close",
}

_STATES: Mapping[str, str] = {
    "state-passed": "passed",
    "state-partly": "partly",
    "state-failed": "failed",
    "state-waiting": "not judged yet",
    "state-gpu": "needs a GPU",
    "state-skipped": "not judged here",
    "state-error": "error of ours",
}

_PICTURES: Mapping[str, str] = {
    "race-of": "In block {block} nothing orders these two accesses to `{element}`.",
    "race-anywhere": "Nothing orders these two accesses to `{element}`.",
    "race-thread": "thread {thread}",
    "race-thread-of-block": "thread {thread} of block {block}",
    "race-some-thread": "one thread",
    "race-another-thread": "another thread",
    "race-reads": "reads",
    "race-writes": "writes",
    "race-uses": "uses",
    "race-no-barrier": "no `__syncthreads()` between them",
    "race-no-warp-barrier": "no `__syncthreads()` and no `__syncwarp()` between them",
    "race-no-order": "nothing between them that orders blocks",
    "race-no-wait": "no wait for the copy, and no `__syncthreads()` after it",
    "race-nothing": "nothing between them that orders them",
    "heat-of": "How far `{array}` is off",
    "heat-of-case": "How far `{array}` is off in case `{case}`",
    "heat-cells": "each square is {rows} × {columns} elements, the worst of them",
    "heat-element": "each square is an element",
    "heat-blocks": "lines are the borders of blocks of {rows} × {columns} elements",
    "heat-point": "point at a square for its numbers, or focus the map and use the arrow keys",
    "heat-right": "right",
    "heat-little": "off by little",
    "heat-more": "off by more",
    "heat-much": "off by much",
    "heat-nan": "NaN",
    "heat-unwritten": "never written",
    "heat-sample": "{element}: {got}, expected {expected} ± {bound}",
    "heat-sample-unwritten": "{element}: never written, expected {expected} ± {bound}",
    "heat-table": "some of the wrong elements as numbers",
    "element": "element",
    "got": "got",
    "expected": "expected",
    "bound": "allowed error",
    "example-of": "The smallest shape that was found to fail, in numbers: {sizes}",
    "example-input": "{array} (input)",
    "example-expected": "{array}, expected",
    "example-got": "{array}, got",
    "bars-yours": "this submission",
    "bars-asked": "asked: at most {share}",
    "bars-title": "{title}: {metric}",
    "occupancy-title": "occupancy",
    "roofline-title": "of what this device could do at best",
    "speedup-title": "times as fast as the {baseline} kernel, with the interval",
}

PAGE: Mapping[str, str] = {**_SECTIONS, **_STATES, **_PICTURES}
"""Texts by name, with fields for what is filled in; ``-one`` is for a ``count`` of 1."""


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
"""Name of a finding in a few words, by its kind; its full sentence is in the submission's report."""

_NOTES: Mapping[str, str] = {
    "note-error": "error of ours: {reason}",
    "note-question": "a question to you: {reason}",
    "note-too-much-work": "not judged as a whole: it takes too long",
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
    "class-legend": (
        "✓ pass   ✗ fail, or the points earned{waits}   – not judged here   ! error of ours, or a question"
    ),
    "class-legend-waits": "   ○ fails with another item",
    "class-submissions": "{count} submissions",
    "class-submissions-one": "{count} submission",
    "class-full": "{count} with full marks",
    "class-not-graded": "{count} not graded, through no fault of theirs",
    "class-questions": "{count} not graded yet, a question to you",
    "class-unjudged": "{count} to look at, not judged as a whole",
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
        "✓ pass, ✗ fail or the points earned, ○ fails with another item, – not judged here, "
        "! error of ours, or a question."
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
"""Texts by name, with fields for what is filled in; ``-one`` is for a ``count`` of 1."""

TEXTS: Mapping[str, str] = {
    **_HEADINGS,
    **_ITEMS,
    **_FINDINGS,
    **_ADJUSTMENTS,
    **_SPEED,
    **advice.ESTIMATE,
    **PAGE,
    **TRACE,
    **CLASS,
}
"""Texts by name, with fields for what is filled in; ``-one`` is for a ``count`` of 1."""
