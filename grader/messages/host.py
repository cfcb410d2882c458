"""Sentences for what a program does wrong on the host: copies, pointers, memory, launches that never ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

SENTENCES: Mapping[FindingCode, str] = {
    FindingCode.HOST_LAUNCH_REFUSED: "{kernel}<<<({grid}), ({block})>>> never ran: {reason}",
    FindingCode.HOST_POINTER_IN_KERNEL: (
        "argument {argument} of {kernel} points to memory of the host; a kernel needs memory from cudaMalloc"
    ),
    FindingCode.HOST_SYMBOL_AS_POINTER: (
        "`{symbol}` is {space}, and its name is no pointer on the host: kernels use it by its name, and "
        "cudaMemcpyToSymbol and cudaMemcpyFromSymbol copy to and from it"
    ),
    FindingCode.HOST_DEVICE_POINTER: (
        "host code uses {array}, which is device memory: only kernels and cudaMemcpy can reach it"
    ),
    FindingCode.HOST_FREED_POINTER: "host code uses {array}, which is device memory that was freed",
    FindingCode.HOST_FAULT: "host code uses address {address}{near_null}, where it has no memory",
    FindingCode.HOST_WRONG_DIRECTION: "the copy is said to be {kind}, but it goes {way}",
    FindingCode.HOST_COPY_TOO_LARGE: "copies {bytes:,} bytes where {array} has {has:,}{guess}",
    FindingCode.HOST_COPY_OF_FREED: "copies {array}, which was freed",
    FindingCode.HOST_COPY_OF_NOTHING: "copies device memory at {address}, which was never allocated",
    FindingCode.HOST_POINTER_SIZED_COPY: (
        "copies 8 bytes of {array}, which has {size:,}: is that the size of the pointer?"
    ),
    FindingCode.HOST_NEVER_WRITTEN: (
        "copies back {array}, of which {missing:,} of {bytes:,} bytes were never written, the first at byte "
        "{first:,}"
    ),
    FindingCode.HOST_NEVER_COPIED_BACK: (
        "nothing comes back from the device after {kernel}, the last kernel: its result is not used"
    ),
    FindingCode.HOST_MEMSET_OF_ELEMENTS: (
        "cudaMemset sets each byte, and {value} is no byte: each becomes {byte}"
    ),
    FindingCode.HOST_TOUCHED_EARLY: (
        "the host uses {array} while the device may still be at work on it: call cudaDeviceSynchronize() "
        "before"
    ),
    FindingCode.HOST_STREAM_RACE: (
        "{later} {array} while {earlier} it in another stream, and nothing makes one wait for the other"
    ),
    FindingCode.HOST_LEAK: "{array} ({size:,} bytes) is never freed",
    FindingCode.HOST_FREED_TWICE: "frees {array} a second time",
    FindingCode.HOST_FREE_OF_HOST: "cudaFree of something that cudaMalloc never gave",
    FindingCode.HOST_FREE_INSIDE: (
        "frees {array} by another address than cudaMalloc gave, or by another function"
    ),
    FindingCode.HOST_FREE_OF_ARGUMENT: "frees {array}, which belongs to the caller",
    FindingCode.HOST_OUTSIDE_ARRAY: (
        "host code uses {array}[{index}], and {array} has {elements:,} elements, the first of them {array}[0]"
    ),
    FindingCode.HOST_OUT_OF_MEMORY: (
        "asks for {bytes:,} bytes of device memory, and the device has {limit:,}"
    ),
    FindingCode.HOST_OUTPUT_LOST: (
        "what kernels printed is lost: nothing waits for the device before the program ends"
    ),
    FindingCode.HOST_ERRORS_NEVER_ASKED: (
        "a launch fails, and the program never asks for it: call cudaGetLastError() after <<<>>>"
    ),
    FindingCode.HOST_EVENT_NEVER_RECORDED: "asks for the time between events of which one was never recorded",
    FindingCode.HOST_EVENT_NOT_WAITED_FOR: (
        "asks for the time between events before the device has come to the second: call "
        "cudaEventSynchronize() before"
    ),
    FindingCode.HOST_UNSUPPORTED: "the emulator does not support {name}",
}
"""What is said of a visible case, by code, with fields for the finding's data."""

CLAUSES: Mapping[str, str] = {
    "refused-nothing": "it has no blocks, or no threads",
    "refused-threads": "a block may have 1,024 threads, and this one has {threads:,}",
    "refused-bounds": "__launch_bounds__ allows its blocks fewer threads than {threads:,}",
    "refused-block": "a block may have 1,024, 1,024 and 64 threads in its three dimensions",
    "refused-grid": "a grid may have 65,535 blocks in its second and third dimension",
    "refused-shared": "{bytes:,} bytes of dynamic shared memory are more than a block may have",
    "refused-cooperative": "its blocks may wait for each other, and a device does not hold them all at once",
    "from-host-to-host": "from the host to the host",
    "from-host-to-device": "from the host to the device",
    "from-device-to-host": "from the device to the host",
    "from-device-to-device": "from the device to the device",
    "kernel-reads": "kernel {name} reads",
    "kernel-writes": "kernel {name} writes",
    "kernel-updates": "kernel {name} updates",
    "copy-reads": "a copy reads",
    "copy-writes": "a copy writes",
    "near-null": " (a null pointer)",
    "elements-for-bytes": "; cudaMalloc counts bytes: was it given elements?",
}
"""Parts of these sentences by name."""
