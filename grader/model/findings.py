"""A finding: what is wrong, as a code with its data, and where."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from grader.base.records import frozen
from grader.model.terms import Dim3, FindingKind, Named, Severity


class FindingCode(StrEnum):
    """Exact meaning of a finding; finer than its kind, and as stable: it is written to grade.json."""

    UNSPECIFIED = ""
    """Code of a finding whose kind says all: so in hidden cases, of which nothing else may be reported."""

    # what was handed in
    ARCHIVE_DAMAGED = "archive-damaged"
    ARCHIVE_TOO_LARGE = "archive-too-large"
    ARCHIVE_TOO_MANY = "archive-too-many"
    ARCHIVE_OVERLAPS = "archive-overlaps"
    ARCHIVE_NAME_LEADS_OUT = "archive-name-leads-out"
    ARCHIVE_NAME_CONTROL = "archive-name-control"
    ARCHIVE_NAME_LONG = "archive-name-long"
    ARCHIVE_TWICE = "archive-twice"
    FILE_IS = "file-is"
    FILE_NO_TEXT = "file-no-text"
    FILE_TOO_LARGE = "file-too-large"
    FILE_UNREADABLE = "file-unreadable"
    FILE_EMPTY = "file-empty"
    FOLDER_UNREADABLE = "folder-unreadable"
    HEADERS_TOO_LARGE = "headers-too-large"
    FOLDER_TOO_MANY = "folder-too-many"
    FOLDER_EMPTY = "folder-empty"
    SEVERAL_FOLDERS = "several-folders"
    SEVERAL_SOURCES = "several-sources"
    NO_SOURCE = "no-source"
    SEVERAL_MAINS = "several-mains"
    SAME_NAMES = "same-names"
    SEVERAL_FILES = "several-files"

    # files that do not build
    NO_KERNEL = "no-kernel"
    OTHER_KERNELS = "other-kernels"
    KERNEL_LEFT_OUT = "kernel-left-out"
    KERNEL_WITHOUT_BODY = "kernel-without-body"
    KERNEL_PARAMETER_COUNT = "kernel-parameter-count"
    KERNEL_PARAMETER = "kernel-parameter"
    TEMPLATE_WITHOUT_VALUES = "template-without-values"
    TEMPLATE_DOES_NOT_COMPILE = "template-does-not-compile"
    STATIC_SHARED_MEMORY = "static-shared-memory"
    SIZE_NOT_DEFINED = "size-not-defined"
    SIZE_TO_DEFINE = "size-to-define"
    CONSTANT_NOT_ALLOWED = "constant-not-allowed"
    NO_VARIABLE = "no-variable"
    VARIABLE_CONSTANT = "variable-constant"
    NO_FUNCTION = "no-function"
    OTHER_FUNCTIONS = "other-functions"
    FUNCTION_IS_KERNEL = "function-is-kernel"
    FUNCTION_ON_DEVICE = "function-on-device"
    FUNCTION_IS_TEMPLATE = "function-is-template"
    FUNCTION_OUT_OF_REACH = "function-out-of-reach"
    FUNCTION_PARAMETER_COUNT = "function-parameter-count"
    FUNCTION_PARAMETER = "function-parameter"
    COMPILER_MESSAGE = "compiler-message"
    """Message of the compiler, in its words."""
    COMPILER_GAVE_UP = "compiler-gave-up"
    COMPILER_STOPPED = "compiler-stopped"
    MORE_MESSAGES = "more-messages"
    FOREIGN_FILE = "foreign-file"
    HEADER_NOT_FOUND = "header-not-found"
    PTX_TOO_LONG = "ptx-too-long"
    TOO_LARGE_TO_KEEP = "too-large-to-keep"
    ASM_NOT_READ = "asm-not-read"
    ASM_REFUSED = "asm-refused"
    NO_MAIN = "no-main"
    NO_MAIN_ANYWHERE = "no-main-anywhere"
    ARRAYS_TOO_LARGE = "arrays-too-large"
    DEFINED_TWICE = "defined-twice"
    DEFINED_NOWHERE = "defined-nowhere"
    LINKER_REFUSES = "linker-refuses"
    NOTEBOOK_COMMAND = "notebook-command"
    ODD_BLANKS = "odd-blanks"
    LOOSE_BRACKETS = "loose-brackets"

    # accesses to memory
    BEYOND_ARRAY = "beyond-array"
    INTO_OTHER_ARRAY = "into-other-array"
    """Beyond a shared array, where another begins."""
    NO_DYNAMIC_SHARED = "no-dynamic-shared"
    BEYOND_SHARED_MEMORY = "beyond-shared-memory"
    OUTSIDE_SHARED_MEMORY = "outside-shared-memory"
    """Access to shared memory as a tool reports it: without the byte."""
    BEYOND_LOCAL_ARRAY = "beyond-local-array"
    OUTSIDE_LOCAL_ARRAY = "outside-local-array"
    """The array is unknown."""
    CONSTANT_WRITTEN = "constant-written"
    FREED_MEMORY = "freed-memory"
    NULL_POINTER = "null-pointer"
    STRAY_POINTER = "stray-pointer"
    """A pointer that was itself read out of bounds."""
    NUMBER_AS_POINTER = "number-as-pointer"
    UNSET_POINTER = "unset-pointer"
    NO_ARRAY = "no-array"
    """An address that belongs to no array, for an unknown reason."""
    WRITTEN_AROUND_ARRAY = "written-around-array"
    """Memory around an array on the device has changed; the line that did it is unknown."""
    MISALIGNED_ELEMENT = "misaligned-element"
    MISALIGNED_INSIDE_ELEMENT = "misaligned-inside-element"
    MISALIGNED_ADDRESS = "misaligned-address"
    MISALIGNED_SOMEWHERE = "misaligned-somewhere"
    UNSET_MEMORY = "unset-memory"
    UNSET_OUTPUT = "unset-output"
    """An output is read, which holds nothing when the kernel starts."""
    WRITTEN_TOO_LATE = "written-too-late"
    """Another thread writes it, but no barrier stands between."""
    NEVER_WRITTEN = "never-written"
    ELEMENT_NOT_WRITTEN = "element-not-written"
    UNSET_VARIABLE = "unset-variable"
    UNSET_IN_SOME_THREADS = "unset-in-some-threads"
    UNSET_VARIABLE_REPORTED = "unset-variable-reported"
    """The compiler's warning about a variable that is used before it has a value."""

    # races
    RACE_IN_WARP = "race-in-warp"
    RACE_IN_BLOCK = "race-in-block"
    RACE_BETWEEN_BLOCKS = "race-between-blocks"
    RACE_WITH_COPY = "race-with-copy"
    RACE_REPORTED = "race-reported"
    """A pair of lines that racecheck reports, without threads."""
    DEPENDS_ON_ORDER = "depends-on-order"

    # barriers
    THREADS_MISSING = "threads-missing"
    THREADS_RETURNED = "threads-returned"
    LANES_MISSING = "lanes-missing"
    WARP_LANES_MISSING = "warp-lanes-missing"
    """An operation that has no mask lacks lanes, and it is known where they are."""
    LANES_UNNAMED = "lanes-unnamed"
    WARP_INCOMPLETE = "warp-incomplete"
    BLOCK_HANGS = "block-hangs"
    BARRIER_REPORTED = "barrier-reported"
    """Report of synccheck on a barrier."""

    # stops, and launches that do not come to their end
    TRAP = "trap"
    ASSERTION = "assertion"
    STACK_OVERFLOW = "stack-overflow"
    CALL_OF_OTHER_TYPE = "call-of-other-type"
    CALL_OF_NOTHING = "call-of-nothing"
    BAD_FREE = "bad-free"
    DEVICE_STOPPED = "device-stopped"
    STOP_REPORTED = "stop-reported"
    """Report of memcheck on a launch that ended, where it saw no access that explains it."""
    STOPPED_WHILE_TIMED = "stopped-while-timed"
    NEVER_ENDS = "never-ends"
    DEVICE_TIMEOUT = "device-timeout"
    HUNG_WHILE_TIMED = "hung-while-timed"

    # launches that are refused
    LAUNCH_NOT_COMPUTED = "launch-not-computed"
    LAUNCH_TOO_SMALL = "launch-too-small"
    LAUNCH_TOO_LARGE = "launch-too-large"
    LAUNCH_SHARED_MEMORY = "launch-shared-memory"
    LAUNCH_REFUSED = "launch-refused"
    """The device refused the launch."""
    VARIABLE_TOO_SMALL = "variable-too-small"
    VARIABLES_TOO_LARGE = "variables-too-large"
    SIZES_DO_NOT_COMPILE = "sizes-do-not-compile"
    FUNCTION_ENDED_PROGRAM = "function-ended-program"
    FUNCTION_ORDER = "function-order"
    CALL_FAILED = "call-failed"
    ADDRESSES_SENT = "addresses-sent"
    """Addresses of the host where kernels expect numbers."""
    PART_LEFT = "part-left"
    """Too few threads changed only a part of an array."""
    INDEX_UNREAD = "index-unread"
    """Blocks or threads all do the same."""
    DEVICE_BROKEN = "device-broken"
    """The device reports an error after a function has returned."""

    # what a program does wrong on the host
    HOST_LAUNCH_REFUSED = "host-launch-refused"
    HOST_NOT_COOPERATIVE = "host-not-cooperative"
    HOST_POINTER_IN_KERNEL = "host-pointer-in-kernel"
    HOST_DEVICE_POINTER = "host-device-pointer"
    HOST_FREED_POINTER = "host-freed-pointer"
    HOST_FAULT = "host-fault"
    HOST_WRONG_DIRECTION = "host-wrong-direction"
    HOST_COPY_TOO_LARGE = "host-copy-too-large"
    HOST_COPY_OF_FREED = "host-copy-of-freed"
    HOST_COPY_OF_NOTHING = "host-copy-of-nothing"
    HOST_ALLOCATED_ELEMENTS = "host-allocated-elements"
    HOST_COPIED_ELEMENTS = "host-copied-elements"
    HOST_POINTER_SIZED_COPY = "host-pointer-sized-copy"
    HOST_NEVER_WRITTEN = "host-never-written"
    HOST_NEVER_COPIED_BACK = "host-never-copied-back"
    HOST_MEMSET_OF_ELEMENTS = "host-memset-of-elements"
    HOST_FILLED_BYTES = "host-filled-bytes"
    HOST_TOUCHED_EARLY = "host-touched-early"
    HOST_STREAM_RACE = "host-stream-race"
    HOST_LEAK = "host-leak"
    HOST_FREED_TWICE = "host-freed-twice"
    HOST_FREE_OF_HOST = "host-free-of-host"
    HOST_FREE_INSIDE = "host-free-inside"
    HOST_FREE_OF_ARGUMENT = "host-free-of-argument"
    HOST_OUTSIDE_ARRAY = "host-outside-array"
    HOST_OUT_OF_MEMORY = "host-out-of-memory"
    HOST_OUTPUT_LOST = "host-output-lost"
    HOST_ERRORS_NEVER_ASKED = "host-errors-never-asked"
    HOST_SYMBOL_AS_POINTER = "host-symbol-as-pointer"
    HOST_EVENT_NEVER_RECORDED = "host-event-never-recorded"
    HOST_EVENT_NOT_WAITED_FOR = "host-event-not-waited-for"
    HOST_LIBRARY_BEYOND_ARRAY = "host-library-beyond-array"
    HOST_LIBRARY_WITHOUT_ARRAY = "host-library-without-array"
    HOST_LIBRARY_MISALIGNED = "host-library-misaligned"
    HOST_FORGED_MESSAGE = "host-forged-message"
    HOST_UNSUPPORTED = "host-unsupported"

    # what a run shows
    BUILDS_DIFFER = "builds-differ"
    OUTPUT_DIFFERS_BETWEEN_BUILDS = "output-differs-between-builds"
    WRONG_WHILE_TIMED = "wrong-while-timed"
    UNWRITTEN_WHILE_TIMED = "unwritten-while-timed"
    INPUTS_CHANGED_WHILE_TIMED = "inputs-changed-while-timed"
    IMPOSSIBLY_FAST = "impossibly-fast"
    """Timed launches took less than any kernel can that does all of the work."""


