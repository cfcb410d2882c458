"""Words for a launch that does not come to its end: where its threads go round, and what they wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.emulator.absent import called
from grader.emulator.machine.geometry import WARP
from grader.emulator.memory.access import spaces_of
from grader.emulator.memory.memory import Allocation
from grader.emulator.naming import SharedArray, global_element
from grader.emulator.spinning import rounds_of
from grader.messages.english import on_lines
from grader.model import TOO_MUCH_WORK
from grader.ptx import Register, Symbol
from grader.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.state import Group
    from grader.emulator.memory.bounds import Holder
    from grader.emulator.naming import Names
    from grader.emulator.spinning import Round, Watched
    from grader.ptx import Instruction, Operand

_MOST = 3
"""Places that are spelt out."""

_ENDLESS = "is there a loop that never ends"


class Stuck(NamedTuple):
    """Threads that are somewhere for ever: ``doing`` says where and what for, in the plural."""

    line: int | None
    lane: int
    threads: int
    doing: str
    waits: bool


def stuck(m: Machine, names: Names, groups: list[Group]) -> list[Stuck]:
    """Where the threads are that did not end: those that run, the most first, then those at barriers."""
    running: dict[tuple[int | None, str], Stuck] = {}
    for group in groups:
        place = _running(m, names, group)
        known = running.get((place.line, place.doing))
        if known:
            place = known._replace(threads=known.threads + place.threads)
        running[place.line, place.doing] = place
    waiting: dict[int | None, Stuck] = {}
    for each in m.waiting:
        line = names.line(names.program.sites[each.site])
        already = waiting[line].threads if line in waiting else 0
        doing = f"wait at the {called(names, each.site)} {on_lines([line])}" if line else "wait at a barrier"
        waiting[line] = Stuck(line, _lane(each.group), already + m.count_of(each.group), doing, waits=False)
    return [*_most_first(running), *_most_first(waiting)]


def sentence(found: list[Stuck], steps: int, *, of: int, later_blocks: bool) -> str:
    """Why a launch with ``of`` threads was stopped; ``later_blocks``: some had not been started."""
    what = f"was stopped after {steps:,} steps without coming to its end"
    waits = any(each.waits for each in found)
    if not found:
        return f"{what}: {_ENDLESS}?"
    words = [_told(each) for each in found[:_MOST]]
    if len(found) > _MOST:
        words.append(f"{sum(each.threads for each in found[_MOST:]):,} more elsewhere")
    few = sum(each.threads for each in found) * WARP <= of
    hint = "" if waits else f": {_ENDLESS}{', or do a few threads do the work of all' if few else ''}?"
    if waits and later_blocks:
        hint = "; blocks that had not started cannot be waited for: nothing says that all run at once"
    return f"{what}: {'; '.join(words)}{hint}"


def much_work(why: str) -> str:
    """What is said of a launch that was given up, although it may well come to its end."""
    return f"{TOO_MUCH_WORK}: {why}"


def worked_so_far(places: list[Stuck], steps: int, *, of: int) -> str:
    """Where the threads are of a launch, with ``of`` threads, that was given up for taking too long."""
    where = "; ".join(_told(place) for place in places[:_MOST])
    few = sum(place.threads for place in places) * WARP <= of
    hint = ", so that a few threads do the work of all" if few else ""
    return much_work(f"after {steps:,} steps {where or 'it still runs'}{hint}")


def _told(place: Stuck) -> str:
    """``1 thread waits at ...``, ``31 threads wait at ...``."""
    if place.threads > 1:
        return f"{place.threads:,} threads {place.doing}"
    verb, _, rest = place.doing.partition(" ")
    return f"1 thread {_OF_ONE.get(verb, verb)} {rest}"


_OF_ONE = {"go": "goes", "wait": "waits", "are": "is"}


def _most_first(found: Mapping[Any, Stuck]) -> list[Stuck]:
    return sorted(found.values(), key=lambda each: (-each.threads, each.line or 0))


def _lane(group: Group) -> int:
    return 0 if group.lanes is None else int(group.lanes[0])


def _running(m: Machine, names: Names, group: Group) -> Stuck:
    """A group in a loop that waits if any does, else in all the loops around it."""
    rounds, lane, threads = rounds_of(group), _lane(group), m.count_of(group)
    for each in rounds:
        if each.watched:
            line = names.line(each.leaves)
            where = f" {on_lines([line])}" if line else ""
            return Stuck(
                line, lane, threads, f"go round{where}, {_watching(m, names, each, lane)}", waits=True
            )
    lines = [line for each in rounds if (line := names.line(each.leaves))]
    if lines:
        return Stuck(lines[0], lane, threads, f"are in the loop {on_lines(lines)}", waits=False)
    body = group.frame.code.function.body
    line = names.line(body[min(group.pc, len(body) - 1)])
    return Stuck(line, lane, threads, f"are {on_lines([line])}" if line else "are in a loop", waits=False)


def _watching(m: Machine, names: Names, found: Round, lane: int) -> str:
    """``waiting for flag[0], which nothing sets``."""
    words = []
    for watched in found.watched:
        element, setters = _element(m, names, found, watched, lane)
        if element:
            words.append(element + setters)
    return f"waiting for {listed(words)}" if words else "waiting for a value in memory to change"


def _element(m: Machine, names: Names, found: Round, watched: Watched, lane: int) -> tuple[str, str]:
    """What a lane reads each round, and which lines set it."""
    instruction, base, offset = watched
    start = _start(m, names, found, base, lane)
    if start is None:
        return "", ""
    address = start + offset
    space = next((word for word in instruction.modifiers if word in ("shared", "local", "global")), "")
    if not space:
        space, window = spaces_of(m.memory.space, np.int64(address))[0]
        address -= window
    if space == "local":
        return "", ""
    if space == "shared":
        array = names.shared_array(address)
        return names.shared_element(address, 4), _setters(m, names, array, instruction) if array else ""
    byte = address - m.memory.base
    holder = m.memory.holding(byte, byte + 1)
    if holder is None:
        return "", ""
    return global_element(holder, byte, 4), _setters(m, names, holder, instruction)


def _start(m: Machine, names: Names, found: Round, base: Operand, lane: int) -> int | None:
    """Where an address begins: what a lane's register holds, or the place of a variable."""
    if isinstance(base, Symbol):
        return names.program.addresses.get(base.name)
    numbers = {name: number for number, (name, _) in enumerate(found.frame.code.function.registers)}
    if not isinstance(base, Register) or base.name not in numbers:
        return None
    value = found.frame.registers[numbers[base.name]]
    if value is None:
        return None
    value = m.memo.unfold(value)
    return int(value if value.ndim == 0 else value[lane])


def _setters(m: Machine, names: Names, array: Holder, reader: Instruction) -> str:
    """Who writes the array, as far as all stores are known."""
    stores = m.bounds.stores_to(array)
    if stores is None:
        return ""
    sites = names.program.sites
    lines = {names.line(sites[site]) for site in stores if sites[site] is not reader}
    own = [line for line in lines if line and line != names.line(reader)]
    if not own:
        return ", which nothing else sets" if lines else ", which nothing sets"
    return (
        f" ({array.name} is written {on_lines(own)})" if isinstance(array, Allocation | SharedArray) else ""
    )
