"""Sentences for hazards: accesses to memory that miss, and races and barriers.

They name the array that was meant, the distance by which it was missed, unwritten memory; the accesses of
threads to an element, what is missing, and which threads wait for which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import NO_MORE_TIME, Clause, FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Detail, Dim3, Finding

_NO_ARRAY = "{verb} address {address}, which belongs to no array: "
_UNSET = "reads {element} before anything was written there"

_ACCESSES: Mapping[FindingCode, str] = {
    FindingCode.BEYOND_ARRAY: "{verb} {element}, {missed}: {array} has {extents} elements",
    FindingCode.INTO_OTHER_ARRAY: (
        "{verb} {element}, {missed}, which is {other}: {array} has {extents} elements"
    ),
    FindingCode.NO_DYNAMIC_SHARED: "{verb} {element}, but the launch gives {array} no dynamic shared memory",
    FindingCode.BEYOND_SHARED_MEMORY: (
        "{verb} shared memory at byte {byte}, but the block has {bytes} bytes of it"
    ),
    FindingCode.OUTSIDE_SHARED_MEMORY: "{verb} shared memory outside what the block has of it",
    FindingCode.BEYOND_LOCAL_ARRAY: (
        "{verb} element {index} of a local array with room for {elements}, {missed}"
    ),
    FindingCode.OUTSIDE_LOCAL_ARRAY: "{verb} a local array out of its bounds",
    FindingCode.CONSTANT_WRITTEN: "{verb} {element}, but {array} is __constant__: only the host can write it",
    FindingCode.FREED_MEMORY: "{verb} memory that was freed, at {address}",
    FindingCode.NULL_POINTER: _NO_ARRAY + "a null pointer",
    FindingCode.STRAY_POINTER: _NO_ARRAY + "a pointer that was itself read from nowhere",
    FindingCode.NUMBER_AS_POINTER: _NO_ARRAY + "a number in place of a pointer",
    FindingCode.UNSET_POINTER: _NO_ARRAY + "a pointer that was never set?",
    FindingCode.NO_ARRAY: "{verb} an address that belongs to no array",
    FindingCode.WRITTEN_AROUND_ARRAY: (
        "wrote {side} the {elements} elements of {array}: at element {index}{more}; check the index against "
        "the array's size before storing"
    ),
    FindingCode.MISALIGNED_ELEMENT: (
        "{verb} {size} bytes at {other}, whose address is not a multiple of {size}"
    ),
    FindingCode.MISALIGNED_INSIDE_ELEMENT: (
        "{verb} {size} bytes at a place inside {other}, whose address is not a multiple of {size}"
    ),
    FindingCode.MISALIGNED_ADDRESS: (
        "{verb} {size} bytes at {space} address {address}, which is not a multiple of {size}"
    ),
    FindingCode.MISALIGNED_SOMEWHERE: (
        "{verb} {size} bytes at an address in {space} memory that is not a multiple of {size}"
    ),
    FindingCode.UNSET_MEMORY: _UNSET,
    FindingCode.UNSET_OUTPUT: _UNSET + ": {array} is an output, and holds nothing when the kernel starts",
    FindingCode.WRITTEN_TOO_LATE: _UNSET + ": {array} is written {lines}, but no barrier stands between",
    FindingCode.NEVER_WRITTEN: _UNSET + ": nothing in the kernel writes {array}",
    FindingCode.ELEMENT_NOT_WRITTEN: (
        _UNSET + ": {array} is written {lines}, but this element was not written: is there a guard?"
    ),
    FindingCode.UNSET_VARIABLE: "uses a local variable before it was given a value",
    FindingCode.UNSET_IN_SOME_THREADS: (
        "gives a local variable a value in some threads only; an output holds what it was in another"
    ),
}
"""Sentences for a visible case, by code, with fields for the finding's data."""

_ACCESSES_CLAUSES: Mapping[str, str] = {
    "reads": "reads",
    "writes": "writes",
    "updates": "updates",
    "uses": "uses",
    "before-start": "{distance} before its start",
    "past-end": "{distance} past its end",
    "partly-past-end": "partly past its end",
    "before-array": "before",
    "beyond-array": "beyond",
    "and-more": ", and {number} more",
    "local-variable": "a local variable",
    "local-array": "a local array",
    "shared-memory": "shared memory",
    "memory-of-space": "{space} memory",
}