@frozen
class Clause:
    """A part of a sentence that not every finding of a code has: which one, and what it is filled with.

    `grader.model.messages` has the texts of clauses by their names.
    """

    name: str
    values: Named[Detail] = ()


Detail: TypeAlias = int | str | tuple[int, ...] | tuple[str, ...] | tuple[Clause, ...]
"""A number, a name, several lines, extents or names, or clauses, that a sentence needs."""

NO_MORE_TIME = "no-more-time"
"""The name of a clause: why a program that does not end in a part of its time was given no more."""

TOO_MUCH_WORK = Clause("too-much-work")
"""Clause for a launch that was given up, without a reason that would reveal its shape."""


def work_limit_reason(reason: Clause) -> Clause:
    """Clause with the reason why a launch was given up that may well end (`Run.too_much_work`)."""
    return Clause("too-much-work-because", (("reason", (reason,)),))


_DIRECTIONS = {"load": "load", "read": "load", "store": "store", "write": "store"}


@frozen
class Access:
    """An access of ``size`` bytes to memory, as the emulator or a tool saw it.

    ``verb`` is ``read``, ``write``, ``update`` (atomically), or empty where unknown; ``space`` is ``global``,
    ``shared``, ``local``, ``register`` or empty (generic). ``array`` and ``index`` are what was meant, as far
    as is known, the index flat, or by the extents of the array.
    """

    verb: str = ""
    space: str = ""
    array: str = ""
    index: tuple[int, ...] = ()
    size: int = 0


