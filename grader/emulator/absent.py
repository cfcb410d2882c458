"""Threads that do not come to a barrier: which they are, where they went, where they wait instead.

PTX ISA section 9.7.13.1 counts threads per barrier, wherever in the code they wait for it: a barrier that
all threads reach through different lines is complete, and nothing is said of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.messages.english import on_lines, spell
from grader.ptx import Immediate
from grader.ptx.flow import Flow
from grader.text import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.state import Group, Waiting
    from grader.emulator.naming import Names
    from grader.ptx import Function, Instruction

_MOST = 3
"""Ranges of threads that are spelt out."""


def threads_spelt(m: Machine, lanes: NDArray[np.intp]) -> str:
    """``threads (0, 5)–(3, 5)``: lanes of one block, neighbours in one range."""
    breaks = np.flatnonzero(np.diff(lanes) != 1) + 1
    ranges = np.split(lanes, breaks)
    words = []
    for each in ranges[:_MOST]:
        first, last = (spell(m.geometry.thread_index(int(lane))) for lane in (each[0], each[-1]))
        words.append(first if len(each) == 1 else f"{first}–{last}")
    more = sum(len(each) for each in ranges[_MOST:])
    if more:
        words.append(f"{more:,} more")
    return ("thread " if len(lanes) == 1 else "threads ") + listed(words)


def called(names: Names, site: int) -> str:
    """What a barrier is called in the source."""
    instruction = names.program.sites[site]
    plain = "sync" in instruction.modifiers and instruction.operands == (Immediate(0),)
    return "__syncthreads()" if plain else "barrier"


def whereabouts(m: Machine, names: Names, site: int, missing: NDArray[np.intp]) -> str:
    """Where the missing threads of a block are, in a sentence's end; empty where nothing is known.

    ``site`` is the barrier that others wait at.
    """
    words = []
    ended = missing[~m.alive[missing]]
    if ended.size:
        lines = _lines_that_leave(m, names, site)
        way = f"went another way {on_lines(lines, 'or')} and " if lines else ""
        words.append(f"{threads_spelt(m, ended)} {way}{'has' if len(ended) == 1 else 'have'} ended")
    for waiting in m.waiting:
        there = _among(waiting, missing)
        if there.size and waiting.site != site:
            line = names.line(names.program.sites[waiting.site])
            where = f"the {called(names, waiting.site)} on line {line}" if line else "another barrier"
            words.append(f"{threads_spelt(m, there)} {'waits' if len(there) == 1 else 'wait'} at {where}")
    parked = np.intersect1d(missing, m.parked_lanes())
    if parked.size:
        verb = "waits" if len(parked) == 1 else "wait"
        words.append(f"{threads_spelt(m, parked)} {verb} for others of the warp elsewhere")
    return "; ".join(words)


def _among(waiting: Waiting, missing: NDArray[np.intp]) -> NDArray[np.intp]:
    lanes = waiting.group.lanes
    return missing if lanes is None else np.intersect1d(missing, lanes)


def _lines_that_leave(m: Machine, names: Names, site: int) -> list[int]:
    """The branches after which a thread can no longer come to the barrier."""
    group = next((each.group for each in m.waiting if each.site == site), None)
    found: set[int | None] = set()
    if group is not None:
        for function, at in _activations(group, names.program.sites[site]):
            found.update(names.line(branch) for branch in leaving(function, at))
    return sorted(line for line in found if line)


def _activations(group: Group, barrier: Instruction) -> list[tuple[Function, int]]:
    """The functions that are being executed, with where the barrier, or the call that leads to it, is."""
    frame, body = group.frame, group.frame.code.function.body
    at = next((index for index, each in enumerate(body) if each is barrier), group.pc - 1)
    found = [(frame.code.function, at)]
    while frame.caller is not None:
        found.append((frame.caller.code.function, frame.return_pc - 1))
        frame = frame.caller
    return found


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
        if any(each not in goes for each in flow.successors[block])
    ]
