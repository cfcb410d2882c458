"""What checks say of speed, of traffic and of answers to questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPEEDUP: Mapping[str, str] = {
    "needs-gpu": "needs a GPU: time is measured there only",
    "needs-gpu-estimated": "needs a GPU: time is measured there only; an estimate gives no points",
    "needs-gpu-not-estimated": "needs a GPU, for its speed cannot be estimated: {reason}",
    "nothing-timed": "nothing was timed this time",
    "other-kernel-timed": "the {wanted} kernel was not timed, but the {baseline} kernel",
    "not-timed-against-itself": "the {baseline} kernel was not timed against itself",
    "too-noisy": "the device was too noisy to measure: the baseline against itself gave {ratio}",
    "no-speedup-asked": "the rubric does not say which speedup it asks for",
    "solution-not-timed": "the model solution was not timed, and the points depend on it",
    "not-timed-without-build": "nothing could be timed, because the submission does not build",
    "not-timed-wrong": "not timed, because it does not compute the right answer in every case",
    "not-timed": "it was not timed, and nothing says why",
    "as-fast": (
        "{median} times as fast as the {baseline} kernel ({times}{level} % interval {low} to {high})"
    ),
    "times-against": "{student} ms against {baseline} ms; ",
    "times-against-at": "{student} ms against {baseline} ms at {shape}; ",
    "asked-for-share": "{speedup} asked for {share} of the points",
    "asked-for-full": "{speedup} asked for full credit",
    "asked-in-doubt": "whether it reaches {speedup} could not be told, and that counts for the submission",
    "as-fast-estimated": (
        "estimated for an {device}, not measured: {median} times as fast as the {baseline} kernel "
        "({low} to {high}; {error})"
    ),
    "as-fast-estimated-at": (
        "estimated for an {device} at {shape}, not measured: {median} times as fast as the {baseline} kernel "
        "({low} to {high}; {error})"
    ),
    "asked-in-doubt-estimated": "an estimate cannot tell whether it reaches {speedup}, so that earns nothing",
    "of-solution": "{speedup} ({share} of the model solution's {solution})",
    "slower": "the kernel is slower than was asked for",
    "kernel-takes": "the kernel takes {time} ms; {others}",
    "kernel-takes-share": (
        "the kernel takes {time} ms, {share} % of what this device could do at best; {others}"
    ),
    "baseline-takes": "the {baseline} kernel takes {time} ms",
    "solution-takes": "the model solution takes {time} ms",
}

_TRAFFIC: Mapping[str, str] = {
    "reads": "reads",
    "writes": "writes",
    "has": "has",
    "executes": "executes",
    "waits-at": "waits at",
    "global-bytes": "bytes of global memory",
    "global-sectors": "sectors of global memory",
    "shared-bytes": "bytes of shared memory",
    "bank-conflicts": "shared memory bank conflicts",
    "flops": "floating-point operations",
    "instructions": "instructions",
    "barriers-met": "barriers",
    "traffic": "{verb} {amount:,} {unit}; {compared}: {share}{asked}",
    "traffic-hidden": "{verb} {share} of {whole}{asked}",
    "traffic-with-hidden": (
        "{verb} {amount:,} {unit} in the visible cases; {compared}: {share}, "
        "and with the hidden cases {overall}{asked}"
    ),
    "kernel-moves": "`{name}` {verb}",
    "baseline-moves": "the {baseline} kernel {verb} {amount}",
    "moved-by-baseline": "the {unit} that the {baseline} kernel {verb}",
    "formula-is": "`{formula}` is {amount}",
    "formula-zero": "`{formula}` is {value}, so there is no ratio to it",
    "formula-without-value": "`of` has no value for every case: {problem}",
    "launches-nothing": "launches no kernel, so that nobody knows what one moves",
    "times-as-many": "{times} times as many",
    "at-most": "at most {share}",
    "more-than": "more than {share}",
    "at-least": "at least {share}",
    "less-than": "less than {share}",
    "at-most-asked": "at most the {share} asked",
    "more-than-asked": "more than the {share} asked",
    "at-least-asked": "at least the {share} asked",
    "less-than-asked": "less than the {share} asked",
    "at-most-for": "at most {share} for {credit} of the points",
    "at-most-for-full": "at most {share} for full credit",
    "asked": ", {parts} asked",
    "not-counted": "nobody counted what the kernel moves: {reason}",
    "baseline-not-measured": "the {baseline} kernel was not measured on every case",
    "baseline-zero": "the {baseline} kernel has {metric} = 0, so there is no ratio to it",
    "right-ones-count": "only counts for a kernel that computes the right answer, and no case is right",
    "all-of": "all {total:,}",
    "part-of": "{amount:,} of the {total:,}",
    "line-moves": "{verb} {part} {unit} in case `{case}`",
    "line-reads": "{verb} {part} {unit} from `{array}` in case `{case}`",
    "line-writes": "{verb} {part} {unit} to `{array}` in case `{case}`",
    "line-has": "{verb} {part} {unit} in `{array}` in case `{case}`",
}

_ANSWERS: Mapping[str, str] = {
    "no-question-asked": "none of its questions was asked this time",
    "answer-not-looked-at": "an answer was not looked at, and nothing says why",
    "answers-unreadable": "the answers cannot be read",
    "answers-right": "all {count} answers are right",
    "answers-right-one": "the answer is right",
    "unanswered": "none of the {count} questions is answered",
    "unanswered-one": "there is no answer",
    "the-answer-wrong": "the answer is not right",
    "some-answers-right": "{count} of {total} answers are right",
    "some-answers-right-one": "{count} of {total} answers is right",
    "no-answers-right": "none of {total} answers is right",
    "answers-missing": "{sentence}; there is none for {names}",
    "not-understood": "`{question}`: `{given}` is not understood: {reason}",
    "answer-wrong": "`{question}`: {reading} is not right",
    "answer-read-wrong": "`{question}`: `{given}`, understood as {reading}, is not right",
    "answer-because": "{sentence}: {reason}",
    "answer-noted": "{sentence}. {note}",
    "near": "it is near, but not near enough: was it rounded?",
    "and-rounded": "{reason} (and it is rounded)",
}

TEXTS: Mapping[str, str] = {**_SPEEDUP, **_TRAFFIC, **_ANSWERS}
