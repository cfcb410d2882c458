"""Spin-waits: the loops of threads that do not end, and the memory that they wait for.

A loop waits where all values that decide over its continuation are read from addresses that the loop itself
does not change: then another thread must change the memory there. A loop that counts, or walks along an
array, does not wait, however long it takes. The deciding values are followed through data and through
branches: without optimisation ``a || b`` is a predicate that one of two blocks sets, and a branch on ``a``
decides which.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from grader.base.records import frozen
from grader.simulation.emulator.own_memory import Holder, OwnMemory, registers_set, variable_in
from grader.simulation.ptx import Address, Immediate, Register, Symbol, Tuple
from grader.simulation.ptx.flow import Flow
from grader.simulation.ptx.nodes import registers_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.simulation.emulator.machine.state import Frame, Group
    from grader.simulation.ptx import Function, Instruction, Module, Operand
    from grader.simulation.ptx.flow import Loop


Watched: TypeAlias = "tuple[Instruction, Operand, int]"
"""An access, with the base of its address and the offset added to it."""

_CLOCKS = ("%clock", "%globaltimer")

_OF_OTHERS = (
    "shfl",
    "vote",
    "match",
    "redux",
    "elect",
    "activemask",
    "bar",
    "barrier",
    "ldmatrix",
    "mma",
    "wmma",
)
"""Opcodes whose result depends on other lanes."""

_OWN_SPACES = {"param", "const", "local"}
"""Memory that no other thread changes."""

_MOST_WAYS = 64
"""Maximum number of paths around a loop that are examined."""


class Counter(NamedTuple):
    """A comparison, and the increment of its first operand in each iteration."""

    compare: Instruction
    step: int


@frozen
class Round:
    """A loop that a group is in: its header, the branch that leaves it, and the values that decide over that.

    ``settled``: all deciding values are the same in each iteration, unless memory changes at the addresses
    that the accesses ``watched`` read: each is the instruction, with the register or the variable that is the
    base of the address and the offset added to it. ``counters`` compare a number, to which each iteration
    adds the same, with a constant: nothing else decides, where there are any.
    """

    header: int
    leaves: Instruction
    settled: bool
    watched: tuple[Watched, ...]
    counters: tuple[Counter, ...]
    frame: Frame


def awaited_loads(module: Module) -> frozenset[int]:
    """The loads (by their line in the PTX) that decide over a loop's continuation, from a fixed address.

    Such a load waits for another thread to change the memory there. Its address is fixed where some iteration
    of the loop leaves it unchanged: a look-back goes on to the next flag only once this one is set. Where a
    loop asks a function, all loads of the function count.
    """
    lines: set[int] = set()
    called: set[str] = set()
    for function in module.functions:
        try:
            flow = Flow(function)
        except ValueError:
            continue
        for loop in flow.loops:
            waiting = _Waiting(flow, loop)
            waiting.collect_decisive()
            lines.update(function.body[pc].ptx_line for pc in waiting.awaited())
            called.update(waiting.called)
    lines.update(
        instruction.ptx_line
        for function in module.functions
        if function.name in called
        for instruction in function.body
        if instruction.opcode == "ld"
    )
    return frozenset(lines)


def may_wait_for_memory(functions: Iterable[Function]) -> bool:
    """True if memory may decide when a loop of these functions ends: a load, an atomic, or what it calls.

    Without such a loop nothing that others do ends a launch that does not end by itself.
    """
    return any(_may_wait(function) for function in functions)


def _may_wait(function: Function) -> bool:
    try:
        flow = Flow(function)
    except ValueError:
        return True
    loops = [_Waiting(flow, loop) for loop in flow.loops]
    for waiting in loops:
        waiting.collect_decisive()
    return any(waiting.reads_memory() for waiting in loops)


def rounds_of(group: Group) -> list[Round]:
    """The loops around where a group is, the innermost first; of its callers' too."""
    rounds, frame, at = [], group.frame, group.pc
    while True:
        rounds += list(_rounds(frame, at))
        if frame.caller is None:
            return rounds
        frame, at = frame.caller, frame.return_pc - 1


def _rounds(frame: Frame, at: int) -> Iterator[Round]:
    function = frame.code.function
    try:
        flow = Flow(function)
    except ValueError:
        return
    for loop in flow.loops_around(min(at, len(function.body) - 1)):
        waiting = _Waiting(flow, loop)
        leaves = waiting.exits[0] if waiting.exits else flow.starts[loop.header + 1] - 1
        settled = waiting.is_settled()
        watched = tuple(waiting.watched.values()) if settled else ()
        yield Round(
            flow.starts[loop.header],
            function.body[leaves],
            settled,
            watched,
            waiting.counters(),
            frame,
        )


