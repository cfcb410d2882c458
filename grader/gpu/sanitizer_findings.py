"""Records of compute-sanitizer → findings: whose launch, which line, which element, in our words.

Kinds of records, as version 2025.3 writes them: ``Precise`` and ``Imprecise`` (memcheck: an access that was
seen, a stop that was not), ``Analysis`` (racecheck: instructions that race), ``Initcheck``, ``Synccheck``;
and ``Api`` for calls of the host's: those say nothing of a kernel that the harness does not say better.
``Sanitizer`` is the tool's own trouble: it dropped records, having too many of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias
from xml.etree.ElementTree import Element

import numpy as np

from grader.gpu.sanitizer_records import number_at, text_at, triple_at
from grader.gpu.sanitizer_scene import Place, Scene
from grader.messages import worded
from grader.messages.races import at_line
from grader.model import Access, Clause, Finding, FindingCode, FindingKind, Severity
from grader.nvcc.shown import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import Detail, Named

_NEAR = 2**20
"""Bytes from an array within which an address was likely meant for it."""

_NULL = 4096
"""Addresses this near to 0 come of a null pointer and an index."""

_LEVELS = {"Error": Severity.ERROR, "Warning": Severity.WARNING, "Info": Severity.INFO}
_GRAVEST = tuple(Severity)
_HAZARDS = {("Write", "Read"): "RAW", ("Read", "Write"): "WAR", ("Write", "Write"): "WAW"}
_VERBS = {"read": "reads", "write": "writes"}
_PLURALS = {"read": "read", "write": "write"}
_SILENT = ("Api", "InitcheckApiError", "Hazard")
"""Records that are understood and say nothing of a kernel, or nothing that an ``Analysis`` does not say."""


Reader: TypeAlias = Callable[[Element, Scene, str], list[Finding]]


def found_by(
    tool: str, records: Iterable[Element], scene: Scene
) -> tuple[dict[str, tuple[Finding, ...]], tuple[str, ...]]:
    """The findings of each case that has some, and the kinds of records that we do not know, one a record."""
    found: dict[str, dict[tuple[object, ...], Finding]] = {}
    strange: list[str] = []
    for record in records:
        kind = text_at(record, "kind")
        reader = _READERS.get((tool, kind))
        if reader is None:
            strange += [] if kind in _SILENT else [kind]
            continue
        functions = [element.text or "" for element in record.iter("func")]
        for name in scene.owners(functions):
            for finding in reader(record, scene, name):
                _count(found.setdefault(name, {}), finding)
    kept = {name: _without_stops(tuple(group.values())) for name, group in found.items()}
    return {name: findings for name, findings in kept.items() if findings}, tuple(strange)


def _count(group: dict[tuple[object, ...], Finding], finding: Finding) -> None:
    """The same kind on the same lines once: the first thread's, so that it is the same every time."""
    key = (finding.kind, frozenset((finding.line, finding.other_line)))
    known = group.get(key)
    if known is None:
        group[key] = finding
        return
    first = min(known, finding, key=lambda each: (each.block or (), each.thread or ()))
    gravest = min(known.severity, finding.severity, key=_GRAVEST.index)
    group[key] = replace(first, count=known.count + finding.count, severity=gravest)


