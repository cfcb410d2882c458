"""Threads that do not come to a barrier: which they are, where they went, where they wait instead.

PTX ISA section 9.7.13.1 counts threads per barrier, wherever in the code they wait for it: a barrier that
all threads reach through different lines is complete, and nothing is said of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.messages.english import spell
from grader.model import Clause
from grader.ptx import Immediate
from grader.ptx.flow import Flow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.state import Group, Waiting
    from grader.emulator.naming import Names
    from grader.model import Detail, Named
    from grader.ptx import Function, Instruction

_MOST = 3
"""Ranges of threads that are spelt out."""


def threads_of(m: Machine, lanes: NDArray[np.intp]) -> Clause:
    """``threads (0, 5)–(3, 5)``: lanes of one block, neighbours in one range."""
    breaks = np.flatnonzero(np.diff(lanes) != 1) + 1
    ranges = np.split(lanes, breaks)
    parts = []
    for neighbours in ranges[:_MOST]:
        first, last = (spell(m.geometry.thread_index(int(lane))) for lane in (neighbours[0], neighbours[-1]))
        name = "one-thread" if len(neighbours) == 1 else "thread-range"
        parts.append(Clause(name, (("first", first), ("last", last))))
    more = sum(len(neighbours) for neighbours in ranges[_MOST:])
    if more:
        parts.append(Clause("more-threads", (("number", more),)))
    return Clause("threads", (("count", len(lanes)), ("ranges", tuple(parts))))


def about_threads(name: str, m: Machine, lanes: NDArray[np.intp], values: Named[Detail] = ()) -> Clause:
    """A clause that says something of lanes of one block."""
    return Clause(name, (("count", len(lanes)), ("who", (threads_of(m, lanes),)), *values))


def barrier_at(names: Names, site: int) -> Clause:
    """What a barrier is called in the source."""
    instruction = names.program.sites[site]
    plain = "sync" in instruction.modifiers and instruction.operands == (Immediate(0),)
    return Clause("syncthreads" if plain else "barrier")


def whereabouts(m: Machine, names: Names, site: int, missing: NDArray[np.intp]) -> tuple[Clause, ...]:
    """Where the missing threads of a block are; nothing where nothing is known.

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
    """The branches after which a thread can no longer come to the barrier."""
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