class _Waiting:
    """Searches, within a loop, for the sources of its conditions; instructions go by their index."""

    def __init__(self, flow: Flow, loop: Loop) -> None:
        self.flow, self.loop, self.body = flow, loop, flow.function.body
        blocks = sorted(loop.blocks)
        self.inside = [pc for block in blocks for pc in range(flow.starts[block], flow.starts[block + 1])]
        self.exits = [
            flow.starts[block + 1] - 1
            for block in blocks
            if any(successor not in loop.blocks for successor in flow.successors[block])
        ]
        self.definitions: dict[str, list[int]] = {}
        for pc in self.inside:
            for name in registers_set(self.body[pc]):
                self.definitions.setdefault(name, []).append(pc)
        self.watched: dict[int, Watched] = {}
        self.called: set[str] = set()
        self._decisive: set[str] = set()
        self._loads: list[int] = []
        self._branches: dict[int, bool] = {}

    @cached_property
    def memory(self) -> OwnMemory:
        """Owners of the memory that the accesses of the function are to."""
        return OwnMemory(self.flow.function)

    def collect_decisive(self) -> None:
        """Collect the loads and the calls that decide over the continuation of the loop."""
        branches = list(self.exits)
        for branch in branches:
            self._decides(self.body[branch].guard, branches)
            branches += [pc for pc in self._deciding(branch) if pc not in branches]

    def _decides(self, guard: Register | None, branches: list[int]) -> None:
        todo = [guard.name] if guard is not None else []
        while todo:
            register = todo.pop()
            if register in self._decisive:
                continue
            self._decisive.add(register)
            definitions = self.definitions.get(register, [])
            for pc in definitions:
                instruction = self.body[pc]
                if len(definitions) > 1 or not self._is_each_round(pc):
                    branches += [at for at in self._deciding(pc) if at not in branches]
                if instruction.guard is not None:
                    todo.append(instruction.guard.name)
                if instruction.opcode == "ld" and "param" not in instruction.modifiers:
                    self._loads.append(pc)
                    continue
                if instruction.opcode == "ld":
                    self._decides_as_result(instruction)
                todo += _registers_read(instruction)

    def _decides_as_result(self, load: Instruction) -> None:
        """A result of a call decides: so do the function and its arguments."""
        call = self._call(load)
        if call is not None:
            called = self.body[call].operands
            self.called.update(operand.name for operand in called if isinstance(operand, Symbol))

    def reads_memory(self) -> bool:
        """True if a load, an atomic operation or a call is among the sources of the conditions."""
        sources = (self.body[pc] for name in self._decisive for pc in self.definitions.get(name, ()))
        return bool(self.called) or any(
            source.opcode == "atom" or (source.opcode == "ld" and not _OWN_SPACES & set(source.modifiers))
            for source in sources
        )

    def awaited(self) -> Iterator[int]:
        """The decisive loads from a fixed address, in some iteration at least."""
        for pc in self._loads:
            names = _of_address(self.body[pc])
            if all(self._is_settled(name, pc, (), watch=False) for name in names) or self._stays(pc):
                yield pc

    def _stays(self, load: int) -> bool:
        """True if some path around the loop passes a load twice and leaves its address unchanged."""
        names = _of_address(self.body[load])
        for way in self._ways(self.loop.header):
            if self.flow.block_of[load] in way:
                values: dict[str, object] = {}
                before = self._values(way, values, load, names)
                if before == self._values(way, values, load, names):
                    return True
        return False

    def _ways(self, header: int) -> Iterator[list[int]]:
        """Paths around the loop that pass no block twice, the first few of them."""
        todo, ways = [[header]], 0
        while todo and ways < _MOST_WAYS:
            way = todo.pop()
            for successor in self.flow.successors[way[-1]]:
                if successor == header:
                    ways += 1
                    yield way
                elif successor in self.loop.blocks and successor not in way:
                    todo.append([*way, successor])
            del todo[: max(0, len(todo) - _MOST_WAYS)]

    def _values(self, way: list[int], values: dict[str, object], load: int, names: list[str]) -> list[object]:
        """Values of registers at a load, as expressions over their earlier values; updates ``values``."""
        at_load: list[object] = []
        for block in way:
            for pc in range(self.flow.starts[block], self.flow.starts[block + 1]):
                if pc == load:
                    at_load = [values.get(name, name) for name in names]
                instruction = self.body[pc]
                for name in registers_set(instruction):
                    values[name] = self._expression(pc, values)
        return at_load

    def _expression(self, pc: int, values: dict[str, object]) -> object:
        instruction = self.body[pc]
        read = tuple(values.get(name, name) for name in _registers_read(instruction))
        plain = instruction.guard is None and "param" not in instruction.modifiers
        if instruction.opcode == "mov" and len(read) == 1 and plain:
            return read[0]
        return hash((pc, read, None if plain else object()))

    def is_settled(self) -> bool:
        """True if all deciding values are the same each iteration, unless ``watched`` memory changes."""
        return all(self._is_settled_branch(pc) for pc in self.exits)

    def _is_settled_branch(self, pc: int) -> bool:
        """True if a branch goes the same way each iteration, and is reached in each iteration or in none."""
        if pc not in self._branches:
            self._branches[pc] = True  # the exits of a loop decide over each other: all are the same, or none
            guard = self.body[pc].guard
            self._branches[pc] = (guard is None or self._is_settled(guard.name, pc, (), watch=True)) and all(
                map(self._is_settled_branch, self._deciding(pc))
            )
        return self._branches[pc]

    def _deciding(self, pc: int) -> list[int]:
        """The branches within the loop that decide over an instruction, but itself."""
        return [
            at for at in self.flow.deciding(pc) if at != pc and self.flow.block_of[at] in self.loop.blocks
        ]

    def _is_settled(self, register: str, at: int, above: tuple[str, ...], *, watch: bool) -> bool:
        """True if a register is the same each iteration where it is read, unless memory changes.

        It is not where an iteration may read a value that the iteration before has set. With ``watch`` the
        accesses that read that memory are noted; an address that is read itself is not.
        """
        definitions = self.definitions.get(register, [])
        if not definitions:
            return True
        if register in above or not self._is_set_before(register, at):
            return False
        if len(definitions) > 1 and not all(
            self._is_settled_branch(branch) for pc in definitions for branch in self._deciding(pc)
        ):
            return False
        return all(self._instruction(pc, (*above, register), watch=watch) for pc in definitions)

    def _is_set_before(self, register: str, at: int) -> bool:
        """True if every path from the beginning of an iteration to an instruction sets a register."""
        flow, block = self.flow, self.flow.block_of[at]
        setting = {
            flow.block_of[pc]
            for pc in self.definitions[register]
            if self.body[pc].guard is None and (flow.block_of[pc] != block or pc < at)
        }
        if block in setting:
            return True
        visited, todo = {block}, [block]
        while todo:
            reached = todo.pop()
            if reached == self.loop.header:
                return False
            for before in flow.predecessors[reached]:
                if before in self.loop.blocks and before not in visited and before not in setting:
                    visited.add(before)
                    todo.append(before)
        return True

    def _instruction(self, pc: int, above: tuple[str, ...], *, watch: bool) -> bool:
        ins = self.body[pc]
        if ins.opcode == "ld" and "param" in ins.modifiers:
            return self._parameter(pc, above, watch=watch)
        if ins.opcode in ("ld", "atom", "mbarrier"):
            address = ins.operands[1]
            if not isinstance(address, Address) or (ins.opcode == "ld" and self._may_set(ins)):
                return False
            if watch and self.memory.of_access(ins, address) is not Holder.OWN:
                self.watched[pc] = (ins, address.base, address.offset)
            return all(self._is_settled(name, pc, above, watch=False) for name in registers_in(address.base))
        if ins.opcode == "setp" and ins.operands[2:] == (Immediate(0),) and _is_constant(ins):
            return True
        names = _registers_read(ins)
        if ins.opcode in _OF_OTHERS or any(name.startswith(_CLOCKS) for name in names):
            return False
        return all(self._is_settled(name, pc, above, watch=watch) for name in names)

    def _may_set(self, load: Instruction) -> bool:
        """True if the loop itself may write to the thread's own memory where a load reads."""
        return self.memory.of_access(load, load.operands[1]) is not Holder.COMMON and any(
            (ins.opcode == "st" and self.memory.of_access(ins, ins.operands[0]) is not Holder.COMMON)
            or (ins.opcode == "call" and not _is_atomic(ins))
            for ins in (self.body[pc] for pc in self.inside)
        )

    def _parameter(self, pc: int, above: tuple[str, ...], *, watch: bool) -> bool:
        """Of a function's result: `atomicCAS` and the like are accesses, by the first pointer given."""
        at = self._call(self.body[pc])
        if at is None:
            return True
        call = self.body[at]
        if not _is_atomic(call):
            return False
        passed = _symbols_in(call.operands[-1])
        for pc_of_store in self.inside:
            instruction = self.body[pc_of_store]
            if (
                instruction.opcode == "st"
                and "param" in instruction.modifiers
                and instruction.modifiers[-1].endswith("64")
            ):
                value = instruction.operands[1]
                if variable_in(instruction.operands[0]) in passed and isinstance(value, Register):
                    if watch:
                        self.watched[at] = (call, value, 0)
                    return self._is_settled(value.name, pc_of_store, above, watch=False)
        return False

    def _call(self, load: Instruction) -> int | None:
        """The call within the loop whose result is loaded."""
        name = variable_in(load.operands[1])
        calls = (pc for pc in self.inside if self.body[pc].opcode == "call" and self.body[pc].operands)
        return next((pc for pc in calls if name in _symbols_in(self.body[pc].operands[0])), None)

    def counters(self) -> tuple[Counter, ...]:
        """The counters whose comparisons are the only deciding values that are not settled."""
        counters = []
        for pc in self.exits:
            if not self._is_settled_branch(pc):
                counter = self._counter(self.body[pc].guard)
                if counter is None or not all(map(self._is_settled_branch, self._deciding(pc))):
                    return ()
                counters.append(counter)
        return tuple(counters)

    def _counter(self, guard: Register | None) -> Counter | None:
        """The counter that a predicate compares."""
        visited: set[str] = set()
        while guard is not None and guard.name not in visited:
            visited.add(guard.name)
            definitions = self.definitions.get(guard.name, [])
            if len(definitions) != 1:
                return None
            (pc,) = definitions
            compare, guard = self.body[pc], None
            if compare.opcode in ("not", "mov") and isinstance(compare.operands[1], Register):
                guard = compare.operands[1]
            elif compare.opcode == "setp" and isinstance(compare.operands[1], Register):
                stays = all(
                    self._is_settled(n, pc, (), watch=False) for n in registers_in(compare.operands[2])
                )
                step = self._step(compare.operands[1].name)
                return Counter(compare, step) if stays and step else None
        return None

    def _step(self, register: str) -> int | None:
        """Increment of a register in each iteration; None where that is not always the same.

        The register may be the result of adding to a counter: then the counter's own cycle is followed.
        """
        totals: dict[str, int] = {}
        total = 0
        while register not in totals:
            totals[register] = total
            definitions = self.definitions.get(register, [])
            if len(definitions) != 1 or not self._is_each_round(definitions[0]):
                return None
            ins = self.body[definitions[0]]
            if ins.opcode in ("add", "sub") and isinstance(ins.operands[2], Immediate):
                total += ins.operands[2].value if ins.opcode == "add" else -ins.operands[2].value
            elif ins.opcode != "mov":
                return None
            source = ins.operands[1]
            if not isinstance(source, Register):
                return None
            register = source.name
        return total - totals[register]

    def _is_each_round(self, pc: int) -> bool:
        """True if an instruction is executed once in every iteration."""
        flow, block = self.flow, self.flow.block_of[pc]
        header = self.loop.header
        latches = [before for before in flow.predecessors[header] if before in self.loop.blocks]
        inner = flow.loops_around(pc)[0]
        return (
            inner.header == header
            and self.body[pc].guard is None
            and all(flow.dominators[latch] >> block & 1 for latch in latches)
        )


def _is_constant(compare: Instruction) -> bool:
    """True if a comparison with zero always gives the same: no unsigned number is below it."""
    return compare.modifiers[-1][0] == "u" and bool({"ge", "lt", "hs", "lo"} & set(compare.modifiers))


def _is_atomic(call: Instruction) -> bool:
    """True if a call is of a CUDA function that is an atomic operation."""
    return any(isinstance(operand, Symbol) and "atomic" in operand.name for operand in call.operands)


def _registers_read(instruction: Instruction) -> list[str]:
    """The registers that an instruction reads, without the register of its guard."""
    return [name for operand in instruction.operands[1:] for name in registers_in(operand)]


def _of_address(load: Instruction) -> list[str]:
    """The registers that the address of a load is made of."""
    return list(registers_in(load.operands[1]))


def _symbols_in(operand: Operand) -> list[str]:
    elements = operand.elements if isinstance(operand, Tuple) else ()
    return [element.name for element in elements if isinstance(element, Symbol)]
