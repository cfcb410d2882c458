"""Definedness: determines if values that no thread set affect the results.

After Stepanov and Serebryany, "MemorySanitizer: fast detector of uninitialized memory use in C++" (CGO 2015).
Each register has a shadow that holds, for each lane, the read that an undefined value stems from (0: it is
defined); memory that holds such a value counts as not written. An undefined value matters where it reaches a
store to global memory, a branch, an address or an atomic operation. All else may be thrown away.

The result of an instruction is undefined where one of its operands is: no instruction is analysed further.
Only accesses, parameters of functions and warp-wide operations are different.

It takes a run of its own, and only launches in which something undefined was read are run so.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import mutable
from grader.simulation.emulator.launch import Execution, Kernel, LaunchOptions
from grader.simulation.emulator.linking.linker import is_control, link_function
from grader.simulation.emulator.machine.machine import Observer
from grader.simulation.emulator.naming import LOCAL_VARIABLE
from grader.simulation.ptx import Address, Register, Symbol, Tuple, Vector
from grader.simulation.ptx.nodes import registers_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grader.model import Argument, Launch
    from grader.simulation.emulator.linking.program import Program
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import Code, Frame, Group
    from grader.simulation.emulator.machine.values import Lanes, Value
    from grader.simulation.emulator.memory.memory import Region, Target
    from grader.simulation.ptx import Function, Instruction, Operand

    Origins = NDArray[np.int32]

_NO_RESULT = {
    "st",
    "red",
    "bra",
    "brx",
    "bar",
    "barrier",
    "call",
    "membar",
    "fence",
    "cp",
    "ret",
    "exit",
    "trap",
}
_WARP_WIDE = {"shfl", "vote", "match", "redux", "mma", "wmma", "ldmatrix", "movmatrix", "elect"}
_ATOMIC = {"atom", "red", "mbarrier"}


def link_with_shadows(shadows: Definedness, program: Program, function: Function) -> Code:
    """A function in which each step computes shadows as well."""
    code = link_function(program, function)
    for index, instruction in enumerate(function.body):
        flow = _Flow(instruction, code, shadows)
        wrap = flow.around_control if is_control(instruction) else flow.around
        code.steps[index] = wrap(code.steps[index])
    return code


def mattering_reads(
    kernel: Kernel, launch: Launch, arguments: tuple[Argument, ...], steps: int
) -> set[tuple[int, str]]:
    """The undefined reads of a launch whose values matter: the line of each, and the object that it reads."""
    tracked, shadows = _with_shadows(kernel)
    shadows.forget()
    options = LaunchOptions(detect=True, races=False, observers=(Undefined(shadows),))
    with np.errstate(all="ignore"):
        Execution(tracked, launch, arguments, options).run(steps)
    return shadows.mattering


@lru_cache(maxsize=1)  # it is launched case by case
def _with_shadows(kernel: Kernel) -> tuple[Kernel, Definedness]:
    """The kernel linked so that shadows are computed, and the object that holds them."""
    shadows = Definedness()
    tracked = Kernel(
        kernel.module,
        kernel.entry,
        kernel.source,
        kernel.file,
        kernel.shapes,
        linker=partial(link_with_shadows, shadows),
        lay_out=kernel.lay_out,
    )
    return tracked, shadows


class _Flow:
    """Propagation of undefined values through one instruction."""

    def __init__(self, instruction: Instruction, code: Code, shadows: Definedness) -> None:
        self.ins, self.shadows = instruction, shadows
        self.numbers = {name: number for number, (name, _) in enumerate(code.function.registers)}
        operands = instruction.operands
        has_result = instruction.opcode not in _NO_RESULT and bool(operands)
        self.results = list(_elements(operands[0])) if has_result else []
        sources = operands[1:] if has_result else operands
        self.addresses = self._own(o for o in sources if isinstance(o, Address))
        self.sources = self._own(o for o in sources if not isinstance(o, Address))
        self.values = [list(self._own((element,))) for element in _elements(operands[-1])] if operands else []
        self.parameter = _parameter(instruction)
        self.exchanges = instruction.opcode == "atom" and "exch" in instruction.modifiers

    def _own(self, operands: Iterable[Operand]) -> list[str]:
        """The function's own registers among operands."""
        return [name for operand in operands for name in registers_in(operand) if name in self.numbers]

    def around(self, step: Any) -> Any:  # noqa: ANN401 - a Step
        """The step of an instruction that does not decide where lanes go on."""

        def run(m: Machine) -> None:
            shadow, lanes = self.shadows.of(m.frame), self._executing(m)
            origins = self._joined(m, shadow, self.sources)
            addresses = self._joined(m, shadow, self.addresses)
            self.shadows.loaded.clear()
            self.shadows.stored.clear()
            self.shadows.exchanges = self.exchanges
            step(m)
            self.shadows.matters(addresses, lanes)
            if self.ins.opcode in _ATOMIC:
                self.shadows.matters(origins, lanes)
                origins = None
            if self.parameter is not None:
                self._pass_parameter(shadow, origins, lanes)
            elif self.ins.opcode in ("ld", "ldu") or self.exchanges:
                self._load(m, shadow, lanes)
            elif self.ins.opcode == "st":
                self._store(m, shadow)
            else:
                for result in self.results:
                    _set(shadow, result, origins, lanes, m.size)

        return run

    def around_control(self, step: Any) -> Any:  # noqa: ANN401 - a ControlStep
        """The step of an instruction that does."""

        def run(m: Machine, group: Group) -> list[Group] | None:
            frame, shadow, lanes = m.frame, self.shadows.of(m.frame), self._executing(m)
            origins = self._joined(m, shadow, self.sources)
            if self.ins.opcode in _WARP_WIDE:
                origins = _over_warps(m, origins)
                for result in self.results:
                    _set(shadow, result, origins, lanes, m.size)
            elif self.ins.opcode != "call":
                self.shadows.matters(origins, lanes)
            groups: list[Group] | None = step(m, group)
            for entered in groups or ():
                if entered.frame.caller is frame and self.ins.opcode == "call":
                    self._enter(shadow, self.shadows.of(entered.frame), entered)
            if self.ins.opcode == "ret" and frame.caller is not None:
                caller = self.shadows.of(frame.caller)
                for formal, actual in frame.results:
                    caller.parameters[actual] = shadow.parameters.get(formal, {})
            return groups

        return run

    def _enter(self, caller: FrameShadow, callee: FrameShadow, group: Group) -> None:
        """A function gets the shadows of its arguments."""
        tuples = [operand for operand in self.ins.operands if isinstance(operand, Tuple)]
        passed = (
            [symbol.name for symbol in tuples[-1].elements if isinstance(symbol, Symbol)] if tuples else []
        )
        formal = [parameter.name for parameter in group.frame.code.function.parameters]
        for name, actual in zip(formal, passed, strict=False):
            callee.parameters[name] = caller.parameters.get(actual, {})

    def _executing(self, m: Machine) -> Lanes:
        """The lanes that execute the instruction; an undefined guard matters."""
        guard = self.ins.guard
        if guard is None or guard.name not in self.numbers:
            return m.active
        self.shadows.matters(self.shadows.of(m.frame).registers.get(guard.name), m.active)
        value = m.registers[self.numbers[guard.name]]
        if value is None or self.ins.opcode == "bra":
            return m.active
        holds = np.broadcast_to(m.memo.unfold(value), m.size) ^ guard.negated
        lanes = m.lanes()
        return lanes[holds[lanes]]

    def _joined(self, m: Machine, shadow: FrameShadow, names: list[str]) -> Origins | None:
        """Origins of the values of some registers, lane by lane; None if all are defined."""
        origins: Origins | None = None
        for name in names:
            part = shadow.registers.get(name)
            if m.registers[self.numbers[name]] is None and not self._is_no_use():
                line = m.reporter.names.line(self.ins) or 0
                part = np.full(m.size, self.shadows.number(line, LOCAL_VARIABLE), np.int32)
            if part is not None:
                origins = part if origins is None else np.maximum(origins, part)
        return origins

    def _is_no_use(self) -> bool:
        """To pass an object without members is no use of it."""
        return self.ins.opcode == "st" and self.parameter is not None and self.ins.modifiers[-1].endswith("8")

    def _pass_parameter(self, shadow: FrameShadow, origins: Origins | None, lanes: Lanes) -> None:
        name, offset = self.parameter or ("", 0)
        pieces = shadow.parameters.setdefault(name, {})
        if self.ins.opcode == "st":
            if origins is None:
                pieces.pop(offset, None)
            else:
                pieces[offset] = origins
            return
        for result in self.results:
            part = pieces.get(offset)
            _set(shadow, result, part, lanes, 0 if part is None else len(part))

    def _load(self, m: Machine, shadow: FrameShadow, lanes: Lanes) -> None:
        """A vector is read element by element, unless its lanes lie in different state spaces."""
        loaded = self.shadows.loaded
        one_by_one = len(loaded) == len(self.results)
        for which, result in enumerate(self.results):
            origins: Origins | None = None
            for at, part in loaded[which : which + 1] if one_by_one else loaded:
                if part is not None:
                    origins = np.zeros(m.size, np.int32) if origins is None else origins
                    origins[at] = part
            _set(shadow, result, origins, lanes, m.size)

    def _store(self, m: Machine, shadow: FrameShadow) -> None:
        stored = self.shadows.stored
        one_by_one = len(stored) == len(self.values)
        for which, (target, size) in enumerate(stored):
            names = self.values[which] if one_by_one else self.sources
            origins = self._joined(m, shadow, names)
            if origins is None:
                continue
            lanes = np.arange(m.size) if target.lanes is None else target.lanes
            part = origins[lanes]
            if not part.any():
                continue
            index = np.broadcast_to(target.index, len(lanes))[part > 0]
            if target.space == "global":
                self.shadows.leaves(target.region, index, size, part[part > 0])
            else:
                self.shadows.keep(target.region, index, size, part[part > 0])


