"""The words of a submission's page that no other report has: its sections, states, pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECTIONS: Mapping[str, str] = {
    "start": "Start here",
    "all-passes": "Everything that was judged passes.",
    "rubric": "What was judged",
    "measured": "Measured",
    "your-file": "Your file",
    "to-overview": "back to the overview",
    "told-above": "The same as told above.",
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
    "hidden-cases": "{count} hidden cases",
    "hidden-cases-one": "{count} hidden case",
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
"""By name, with fields for what is filled in; ``-one`` is for a ``count`` of 1."""
