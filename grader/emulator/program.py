"""Linking: the instructions of a function → steps that change a `Machine`.

A step is a closure made once per instruction by a function of a chapter in
`grader.emulator.instructions`; what can be known before running (types, register numbers, symbol
addresses) is settled here and costs nothing later.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.emulator.guards import guarded, guarded_control
from grader.emulator.values import DTYPES, Lanes, Value, select
from grader.errors import PtxSyntaxError, UnsupportedPtx
from grader.ptx import Address, Immediate, Pair, Register, Symbol, Tuple, Vector
from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grader.emulator.machine import Group, Machine
    from grader.ptx import Function, Instruction, Location, Module, Operand

Step: TypeAlias = "Callable[[Machine], None]"
"""Executes one instruction for the machine's active lanes."""

ControlStep: TypeAlias = "Callable[[Machine, Group], list[Group] | None]"
"""Executes an instruction that decides where to go on: None if the group goes on at its (new) ``pc``,
else the groups that go on, none of them if its lanes exited or wait."""

Fetch: TypeAlias = "Callable[[Machine, Lanes], Value]"
"""Gives an operand's value for some lanes."""

FLOPS = {"add": 1, "sub": 1, "mul": 1, "div": 1, "sqrt": 1, "rsqrt": 1, "rcp": 1, "fma": 2, "mad": 2}
"""Floating-point operations per opcode; an fma counts as two. Comparisons and conversions are none."""

_FLOAT_LANES = {"f16": 1, "bf16": 1, "f32": 1, "f64": 1, "f16x2": 2, "bf16x2": 2}


@dataclass(eq=False, slots=True)
class Code:
    """A linked function.

    ``block_end[pc]`` is where the straight run from ``pc`` ends: at the next control instruction.
    ``flops[pc]`` counts the operations of one lane before ``pc``.
    """

    function: Function
    steps: list[Any]
    block_end: list[int]
    flops: list[int]
    register_count: int
    local_bytes: int
    local_offsets: dict[str, int]


def is_control(instruction: Instruction) -> bool:
    """Whether an instruction decides where its lanes go on, or ends or holds them."""
    if instruction.opcode in ("bra", "brx", "ret", "exit", "call", "trap"):
        return True
    return instruction.opcode in ("bar", "barrier") or "sync" in instruction.modifiers


@dataclass(eq=False, slots=True)
class Program:
    """A module whose functions are linked when first called."""

    module: Module
    addresses: Mapping[str, int]
    """Where each variable with a fixed place lives: an offset for shared memory, else a generic address."""
    code: dict[tuple[str, Location | None], Code] = field(default_factory=dict)
    sites: list[Instruction] = field(default_factory=list)
    """The instructions that touch memory or hold lanes: what a finding points at."""
    copies: set[int] = field(default_factory=set)
    """The sites that load what is only stored again: copying a struct is no use of its padding."""

    def link(self, name: str, call: Location | None = None) -> Code:
        """The code of a function; raises UnsupportedPtx if the module does not define it.

        ``call`` is where it is called. A function that comes from another file than the kernel (the
        ``atomicAdd`` of a header) counts as inlined there, so that findings name the student's own line.
        """
        try:
            function = self.module.function(name)
        except KeyError:
            raise UnsupportedPtx(f"call {name}", 0) from None
        place = call if call and _is_elsewhere(function, call) else None
        if (name, place) not in self.code:
            self.code[name, place] = _Linker(self, _inlined(function, place)).code()
        return self.code[name, place]

    def source(self, instruction: Instruction) -> str:
        """``file:line`` of an instruction, for messages about the emulator's own limits."""
        if instruction.location is None:
            return ""
        files = dict(self.module.files)
        return f"{files.get(instruction.location.file, '?').rsplit('/', 1)[-1]}:{instruction.location.line}"


def _is_elsewhere(function: Function, call: Location) -> bool:
    """Whether no line of a function is in the file that the outermost caller is in."""
    while call.inlined_at:
        call = call.inlined_at
    return all(each.location is None or each.location.file != call.file for each in function.body)