def _elements(operand: Operand) -> tuple[Operand, ...]:
    return operand.elements if isinstance(operand, Vector) else (operand,)


def _parameter(instruction: Instruction) -> tuple[str, int] | None:
    """The parameter that an instruction loads or stores, and where in it."""
    if instruction.opcode not in ("ld", "st") or "param" not in instruction.modifiers:
        return None
    address = instruction.operands[1 if instruction.opcode == "ld" else 0]
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        return None
    return address.base.name, address.base.offset + address.offset


def _set(shadow: FrameShadow, result: Operand, origins: Origins | None, lanes: Lanes, size: int) -> None:
    """Set the origins of the values in some lanes of a register."""
    for name in registers_in(result) if not isinstance(result, Register) else (result.name,):
        before = shadow.registers.get(name)
        if origins is None and before is None:
            continue
        after = np.zeros(size or len(before), np.int32) if before is None else before.copy()  # type: ignore[arg-type]
        where = slice(None) if lanes is None else lanes
        after[where] = 0 if origins is None else origins[where]
        if after.any():
            shadow.registers[name] = after
        else:
            shadow.registers.pop(name, None)


def _over_warps(m: Machine, origins: Origins | None) -> Origins | None:
    """Undefined values that a lane gives to a warp-wide operation may reach any lane of its warp."""
    if origins is None:
        return None
    highest = np.zeros(m.warps, np.int32)
    np.maximum.at(highest, m.warp_of[m.lanes()], origins[m.lanes()])
    return highest[m.warp_of]


