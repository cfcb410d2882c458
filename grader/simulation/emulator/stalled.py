"""Threads that do not go on: they do not reach a barrier, or not their end.

For a barrier, the report names the missing threads, where they went, and where they wait instead. PTX ISA
section 9.7.13.1 counts threads per barrier, wherever in the code they wait for it: a barrier that all threads
reach through different lines is complete, and is not reported. For a launch that does not end, the report
names the loops of its threads, and the memory that they wait for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.model import Clause, work_limit_reason
from grader.model.messages.hazards import at_line, spell
from grader.simulation.emulator.machine.geometry import RESERVED, WARP
from grader.simulation.emulator.machine.values import scalar
from grader.simulation.emulator.memory.access import spaces_of
from grader.simulation.emulator.memory.memory import Allocation
from grader.simulation.emulator.naming import SharedArray, global_element
from grader.simulation.emulator.spin_waits import rounds_of
from grader.simulation.ptx import Immediate, Register, Symbol
from grader.simulation.ptx.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grader.model import Detail, Named
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import Group, Waiting
    from grader.simulation.emulator.memory.layout import Holder
    from grader.simulation.emulator.naming import Names
    from grader.simulation.emulator.spin_waits import Round, Watched
    from grader.simulation.ptx import Function, Instruction, Operand

_MOST_GROUPS = 3
"""Groups of threads that are spelt out."""

_MOST_RANGES = 3
"""Ranges of threads that are spelt out."""


class Stuck(NamedTuple):
    """Threads that are stuck: ``doing`` says where and what for, without their number."""

    line: int | None
    lane: int
    threads: int
    doing: Clause
    waits: bool


def stuck(m: Machine, names: Names, groups: list[Group]) -> list[Stuck]:
    """Positions of the threads that did not end: running ones, the most first, then the ones at barriers."""
    running: dict[tuple[int | None, Clause], Stuck] = {}
    for group in groups:
        threads = _running(m, names, group)
        others = running.get((threads.line, threads.doing))
        if others:
            threads = others._replace(threads=others.threads + threads.threads)
        running[threads.line, threads.doing] = threads
    waiting: dict[int | None, Stuck] = {}
    for held in m.waiting:
        line = names.line(names.program.sites[held.site])
        already = waiting[line].threads if line in waiting else 0
        doing = Clause("stand-somewhere")
        if line:
            doing = Clause("stand-at", (("barrier", (barrier_at(names, held.site),)), ("lines", (line,))))
        count = already + m.count_of(held.group)
        waiting[line] = Stuck(line, held.group.first_lane, count, doing, waits=False)
    return [*_most_first(running), *_most_first(waiting)]


def why_stopped(threads: list[Stuck], steps: int, *, of: int, later_blocks: bool) -> Named[Detail]:
    """Reason that a launch with ``of`` threads was stopped; ``later_blocks``: some had not been started."""
    waits = any(stuck.waits for stuck in threads)
    places = [_doing(stuck) for stuck in threads[:_MOST_GROUPS]]
    if len(threads) > _MOST_GROUPS:
        more = sum(stuck.threads for stuck in threads[_MOST_GROUPS:])
        places.append(Clause("more-elsewhere", (("count", more),)))
    hints: tuple[Clause, ...] = ()
    if not waits:
        hints = (Clause("endless-or-few" if threads and _are_few(threads, of) else "endless"),)
    elif later_blocks:
        hints = (Clause("blocks-not-started"),)
    doing = (Clause("doing", (("places", tuple(places)),)),) if places else ()
    return ("steps", steps), ("doing", doing), ("hint", hints)


def _are_few(threads: list[Stuck], of: int) -> bool:
    """True if the threads that did not end are few beside ``of`` threads."""
    return sum(stuck.threads for stuck in threads) * WARP <= of


def worked_so_far(threads: list[Stuck], steps: int, *, of: int) -> Clause:
    """Positions of the threads of a launch, with ``of`` threads, that was given up for taking too long."""
    places = tuple(_doing(stuck) for stuck in threads[:_MOST_GROUPS]) or (Clause("still-runs"),)
    hint = (Clause("few-do-all"),) if threads and _are_few(threads, of) else ()
    return work_limit_reason(Clause("after-steps", (("steps", steps), ("places", places), ("hint", hint))))


def _doing(stuck: Stuck) -> Clause:
    """``1 thread waits at ...``, ``31 threads wait at ...``."""
    return replace(stuck.doing, values=(("count", stuck.threads), *stuck.doing.values))


def _most_first(threads: Mapping[Any, Stuck]) -> list[Stuck]:
    return sorted(threads.values(), key=lambda stuck: (-stuck.threads, stuck.line or 0))


def _running(m: Machine, names: Names, group: Group) -> Stuck:
    """A group in a loop that waits if any does, else in all the loops around it."""
    rounds, lane, threads = rounds_of(group), group.first_lane, m.count_of(group)
    for loop in rounds:
        if loop.watched:
            line = names.line(loop.leaves)
            values = (("at", at_line(line)), ("waiting", (_waiting(m, names, loop, lane),)))
            return Stuck(line, lane, threads, Clause("go-round", values), waits=True)
    lines = tuple(line for loop in rounds if (line := names.line(loop.leaves)))
    if lines:
        return Stuck(lines[0], lane, threads, Clause("in-loops", (("lines", lines),)), waits=False)
    body = group.frame.code.function.body
    line = names.line(body[min(group.pc, len(body) - 1)])
    doing = Clause("at-a-line", (("lines", (line,)),)) if line else Clause("in-some-loop")
    return Stuck(line, lane, threads, doing, waits=False)


def _waiting(m: Machine, names: Names, loop: Round, lane: int) -> Clause:
    """``waiting for flag[0], which nothing sets``."""
    elements = [_awaited(m, names, loop, watched, lane) for watched in loop.watched]
    awaited = tuple(element for element in elements if element is not None)
    return Clause("waiting-for", (("awaited", awaited),)) if awaited else Clause("waiting-for-memory")


def _awaited(m: Machine, names: Names, loop: Round, watched: Watched, lane: int) -> Clause | None:
    """Element that a lane reads in each iteration, and the lines that set it; None where it has no name."""
    instruction, base, offset = watched
    start = _start(m, names, loop, base, lane)
    if start is None:
        return None
    address = start + offset
    space = next((word for word in instruction.modifiers if word in ("shared", "local", "global")), "")
    if not space:
        space, window = spaces_of(m.memory.space, scalar(np.int64(address)))[0]
        address -= window
    if space == "local":
        return None
    if space == "shared" and address >= RESERVED:
        return Clause("awaited-tile")
    if space == "shared":
        array = names.shared_array(address)
        setters = _setters(m, names, array, instruction) if array else ()
        return Clause("awaited", (("element", names.shared_element(address, 4)), ("setters", setters)))
    byte = address - m.memory.base
    holder = m.memory.holding(byte, byte + 1)
    if holder is None:
        return None
    setters = _setters(m, names, holder, instruction)
    return Clause("awaited", (("element", global_element(holder, byte, 4)), ("setters", setters)))


def _start(m: Machine, names: Names, loop: Round, base: Operand, lane: int) -> int | None:
    """Base of an address: the value of a lane's register, or the address of a variable."""
    if isinstance(base, Symbol):
        return names.program.addresses.get(base.name)
    numbers = {name: number for number, (name, _) in enumerate(loop.frame.code.function.registers)}
    if not isinstance(base, Register) or base.name not in numbers:
        return None
    value = loop.frame.registers[numbers[base.name]]
    if value is None:
        return None
    value = m.memo.unfold(value)
    return int(value if value.ndim == 0 else value[lane])


