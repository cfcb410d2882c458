"""Errors on the host's side: error codes of the CUDA runtime, and the mistakes behind them.

The codes are those of ``cudaError`` (CUDA Runtime API) that the device gives, among them what the host gets
for a launch that stopped when it waits for the device. A mistake is a code of ours, where the program called,
and its data.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.model import FindingKind, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Run


class CudaError(IntEnum):
    """``cudaError_t``; those that a program can be given here."""

    SUCCESS = 0
    INVALID_VALUE = 1
    MEMORY_ALLOCATION = 2
    INVALID_SYMBOL = 13
    INVALID_DEVICE_FUNCTION = 98
    INVALID_RESOURCE_HANDLE = 400
    NOT_READY = 600
    ILLEGAL_ADDRESS = 700
    LAUNCH_TIMEOUT = 702
    ASSERT = 710
    HARDWARE_STACK_ERROR = 714
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILURE = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720


ERRORS_OF_CALLS: Mapping[int, str] = {
    1: "invalid argument",
    2: "out of memory",
    3: "initialization error",
    9: "invalid configuration argument",
    12: "invalid pitch argument",
    13: "invalid device symbol",
    21: "invalid copy direction for memcpy",
    52: "__global__ function call is not configured",
    98: "invalid device function",
    101: "invalid device ordinal",
    400: "invalid resource handle",
    712: "part or all of the requested memory range is already mapped",
    713: "pointer does not correspond to a registered memory region",
    720: "too many blocks in cooperative launch",
    900: "operation not permitted when stream is capturing",
    901: "operation failed due to a previous error during capture",
    902: "operation would result in a merge of separate capture sequences",
    903: "capture was not ended in the same stream as it began",
    904: "capturing stream has unjoined work",
    905: "dependency created on uncaptured work in another stream",
    906: "operation would make the legacy stream depend on a capturing blocking stream",
}
"""Texts of ``cudaGetErrorString`` for errors that no launch makes; other calls may succeed."""

_CAPTURE_ERRORS = range(900, 907)
"""Errors of calls that spoil the capture of a stream: nothing of it is ever launched."""


@frozen
class FailedCall:
    """A call that gave an error; ``caller`` is where it returns to."""

    code: int
    caller: int

    @property
    def is_lasting(self) -> bool:
        """True if the program lacks something from here on, however it ends: memory, or a graph."""
        return self.code == CudaError.MEMORY_ALLOCATION or self.code in _CAPTURE_ERRORS

    @property
    def words(self) -> str:
        """Text by which CUDA describes the error."""
        return ERRORS_OF_CALLS[self.code]


_ENDS: Mapping[str, CudaError] = {
    "assertion": CudaError.ASSERT,
    "trap": CudaError.LAUNCH_FAILURE,
    "stack-overflow": CudaError.HARDWARE_STACK_ERROR,
    "never-ends": CudaError.LAUNCH_TIMEOUT,
    "block-hangs": CudaError.LAUNCH_TIMEOUT,
}
"""Error that the host gets for a launch that stops with a finding of this code."""


def code_of(run: Run) -> CudaError:
    """Error that the next synchronisation returns for a launch."""
    codes = [_ENDS[str(finding.code)] for finding in run.findings if str(finding.code) in _ENDS]
    if codes and not run.completed:
        return codes[0]
    if run.too_much_work:
        return CudaError.LAUNCH_TIMEOUT
    faults = [finding for finding in run.findings if finding.severity is Severity.ERROR]
    if any(finding.goes_nowhere for finding in faults):
        return CudaError.ILLEGAL_ADDRESS
    if any(finding.kind is FindingKind.MISALIGNED for finding in faults):
        return CudaError.MISALIGNED_ADDRESS
    return CudaError.SUCCESS


class HostCode(StrEnum):
    """Mistakes of a program on its host side."""

    LAUNCH_REFUSED = "launch-refused"
    """The launch never ran: too many threads, no blocks, too much shared memory."""
    NOT_COOPERATIVE = "not-cooperative"
    """A kernel waits for its whole grid, and its launch is not cooperative."""
    POINTER_IN_KERNEL = "host-pointer-in-kernel"
    SYMBOL_AS_POINTER = "symbol-as-pointer"
    """The name of a variable in device memory is passed where a pointer is wanted."""
    DEVICE_POINTER = "device-pointer-on-host"
    FREED_POINTER = "freed-pointer-on-host"
    FAULT = "host-fault"
    """An address that belongs to no allocation."""
    WRONG_DIRECTION = "wrong-direction"
    COPY_TOO_LARGE = "copy-too-large"
    COPY_OF_FREED = "copy-of-freed"
    COPY_OF_NOTHING = "copy-of-nothing"
    """Device memory is named that was never allocated."""
    ALLOCATED_ELEMENTS = "allocated-elements"
    """An array has as many bytes as a kernel takes it for elements."""
    COPIED_ELEMENTS = "copied-elements"
    """A copy has as many bytes as the array has elements."""
    POINTER_SIZED_COPY = "pointer-sized-copy"
    NEVER_WRITTEN = "never-written"
    """Bytes are copied back that neither a kernel nor a copy has written."""
    NEVER_COPIED_BACK = "never-copied-back"
    """No copy comes back from the device after the last kernel."""
    MEMSET_OF_ELEMENTS = "memset-of-elements"
    """`cudaMemset` is given a value that is no byte."""
    FILLED_BYTES = "filled-bytes"
    """`cudaMemset` gives each byte of an input the value that each element should have."""
    TOUCHED_EARLY = "touched-early"
    STREAM_RACE = "stream-race"
    """Work of two streams uses the same bytes, and nothing decides its order."""
    LEAK = "leak"
    FREED_TWICE = "freed-twice"
    FREE_OF_HOST = "free-of-host"
    FREE_INSIDE = "free-inside"
    """The pointer is not the one that was given."""
    FREE_OF_ARGUMENT = "free-of-argument"
    """A function frees what it was called with."""
    OUTSIDE_ARRAY = "outside-array"
    """A function uses memory beside an array of the host that it was called with."""
    OUT_OF_MEMORY = "out-of-memory"
    OUTPUT_LOST = "output-lost"
    ERRORS_NEVER_ASKED = "errors-never-asked"
    EVENT_NEVER_RECORDED = "event-never-recorded"
    EVENT_NOT_WAITED_FOR = "event-not-waited-for"
    """The time between events is asked for while the second may still lie ahead."""
    LIBRARY_BEYOND_ARRAY = "library-beyond-array"
    LIBRARY_WITHOUT_ARRAY = "library-without-array"
    LIBRARY_MISALIGNED = "library-misaligned"
    """A library is given what is no device memory, is not all that it takes, or starts in a number."""
    FORGED_MESSAGE = "forged-message"
    """The program sends its device by itself what the runtime never sends."""
    UNSUPPORTED = "unsupported"


@frozen
class HostMistake:
    """One mistake; ``caller`` is where the program's call returns to, ``details`` are for its sentence.

    ``allocation`` is the number of the allocation that it is about, 0 for none; ``callers`` are the addresses
    of the calls around it where more than one is known, ``other`` that of the other call it is about.
    """

    code: HostCode
    caller: int
    allocation: int = 0
    details: tuple[tuple[str, int | str], ...] = ()
    callers: tuple[int, ...] = ()
    other: int = 0