@mutable
class FrameShadow:
    """The shadows of a frame's registers, by name, and of the parameters that it was given or gives."""

    registers: dict[str, Origins] = field(default_factory=dict)
    parameters: dict[str, dict[int, Origins]] = field(default_factory=dict)


@mutable
class Definedness:
    """The shadows of a launch, and the undefined reads that affected a result.

    A read is identified by its line and by the object read: an array, or a local variable.
    """

    reads: list[tuple[int, str]] = field(default_factory=list)
    """The undefined reads; their numbers in shadows count from 1."""
    mattering: set[tuple[int, str]] = field(default_factory=set)
    _frames: dict[int, tuple[Frame, FrameShadow]] = field(default_factory=dict)
    _memory: dict[int, Origins] = field(default_factory=dict)
    loaded: list[tuple[NDArray[np.intp], Origins | None]] = field(default_factory=list)
    """Of the instruction under way: lanes that read, and where that stems from if some of it is undefined."""
    stored: list[tuple[Target, int]] = field(default_factory=list)
    """Of the instruction under way: where lanes store, and how many bytes."""
    exchanges: bool = False
    """True if the current instruction is an `exch`, which does not compute with the old value."""

    def forget(self) -> None:
        """Begin another launch, of which nothing is known."""
        self.reads, self.mattering = [], set()
        self._frames, self._memory = {}, {}
        self.loaded, self.stored = [], []

    def of(self, frame: Frame) -> FrameShadow:
        """The shadow of a frame, which is kept so that no other one takes its identity."""
        if id(frame) not in self._frames:
            self._frames[id(frame)] = (frame, FrameShadow())
        return self._frames[id(frame)][1]

    def number(self, line: int, verb: str) -> int:
        """The number of a read."""
        if (line, verb) not in self.reads:
            self.reads.append((line, verb))
        return self.reads.index((line, verb)) + 1

    def matters(self, origins: Origins | None, lanes: Lanes) -> None:
        """Values of some lanes decide something."""
        if origins is not None:
            numbers = np.unique(origins if lanes is None else origins[lanes])
            self.mattering.update(self.reads[number - 1] for number in numbers.tolist() if number)

    def leaves(self, region: Region, index: NDArray[np.int64], size: int, origins: Origins) -> None:
        """Undefined values are stored to global memory, where any thread may read them: they matter."""
        del region, index, size
        self.matters(origins, None)

    def undefined(
        self, m: Machine, site: int, target: Target, missing: NDArray[np.bool_], size: int
    ) -> Origins:
        """Origins of undefined values that lanes read from memory; 0 where they are defined."""
        unset = self.number(*m.reporter.read_of(m, site, target, int(np.flatnonzero(missing)[0]), size))
        memory = self._memory.get(id(target.region))
        before = np.zeros(len(missing), np.int32) if memory is None else memory[target.index]
        return np.where(missing, np.where(before > 0, before, unset), 0).astype(np.int32)

    def keep(self, region: Region, index: NDArray[np.int64], size: int, origins: Origins) -> None:
        """Undefined values were stored: the bytes count as not written."""
        if region.initialised is None:
            return
        memory = self._memory.setdefault(id(region), np.zeros(region.bytes.size, np.int32))
        for byte in range(size):
            region.initialised[index + byte] = 0
            memory[index + byte] = origins