def _setters(m: Machine, names: Names, array: Holder, reader: Instruction) -> tuple[Clause, ...]:
    """Lines that write the array, as far as all stores are known."""
    stores = m.bounds.stores_to(array)
    if stores is None:
        return ()
    sites = names.program.sites
    lines = {names.line(sites[site]) for site in stores if sites[site] is not reader}
    others = sorted(line for line in lines if line and line != names.line(reader))
    if not others:
        return (Clause("set-by-nothing-else" if lines else "set-by-nothing"),)
    if not isinstance(array, Allocation | SharedArray):
        return ()
    return (Clause("set-on-lines", (("array", array.name), ("lines", tuple(others)))),)


def threads_of(m: Machine, lanes: NDArray[np.intp]) -> Clause:
    """``threads (0, 5)–(3, 5)``: lanes of one block, neighbours in one range."""
    breaks = np.flatnonzero(np.diff(lanes) != 1) + 1
    ranges = np.split(lanes, breaks)
    parts = []
    for neighbours in ranges[:_MOST_RANGES]:
        first, last = (spell(m.geometry.thread_index(int(lane))) for lane in (neighbours[0], neighbours[-1]))
        name = "one-thread" if len(neighbours) == 1 else "thread-range"
        parts.append(Clause(name, (("first", first), ("last", last))))
    more = sum(len(neighbours) for neighbours in ranges[_MOST_RANGES:])
    if more:
        parts.append(Clause("more-threads", (("number", more),)))
    return Clause("threads", (("count", len(lanes)), ("ranges", tuple(parts))))


