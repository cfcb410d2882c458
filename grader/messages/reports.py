"""The words of reports: headings, verdicts, points, what is said around findings, and how fast it was.

Those of estimates, pages, traces and classes have files of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.messages import estimate
from grader.messages.class_page import CLASS
from grader.messages.page import PAGE
from grader.messages.trace import TRACE

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEADINGS: Mapping[str, str] = {
    "language": "en",
    "not-graded": "not graded",
    "not-graded-because": "not graded: {reason}",
    "not-graded-submission": "not graded, through no fault of the submission: {reason}",
    "not-graded-file": "not graded, through no fault of the file: {reason}",
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

TEXTS: Mapping[str, str] = {
    **_HEADINGS,
    **_ITEMS,
    **_FINDINGS,
    **_ADJUSTMENTS,
    **_SPEED,
    **estimate.TEXTS,
    **PAGE,
    **TRACE,
    **CLASS,
}
"""By name, with fields for what is filled in; ``-one`` is for a ``count`` of 1."""
