"""Mistakes of the host as the device sees them: a code, where the program called, and its data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HostCode(StrEnum):
    """What a program did wrong on its host side."""

    LAUNCH_REFUSED = "launch-refused"
    """The launch never ran: too many threads, no blocks, too much shared memory."""
    POINTER_IN_KERNEL = "host-pointer-in-kernel"
    SYMBOL_AS_POINTER = "symbol-as-pointer"
    """The name of a variable in device memory is passed where a pointer is wanted."""
    DEVICE_POINTER = "device-pointer-on-host"
    FREED_POINTER = "freed-pointer-on-host"
    FAULT = "host-fault"
    """An address that is nobody's."""
    WRONG_DIRECTION = "wrong-direction"
    COPY_TOO_LARGE = "copy-too-large"
    COPY_OF_FREED = "copy-of-freed"
    COPY_OF_NOTHING = "copy-of-nothing"
    """Device memory is named that was never allocated."""
    POINTER_SIZED_COPY = "pointer-sized-copy"
    NEVER_WRITTEN = "never-written"
    """Bytes are copied back that neither a kernel nor a copy has written."""
    NEVER_COPIED_BACK = "never-copied-back"
    """Nothing comes back from the device after the last kernel."""
    MEMSET_OF_ELEMENTS = "memset-of-elements"
    """`cudaMemset` is given a value that is no byte."""
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
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
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