def _without_stops(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """A stop is told where nothing else was seen that explains it."""
    seen = tuple(each for each in findings if each.kind is not FindingKind.FAULT)
    return seen or findings


def _about(
    record: Element,
    scene: Scene,
    what: tuple[FindingKind, FindingCode],
    details: Named[Detail],
    address: str = "",
    access: Access | None = None,
) -> Finding:
    kind, code = what
    finding = Finding(
        kind,
        code=code,
        access=access,
        details=details,
        file=scene.file,
        line=scene.line(record, "where"),
        block=triple_at(record, "who/blockIdx"),
        thread=triple_at(record, "who/threadIdx"),
        address=address,
        severity=_LEVELS.get(text_at(record, "level"), Severity.ERROR),
    )
    return worded(finding)


def _access(record: Element, scene: Scene, name: str) -> list[Finding]:
    """memcheck, ``Precise``: an access that belongs to no array, or does not fit its type."""
    space, size = text_at(record, "what/space").strip("_"), number_at(record, "what/size") or 0
    direction = text_at(record, "what/direction")
    kind, element = FindingKind.OUT_OF_BOUNDS, space
    details: Named[Detail] = ()
    if text_at(record, "what/error") == "misaligned":
        kind, code, element = FindingKind.MISALIGNED, FindingCode.MISALIGNED_SOMEWHERE, ""
    elif space in _OUTSIDE_SPACE:
        code = _OUTSIDE_SPACE[space]
    else:
        code, element, details = _outside(number_at(record, "what/address"), tuple(scene.places(name)))
    access = Access(direction if direction in _VERBS else "", space, element.partition("[")[0], size=size)
    return [_about(record, scene, (kind, code), details, element, access)]


_OUTSIDE_SPACE = {
    "shared": FindingCode.OUTSIDE_SHARED_MEMORY,
    "local": FindingCode.OUTSIDE_LOCAL_ARRAY,
}


def _outside(address: int | None, places: tuple[Place, ...]) -> tuple[FindingCode, str, Named[Detail]]:
    """The code, the element and details for an address in global memory that no array holds.

    An address far from all arrays is not told: it is another one in every run.
    """
    nearest = min(places, key=lambda place: place.distance(address or 0), default=None)
    if address is not None and address < _NULL:
        return FindingCode.NULL_POINTER, "", (("address", hex(address)),)
    if address is None or nearest is None or nearest.distance(address) > _NEAR:
        return FindingCode.NO_ARRAY, "", ()
    index, total = nearest.index(address), nearest.bytes // nearest.itemsize
    details = (("index", index), ("elements", total), ("extents", tuple(nearest.shape)))
    return FindingCode.BEYOND_ARRAY, f"{nearest.array}[{index}]", details


def _unset(record: Element, scene: Scene, name: str) -> list[Finding]:
    """initcheck, ``Initcheck``: a read of global memory that nobody wrote."""
    address = number_at(record, "what/address")
    places = (place for place in scene.places(name) if address is not None and not place.distance(address))
    place = next(places, None)
    element = "" if place is None or address is None else place.array + _subscript(place, address)
    access = Access("read", "global", "" if place is None else place.array)
    what = (FindingKind.UNINITIALISED, FindingCode.UNSET_MEMORY)
    return [_about(record, scene, what, (), element, access)]


def _subscript(place: Place, address: int) -> str:
    index = np.unravel_index(place.index(address), place.shape) if place.shape else (0,)
    return "".join(f"[{int(each)}]" for each in index)


def _parting(record: Element, scene: Scene, name: str) -> list[Finding]:
    """synccheck, ``Synccheck``: a barrier that some come to and others do not."""
    del name
    text = harmless(text_at(record, "what/text")).removeprefix("Barrier error detected. ").rstrip(".")
    report = Clause("synccheck-silent")
    if text:
        report = Clause("synccheck-says", (("text", text[:1].lower() + text[1:]),))
    what = (FindingKind.BARRIER_DIVERGENCE, FindingCode.BARRIER_REPORTED)
    return [_about(record, scene, what, (("report", (report,)),))]


def _stop(record: Element, scene: Scene, name: str) -> list[Finding]:
    """memcheck: the launch ended, and no access was seen to be the reason."""
    if not scene.unfinished(name):
        return []
    exception = harmless(text_at(record, "what/exception") or text_at(record, "what/text"))
    what = (FindingKind.FAULT, FindingCode.STOP_REPORTED)
    return [_about(record, scene, what, (("reason", exception or (Clause("hardware-exception"),)),))]


def _races(record: Element, scene: Scene, name: str) -> list[Finding]:
    """racecheck, ``Analysis``: one access and those that race with it, a finding for each pair of lines.

    It lists accesses in the order of the code, as measured, and not of time: in a loop, or across functions,
    the one named first may be the later one. So ``RAW`` and ``WAR`` are a guess, which the sentence avoids.
    """
    del name
    first = text_at(record, "what/source/direction")
    line = scene.line(record, "what/source/where")
    findings = []
    for other in record.iterfind("what/destination"):
        second, other_line = text_at(other, "direction"), scene.line(other, "where")
        finding = Finding(
            FindingKind.RACE,
            hazard="" if other_line is None else _HAZARDS.get((first, second), ""),
            file=scene.file,
            line=other_line if other_line is not None else line,
            other_line=line if other_line is not None else None,
            address="shared",
            severity=_LEVELS.get(text_at(record, "level"), Severity.ERROR),
            count=max(1, number_at(other, "count") or 1),
            code=FindingCode.RACE_REPORTED,
            details=(("pair", (_pair((first, line), (second, other_line)),)),),
        )
        findings.append(worded(finding))
    return findings


def _pair(one: tuple[str, int | None], other: tuple[str, int | None]) -> Clause:
    """Who uses shared memory where; of a pair on one line, it is said once."""
    (direction, line), (other_direction, other_line) = one, other
    if one == other:
        return Clause(f"two-threads-{_PLURALS.get(direction.lower(), 'use')}", (("at", at_line(line)),))
    values = (
        ("verb", (Clause(_VERBS.get(direction.lower(), "uses")),)),
        ("at", at_line(line)),
        ("other_verb", (Clause(_VERBS.get(other_direction.lower(), "uses")),)),
        ("other_at", at_line(other_line)),
    )
    return Clause("one-and-another", values)


_READERS: dict[tuple[str, str], Reader] = {
    ("memcheck", "Precise"): _access,
    ("memcheck", "Imprecise"): _stop,
    ("memcheck", "StackOverflow"): _stop,
    ("memcheck", "Syscall"): _stop,
    ("racecheck", "Analysis"): _races,
    ("initcheck", "Initcheck"): _unset,
    ("synccheck", "Synccheck"): _parting,
}
