"""What checks say of whole programs: how they ended, and what they printed or wrote to files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENDINGS: Mapping[str, str] = {
    "program-cut-short": "the program did not come to its end",
    "program-cut-short-because": "the program did not come to its end: {reason}",
    "stopped-after": "it was stopped after {seconds} s: it was not done by then",
    "sigsegv": "it touched memory that is not its own",
    "sigbus": "it touched memory that is not there",
    "sigabrt": "it gave up by itself: an assertion failed, or nobody caught an exception",
    "sigfpe": "it divided a whole number by zero",
    "sigill": "it came to an instruction that the processor does not have",
    "sigtrap": "it came to a trap: undefined behaviour that the compiler knew of",
    "sigpipe": "it wrote to where nobody reads any more",
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
        "expected {needed:,} for {extents} of {type}"
    ),
    "argument-no-number": "argument {number} of `{kernel}`, `{argument}`, holds what is no number",
    "kernel-output-too-small": "the output of `{kernel}` is smaller than {extents} of {type}",
    "streams-not-counted": "nobody counted the streams of this run",
    "too-few-streams": "work goes to too few streams",
    "streams-counted": (
        "streams that are given both asynchronous copies and kernels: {count}; expected {least} or more"
    ),
}

TEXTS: Mapping[str, str] = {**_ENDINGS, **_PRINTED, **_NUMBERS, **_ARRAYS}