VERBS = {"read": "reads", "write": "writes", "update": "updates"}
"""The clause for what an access does."""


def missed(details: Mapping[str, Detail]) -> tuple[Clause, ...]:
    """Distance by which an index misses an array; empty where no index is known."""
    index, elements = details.get("index"), details.get("elements")
    if not isinstance(index, int) or not isinstance(elements, int):
        return ()
    if 0 <= index < elements:
        return (Clause("partly-past-end"),)
    if index < 0:
        return (Clause("before-start", (("distance", -index),)),)
    return (Clause("past-end", (("distance", index - elements + 1),)),)


_PAIR = "{later} {overwrites} {element}{at}, which {earlier} {writes}{other_at}: "
_UNDEFINED = (
    "the code relies on something that C++ leaves undefined: an assumption that does not hold, a signed sum "
    "that overflows, an index or a shift out of range, a variable without a value, a loop without an end"
)

_RACES: Mapping[FindingCode, str] = {
    FindingCode.RACE_BETWEEN_BLOCKS: _PAIR + "blocks run in any order, and nothing orders these two",
    FindingCode.RACE_WITH_COPY: (
        _PAIR + "the copy may still be under way: wait for it, and put a __syncthreads() after the wait"
    ),
    FindingCode.RACE_IN_BLOCK: _PAIR + "no __syncthreads() stands between the two",
    FindingCode.RACE_IN_WARP: (
        _PAIR + "both are in one warp, but no __syncthreads() and no __syncwarp() stands between the two"
    ),
    FindingCode.RACE_REPORTED: "{pair}, and nothing orders the two",
    FindingCode.DEPENDS_ON_ORDER: (
        "`{element}` is wrong when one warp runs ahead of the others: what threads read depends on who comes "
        "first, and atomic or volatile accesses make no thread wait"
    ),
    FindingCode.BUILDS_DIFFER: "{difference}: " + _UNDEFINED,
    FindingCode.OUTPUT_DIFFERS_BETWEEN_BUILDS: "{difference}: " + _UNDEFINED,
}
"""Sentences for a visible case, by code, with fields for the finding's data."""

_RACES_CLAUSES: Mapping[str, str] = {
    "overwrites": "overwrites",
    "thread": "thread {thread}",
    "thread-in-block": "in block {block} thread {thread}",
    "thread-of-block": "thread {thread} of block {block}",
    "some-thread": "a thread",
    "another-thread": "another",
    "at-line": " on line {line}",
    "two-threads-read": "two threads read the same place in shared memory{at}",
    "two-threads-write": "two threads write the same place in shared memory{at}",
    "two-threads-use": "two threads use the same place in shared memory{at}",
    "one-and-another": "one thread {verb} a place in shared memory{at} that another {other_verb}{other_at}",
    "barriers-differ": (
        "threads arrive at barriers {graded:,} times when optimised and {unoptimised:,} when not"
    ),
    "stores-differ": "it stores {graded:,} bytes when optimised and {unoptimised:,} when not",
    "right-when-optimised": "`{array}` is right in the optimised program and wrong in the unoptimised one",
    "right-when-unoptimised": "`{array}` is right in the unoptimised program and wrong in the optimised one",
}

_TOO_MUCH = "too much work for the emulator"
_SMALLER = "a smaller size (`sizes` of the assignment, or arguments) can be judged"
_ENDLESS = "is there a loop that never ends"