def _inlined(function: Function, call: Location | None) -> Function:
    """A function with each of its places counted as inlined at a call."""
    if call is None:
        return function

    def within(place: Location | None) -> Location | None:
        return replace(place, inlined_at=within(place.inlined_at)) if place else call

    return replace(
        function, body=tuple(replace(each, location=within(each.location)) for each in function.body)
    )


class _Linker:
    """Links one function; what instruction chapters see is `Link`."""

    def __init__(self, program: Program, function: Function) -> None:
        self.program = program
        self.function = function
        self.registers = {name: number for number, (name, _) in enumerate(function.registers)}
        self.local_offsets, self.local_bytes = _layout(function)
        self._used = _registers_used(function)

    def only_copies(self, instruction: Instruction) -> bool:
        """Whether a load's value is never used but as the value of a store."""
        if instruction.opcode != "ld":
            return False
        loaded = instruction.operands[0]
        elements = loaded.elements if isinstance(loaded, Vector) else (loaded,)
        return not any(isinstance(each, Register) and each.name in self._used for each in elements)

    def code(self) -> Code:
        body = self.function.body
        steps = [self.step(pc, instruction) for pc, instruction in enumerate(body)]
        block_end, end = [0] * len(body), len(body)
        for pc in reversed(range(len(body))):
            end = pc if is_control(body[pc]) else end
            block_end[pc] = end
        flops = [0]
        for instruction in body:
            flops.append(flops[-1] + (0 if instruction.guard else flops_of(instruction)))
        return Code(
            self.function,
            steps,
            block_end,
            flops,
            len(self.registers),
            self.local_bytes,
            self.local_offsets,
        )

    def step(self, pc: int, instruction: Instruction) -> Any:  # noqa: ANN401 - a Step or a ControlStep
        """The step of one instruction; `is_control` tells which kind it is."""
        from grader.emulator.instructions import TABLE  # noqa: PLC0415 - the chapters import this module

        link = Link(self, pc, instruction)
        try:
            step: Any = TABLE[instruction.opcode](instruction, link)
        except (UnsupportedPtx, KeyError):
            step = _refuse(link.unsupported())  # an error only if a lane ever gets there
        if instruction.guard is None or instruction.opcode == "bra":
            return step
        if is_control(instruction):
            return guarded_control(step, link.guard(), pc)
        return guarded(step, link.guard(), flops_of(instruction))


def flops_of(instruction: Instruction) -> int:
    """Floating-point operations that one lane does in an instruction."""
    kind = instruction.modifiers[-1] if instruction.modifiers else ""
    return FLOPS.get(instruction.opcode, 0) * _FLOAT_LANES.get(kind, 0)


def _registers_used(function: Function) -> frozenset[str]:
    """The registers that anything but the value operand of a store to local memory reads, or may read."""
    used: set[str] = set()
    local = _local_addresses(function)
    for instruction in function.body:
        operands = instruction.operands[1:]
        if instruction.opcode == "st":
            operands = instruction.operands[: 1 if _stays_local(instruction, local) else None]
        if instruction.opcode in ("call", "red", "bra", "brx", "bar", "barrier"):
            operands = instruction.operands
        used.update(name for operand in operands for name in _names_in(operand))
        if instruction.guard is not None:
            used.add(instruction.guard.name)
    return frozenset(used)


def _local_addresses(function: Function) -> frozenset[str]:
    """The registers that hold an address in the frame, as far as a glance at the code tells."""
    found: set[str] = set()
    for instruction in function.body:
        names = [name for operand in instruction.operands for name in _names_in(operand)]
        from_local = instruction.opcode == "cvta" and "local" in instruction.modifiers
        moved = instruction.opcode in ("add", "mov") and bool(found.intersection(names[1:]))
        if names and (from_local or moved):
            found.add(names[0])
    return frozenset(found)


def _stays_local(store: Instruction, local: frozenset[str]) -> bool:
    """Whether a store goes to local memory, or into a parameter of a call."""
    return bool({"local", "param"} & set(store.modifiers)) or bool(local & set(_names_in(store.operands[0])))


