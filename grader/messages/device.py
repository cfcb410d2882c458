"""Sentences for what only a device shows: launches that it refuses or stops, and what timing shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

_WRONG = "wrong while it was timed: {launches} "

SENTENCES: Mapping[FindingCode, str] = {
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

CLAUSES: Mapping[str, str] = {
    "all-launches": "all {count} timed launches",
    "all-launches-one": "all {count} timed launch",
    "some-launches": "{bad} of {count} timed launches",
    "example": ", {element} = {got} where {expected} was expected",
    "hardware-exception": "a hardware exception",
    "stopped-by-gpu": "the GPU stopped the kernel while it was timed: {meaning} ({name})",
}
