"""Improvements of a kernel: repairs that were tried, advice where all is right, an estimated speed.

The texts of an estimate say what limits a kernel, what would help it, and why there is none.
"""

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


_LAYOUT: Mapping[str, str] = {
    "estimate-heading": "Speed, estimated for an {device} ({remark})",
    "estimate-heading-at": "Speed, estimated for an {device} at {shape} ({remark})",
    "estimate-without-points": "not measured, and no points",
    "estimate-with-points": "not measured",
    "estimate-ratio": "{median} times as fast as the {baseline} kernel ({low} to {high})",
    "estimate-limited-by": "limited by",
    "estimate-would-help": "what would help",
    "estimate-limit": "{limit}: {share} % of the time",
    "estimate-limit-on": "{limit}: {share} % of the time, most on lines {lines}",
    "estimate-limit-on-one": "{limit}: {share} % of the time, most on line {lines}",
    "estimate-change": "{change}: estimated {ratio} times",
    "estimate-change-on": "{change} on line {line}: estimated {ratio} times",
    "estimate-kernel": "{kernel}: {time} ms, occupancy {share} %",
    "estimate-error": "nine in ten estimates were off by at most {share} % where a GPU measured them",
    "estimate-none": "Speed, not estimated",
    "estimate-bars-title": "share of the time that each limit takes",
}

_LIMITS: Mapping[str, str] = {
    "limit-issue": "issuing instructions",
    "limit-float32": "arithmetic in float32",
    "limit-integer-products": "products of integers",
    "limit-integer": "arithmetic with integers",
    "limit-half": "arithmetic in half precision",
    "limit-float64": "arithmetic in float64",
    "limit-special": "special functions and conversions",
    "limit-uniform": "arithmetic that all lanes have in common",
    "limit-shared": "shared-memory bandwidth",
    "limit-l1": "L1 bandwidth",
    "limit-l2": "L2 bandwidth",
    "limit-dram": "bandwidth of device memory",
    "limit-memory-latency": "waiting for global memory",
    "limit-latency": "waiting for results of other instructions",
    "limit-barrier": "waiting at barriers",
    "limit-tail": "multiprocessors without a block at the end",
    "limit-launch": "what every launch takes",
    "limit-host-copies": "copies between host and device",
}
"""Texts by the codes of `grader.model.estimate.LIMITS`."""

_CHANGES: Mapping[str, str] = {
    "change-no-bank-conflicts": "shared arrays without bank conflicts (rows one element longer)",
    "change-coalesced": "neighbouring threads at neighbouring elements (coalesced accesses)",
    "change-fewer-shared-loads": "each shared load used for two results (a block of results per thread)",
    "change-more-warps": "more warps at once (fewer registers a thread, or less shared memory a block)",
    "change-no-barriers": "no waiting at barriers (the next tile loaded while this one is used)",
    "change-unrolled": "an unrolled loop (`#pragma unroll 8` before it, or a constant number of turns)",
}
"""Texts by the codes of `grader.model.estimate.CHANGES`."""

_PROBLEMS: Mapping[str, str] = {
    "problem-machine-code": "the model does not know the machine instruction `{opcode}`",
    "problem-too-much-work": "the kernel takes the emulator too long at this shape",
    "problem-not-launched": "the kernel cannot be launched at this shape",
    "problem-no-disassembler": "NVIDIA's disassembler, which reads machine code, is not installed",
    "problem-no-core": "the grader's native core, which executes machine code, is not compiled",
    "problem-no-baseline": "nothing is known of the baseline kernel for this GPU and shape",
    "problem-failed": "a tool of the grader failed",
    "problem-wrong": "its results are wrong, and then speed means nothing",
    "problem-wrong-at-shape": (
        "its results are wrong at the shape that is estimated: `{element}` is {got}, and should be {expected}"
    ),
    "problem-unwritten-at-shape": (
        "its results are wrong at the shape that is estimated: no block writes `{element}`, which "
        "should be {expected}"
    ),
    "problem-less-than-share": (
        "the blocks that were run leave {share} % of the results that fall to them, and do not stand for all"
    ),
    "problem-not-recorded": "what the function asks of its device cannot be replayed, because {reason}",
    "problem-too-many-launches": "the function makes more than {most} launches that differ",
    "problem-stray-launch": (
        "a kernel accesses what lies in no array, where nothing is computed that earlier launches write"
    ),
}
"""Texts by the codes of `grader.model.estimate.PROBLEMS`."""

_HINTS: Mapping[str, str] = {
    "hint-machine-code": "nothing is wrong with that; a GPU measures it all the same",
    "hint-too-much-work": "estimate a smaller shape, with `--shape` of `grader estimate`",
    "hint-not-launched": "let a block have fewer threads, or take less shared memory",
    "hint-no-disassembler": "`pip install 'nvidia-cuda-nvdisasm==13.2.*'`",
    "hint-no-core": "with a C++ compiler at hand: `python -m grader.toolchain.core_library`",
    "hint-no-baseline": "estimate the shape that the assignment times, or ask staff, who have that kernel",
    "hint-failed": "nothing is wrong with the kernel; staff see more with GRADER_DEBUG=1",
    "hint-wrong": "make every case right first",
    "hint-wrong-at-shape": "compute the whole result at every shape, also at the one that is timed",
    "hint-unwritten-at-shape": "compute the whole result at every shape, also at the one that is timed",
    "hint-less-than-share": "nothing is wrong with blocks that differ; a GPU measures it all the same",
    "hint-not-recorded": "copy what comes from the host as it is, and leave all that is computed to kernels",
    "hint-too-many-launches": "estimate a smaller shape, with `--shape` of `grader estimate`",
    "hint-stray-launch": "if every case is right nothing is wrong; a GPU measures it all the same",
}
"""Hints on what to try, by the same codes."""

ESTIMATE: Mapping[str, str] = {**_LAYOUT, **_LIMITS, **_CHANGES, **_PROBLEMS, **_HINTS}
"""Texts by name, with fields for what is estimated; ``-one`` is for a ``count`` of 1."""
