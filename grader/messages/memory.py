"""Sentences for accesses to memory: which array was meant, how far it was missed, what nobody had written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.messages.english import on_lines
from grader.model import Access, FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Detail, Finding

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
"""What is said of a visible case, by code, with places for the finding's data."""

VERBS = {"read": "reads", "write": "writes", "update": "updates"}


def sentence(finding: Finding) -> str:
    """One sentence for an access; KeyError for a finding with another code, or without its data."""
    access, details = finding.access or Access(), dict(finding.details)
    places: dict[str, object] = {
        "verb": VERBS.get(access.verb, "uses"),
        "element": finding.address or f"{access.space} memory",
        "array": finding.array,
        "address": details.get("address", finding.address),
        "size": access.size,
        "space": access.space or "generic",
        "missed": missed(details),
        "extents": _extents(details),
    }
    lines = details.pop("lines", ())
    if isinstance(lines, tuple) and lines:
        places["lines"] = on_lines(lines)
    return SENTENCES[finding.code].format(**{**details, **places})


def missed(details: Mapping[str, Detail]) -> str:
    """By how much an index misses an array; empty where no index is known."""
    index, elements = details.get("index"), details.get("elements")
    if not isinstance(index, int) or not isinstance(elements, int):
        return ""
    if 0 <= index < elements:
        return "partly past its end"
    return f"{-index} before its start" if index < 0 else f"{index - elements + 1} past its end"


def _extents(details: Mapping[str, Detail]) -> str:
    """``55 x 48``, or how many elements there are where no shape is known."""
    extents = details.get("extents", ())
    return " x ".join(map(str, extents if isinstance(extents, tuple) else ())) or str(details.get("elements"))