def about_threads(name: str, m: Machine, lanes: NDArray[np.intp], values: Named[Detail] = ()) -> Clause:
    """A clause that says something of lanes of one block."""
    return Clause(name, (("count", len(lanes)), ("who", (threads_of(m, lanes),)), *values))


def barrier_at(names: Names, site: int) -> Clause:
    """Name of a barrier in the source."""
    instruction = names.program.sites[site]
    plain = "sync" in instruction.modifiers and instruction.operands == (Immediate(0),)
    return Clause("syncthreads" if plain else "barrier")


def whereabouts(m: Machine, names: Names, site: int, missing: NDArray[np.intp]) -> tuple[Clause, ...]:
    """Positions of the missing threads of a block; nothing where nothing is known.

    ``site`` is the barrier that others wait at.
    """
    clauses = []
    ended = missing[~m.alive[missing]]
    if ended.size:
        lines = tuple(_lines_that_leave(m, names, site))
        way = (Clause("went-another-way", (("branches", lines),)),) if lines else ()
        clauses.append(about_threads("ended", m, ended, (("way", way),)))
    for waiting in m.waiting:
        lanes = _among(waiting, missing)
        if lanes.size and waiting.site != site:
            barrier = _barrier_on_line(names, waiting.site)
            clauses.append(about_threads("wait-at", m, lanes, (("barrier", (barrier,)),)))
    parked = np.intersect1d(missing, m.parked_lanes())
    if parked.size:
        clauses.append(about_threads("wait-for-warp", m, parked))
    return tuple(clauses)


def _barrier_on_line(names: Names, site: int) -> Clause:
    line = names.line(names.program.sites[site])
    if not line:
        return Clause("another-barrier")
    return Clause("barrier-on-line", (("barrier", (barrier_at(names, site),)), ("line", line)))


def _among(waiting: Waiting, missing: NDArray[np.intp]) -> NDArray[np.intp]:
    lanes = waiting.group.lanes
    return missing if lanes is None else np.intersect1d(missing, lanes)


def _lines_that_leave(m: Machine, names: Names, site: int) -> list[int]:
    """The branches after which a thread can no longer reach the barrier."""
    group = next((waiting.group for waiting in m.waiting if waiting.site == site), None)
    lines: set[int | None] = set()
    if group is not None:
        for function, at in _activations(group, names.program.sites[site]):
            lines.update(names.line(branch) for branch in leaving(function, at))
    return sorted(line for line in lines if line)


def _activations(group: Group, barrier: Instruction) -> list[tuple[Function, int]]:
    """The functions that are being executed, with where the barrier, or the call that leads to it, is."""
    frame, body = group.frame, group.frame.code.function.body
    at = next((index for index, instruction in enumerate(body) if instruction is barrier), group.pc - 1)
    activations = [(frame.code.function, at)]
    while frame.caller is not None:
        activations.append((frame.caller.code.function, frame.return_pc - 1))
        frame = frame.caller
    return activations


def leaving(function: Function, at: int) -> list[Instruction]:
    """The branches from which one way leads to an instruction, and another does not."""
    try:
        flow = Flow(function)
    except ValueError:
        return []
    target = flow.block_of[at]
    coming, todo = set[int](), [target]
    while todo:
        for block in flow.predecessors[todo.pop()]:
            if block not in coming:
                coming.add(block)
                todo.append(block)
    goes = coming | {target}
    return [
        function.body[flow.starts[block + 1] - 1]
        for block in sorted(coming)
        if any(successor not in goes for successor in flow.successors[block])
    ]
