"""Sentences for what refuses or stops a launch: limits, traps, calls that lead nowhere, a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

_FAULTS: Mapping[FindingCode, str] = {
    FindingCode.TRAP: "stops the whole launch with a trap (a failed assert, or __trap())",
    FindingCode.ASSERTION: "stops the whole launch: the assertion `{assertion}` does not hold",
    FindingCode.STACK_OVERFLOW: (
        "calls {function} from within itself until the thread's stack is full: does the recursion end?"
    ),
    FindingCode.CALL_OF_OTHER_TYPE: "calls {function} through a pointer to another type",
    FindingCode.CALL_OF_NOTHING: (
        "calls a function at address {address}, where there is none: was the pointer ever set?"
    ),
    FindingCode.BAD_FREE: "frees an address that malloc or new did not give, or that was freed before",
    FindingCode.LAUNCH_NOT_COMPUTED: "no launch configuration can be computed: {reason}",
    FindingCode.LAUNCH_TOO_SMALL: (
        "a {what} of {dimensions} cannot be launched: its {axis} must be at least 1"
    ),
    FindingCode.LAUNCH_TOO_LARGE: "{excess}",
    FindingCode.LAUNCH_SHARED_MEMORY: "{excess}",
    FindingCode.VARIABLE_TOO_SMALL: "{lack}",
    FindingCode.VARIABLES_TOO_LARGE: (
        "the variables of the file take {bytes:,} bytes of device memory, of {most:,}"
    ),
    FindingCode.SIZES_DO_NOT_COMPILE: "with the sizes of this case the file does not compile{reason}",
    FindingCode.FUNCTION_ENDED_PROGRAM: (
        "the function ends the whole program with status {status}; expected it to return"
    ),
    FindingCode.DEVICE_BROKEN: "once the function has returned, the device reports: {error}",
}
"""What is said of a visible case, by code, with fields for the finding's data."""

_FAULTS_CLAUSES: Mapping[str, str] = {
    "function": "`{name}`",
    "some-function": "a function",
    "block": "block",
    "grid": "grid",
    "axis-too-large": "a {what} of {dimensions} cannot be launched: its {axis} may be at most {most}",
    "too-many-threads": "a block of {dimensions} has {threads} threads; a block may have at most {most}",
    "negative-shared-memory": "{bytes} bytes of dynamic shared memory cannot be launched",
    "too-much-shared-memory": (
        "the launch needs {bytes} bytes of shared memory ({static} static and {dynamic} dynamic); a block "
        "may use at most {most}"
    ),
    "not-in-device-memory": "`{name}` is no variable in device memory that holds what is put into it",
    "too-few-elements": "`{name}` has room for {elements:,} elements of {type}, and {needed:,} are needed",
    "because": ": {text}",
    "constant": "`{name}` is {value}",
    "with-constants": "with this file's constants ({constants}) {sentence}",
}


_WRONG = "wrong while it was timed: {launches} "

_ON_DEVICE: Mapping[FindingCode, str] = {
    FindingCode.LAUNCH_REFUSED: "the GPU refused the launch: {reason}",
    FindingCode.DEVICE_STOPPED: "the GPU stopped the kernel: {reason}",
    FindingCode.DEVICE_TIMEOUT: (
        "the kernel did not end within {seconds} s on the GPU and was stopped; look for a loop whose "
        "condition stays true, or a barrier that some threads never reach"
    ),
    FindingCode.STOP_REPORTED: "stops the whole launch: {reason}",
    FindingCode.STOPPED_WHILE_TIMED: "{reason}",
    FindingCode.HUNG_WHILE_TIMED: (
        "{reason}; look for a loop that ends only for the inputs, or the buffers, of the tests"
    ),
    FindingCode.WRONG_WHILE_TIMED: (
        _WRONG + "left a wrong {output}{example}; every launch has other inputs at other addresses, and has "
        "to compute its output anew from them"
    ),
    FindingCode.UNWRITTEN_WHILE_TIMED: (
        _WRONG + "left elements of the output as they were before, up to {most}; every launch has to write "
        "all of its output, whatever it holds and whatever was computed in earlier launches"
    ),
    FindingCode.INPUTS_CHANGED_WHILE_TIMED: (
        _WRONG + "changed the inputs; a kernel may write to its output only, so check the indices of every "
        "store"
    ),
    FindingCode.IMPOSSIBLY_FAST: (
        "{impossible} of {timed} timed launches took less than {floor} ms, down to {least} ms: by its "
        "measured memory bandwidth and float32 rate this device needs at least that for the whole "
        "computation, so compute everything in every launch"
    ),
}
"""What is said of a visible case, by code, with fields for the finding's data."""

_ON_DEVICE_CLAUSES: Mapping[str, str] = {
    "all-launches": "all {count} timed launches",
    "all-launches-one": "all {count} timed launch",
    "some-launches": "{bad} of {count} timed launches",
    "example": ", {element} = {got} where {expected} was expected",
    "hardware-exception": "a hardware exception",
    "stopped-by-gpu": "the GPU stopped the kernel while it was timed: {meaning} ({name})",
}

SENTENCES: Mapping[FindingCode, str] = {**_FAULTS, **_ON_DEVICE}
CLAUSES: Mapping[str, str] = {**_FAULTS_CLAUSES, **_ON_DEVICE_CLAUSES}
"""Parts of these sentences by name; ``-one`` is for a single launch."""
