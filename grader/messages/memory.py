"""Sentences for accesses to memory: which array was meant, how far it was missed, what nobody had written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import Clause, FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Detail

_NO_ARRAY = "{verb} address {address}, which belongs to no array: "
_UNSET = "reads {element} before anything was written there"

SENTENCES: Mapping[FindingCode, str] = {
    FindingCode.BEYOND_ARRAY: "{verb} {element}, {missed}: {array} has {extents} elements",
    FindingCode.INTO_OTHER_ARRAY: (
        "{verb} {element}, {missed}, which is {other}: {array} has {extents} elements"
    ),
    FindingCode.NO_DYNAMIC_SHARED: "{verb} {element}, but the launch gives {array} no dynamic shared memory",
    FindingCode.BEYOND_SHARED_MEMORY: (
        "{verb} shared memory at byte {byte}, but the block has {bytes} bytes of it"
    ),
    FindingCode.OUTSIDE_SHARED_MEMORY: "{verb} shared memory outside what the block has of it",
    FindingCode.BEYOND_LOCAL_ARRAY: (
        "{verb} element {index} of a local array with room for {elements}, {missed}"
    ),
    FindingCode.OUTSIDE_LOCAL_ARRAY: "{verb} a local array out of its bounds",
    FindingCode.CONSTANT_WRITTEN: "{verb} {element}, but {array} is __constant__: only the host can write it",
    FindingCode.FREED_MEMORY: "{verb} memory that was freed, at {address}",
    FindingCode.NULL_POINTER: _NO_ARRAY + "a null pointer",
    FindingCode.STRAY_POINTER: _NO_ARRAY + "a pointer that was itself read from nowhere",
    FindingCode.NUMBER_AS_POINTER: _NO_ARRAY + "a number in place of a pointer",
    FindingCode.UNSET_POINTER: _NO_ARRAY + "a pointer that was never set?",
    FindingCode.NO_ARRAY: "{verb} an address that belongs to no array",
    FindingCode.WRITTEN_AROUND_ARRAY: (
        "wrote {side} the {elements} elements of {array}: at element {index}{more}; check the index against "
        "the array's size before storing"
    ),
    FindingCode.MISALIGNED_ELEMENT: (
        "{verb} {size} bytes at {other}, whose address is not a multiple of {size}"
    ),
    FindingCode.MISALIGNED_INSIDE_ELEMENT: (
        "{verb} {size} bytes at a place inside {other}, whose address is not a multiple of {size}"
    ),
    FindingCode.MISALIGNED_ADDRESS: (
        "{verb} {size} bytes at {space} address {address}, which is not a multiple of {size}"
    ),
    FindingCode.MISALIGNED_SOMEWHERE: (
        "{verb} {size} bytes at an address in {space} memory that is not a multiple of {size}"
    ),
    FindingCode.UNSET_MEMORY: _UNSET,
    FindingCode.UNSET_OUTPUT: _UNSET + ": {array} is an output, and holds nothing when the kernel starts",
    FindingCode.WRITTEN_TOO_LATE: _UNSET + ": {array} is written {lines}, but no barrier stands between",
    FindingCode.NEVER_WRITTEN: _UNSET + ": nothing in the kernel writes {array}",
    FindingCode.ELEMENT_NOT_WRITTEN: (
        _UNSET + ": {array} is written {lines}, but nobody has written this element: is there a guard?"
    ),
    FindingCode.UNSET_VARIABLE: "uses a local variable before it was given a value",
}
"""What is said of a visible case, by code, with fields for the finding's data."""

CLAUSES: Mapping[str, str] = {
    "reads": "reads",
    "writes": "writes",
    "updates": "updates",
    "uses": "uses",
    "before-start": "{distance} before its start",
    "past-end": "{distance} past its end",
    "partly-past-end": "partly past its end",
    "before-array": "before",
    "beyond-array": "beyond",
    "and-more": ", and {number} more",
    "local-variable": "a local variable",
    "local-array": "a local array",
    "shared-memory": "shared memory",
}

VERBS = {"read": "reads", "write": "writes", "update": "updates"}
"""The clause for what an access does."""


def missed(details: Mapping[str, Detail]) -> tuple[Clause, ...]:
    """By how much an index misses an array; nothing where no index is known."""
    index, elements = details.get("index"), details.get("elements")
    if not isinstance(index, int) or not isinstance(elements, int):
        return ()
    if 0 <= index < elements:
        return (Clause("partly-past-end"),)
    if index < 0:
        return (Clause("before-start", (("distance", -index),)),)
    return (Clause("past-end", (("distance", index - elements + 1),)),)
