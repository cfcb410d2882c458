"""Events → findings, with the line, the element and the threads; the same event twice is one finding."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import mutable
from grader.model import Access, Clause, Finding, FindingCode, FindingKind, Severity
from grader.simulation.emulator.finding_store import FindingStore, Unset, is_empty_output, used_and_missing
from grader.simulation.emulator.machine.geometry import unflatten
from grader.simulation.emulator.machine.values import spread
from grader.simulation.emulator.naming import LOCAL_VARIABLE, global_element
from grader.simulation.emulator.out_of_bounds import BadAccess, misplaced, outside
from grader.simulation.emulator.printing import Printed
from grader.simulation.emulator.stalled import (
    about_threads,
    barrier_at,
    stuck,
    threads_of,
    whereabouts,
    why_stopped,
    worked_so_far,
)
from grader.simulation.emulator.unset_values import setters_of_marked
from grader.simulation.ptx.nodes import TYPE_BYTES, Symbol
from grader.simulation.ptx.parser import symbol_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grader.model import Detail, Dim3, Named
    from grader.simulation.emulator.machine.geometry import Geometry
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import ChunkRecord, Gone, Group
    from grader.simulation.emulator.machine.values import Value
    from grader.simulation.emulator.memory.memory import Target
    from grader.simulation.emulator.races.conflicts import Conflict
    from grader.simulation.ptx import Instruction

_OF_WHOLE_WARPS = {"mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"}
"""Opcodes that have no mask: all lanes of the warp take part."""


_RACES = {
    "block": FindingCode.RACE_BETWEEN_BLOCKS,
    "copy": FindingCode.RACE_WITH_COPY,
    "warp": FindingCode.RACE_IN_BLOCK,
    "lane": FindingCode.RACE_IN_WARP,
}
"""Codes of races, by the distance of the threads."""

_FROM_NOWHERE = -1
"""Value of a pointer that was read out of bounds."""


@mutable
class Reporter(FindingStore):
    """Collects the findings of a launch."""

    printed: Printed = field(default_factory=Printed)
    tells_returns: bool = True
    """True if the build is one in which a `return` can be distinguished from the end of the text."""

    def _site(self, site: int) -> Instruction:
        return self.names.program.sites[site]

    def _line(self, site: int) -> int | None:
        return self.names.line(self._site(site))

    def _at(
        self,
        m: Machine,
        kind_and_code: tuple[FindingKind, FindingCode],
        line: int | None,
        lane: int,
        address: str = "",
    ) -> Finding:
        kind, code = kind_and_code
        return Finding(
            kind,
            line=line,
            block=m.geometry.block_index(lane),
            thread=m.geometry.thread_index(lane),
            address=address,
            code=code,
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
        """Lanes accessed memory that belongs to no array, or to another than the one that was meant."""
        lane, byte = _first(m, address, bad)
        request = BadAccess(verb, space, byte, size, m.memory.base)
        finding = self._misses(m, site, FindingKind.OUT_OF_BOUNDS, lane, request)
        key = (finding.kind, finding.line or site, finding.array, verb)
        self.add(key, finding, int(bad.sum()))

    def _misses(self, m: Machine, site: int, kind: FindingKind, lane: int, bad: BadAccess) -> Finding:
        """A finding about an access out of bounds, or about one that does not fit its type."""
        if kind is FindingKind.MISALIGNED:
            target = misplaced(self.names, m.bounds[site], bad)
        else:
            target = outside(m, self.names, m.bounds[site], bad)
        finding = self._at(m, (kind, target.code), self._line(site), lane, target.element)
        return replace(finding, access=target.access(bad), details=target.details)

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
        bad = bad & (spread(address, m.count) != _FROM_NOWHERE)
        if not bad.any():
            return
        lane, byte = _first(m, address, bad)
        request = BadAccess(verb, space, byte, size, m.memory.base)
        finding = self._misses(m, site, FindingKind.MISALIGNED, lane, request)
        self.add((finding.kind, finding.line or site, verb), finding, int(bad.sum()))

    def uninitialised(
        self, m: Machine, site: int, target: Target, missing: NDArray[np.bool_], size: int
    ) -> None:
        """Lanes read bytes that no thread wrote."""
        missing = self.undefined_uses(site, target, missing, size)
        if not missing.any():
            return
        lane, index = _at(m, target, int(np.flatnonzero(missing)[0]))
        element = self._element(m.record(), target.space, index, lane, size)
        output = is_empty_output(m, target.space, index)
        code = FindingCode.UNSET_OUTPUT if output else FindingCode.UNSET_MEMORY
        kind_and_code = (FindingKind.UNINITIALISED, code)
        finding = self._at(m, kind_and_code, self._line(site), lane, element)
        finding = replace(finding, access=Access("read", target.space, finding.array, size=size))
        key = (finding.kind, finding.line or site, finding.array)
        self.add(key, finding, int(missing.sum()))
        if target.space == "shared":
            array = self.names.shared_array(index - int(m.shared_start[lane % m.size]))
            self.unset.setdefault(key, Unset(m.bounds, array))

    def undefined_uses(
        self, site: int, target: Target, missing: NDArray[np.bool_], size: int
    ) -> NDArray[np.bool_]:
        """Of the lanes that read bytes which no thread wrote, the lanes that use such a byte.

        Of local variables only uses in the student's own lines count: a struct is copied with its gaps, and a
        header of the toolkit fills its bit fields one by one.
        """
        in_own_line = self.names.is_own(self._site(site)) and site not in self.names.program.copies
        if target.space == "local" and not in_own_line:
            return np.zeros_like(missing)
        return used_and_missing(target, missing, size, self._site(site).used_bytes)

    def read_of(self, m: Machine, site: int, target: Target, which: int, size: int) -> tuple[int, str]:
        """Identity of a read of undefined bytes by one of the lanes: its line, and the object read."""
        lane, index = _at(m, target, which)
        return self._line(site) or 0, self._element(m.record(), target.space, index, lane, size).partition(
            "["
        )[0]

    def _element(self, chunk: ChunkRecord, space: str, index: int, lane: int, size: int) -> str:
        if space == "shared":
            return self.names.shared_element(index - chunk.shared_start(lane), size)
        if space == "local":
            return LOCAL_VARIABLE
        holder = chunk.memory.holding(index, index + 1)
        return global_element(holder, index, size) if holder else hex(index + chunk.memory.base)

    def unset_register(self, m: Machine, instruction: Instruction) -> None:
        """A lane used a variable that the source never set; to pass an object without members is no use."""
        if instruction.opcode == "st" and instruction.modifiers[0] == "param" and _bytes(instruction) == 1:
            return
        lane, line = int(m.lanes()[0]), self.names.line(instruction)
        kind_and_code = (FindingKind.UNINITIALISED, FindingCode.UNSET_VARIABLE)
        finding = self._at(m, kind_and_code, line, lane, LOCAL_VARIABLE)
        finding = replace(finding, access=Access("read", "register", size=_bytes(instruction)))
        self.add((FindingKind.UNINITIALISED, line, "register"), finding, m.count)

    def unset_in_outputs(self, outputs: Iterable[NDArray[Any]]) -> None:
        """Outputs hold a variable that some threads did not set; reported with the first line that sets it.

        Where a variable was used that no thread had set, this was reported already.
        """
        if any(finding.code is FindingCode.UNSET_VARIABLE for finding in self.by_key.values()):
            return
        functions = [code.function for code in self.names.program.code.values()]
        for setters in setters_of_marked(functions, outputs):
            lines = (self.names.line(instruction) for instruction in setters)
            line = min((line for line in lines if line is not None), default=None)
            kind, code = FindingKind.UNINITIALISED, FindingCode.UNSET_IN_SOME_THREADS
            access = Access("read", "register")
            finding = Finding(kind, line=line, address=LOCAL_VARIABLE, access=access, code=code)
            self.add((kind, line, code), finding)

    def race(self, chunk: ChunkRecord, space: str, conflict: Conflict, grain: int) -> None:
        """Two threads whose accesses nothing orders; of a pair of lines the gravest race is reported."""
        sites = self._site(conflict.site), self._site(conflict.other_site)
        size = max(grain, _bytes(sites[0]))
        element = self._element(chunk, space, conflict.cell * grain, conflict.lane, size)
        line, other_line = (self.names.line(site) for site in sites)
        finding = _race(chunk.geometry, space, conflict, element)
        finding = replace(finding, line=line, other_line=other_line)
        where = (line or conflict.site, other_line or conflict.other_site)
        key = (finding.kind, finding.hazard, *where, finding.array)
        self.add(key, finding, conflict.elements, gravest=True)

    def threads_missing(self, m: Machine, site: int, lane: int, gone: Gone, blocks: int) -> None:
        """A barrier was reached by some threads of a block after others had exited.

        It does not wait for threads that returned, which is a remark; that others passed it by is an error.
        Only without optimisation a `return` can be distinguished from the end of the text. This may happen in
        each iteration of a loop: the position of the threads is determined for the first.
        """
        exited, passed_by = gone
        errs = bool(passed_by.size) and self.tells_returns
        severity, key = (Severity.ERROR, ()) if errs else (Severity.INFO, ("returned",))
        if self.counted((FindingKind.BARRIER_DIVERGENCE, self._line(site) or site, *key), blocks):
            return
        missing = passed_by if errs else exited
        details = (
            ("missing", len(missing)),
            ("threads", m.geometry.threads),
            ("come", (Clause("come-to" if errs else "ended-before", (("count", len(missing)),)),)),
            ("barrier", (barrier_at(self.names, site),)),
            ("where", whereabouts(m, self.names, site, missing)),
        )
        code = FindingCode.THREADS_MISSING if errs else FindingCode.THREADS_RETURNED
        finding = self._at(m, (FindingKind.BARRIER_DIVERGENCE, code), self._line(site), lane)
        other = m.geometry.thread_index(int(missing[0]))
        finding = replace(finding, details=details, other_thread=other, severity=severity)
        self.add((finding.kind, finding.line or site, *key), finding, blocks)

    def lanes_missing(self, m: Machine, site: int, missing: NDArray[np.intp]) -> None:
        """The mask of a warp-wide operation names lanes that never reach it."""
        missing = missing[m.warp_of[missing] == m.warp_of[missing[0]]]
        where = whereabouts(m, self.names, site, missing) or (threads_of(m, missing),)
        maskless = self._site(site).opcode in _OF_WHOLE_WARPS
        code = FindingCode.WARP_LANES_MISSING if maskless else FindingCode.LANES_MISSING
        self._divergence(m, code, site, int(m.lanes()[0]), missing, (("where", where),))

    def lanes_unnamed(self, m: Machine, site: int, lanes: NDArray[np.intp]) -> None:
        """Lanes execute a warp-wide operation with a mask that does not name them."""
        warps, lanes = len(np.unique(m.warp_of[lanes])), lanes[m.warp_of[lanes] == m.warp_of[lanes[0]]]
        details = (("unnamed", (about_threads("unnamed", m, lanes),)),)
        self._divergence(m, FindingCode.LANES_UNNAMED, site, int(lanes[0]), lanes[:0], details, warps)

    def warp_incomplete(self, m: Machine, site: int) -> None:
        """An operation of a whole warp was reached by part of one."""
        no_lanes = np.zeros(0, np.intp)
        self._divergence(m, FindingCode.WARP_INCOMPLETE, site, int(m.lanes()[0]), no_lanes)

    def deadlocked(self, m: Machine) -> None:
        """Threads wait at barriers that can never complete."""
        for waiting in m.waiting:
            arrived = np.arange(m.size) if waiting.group.lanes is None else waiting.group.lanes
            arrived = arrived[m.block_of[arrived] == m.block_of[arrived[0]]]
            block = np.arange(m.geometry.threads) + m.block_of[arrived[0]] * m.geometry.threads
            others = np.setdiff1d(block, arrived)
            count = int(waiting.expected if np.ndim(waiting.expected) == 0 else waiting.expected[0])
            expected = (("expected", count), ("arrived", len(arrived)))
            where = whereabouts(m, self.names, waiting.site, others)
            details = (
                ("who", (threads_of(m, arrived),)),
                ("expected", (Clause("threads-expected", expected),) if count else ()),
                ("elsewhere", (Clause("elsewhere", (("where", where),)),) if where else ()),
            )
            self._divergence(m, FindingCode.BLOCK_HANGS, waiting.site, int(arrived[0]), others, details)

    def _divergence(
        self,
        m: Machine,
        code: FindingCode,
        site: int,
        lane: int,
        missing: NDArray[np.intp],
        details: Named[Detail] = (),
        count: int = 1,
    ) -> None:
        finding = self._at(m, (FindingKind.BARRIER_DIVERGENCE, code), self._line(site), lane)
        finding = replace(finding, details=details)
        if missing.size:
            finding = replace(finding, other_thread=m.geometry.thread_index(int(missing[0])))
        self.add((finding.kind, finding.line or site), finding, count)

    def trapped(self, m: Machine, site: int, assertion: str = "") -> None:
        """The kernel executed `trap`, or an ``assertion`` did not hold."""
        line, lane = self._line(site), int(m.lanes()[0])
        code = FindingCode.ASSERTION if assertion else FindingCode.TRAP
        finding = self._at(m, (FindingKind.FAULT, code), line, lane)
        finding = replace(finding, details=(("assertion", assertion),) if assertion else ())
        self.add((FindingKind.FAULT, line or site), finding)

    def fault(
        self,
        m: Machine,
        site: int,
        code: FindingCode,
        details: Named[Detail] = (),
        lane: int | None = None,
    ) -> None:
        """A thread did something that no device allows: the thread of ``lane``, or the first active one."""
        line, lane = self._line(site), int(m.lanes()[0]) if lane is None else lane
        finding = self._at(m, (FindingKind.FAULT, code), line, lane)
        self.add((FindingKind.FAULT, line or site, code), replace(finding, details=details))

    def stack_overflow(self, m: Machine, call: Instruction) -> None:
        """Calls went too deep."""
        line, lane = self.names.line(call), int(m.lanes()[0])
        callee = next((operand.name for operand in call.operands if isinstance(operand, Symbol)), "")
        finding = self._at(m, (FindingKind.FAULT, FindingCode.STACK_OVERFLOW), line, lane)
        finding = replace(finding, details=(("function", symbol_name(callee) if callee else ""),))
        self.add((FindingKind.FAULT, line or "stack"), finding)

    def too_much_work(self, m: Machine, groups: list[Group], steps: int) -> Clause:
        """Positions of the threads of a launch that takes more work than its budget, after ``steps``."""
        return worked_so_far(stuck(m, self.names, groups), steps, of=m.size)

    def timed_out(self, m: Machine, groups: list[Group], steps: int) -> None:
        """The blocks did more steps than they may."""
        places = stuck(m, self.names, groups)
        started, (x, y, z) = m.geometry.first_block + m.geometry.blocks, m.geometry.launch.grid
        details = why_stopped(places, steps, of=m.size, later_blocks=started < x * y * z)
        line, lane = (places[0].line, places[0].lane) if places else (None, 0)
        kind_and_code = (FindingKind.TIMEOUT, FindingCode.NEVER_ENDS)
        self.add((FindingKind.TIMEOUT,), replace(self._at(m, kind_and_code, line, lane), details=details))


def _at(m: Machine, target: Target, which: int) -> tuple[int, int]:
    """One of the lanes of an access, and the byte that it accesses."""
    lanes = np.arange(m.size) if target.lanes is None else target.lanes
    return int(lanes[which]), int(spread(target.index, len(lanes))[which])


def _first(m: Machine, address: Value, bad: NDArray[np.bool_]) -> tuple[int, int]:
    """The first lane of an access that failed, and its address."""
    first = int(np.flatnonzero(bad)[0])
    return int(m.lanes()[first]), int(spread(address, m.count)[first])


def _bytes(instruction: Instruction) -> int:
    return TYPE_BYTES.get(instruction.modifiers[-1], 4)


def _race(geometry: Geometry, space: str, conflict: Conflict, element: str) -> Finding:
    """A race without its lines."""
    severity = Severity.WARNING if conflict.level == "lane" else Severity.ERROR
    lane, other = conflict.lane, conflict.other_lane
    return Finding(
        FindingKind.RACE,
        hazard=conflict.hazard,
        block=geometry.block_index(lane) if space == "shared" else _block(geometry, lane),
        thread=geometry.thread_index(lane),
        other_block=_block(geometry, other) if conflict.level == "block" else None,
        other_thread=geometry.thread_index(other),
        address=element,
        severity=Severity.INFO if conflict.silent else severity,
        code=_RACES[conflict.level],
    )


def _block(geometry: Geometry, lane: int) -> Dim3:
    """The block of a lane counted over the whole launch."""
    return unflatten(lane // geometry.threads, geometry.launch.grid)
