"""Sentences for launches: what refuses or stops them, and what a program does wrong around them on the host.

Limits, traps, calls that lead nowhere, a GPU; copies, pointers, memory, launches that never ran.
"""

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
    FindingCode.FUNCTION_ORDER: (
        "`{function}` is right when it is called with ({taken}), but the assignment calls it with ({passed})"
    ),
    FindingCode.CALL_FAILED: "{call} fails with “{error}”{sizes}{then}",
    FindingCode.ADDRESSES_SENT: (
        "{array} is sent addresses of the host's memory: the source is an array of pointers, and the numbers "
        "that they point to lie elsewhere"
    ),
    FindingCode.PART_LEFT: (
        "`{kernel}` leaves {missing:,} of {total:,} elements of {array} as they were, the first is "
        "{array}[{first}]"
    ),
    FindingCode.INDEX_UNREAD: (
        "`{kernel}` never reads `{index}`, so {count:,} {them} of this launch all do the same"
    ),
    FindingCode.DEVICE_BROKEN: "once the function has returned, the device reports: {error}",
}
"""Sentences for a visible case, by code, with fields for the finding's data."""

_FAULTS_CLAUSES: Mapping[str, str] = {
    "function": "`{name}`",
    "runtime-call": "`{name}`",
    "some-call": "a call of the CUDA runtime",
    "asks-for": ", for it asks for {bytes:,} bytes of device memory, and the device has {limit:,}",
    "then-status": "; after it the program ends with status {status}",
    "then-gives-up": "; after it the program crashes",
    "blocks": "blocks",
    "threads-of-a-block": "threads of each block",
    "then-goes-on": "; nothing was done, and the program goes on",
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
"""Sentences for a visible case, by code, with fields for the finding's data."""

_ON_DEVICE_CLAUSES: Mapping[str, str] = {
    "all-launches": "all {count} timed launches",
    "all-launches-one": "all {count} timed launch",
    "some-launches": "{bad} of {count} timed launches",
    "example": ", {element} = {got} where {expected} was expected",
    "hardware-exception": "a hardware exception",
    "stopped-by-gpu": "the GPU stopped the kernel while it was timed: {meaning} ({name})",
}


_ON_HOST: Mapping[FindingCode, str] = {
    FindingCode.HOST_LAUNCH_REFUSED: "{kernel}<<<({grid}), ({block})>>> never ran: {reason}",
    FindingCode.HOST_NOT_COOPERATIVE: (
        "{kernel} waits for all blocks of its grid, which a launch by <<<...>>> does not allow: launch it by "
        "cudaLaunchCooperativeKernel"
    ),
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
    FindingCode.HOST_ALLOCATED_ELEMENTS: (
        "{bytes:,} bytes are allocated for {array}, and {kernel} uses it as {bytes:,} elements of {size} "
        "bytes each: allocate {bytes:,} * {size} bytes (`sizeof` of an element)"
    ),
    FindingCode.HOST_COPIED_ELEMENTS: (
        "copies {bytes:,} bytes of {array}, which has {bytes:,} elements of {size} bytes each: copy "
        "{bytes:,} * {size} bytes (`sizeof` of an element)"
    ),
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
    FindingCode.HOST_FILLED_BYTES: (
        "cudaMemset sets each byte of {array} to {value}, so that each of its elements of {size} bytes is "
        "{becomes}: set elements by a kernel or by a copy"
    ),
    FindingCode.HOST_TOUCHED_EARLY: (
        "the host uses {array} while the device may still be at work on it{asked}: call "
        "cudaDeviceSynchronize() before"
    ),
    FindingCode.HOST_STREAM_RACE: (
        "{later} {array} while {earlier} it in another stream{there}, and nothing makes one wait for the "
        "other"
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
    FindingCode.HOST_LIBRARY_BEYOND_ARRAY: (
        "gives {library} {array} as {operand}, which takes {bytes:,} bytes with these sizes, where {array} "
        "has {has:,}"
    ),
    FindingCode.HOST_LIBRARY_WITHOUT_ARRAY: (
        "gives {library} a pointer as {operand} that does not point to device memory in use: it needs memory "
        "from cudaMalloc"
    ),
    FindingCode.HOST_LIBRARY_MISALIGNED: (
        "gives {library} a pointer into {array} as {operand} that is no multiple of {bytes:,} bytes: it "
        "points into the middle of a number"
    ),
    FindingCode.HOST_EVENT_NEVER_RECORDED: "asks for the time between events of which one was never recorded",
    FindingCode.HOST_EVENT_NOT_WAITED_FOR: (
        "asks for the time between events before the device has come to the second: call "
        "cudaEventSynchronize() before"
    ),
    FindingCode.HOST_FORGED_MESSAGE: (
        "the program writes to the connection with its device by itself, or has overwritten what it sends "
        "there; the device does nothing that it asks for afterwards"
    ),
    FindingCode.HOST_UNSUPPORTED: "the emulator does not support {name}",
}
"""Sentences for a visible case, by code, with fields for the finding's data."""

_ON_HOST_CLAUSES: Mapping[str, str] = {
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
    "work-asked-for": " for line {line}",
    "there-on-line": " on line {line}",
    "near-null": " (a null pointer)",
    "elements-for-bytes": "; cudaMalloc counts bytes: was it given elements?",
    "host-took-too-long": "its host code was still running after {seconds} s and was stopped{last_call}",
    "last-call": "; it last called the GPU on line {line}",
    "last-call-elsewhere": "; it last called the GPU on line {line} of `{file}`",
    "no-call-yet": "; it had not called the GPU yet",
}
"""Parts of these sentences by name."""

_COMPUTED_CLAUSES: Mapping[str, str] = {
    "input-never-sent": "nothing of the input `{array}` ever came to the device",
    "host-sends-result": "what it sends to the device is made of all inputs: the host has combined them",
    "nothing-computed-comes-back": "too little of what comes back from the device was made of the inputs",
    "rest-from-host": "{from_device:,} of {elements:,} elements come from the device, and no others",
    "host-uses-own-inputs": "the host adds to what comes back from the device what it has computed itself",
    "nothing-from-device": "none of its elements come from the device",
    "host-moves-elements": "the host has put the elements in another order, and the kernels have not",
    "kernels-do-too-little": (
        "the kernels do {operations:,} floating-point operations, where the result takes {needed:,}"
    ),
    "right-without-kernels": "it is right where no kernel runs",
    "gives-up-for-other-inputs": "for other inputs of the same kind the function does not return",
    "unknown-who-computes": (
        "the result is right, but it is not known whether the kernels compute it or the host does; staff "
        "should look at the file"
    ),
    "not-asked-who-computes": "asking whether the kernels compute the result has failed",
}
"""Evidence that the host has computed the result of a function or a program, or why that is not known."""

_RECORDED_CLAUSES: Mapping[str, str] = {
    "uses-host-memory": "it uses managed or pinned memory",
    "launches-cooperatively": "it launches a cooperative grid",
    "asks-for-too-much": "it asks for more than {most} launches, copies and fills",
    "copies-too-much": "it copies more than {mebibytes} MiB from memory of its own",
    "allocates-too-much": "it allocates more than {mebibytes} MiB",
    "host-computes-copies": "its host code computes from the inputs what it copies to the device",
    "inputs-decide": (
        "its inputs decide about more of its launches, copies and fills than how often some are repeated"
    ),
    "takes-long-to-record": (
        "it goes by results that it reads, and to compute that takes more than {seconds} s on the emulator"
    ),
    "results-not-computed": "it goes by results that it reads, and {problem}",
    "does-not-return": "it does not return where its launches are recorded",
    "host-changes-array": "its host code itself changes the array `{array}`",
}
"""Reasons why a function's requests to its device cannot be replayed."""

SENTENCES: Mapping[FindingCode, str] = {**_FAULTS, **_ON_DEVICE, **_ON_HOST}
CLAUSES: Mapping[str, str] = {
    **_FAULTS_CLAUSES,
    **_ON_DEVICE_CLAUSES,
    **_ON_HOST_CLAUSES,
    **_COMPUTED_CLAUSES,
    **_RECORDED_CLAUSES,
}
"""Parts of these sentences by name; ``-one`` is for a single launch."""
