"""Messages of checks on a rubric item: number of right cases, what is wrong, how it is built or ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_CASES: Mapping[str, str] = {
    "cut-short": "the run was cut short and nothing says why",
    "not-run": "the kernel could not be run",
    "grader-at-fault": "not judged, through no fault of the submission: {reason}",
    "question-to-staff": "not judged, and a question to the course's staff: {reason}",
    "own-work": "{reason}; the model solution comes to its end here",
    "question-hidden": "the program asks its device for what is not done here, in a hidden case",
    "grader-failed": "could not be judged, and that is the grader's fault, not yours: {reason}",
    "not-judged": "not judged: {reason}",
    "not-judged-in": "not judged in {case}: {reason}",
    "not-judged-because-skipped": "not judged, because “{need}” was skipped",
    "not-judged-because-error": "not judged, because “{need}” could not be judged",
    "not-judged-until": "not judged until “{need}” passes",
    "does-not-build": "nothing could be run, because the submission does not build",
    "no-case-run": "none of its cases was run this time",
    "case": "case `{case}`",
    "hidden-case": "a hidden case",
    "cannot-be-launched": "cannot be launched",
    "cannot-be-launched-because": "cannot be launched: {reason}",
    "the-kernel-cannot": "the kernel {refusal}",
    "not-judged-without-launch": "could not be judged, because the kernel {refusal}",
    "not-judged-without-end": "could not be judged, because {case} did not run to its end: {reason}",
    "no-kernel-computed": "no kernel ran, and a kernel is to compute the result",
    "computed-on-host": "the result was computed by the host, and kernels are to compute it",
    "computed-on-host-hint": "let kernels compute every element from the inputs, and copy them back",
    "computed-on-host-because": "the result was computed by the host: {shown}",
    "no-kernel-ran": "no kernel of the program ran in {case}, so there is nothing to judge",
    "clean": "{clean} in {count:,} cases",
    "clean-one": "{clean} in {count:,} case",
    "no-race": "no race and no diverging barrier",
    "no-bad-access": "no bad access",
    "no-mistake-of-host": "no mistake of the host",
    "line-first": "line {line}: {sentence}",
    "times": "{sentence}, {count:,} times",
    "times-after-question": "{sentence} ({count:,} times)",
    "more-pairs": "; and {count:,} more pairs of lines",
    "more-pairs-one": "; and {count:,} more pair of lines",
    "more-places": "; and at {count:,} more places",
    "more-places-one": "; and at {count:,} more place",
}

_COMPILE: Mapping[str, str] = {
    "compiles": "the submission compiles{warnings}{instance}",
    "with-warnings": ", with {count:,} warnings",
    "with-warnings-one": ", with {count:,} warning",
    "with-instance": "; {sentence}",
    "instance": "`{instance}` is the instance of the template that is graded",
    "does-not-compile": "the submission does not compile",
    "more-errors": " (and {count:,} more errors)",
    "more-errors-one": " (and {count:,} more error)",
}

_OUTPUT: Mapping[str, str] = {
    "no-output-compared": "no output was compared",
    "wrote-into-input": "the kernel wrote into its input {names}",
    "function-wrote-into-input": "the function wrote into its input {names}",
    "did-not-end": "the run did not come to its end: {reason}",
    "all-right": "all {count} cases are right",
    "all-right-one": "the one case is right",
    "the-one-wrong": "the one case is wrong",
    "some-right": "{count} of {total} cases are right",
    "some-right-one": "{count} of {total} cases is right",
    "not-judged-cases": ", {count} are not judged",
    "not-judged-cases-one": ", {count} is not judged",
    "none-right": "none of {total} cases is right",
    "compared": " ({elements}, {close})",
    "compared-visible": " (in the visible ones {elements}, {close})",
    "elements": "{count:,} elements",
    "elements-one": "{count:,} element",
    "relative-error": "relative error at most {error}",
    "absolute-error": "off by at most {error}",
    "no-error": "no error",
    "on-the-gpu": (
        "On the GPU of this run {wrong} in {array} in case `{case}`; that counts nothing, because {cause} "
        "decides it anew each time"
    ),
    "undefined-by-race": "the race on line {line}",
    "undefined-by-race-somewhere": "a race",
    "undefined-by-unset": "the uninitialised value that line {line} reads",
    "undefined-by-unset-somewhere": "an uninitialised value",
    "undefined-by-barrier": "the barrier on line {line} to which not all threads come",
    "undefined-by-barrier-somewhere": "a barrier to which not all threads come",
    "undefined-by-bounds": "the access outside its array on line {line}",
    "undefined-by-bounds-somewhere": "an access outside an array",
    "undefined-by-order": "the order in which warps run",
    "smallest-shape": "The smallest shape found to fail: {sizes}",
    "hidden-fail": "{count:,} hidden cases fail",
    "hidden-fail-one": "{count:,} hidden case fails",
    "hidden-fail-as-well": "{count:,} hidden cases fail as well",
    "hidden-fail-as-well-one": "{count:,} hidden case fails as well",
    "hidden-fail-because": "{count:,} hidden cases fail: {reason}",
    "hidden-fail-because-one": "{count:,} hidden case fails: {reason}",
    "hidden-cases-pass": "the hidden cases pass",
    "hidden-cases-fail": "the hidden cases do not all pass",
    "hidden-cases-skipped": "the hidden cases could not be judged",
    "hidden-cases-in-error": "the hidden cases could not be judged",
    "hidden-cases-pass-too": "{sentence}; the hidden cases pass, too",
    "hidden-and-visible": "{hidden}; of the visible ones: {sentence}",
    "in-case": "in case `{case}` {sentence}",
    "in-case-of-sizes": "in case `{case}` ({sizes}) {sentence}",
    "kernel-is-wrong": "`{kernel}` is wrong: {sentence}",
    "your-name": "{name} (your `{label}`)",
    "and": " and ",
    "undefined-constants": "The file defines no {constants}",
    "launched-with": "`{name}`, so it was launched with {value}",
    "launched-with-side": "`{name}`, so it was launched with {value}, the side of its shared arrays",
    "array-wrong": "`{array}` is wrong",
    "output-wrong": "{array} is wrong ({total})",
    "wrong-of": "{wrong:,} of {elements} are wrong",
    "wrong-of-one": "{wrong:,} of {elements} is wrong",
    "as-before": "{sentence}, {unwritten:,} as before the launch",
    "as-before-call": "{sentence}, {unwritten:,} as before the call",
    "element-wrong": "{element} should be {expected}{margin} but {actual} ({total})",
    "margin": " (at most {bound} off)",
    "element-is": "is {value}",
    "element-added": "is {value}, because `{array}` held NaN before the launch and `+=` keeps it",
    "element-added-call": "is {value}, because `{array}` held NaN before the call and `+=` keeps it",
    "element-unwritten": "is still what it was before the launch",
    "element-unwritten-call": "is still what it was before the call",
}

_STRUCTURE: Mapping[str, str] = {
    "not-looked-at-without-build": "could not be looked at, because the submission does not build",
    "not-looked-at-by-hand": "could not be looked at, because of an instruction written by hand",
    "the-kernel": "the kernel {clauses}",
    "named-kernel-never-ran": "no kernel `{name}` ran, so that its results are unknown",
    "the-named-kernel": "the kernel `{name}` {clauses}",
    "and-it": "; it ",
    "takes-registers": "takes {count:,} registers per thread",
    "takes-registers-one": "takes {count:,} register per thread",
    "takes-shared-bytes": "takes {count:,} bytes of shared memory per block",
    "takes-shared-bytes-one": "takes {count:,} byte of shared memory per block",
    "too-many": "{clause}; at most {limit:,} are asked for",
    "no-library": "uses no library",
    "library": "uses {names}{more} of a library{at}",
    "more-names": " and {number} more",
    "must-do-without": "{clause}, and must do without",
    "must-not": "{clause}, and must not",
    "asked-for": "{clause}, which is asked for",
    "its-use-asked-for": "{clause}; its use is asked for",
    "uses": "uses {use}{at}",
    "uses-no": "uses no {use}",
    "never-executed": "has {use}{at}, but no case executes them",
    "never-loaded-again": "has {use}{at}, but no case stores there and loads it again",
    "never-loaded": "has {use}{at}, but no case loads from there",
    "loads-only": "loads from shared memory and stores nothing there",
    "stores-only": "stores to shared memory and loads nothing from there",
    "shared-memory": "shared memory",
    "barriers": "barriers (`__syncthreads()`)",
    "atomics": "atomic operations",
    "shuffles": "warp shuffles",
    "constant-memory": "constant memory",
    "on-lines": " on lines {lines}",
    "on-lines-one": " on line {lines}",
    "on-many-lines": " on lines {lines} …",
}

_ENDINGS: Mapping[str, str] = {
    "program-cut-short": "the program did not come to its end",
    "program-cut-short-because": "the program did not come to its end: {reason}",
    "stopped-after": "it was stopped after {seconds} s: it was not done by then",
    "sigsegv": "it touched memory that is not its own",
    "sigbus": "it touched memory that is not there",
    "sigabrt": (
        "it gave up by itself: an assertion failed, an exception was not caught, or memory beside an array "
        "of the host was overwritten"
    ),
    "uncaught-exception": "nothing caught its exception `{type}`",
    "uncaught-exception-with-words": "nothing caught its exception `{type}`: {words}",
    "sigfpe": "it divided a whole number by zero",
    "sigill": "it came to an instruction that the processor does not have",
    "sigtrap": "it came to a trap: undefined behaviour that the compiler knew of",
    "sigpipe": "it wrote into a pipe that was closed",
    "sigsys": "it asked the system for something that is not allowed here",
    "sigxcpu": "it took more processor time than it may",
    "sigxfsz": "it wrote a larger file than it may",
    "sigkill": "it was killed",
    "with-signal": "{reason} ({signal})",
    "ended-by-signal": "it was ended by {signal}",
    "some-signal": "signal {number}",
    "memory-limit": "it took more memory than it may",
    "output-limit": "it printed more, or wrote a larger file, than it may",
    "ended-otherwise": "it ended by {ending}",
    "wrong-status": "the program does not end with status {status}",
    "other-status": "the program ends with status {actual}; expected {status}",
    "with-stderr": "{sentence}. The end of what it printed to standard error",
    "program-not-run": "the program was not run, and nothing says why",
    "inputs-arguments": "arguments {words}",
    "inputs-stdin": "standard input {text}",
}

_PRINTED: Mapping[str, str] = {
    "stdout": "what your program prints",
    "stderr": "what your program prints to standard error",
    "file": "the file {file}",
    "no-file": "the program left no file {file}, or one that is too large",
    "no-file-and-status": (
        "the program ends with status {status} and leaves no file {file}, or one that is too large"
    ),
    "differs-in-blanks": "{name} differs from what is expected in blanks or line ends",
    "line-differs-at-end": "line {line} of {name} differs from what is expected in blanks at its end",
    "line-ends": "there are {count:,} line ends at the end of {name}; expected {expected}",
    "line-ends-one": "there is {count:,} line end at the end of {name}; expected {expected}",
    "line-ends-none": "there is no line end at the end of {name}; expected {expected}",
    "expected-ends": "{count:,} line ends",
    "expected-ends-one": "{count:,} line end",
    "expected-ends-none": "no line end",
    "not-as-expected": "{name} is not as expected",
    "empty": "{name} is empty; expected {count:,} lines",
    "empty-one": "{name} is empty; expected {count:,} line",
    "lines-missing": "{count:,} lines are missing before line {line} of {name}",
    "lines-missing-one": "{count:,} line is missing before line {line} of {name}",
    "lines-missing-at-end": "{count:,} lines are missing at the end of {name}",
    "lines-missing-at-end-one": "{count:,} line is missing at the end of {name}",
    "lines-too-many": "{count:,} lines are too many at the end of {name}",
    "lines-too-many-one": "{count:,} line is too many at the end of {name}",
    "line-too-many": "line {line} of {name} is one too many",
    "line-differs": "line {line} of {name} is not as expected",
    "line-differs-in-blanks": "line {line} of {name} differs in blanks",
    "line-differs-in-capitals": "line {line} of {name} differs in upper and lower case",
    "more-lines": "… and {count:,} more lines",
    "more-lines-one": "… and {count:,} more line",
    "row": "line {line}",
    "row-missing": "missing before line {line}: {text}",
    "row-too-many": "too many, line {line}: {text}",
    "row-expected": "expected:",
    "row-got": "got:",
    "empty-line": "(an empty line)",
    "not-of-form": "{name} is not of the form that is expected",
    "no-match": "nothing in {name} matches the pattern {pattern}",
}

_NUMBERS: Mapping[str, str] = {
    "numbers": "{count:,} numbers",
    "numbers-one": "{count:,} number",
    "numbers-right": "{count} of {total} are right",
    "numbers-right-one": "{count} of {total} is right",
    "numbers-none-right": "none of {total} is right",
    "numbers-wrong": "{share}; wrong: {names}",
    "share-and-number": "{share}: {sentence}",
    "more-numbers": "… and {number} more",
    "number-stdout": "after {words} your program prints {number}; expected {expected}",
    "number-stderr": "after {words} your program prints to standard error {number}; expected {expected}",
    "number-file": "after {words} the file {file} has {number}; expected {expected}",
    "number-nth": "{number} as number {nth}",
    "no-number": "no number",
    "no-number-nth": "no number {nth}",
    "no-words-stdout": "your program does not print {words}; expected {expected} after it",
    "no-words-stderr": "standard error does not have {words}; expected {expected} after it",
    "no-words-file": "the file {file} does not have {words}; expected {expected} after it",
}

_ARRAYS: Mapping[str, str] = {
    "no-array": "there is no array `{output}` to look at",
    "array-not-compared": "no array `{output}` was compared",
    "array-and-why": "{sentence}; {reason}",
    "no-npy": "{file} is not an .npy file of version 1.0 in C order",
    "npy-of-type": "{file} holds {type}; expected {expected}",
    "npy-of-extents": "{file} holds an array of {extents}; expected {expected}",
    "npy-of-bytes": "{file} holds {bytes:,} bytes of elements after its header; expected {expected:,}",
    "other-type": "elements of another type",
    "big-endian": "big-endian {type}",
    "no-extent": "no extent",
    "no-launch-ended": "no launch of `{kernel}` came to its end",
    "other-kernels-ran": "no kernel `{kernel}` ran; the program launched {names}",
    "argument-too-small": (
        "argument {number} of `{kernel}`, `{argument}`, has {bytes:,} bytes; "
        "expected {needed:,} for {extents} of {type}: one launch computes the whole output"
    ),
    "argument-no-number": "argument {number} of `{kernel}`, `{argument}`, holds what is no number",
    "kernel-output-too-small": "the output of `{kernel}` is smaller than {extents} of {type}",
    "not-from-inputs": (
        "`{kernel}` leaves the right `{output}`, but does not compute it from its arguments: for other "
        "numbers there it leaves what is wrong for them"
    ),
    "stops-for-other-inputs": (
        "`{kernel}` leaves the right `{output}` for these numbers alone: for other numbers in its arguments "
        "it does not come to its end"
    ),
    "streams-not-counted": "the streams of this run were not counted",
    "too-few-streams": "work goes to too few streams",
    "copies-not-pinned": "asynchronous copies of memory that is not pinned overlap with nothing",
    "streams-counted": (
        "streams that are given both kernels and asynchronous copies of pinned memory: {count}; "
        "expected {least} or more"
    ),
    "pin-memory": "{sentence}; allocate the host's arrays with `cudaMallocHost`",
}

_PROGRAMS: Mapping[str, str] = {**_ENDINGS, **_PRINTED, **_NUMBERS, **_ARRAYS}

_SPEEDUP: Mapping[str, str] = {
    "needs-gpu": "needs a GPU: time is measured there only",
    "needs-gpu-estimated": "needs a GPU: time is measured there only; an estimate gives no points",
    "needs-gpu-not-estimated": "needs a GPU, for its speed cannot be estimated: {reason}",
    "needs-gpu-several-launches": (
        "needs a GPU: an estimate gives {launches} launches no points, as what one leaves for the next is "
        "not computed"
    ),
    "needs-gpu-not-compared": (
        "needs a GPU: an estimate gives no points where the results at the timed shape could not be compared"
    ),
    "nothing-timed": "nothing was timed this time",
    "other-kernel-timed": "the {wanted} kernel was not timed, but the {baseline} kernel",
    "not-timed-against-itself": "the {baseline} kernel was not timed against itself",
    "too-noisy": "the device was too noisy to measure: the baseline against itself gave {ratio}",
    "no-speedup-asked": "the rubric does not say which speedup it asks for",
    "solution-not-timed": "the model solution was not timed, and the points depend on it",
    "not-timed-without-build": "nothing could be timed, because the submission does not build",
    "not-timed-wrong": "not timed, because it does not compute the right answer in every case",
    "not-timed-undefined": "no speed counts, because the result is undefined: {cause} decides it",
    "not-timed-wrong-at": "no speed counts, for {reason}",
    "not-timed-not-judged": "not judged, because whether it is right could not be judged in every case",
    "not-timed": "it was not timed, and nothing says why",
    "as-fast": (
        "{median} times as fast as the {baseline} kernel ({times}{level} % interval {low} to {high})"
    ),
    "times-against": "{student} ms against {baseline} ms; ",
    "times-against-at": "{student} ms against {baseline} ms at {shape}; ",
    "asked-for-share": "{speedup} asked for {share} of the points",
    "asked-for-full": "{speedup} asked for full credit",
    "asked-in-doubt": "whether it reaches {speedup} could not be decided, and that counts for the submission",
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
    "launches-nothing": "launches no kernel, so that its memory traffic is unknown",
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
    "not-counted": "the kernel's memory traffic was not counted: {reason}",
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

_MEASURES: Mapping[str, str] = {**_SPEEDUP, **_TRAFFIC, **_ANSWERS}

TEXTS: Mapping[str, str] = {
    **_CASES,
    **_COMPILE,
    **_OUTPUT,
    **_STRUCTURE,
    **_PROGRAMS,
    **_MEASURES,
}
"""Texts by name, with fields for what is measured; ``-one`` is for a ``count`` of 1."""
