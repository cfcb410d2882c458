"""What is said of repairs that were tried, and of what could be better where all is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_REPAIRS: Mapping[str, str] = {
    "add-barrier": "add {barrier} {place}: tried, and the race is gone",
    "move-barrier": "move the {barrier} of line {line} {place}: tried, and the race is gone",
    "move-barrier-for-all": "move the {barrier} of line {line} {place}: tried, and every thread reaches it",
    "at-loop-end": "at the end of the loop that begins on line {head}, before the `}}` on line {brace}",
    "to-loop-end": "to the end of the loop that begins on line {head}, before the `}}` on line {brace}",
    "at-between": "between lines {above} and {line}",
    "to-between": "to the place between lines {above} and {line}",
    "at-after-loop": "between lines {above} and {line}, after the loop that begins on line {head}",
    "to-after-loop": (
        "to the place between lines {above} and {line}, after the loop that begins on line {head}"
    ),
}

_ADVICE: Mapping[str, str] = {
    "unneeded-barrier": (
        "this barrier is not needed: without it nothing changes in the cases that were run, and every thread "
        "waits here for all others"
    ),
    "coalesce-reads": (
        "neighbouring threads read {array} {stride} bytes apart, so that a warp moves {sectors} sectors of "
        "32 bytes where {least} would do: let `threadIdx.x` run along the last index of {array}"
    ),
    "coalesce-writes": (
        "neighbouring threads write {array} {stride} bytes apart, so that a warp moves {sectors} sectors of "
        "32 bytes where {least} would do: let `threadIdx.x` run along the last index of {array}"
    ),
    "load-once": (
        "each element of {arrays} that a block uses is loaded {times} times from global memory by its "
        "threads: load it once into shared memory, and read it from there"
    ),
    "and-of": " and of ",
    "spread-banks": (
        "the threads of a warp use {array}, which falls on few of the 32 banks, so that a request takes "
        "{passes} passes instead of 1: make the rows of {array} one element longer, or let `threadIdx.x` run "
        "along its last index"
    ),
    "spread-banks-apart": (
        "the threads of a warp use {array} {stride} bytes apart, which falls on few of the 32 banks, so that "
        "a request takes {passes} passes instead of 1: make the rows of {array} one element longer, or let "
        "`threadIdx.x` run along its last index"
    ),
    "go-the-same-way": (
        "at {share} % of the branches on this line the threads of a warp part, and both ways run one after "
        "the other: let whole warps go the same way, for example the first threads of the block and not "
        "every second one"
    ),
    "the-array": "the array",
}

TEXTS: Mapping[str, str] = {**_REPAIRS, **_ADVICE}
