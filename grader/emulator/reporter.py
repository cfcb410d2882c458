"""Events → findings, with the line, the element and the threads; the same event twice is one finding."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.geometry import unflatten
from grader.emulator.memory import GLOBAL_BASE
from grader.emulator.naming import Names, global_element
from grader.emulator.sentences import race_sentence, spell
from grader.emulator.values import spread
from grader.model import Finding, FindingKind, Severity
from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.access import Place
    from grader.emulator.conflicts import Conflict
    from grader.emulator.machine import Group, Machine
    from grader.emulator.values import Value
    from grader.model import Dim3
    from grader.ptx import Instruction

_MOST = 100
"""Findings kept of one launch; more of them say nothing new."""


@dataclass(eq=False, slots=True)
class Reporter:
    """Collects the findings of a launch."""

    names: Names
    file: str = ""
    found: dict[tuple[object, ...], Finding] = field(default_factory=dict)

    def findings(self) -> tuple[Finding, ...]:
        """What was found, in the order of severity, line and kind."""
        order = list(Severity)
        return tuple(
            sorted(
                self.found.values(),
                key=lambda f: (order.index(f.severity), f.line or 0, f.other_line or 0, f.kind),
            ),
        )

    def _add(self, key: tuple[object, ...], finding: Finding, count: int = 1) -> None:
        if key in self.found:
            known = self.found[key]
            self.found[key] = replace(known, count=known.count + count)
        elif len(self.found) < _MOST:
            self.found[key] = replace(finding, file=self.file, count=count)

    def _site(self, site: int) -> Instruction:
        return self.names.program.sites[site]

    def _line(self, site: int) -> int | None:
        return self.names.line(self._site(site))

    def _at(
        self, m: Machine, kind: FindingKind, line: int | None, lane: int, message: str, address: str
    ) -> Finding:
        return Finding(
            kind,
            message,
            line=line,
            block=m.geometry.block_index(lane),
            thread=m.geometry.thread_index(lane),
            address=address,
        )

    def out_of_bounds(
        self,
        m: Machine,
        site: int,
        space: str,
        verb: str,
        address: Value,
        bad: NDArray[np.bool_],
        size: int,
    ) -> None:
        """Lanes accessed memory that belongs to no array."""
        first, lane = self._first(m, bad)
        byte = int(spread(address, m.count)[first])
        line = self._line(site)
        element, message = self._outside(m, space, verb, byte, size)
        array = element.split("[")[0]
        self._add(
            (FindingKind.OUT_OF_BOUNDS, line or site, array, verb),
            self._at(m, FindingKind.OUT_OF_BOUNDS, line, lane, message, element),
            int(bad.sum()),
        )

    def _outside(self, m: Machine, space: str, verb: str, byte: int, size: int) -> tuple[str, str]:
        if space == "shared":
            limit = m.shared_bytes
            message = f"{verb}s shared memory at byte {byte}, but the block has {limit} bytes of it"
            return f"shared[{byte // size}]", message
        if space == "local":
            message = f"{verb}s a local array out of its bounds"
            return "local", message
        offset = byte - GLOBAL_BASE
        array = m.memory.nearest(offset)
        if array is None or not array.start - 2**31 < offset < array.end + 2**31:
            return hex(byte), f"{verb}s address {byte & (2**64 - 1):#x}, which belongs to no array"
        index = (offset - array.start) // array.itemsize
        total = (array.end - array.start) // array.itemsize
        shape = " x ".join(str(extent) for extent in array.shape) or str(total)
        past = f"{-index} before its start" if index < 0 else f"{index - total + 1} past its end"
        message = f"{verb}s {array.name}[{index}], {past}: {array.name} has {shape} elements"
        return f"{array.name}[{index}]", message

    def misaligned(
        self,
        m: Machine,
        site: int,
        space: str,
        verb: str,
        address: Value,
        bad: NDArray[np.bool_],
        size: int,
    ) -> None:
        """Lanes accessed an address that is no multiple of the access size."""
        first, lane = self._first(m, bad)
        byte = int(spread(address, m.count)[first])
        line = self._line(site)
        where = f"{space or 'generic'} address {byte & (2**64 - 1):#x}"
        message = f"{verb}s {size} bytes at {where}, which is not a multiple of {size}"
        self._add(
            (FindingKind.MISALIGNED, line or site, verb),
            self._at(m, FindingKind.MISALIGNED, line, lane, message, hex(byte)),
            int(bad.sum()),
        )

    def uninitialised(
        self, m: Machine, site: int, place: Place, missing: NDArray[np.bool_], size: int
    ) -> None:
        """Lanes read bytes that nobody wrote.

        Of local variables only uses in the student's own lines count: a struct is copied with its gaps, and a
        header of the toolkit fills its bit fields one by one.
        """
        own = self.names.is_own(self._site(site)) and site not in self.names.program.copies
        if place.space == "local" and not own:
            return
        which = int(np.flatnonzero(missing)[0])
        lanes = np.arange(m.size) if place.lanes is None else place.lanes
        lane = int(lanes[which])
        index = int(spread(place.index, len(lanes))[which])
        element = self._element(m, place.space, index, lane, size)
        line = self._line(site)
        message = f"reads {element} before anything was written there"
        self._add(
            (FindingKind.UNINITIALISED, line or site, element.split("[")[0]),
            self._at(m, FindingKind.UNINITIALISED, line, lane, message, element),
            int(missing.sum()),
        )

    def _element(self, m: Machine, space: str, index: int, lane: int, size: int) -> str:
        if space == "shared":
            return self.names.shared_element(index - int(m.shared_start[lane % m.size]), size)
        if space == "local":
            return "a local variable"
        holder = m.memory.holding(index, index + 1)
        return global_element(holder, index) if holder else hex(index + GLOBAL_BASE)

    def unset_register(self, m: Machine, instruction: Instruction) -> None:
        """A lane used a variable that the source never set."""
        lane, line = int(m.lanes()[0]), self.names.line(instruction)
        message = "uses a local variable before it was given a value"
        self._add(
            (FindingKind.UNINITIALISED, "register"),
            self._at(m, FindingKind.UNINITIALISED, line, lane, message, "a local variable"),
            m.count,
        )

    def race(self, m: Machine, space: str, conflict: Conflict, grain: int) -> None:
        """Two threads whose accesses nothing orders."""
        sites = [self._site(conflict.site), self._site(conflict.other_site)]
        lines = [self.names.line(site) for site in sites]
        size = max(grain, _bytes(sites[0]))
        lane, other = conflict.lane, conflict.other_lane
        element = self._element(m, space, conflict.cell * grain, lane, size)
        severity = Severity.WARNING if conflict.level == "lane" else Severity.ERROR
        if conflict.silent:
            severity = Severity.INFO
        finding = Finding(
            FindingKind.RACE,
            "",
            hazard=conflict.hazard,
            line=lines[0],
            other_line=lines[1],
            block=m.geometry.block_index(lane) if space == "shared" else _block(m, lane),
            thread=m.geometry.thread_index(lane),
            other_block=_block(m, other) if conflict.level == "block" else None,
            other_thread=m.geometry.thread_index(other),
            address=element,
            severity=severity,
        )
        where = (lines[0] or conflict.site, lines[1] or conflict.other_site)
        key = (FindingKind.RACE, conflict.hazard, *where, element.split("[")[0])
        if key in self.found and list(Severity).index(self.found[key].severity) > list(Severity).index(
            severity
        ):
            finding = replace(finding, count=self.found.pop(key).count)
        self._add(key, replace(finding, message=race_sentence(finding, conflict.level)), conflict.elements)

    def threads_missing(self, m: Machine, site: int, lane: int, gone: NDArray[np.intp], blocks: int) -> None:
        """A barrier was reached by some threads of a block after others had exited."""
        line = self._line(site)
        thread = m.geometry.thread_index(int(gone[0]))
        message = (
            f"{len(gone)} of the block's {m.geometry.threads} threads never come to this __syncthreads()"
            f" (thread {spell(thread)} is the first): every thread of a block must reach it"
        )
        finding = self._at(m, FindingKind.BARRIER_DIVERGENCE, line, lane, message, "")
        self._add(
            (FindingKind.BARRIER_DIVERGENCE, line or site),
            replace(finding, other_thread=thread),
            blocks,
        )

    def lanes_missing(self, m: Machine, site: int, missing: NDArray[np.intp]) -> None:
        """The mask of a warp-wide operation names lanes that never come to it."""
        lane, line = int(m.lanes()[0]), self._line(site)
        thread = m.geometry.thread_index(int(missing[0]))
        message = (
            f"the mask names lanes that do not come to this operation (thread {spell(thread)} is the first):"
            " every lane in the mask must execute it"
        )
        finding = self._at(m, FindingKind.BARRIER_DIVERGENCE, line, lane, message, "")
        self._add((FindingKind.BARRIER_DIVERGENCE, line or site), replace(finding, other_thread=thread))

    def deadlocked(self, m: Machine) -> None:
        """Threads wait at barriers that can never complete."""
        for waiting in m.waiting:
            lane = int(np.arange(m.size)[0] if waiting.group.lanes is None else waiting.group.lanes[0])
            line = self._line(waiting.site)
            message = "threads wait at this barrier for threads that never come: the block hangs"
            self._add(
                (FindingKind.BARRIER_DIVERGENCE, line or waiting.site),
                self._at(m, FindingKind.BARRIER_DIVERGENCE, line, lane, message, ""),
            )

    def trapped(self, m: Machine, site: int, assertion: str = "") -> None:
        """The kernel executed `trap`, or an ``assertion`` did not hold."""
        line, lane = self._line(site), int(m.lanes()[0])
        message = "stops the whole launch with a trap (a failed assert, or __trap())"
        if assertion:
            message = f"stops the whole launch: the assertion `{assertion}` does not hold"
        self._add((FindingKind.FAULT, line or site), self._at(m, FindingKind.FAULT, line, lane, message, ""))

    def stack_overflow(self, m: Machine, call: Instruction) -> None:
        """Calls went too deep."""
        line, lane = self.names.line(call), int(m.lanes()[0])
        message = "calls functions inside functions until the thread's stack is full"
        self._add(
            (FindingKind.FAULT, line or "stack"), self._at(m, FindingKind.FAULT, line, lane, message, "")
        )

    def timed_out(self, m: Machine, groups: list[Group], steps: int) -> None:
        """The blocks did more steps than they may."""
        stuck = [*groups, *(waiting.group for waiting in m.waiting)]
        everywhere = [(g.frame.code.function.body, g.pc, g.lanes) for g in stuck]
        lines: dict[int | None, int] = {}
        for body, pc, lanes in everywhere:
            line = self.names.line(body[min(pc, len(body) - 1)])
            lines.setdefault(line, int(lanes[0]) if lanes is not None else 0)
        line = min((each for each in lines if each), default=None)
        message = (
            f"was stopped after {steps:,} steps without coming to its end: is there a loop that never ends?"
        )
        finding = self._at(m, FindingKind.TIMEOUT, line, lines.get(line, 0), message, "")
        self._add((FindingKind.TIMEOUT,), finding)

    def _first(self, m: Machine, bad: NDArray[np.bool_]) -> tuple[int, int]:
        first = int(np.flatnonzero(bad)[0])
        return first, int(m.lanes()[first])


def _block(m: Machine, lane: int) -> Dim3:
    """The block of a lane counted over the whole launch."""
    return unflatten(lane // m.geometry.threads, m.geometry.launch.grid)


def _bytes(instruction: Instruction) -> int:
    return TYPE_BYTES.get(instruction.modifiers[-1], 4)