@mutable
class Undefined(Observer):
    """Observer that reports to `Definedness` the values that instructions read and write."""

    shadows: Definedness
    tracks_initialisation: bool = True

    def loaded(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Note the values that the lanes of a load read, word by word."""
        lanes = np.arange(m.size) if target.lanes is None else target.lanes
        self.shadows.loaded.append((lanes, self._origins(m, site, target, size, len(lanes))))

    def stored(self, _m: Machine, _site: int, target: Target, value: Value) -> None:
        """Note the target of a store; its value is examined after the instruction."""
        self.shadows.stored.append((target, value.dtype.itemsize))

    def atomic(self, m: Machine, site: int, target: Target, size: int) -> None:
        """Note a read that matters, unless the operation only returns the value that it reads (`exch`)."""
        lanes = np.arange(m.size) if target.lanes is None else target.lanes
        origins = self._origins(m, site, target, size, len(lanes))
        if self.shadows.exchanges:
            self.shadows.loaded.append((lanes, origins))
        else:
            self.shadows.matters(origins, None)

    def _origins(self, m: Machine, site: int, target: Target, size: int, count: int) -> Origins | None:
        """Origins of the values that lanes read; None where all of them are defined."""
        missing = target.region.uninitialised(target.index, size)
        if missing is None:
            return None
        missing = m.reporter.undefined_uses(site, target, np.broadcast_to(missing, count), size)
        return self.shadows.undefined(m, site, target, missing, size) if missing.any() else None