_NOWHERE = (
    FindingCode.NULL_POINTER,
    FindingCode.STRAY_POINTER,
    FindingCode.NUMBER_AS_POINTER,
    FindingCode.NO_ARRAY,
    FindingCode.UNSET_POINTER,
)


@frozen
class Finding:
    """One thing that is wrong, and where.

    ``line`` counts from 1 in the student's ``file``; ``address`` is the element as a student would write
    it, ``A_tile[3][5]``; ``count`` is how many times the same thing happened.
    """

    kind: FindingKind
    message: str = ""
    hazard: str = ""
    file: str = ""
    line: int | None = None
    other_line: int | None = None
    case: str = ""
    block: Dim3 | None = None
    thread: Dim3 | None = None
    other_thread: Dim3 | None = None
    address: str = ""
    severity: Severity = Severity.ERROR
    count: int = 1
    other_block: Dim3 | None = None
    """The block of ``other_thread`` where it is not ``block`` (a race between blocks)."""
    witnesses: tuple[str, ...] = ()
    """Tools that saw it where several look: ``emulator``, ``gpu``, ``memcheck``, ``racecheck`` …"""
    repair: str = ""
    """Repair that was tried and works, as a clause: "add `__syncthreads()` between lines 13 and 14: …"."""
    wrong_map: tuple[str, ...] = ()
    """Map of where an output is wrong, as in `Comparison`; so for the next. Only of visible cases."""
    map_cell: tuple[int, int] = (1, 1)
    smallest: Named[int] = ()
    """The smallest shape known to fail, as in `CaseEvidence`."""
    steps: tuple[str, ...] = ()
    """A worked explanation, step by step."""
    withheld: bool = False
    """True if ``steps`` are for the staff alone until grades are published."""
    code: FindingCode = FindingCode.UNSPECIFIED
    access: Access | None = None
    """Access that the finding is about, where it is about one. Only of visible cases."""
    details: Named[Detail] = ()
    """Further data for the sentence of ``code``, by name. Only of visible cases."""
    constants: Named[int] = ()
    """The student's constants that decide over a launch which is refused."""

    @property
    def array(self) -> str:
        """The name in ``address`` without its indices: of an array, or what else was accessed."""
        return self.address.partition("[")[0]

    @property
    def goes_nowhere(self) -> bool:
        """True if it is an access where a device has no memory; one just beyond an array none notices."""
        return self.kind is FindingKind.OUT_OF_BOUNDS and self.code in _NOWHERE

    @property
    def direction(self) -> str:
        """Direction of an access out of bounds, ``load`` or ``store``; empty where unknown.

        A finding whose access must not be shown has its direction as its ``hazard``.
        """
        if self.kind is not FindingKind.OUT_OF_BOUNDS:
            return ""
        word = self.hazard or (self.access.verb if self.access else "")
        return _DIRECTIONS.get(word, "")
