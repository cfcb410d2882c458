"""Sentences for what stops a launch or refuses it: traps, calls that lead nowhere, limits of the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

SENTENCES: Mapping[FindingCode, str] = {
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

CLAUSES: Mapping[str, str] = {
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
