"""Sentences for barriers that not all threads come to, and for launches that do not come to their end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENDLESS = "is there a loop that never ends"

SENTENCES: Mapping[FindingCode, str] = {
    FindingCode.THREADS_MISSING: (
        "{missing:,} of the block's {threads:,} threads {come} {barrier}: {where}; every thread of a block "
        "must reach it"
    ),
    FindingCode.LANES_MISSING: (
        "the mask names lanes that do not come: {where}; every lane in the mask must execute this"
    ),
    FindingCode.WARP_LANES_MISSING: (
        "lanes of the warp do not come: {where}; all 32 lanes must execute this together"
    ),
    FindingCode.LANES_UNNAMED: "{unnamed}: every lane that calls it must be in its mask",
    FindingCode.WARP_INCOMPLETE: "all 32 lanes of a warp must execute this together, and some do not come",
    FindingCode.BLOCK_HANGS: "{who} wait here{expected}: the block hangs{elsewhere}",
    FindingCode.BARRIER_REPORTED: "{report}",
    FindingCode.NEVER_ENDS: "was stopped after {steps:,} steps without coming to its end{doing}{hint}",
}
"""What is said of a visible case, by code, with fields for the finding's data."""

CLAUSES: Mapping[str, str] = {
    "threads": "threads {ranges}",
    "threads-one": "thread {ranges}",
    "one-thread": "{first}",
    "thread-range": "{first}–{last}",
    "more-threads": "{number:,} more",
    "syncthreads": "__syncthreads()",
    "barrier": "barrier",
    "come-to": "do not come to this",
    "come-to-one": "does not come to this",
    "ended": "{who} {way}have ended",
    "ended-one": "{who} {way}has ended",
    "went-another-way": "went another way {branches} and ",
    "wait-at": "{who} wait at {barrier}",
    "wait-at-one": "{who} waits at {barrier}",
    "barrier-on-line": "the {barrier} on line {line}",
    "another-barrier": "another barrier",
    "wait-for-warp": "{who} wait for others of the warp elsewhere",
    "wait-for-warp-one": "{who} waits for others of the warp elsewhere",
    "unnamed": "{who} execute this with a mask that does not name them",
    "unnamed-one": "{who} executes this with a mask that does not name it",
    "threads-expected": " for {expected:,} threads, but {arrived:,} come",
    "elsewhere": "; {where}",
    "synccheck-says": "{text}: every thread of a block must come to the same `__syncthreads()`",
    "synccheck-silent": "not all threads of the block come to this barrier",
    "doing": ": {places}",
    "go-round": "{count:,} threads go round{at}, {waiting}",
    "go-round-one": "1 thread goes round{at}, {waiting}",
    "in-loops": "{count:,} threads are in the loop {lines}",
    "in-loops-one": "1 thread is in the loop {lines}",
    "at-a-line": "{count:,} threads are {lines}",
    "at-a-line-one": "1 thread is {lines}",
    "in-some-loop": "{count:,} threads are in a loop",
    "in-some-loop-one": "1 thread is in a loop",
    "stand-at": "{count:,} threads wait at the {barrier} {lines}",
    "stand-at-one": "1 thread waits at the {barrier} {lines}",
    "stand-somewhere": "{count:,} threads wait at a barrier",
    "stand-somewhere-one": "1 thread waits at a barrier",
    "more-elsewhere": "{count:,} more elsewhere",
    "waiting-for": "waiting for {awaited}",
    "waiting-for-memory": "waiting for a value in memory to change",
    "awaited": "{element}{setters}",
    "set-by-nothing": ", which nothing sets",
    "set-by-nothing-else": ", which nothing else sets",
    "set-on-lines": " ({array} is written {lines})",
    "endless": f": {_ENDLESS}?",
    "endless-or-few": f": {_ENDLESS}, or do a few threads do the work of all?",
    "blocks-not-started": (
        "; blocks that had not started cannot be waited for: nothing says that all run at once"
    ),
}
"""Parts of these sentences by name; ``-one`` is for a single thread."""