def _names_in(operand: Operand) -> Iterator[str]:
    if isinstance(operand, Register):
        yield operand.name
    elif isinstance(operand, Address):
        yield from _names_in(operand.base)
    elif isinstance(operand, Vector | Tuple):
        for element in operand.elements:
            yield from _names_in(element)
    elif isinstance(operand, Pair):
        yield from _names_in(operand.first)
        yield from _names_in(operand.second)


def _layout(function: Function) -> tuple[dict[str, int], int]:
    offsets, end = {}, 0
    for variable in function.variables:
        if variable.space == "local":
            end = -(-end // variable.align) * variable.align
            offsets[variable.name] = end
            end += variable.size
    return offsets, -(-end // 16) * 16


@dataclass(frozen=True, slots=True)
class Link:
    """What an instruction chapter may ask while it makes a step."""

    linker: _Linker
    pc: int
    instruction: Instruction

    @property
    def program(self) -> Program:
        """The program that is being linked."""
        return self.linker.program

    def unsupported(self) -> UnsupportedPtx:
        """The refusal of this instruction: our limit, not the student's mistake."""
        ins = self.instruction
        return UnsupportedPtx(ins.name, ins.ptx_line, self.program.source(ins))

    def site(self) -> int:
        """A number for this instruction, to report it by."""
        self.program.sites.append(self.instruction)
        number = len(self.program.sites) - 1
        if self.linker.only_copies(self.instruction):
            self.program.copies.add(number)
        return number

    def target(self, operand: Operand) -> int:
        """The index of the instruction that a label stands before."""
        if isinstance(operand, Symbol):
            for label, index in self.linker.function.labels:
                if label == operand.name:
                    return index
        raise PtxSyntaxError(f"PTX line {self.instruction.ptx_line}: no such label")

    def register(self, operand: Operand) -> int:
        """The number of a destination register; -1 for the sink ``_``."""
        if isinstance(operand, Register) and operand.name in self.linker.registers:
            return self.linker.registers[operand.name]
        if isinstance(operand, Symbol) and operand.name == "_":
            return -1
        raise self.unsupported()

    def is_declared(self, operand: Register) -> bool:
        """Whether it is a register of the function, and not a special one."""
        return operand.name in self.linker.registers

    def register_type(self, operand: Operand) -> str:
        """The declared type of a register."""
        if isinstance(operand, Register):
            return dict(self.linker.function.registers).get(operand.name, "b32")
        raise self.unsupported()

    def guard(self) -> Fetch:
        """The instruction's own predicate."""
        if self.instruction.guard is None:
            raise self.unsupported()
        return self.fetch(self.instruction.guard, "pred")

    def fetch(self, operand: Operand, kind: str) -> Fetch:
        """Reads an operand as PTX type ``kind``."""
        dtype = DTYPES.get(kind) or np.dtype(f"u{TYPE_BYTES[kind]}")
        if isinstance(operand, Immediate):
            return _constant(_literal(operand, dtype))
        if isinstance(operand, Symbol):
            return self.symbol(operand, dtype)
        if isinstance(operand, Register):
            if operand.name in self.linker.registers:
                return self.read(self.linker.registers[operand.name], dtype, negated=operand.negated)
            return self.special(operand.name, dtype)
        raise self.unsupported()

    def read(self, number: int, dtype: np.dtype[Any], *, negated: bool) -> Fetch:
        """Reads a register."""
        instruction = self.instruction

        def read(machine: Machine, lanes: Lanes) -> Value:
            value = machine.registers[number]
            if value is None:
                value = machine.unset(dtype, instruction)
            elif value.dtype is not dtype:
                if value.dtype.itemsize == dtype.itemsize:
                    value = value.view(dtype)
                else:  # a wider register read by a narrower instruction: its low bits (section 9.4.1)
                    value = value.view(f"u{value.dtype.itemsize}").astype(f"u{dtype.itemsize}").view(dtype)
            return value if lanes is None or value.ndim == 0 else value[lanes]

        if negated:
            return lambda machine, lanes: np.logical_not(read(machine, lanes))
        return read

    def symbol(self, operand: Symbol, dtype: np.dtype[Any]) -> Fetch:
        """The address of a variable, or of a function: an offset in its own space, as ``mov`` gives it."""
        name, offset = operand.name, operand.offset
        if name in self.linker.local_offsets:
            start = self.linker.local_offsets[name] + offset
            return lambda machine, _lanes: dtype.type(machine.frame.local + start)
        if name in self.program.addresses:
            return _constant(dtype.type(self.program.addresses[name] + offset))
        if name == "WARP_SZ":
            return _constant(dtype.type(32))
        raise self.unsupported()

    def special(self, name: str, dtype: np.dtype[Any]) -> Fetch:
        """A special register (PTX ISA chapter 10)."""
        if name in ("%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"):
            return lambda machine, _lanes: dtype.type(machine.ticks() & (2 ** (8 * dtype.itemsize) - 1))
        if name.startswith("%dynamic_smem_size"):
            return lambda machine, _lanes: dtype.type(machine.geometry.launch.shared_bytes)
        if name.startswith("%reserved_smem_offset"):  # the system's part of shared memory: there is none here
            return _constant(dtype.type(0))
        if name.startswith("%total_smem_size"):
            return lambda machine, _lanes: dtype.type(machine.shared_bytes)

        def read(machine: Machine, lanes: Lanes) -> Value:
            value = machine.special.get(name)
            if value is None:
                ins = self.instruction
                raise UnsupportedPtx(f"{ins.name} of {name}", ins.ptx_line, self.program.source(ins))
            if value.dtype.itemsize != dtype.itemsize:
                value = value.astype(dtype)
            return select(value.view(dtype), lanes)

        return read

    def address(self, operand: Operand, bits: int = 64) -> Fetch:
        """The address in ``[base + offset]`` as signed 64-bit bytes in the space the instruction names."""
        if not isinstance(operand, Address):
            raise self.unsupported()
        if isinstance(operand.base, Register):
            kind = "s64" if TYPE_BYTES[self.register_type(operand.base)] == 8 else "u32"  # noqa: PLR2004
            read, offset = self.fetch(operand.base, kind), np.int64(operand.offset)
            if kind == "u32":
                return lambda machine, lanes: read(machine, lanes).astype(np.int64) + offset
            return (lambda machine, lanes: read(machine, lanes) + offset) if offset else read
        if isinstance(operand.base, Immediate):
            return _constant(np.int64(operand.base.value + operand.offset))
        return self.fetch(Symbol(operand.base.name, operand.base.offset + operand.offset), f"s{bits}")

    def pure(self, function: Callable[..., Value], *kinds: str) -> Step:
        """A step that computes the first operand from the others, read as ``kinds``, lane by lane."""
        operands = self.instruction.operands
        register = self.register(operands[0])
        sources = [self.fetch(operand, kind) for operand, kind in zip(operands[1:], kinds, strict=True)]
        if len(sources) == 1:
            (only,) = sources
            return lambda m: m.write(register, function(only(m, m.computing)))
        if len(sources) == 2:  # noqa: PLR2004 - arity
            first, second = sources
            return lambda m: m.write(register, function(first(m, m.computing), second(m, m.computing)))
        return lambda m: m.write(register, function(*(source(m, m.computing) for source in sources)))


def _constant(value: Value) -> Fetch:
    return lambda _machine, _lanes: value


def _literal(operand: Immediate, dtype: np.dtype[Any]) -> Value:
    if operand.kind == "f64" and dtype == np.float32:  # a decimal literal in a .f32 instruction
        return np.float32(np.uint64(operand.value).view(np.float64))
    bits = np.array(operand.value & (2 ** (8 * dtype.itemsize) - 1), f"u{dtype.itemsize}")
    return np.bool_(bool(operand.value)) if dtype == np.bool_ else bits.view(dtype)[()]


def _refuse(refusal: UnsupportedPtx) -> Any:  # noqa: ANN401 - stands for a step of either kind
    def step(_machine: Machine, _group: Group | None = None) -> None:
        raise refusal

    return step