_STUCK: Mapping[FindingCode, str] = {
    FindingCode.THREADS_MISSING: (
        "{missing:,} of the block's {threads:,} threads {come} {barrier}: {where}; every thread of a block "
        "must reach it"
    ),
    FindingCode.THREADS_RETURNED: (
        "{missing:,} of the block's {threads:,} threads {come} {barrier}: {where}; it waits only for those "
        "that still run"
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
"""Sentences for a visible case, by code, with fields for the finding's data."""

_STUCK_CLAUSES: Mapping[str, str] = {
    "threads": "threads {ranges}",
    "threads-one": "thread {ranges}",
    "one-thread": "{first}",
    "thread-range": "{first}–{last}",
    "more-threads": "{number:,} more",
    "syncthreads": "__syncthreads()",
    "barrier": "barrier",
    "come-to": "do not come to this",
    "come-to-one": "does not come to this",
    "ended-before": "ended before they came to this",
    "ended-before-one": "ended before it came to this",
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
    "awaited-tile": "the other warps of its tile",
    "set-by-nothing": ", which nothing sets",
    "set-by-nothing-else": ", which nothing else sets",
    "set-on-lines": " ({array} is written {lines})",
    "endless": f": {_ENDLESS}?",
    "endless-or-few": f": {_ENDLESS}, or do a few threads do the work of all?",
    "too-much-work": _TOO_MUCH,
    "too-much-work-because": f"{_TOO_MUCH}: {{reason}}",
    "more-memory": "it takes more memory than there is",
    "more-steps": "the kernel takes more steps than the emulator follows",
    "no-time-to-order": "its time was over before it was clear which of its accesses are ordered",
    "too-many-to-order": (
        "to tell which are ordered, it would have to compare too many accesses to the same elements"
    ),
    "too-many-copies": "it begins too many asynchronous copies before it waits for them",
    "too-many-accesses": "it accesses memory too often between two barriers",
    "too-many-orderings": "it synchronises threads too often with fences, atomics or parts of blocks",
    "after-steps": "after {steps:,} steps {places}{hint}",
    "still-runs": "it still runs",
    "few-do-all": ", so that a few threads do the work of all",
    "too-much-work-in": f"{{reason}}; this is {{launch}}; {_SMALLER}",
    NO_MORE_TIME: (
        "it did not end in {less} s, and got no more, for {count} other cases did not end in {all} s"
    ),
    "launches-took": f"{_TOO_MUCH}: the program's launches took {{seconds:,}} s; {_SMALLER}",
    "too-large": (
        f"{_TOO_MUCH}: {{launch}}: {{took}}, all would take {{all}}; launches may take {{allowed}} in "
        f"all{{earlier}}; {_SMALLER}"
    ),
    "launch": "`{launch}`",
    "launch-in-line": "`{launch}` in line {line}",
    "blocks-took": "{ended:,} of {count:,} blocks took {time}",
    "blocks-took-one": "{ended:,} of 1 block took {time}",
    "earlier-launches": ", {time} of it for launches before",
    "less-than-a-second": "less than a second",
    "about-seconds": "about {count} seconds",
    "about-seconds-one": "about 1 second",
    "about-minutes": "about {count} minutes",
    "about-hours": "about {count:,} hours",
    "blocks-not-started": (
        "; blocks that had not started cannot be waited for: nothing says that all run at once"
    ),
}
"""Parts of these sentences by name; ``-one`` is for a single thread."""

SENTENCES: Mapping[FindingCode, str] = {**_ACCESSES, **_RACES, **_STUCK}
CLAUSES: Mapping[str, str] = {**_ACCESSES_CLAUSES, **_RACES_CLAUSES, **_STUCK_CLAUSES}
"""Parts of these sentences by name; ``-one`` is for a single thread."""

_EARLIER = {"RAW": "writes", "WAR": "reads", "WAW": "writes"}
_LATER = {"RAW": "reads", "WAR": "overwrites", "WAW": "overwrites"}


def at_line(line: int | None) -> tuple[Clause, ...]:
    """`` on line 7``, or nothing where the line is not known."""
    return (Clause("at-line", (("line", line),)),) if line else ()


def spell(index: Dim3) -> str:
    """``(3, 5)``: a thread or block index without a z that is 0."""
    x, y, z = index
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def fields(finding: Finding) -> dict[str, Detail]:
    """Values of the finding's own fields for the sentence of a race."""
    later, earlier = _threads(finding)
    return {
        "later": (later,),
        "overwrites": (Clause(_LATER.get(finding.hazard, "uses")),),
        "at": at_line(finding.line),
        "earlier": (earlier,),
        "writes": (Clause(_EARLIER.get(finding.hazard, "uses")),),
        "other_at": at_line(finding.other_line),
    }


def _threads(finding: Finding) -> tuple[Clause, Clause]:
    """The thread that came later, and the one before, each with its block where they are of two."""
    if finding.thread is None or finding.other_thread is None or finding.block is None:
        return Clause("some-thread"), Clause("another-thread")
    later, earlier = ("thread", spell(finding.thread)), ("thread", spell(finding.other_thread))
    block = ("block", spell(finding.block))
    if finding.other_block is None:
        return Clause("thread-in-block", (later, block)), Clause("thread", (earlier,))
    other = ("block", spell(finding.other_block))
    return Clause("thread-of-block", (later, block)), Clause("thread-of-block", (earlier, other))
